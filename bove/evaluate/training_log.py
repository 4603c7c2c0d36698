"""Training logs with the times of their rounds: read, summed up by term of L, and compared."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bove.errors import BoveError, finite
from bove.evaluate.tables import ABSENT, markdown_table
from bove.files import csv_records

TERMS = ("words", "tags", "relations", "penalties")
NOT_REACHED = "not reached"
_ONE_TRAINING = "give the log and the times of one training"
_SAME_TOTAL = 1e-6  # relative; beyond it two totals of a round are of two trainings
_CAPTION = (
    "*L at the end* is that of the run's last round, all terms together and then by term: words, tags, all "
    "relations together, and the penalties on P, R and E together. Seconds are measured from the start of "
    "training: they depend on the computer and its load, and differ from run to run even where all else is "
    "the same. L can be compared between runs of the same graphs, weights and penalties alone; a run that "
    "holds sentences out has the L of the others. Logarithmic axes of the figure leave out what is 0. Every "
    "round is in training.csv, in full precision."
)


@dataclass(frozen=True)
class Curve:
    """A run's L: seconds and total of each round, and each term by its name; None where there is none."""

    name: str
    rounds: Sequence[int]
    seconds: Sequence[float]
    total: Sequence[float]
    terms: Mapping[str, Sequence[float | None]]


def read_run(name: str, log: str | Path, times: str | Path) -> Curve:
    """A run from its trainer's log and the times of its rounds.

    The log's terms are columns `words`, `tags`, `relation:…` and `lambda_…`, of which any may be missing or
    have empty cells; other columns do not count. The times' `seconds` run from the start of training.

    Raises BoveError where a file is malformed, or where the two are not of one training.
    """
    rows = _read(log, ("round", "total"), "--training-log")
    timed = {row["round"]: row for _, row in _read(times, ("round", "seconds", "total"), "--times")}
    seconds, terms = [], {term: [] for term in TERMS}
    for line, row in rows:
        number, total, other = int(row["round"]), row["total"], timed.pop(row["round"], None)
        if other is None:
            raise BoveError(f"{log}, line {line}: round {number} has no time in {times}; {_ONE_TRAINING}")
        if not math.isclose(other["total"], total, rel_tol=_SAME_TOTAL):
            raise BoveError(
                f"{log}, line {line}: the total of round {number} is {total!r}, but {other['total']!r} in "
                f"{times}; {_ONE_TRAINING}"
            )
        seconds.append(other["seconds"])
        for term, values in terms.items():
            parts = [part for column, part in row.items() if _term(column) == term and part is not None]
            values.append(sum(parts) if parts else None)
    if timed:
        raise BoveError(f"{times}: has a round {min(timed):g}, which {log} has not; {_ONE_TRAINING}")
    known = {term: values for term, values in terms.items() if values.count(None) < len(values)}
    return Curve(
        name, [int(row["round"]) for _, row in rows], seconds, [row["total"] for _, row in rows], known
    )


def _term(column: str) -> str | None:
    """The term of L that a log's column is, or is a part of."""
    if column.startswith("relation:"):
        return "relations"
    if column.startswith("lambda_"):
        return "penalties"
    return column if column in ("words", "tags") else None


def _read(path: str | Path, needed: Sequence[str], option: str) -> list[tuple[int, dict]]:
    """(line, numbers by column) of each round; only columns that count, None for an empty cell."""
    advice = f"give the CSV that a trainer writes by {option}"
    rows, last = [], -math.inf
    for line, cells in csv_records(path, needed, advice):
        row = {column: finite(cell) for column, cell in cells.items() if column in needed or _term(column)}
        bad = [c for c, value in row.items() if value is None and (c in needed or cells[c].strip())]
        if bad or row["round"] % 1 or row["round"] <= last or row.get("seconds", 0) < 0:
            found = f"'{bad[0]}' is {cells[bad[0]]!r}" if bad else "not a round after the one before"
            raise BoveError(f"{path}, line {line}: {found}; make the file again")
        last = row["round"]
        rows.append((line, row))
    if not rows:
        raise BoveError(f"{path}: has no round; {advice} after a round at least")
    return rows


def write_csv(stream: IO[str], curves: Iterable[Curve]) -> None:
    """Write one row per run and round in full precision; a term without a number is an empty cell."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["run", "round", "seconds", "total", *TERMS])
    for curve in curves:
        for i, number in enumerate(curve.rounds):
            terms = [curve.terms[term][i] if term in curve.terms else None for term in TERMS]
            table.writerow([curve.name, number, curve.seconds[i], curve.total[i], *terms])


def training_table(curves: Sequence[Curve]) -> str:
    """The Markdown tables: what each run came to, and when each passed the others."""
    header = ["run", "rounds", "seconds", "L at the end", *TERMS]
    rows = []
    for curve in curves:
        terms = [curve.terms[term][-1] if term in curve.terms else None for term in TERMS]
        numbers = [_printed(value) for value in (curve.total[-1], *terms)]
        rows.append([curve.name, str(len(curve.rounds)), f"{curve.seconds[-1]:.1f}", *numbers])
    text = f"# Training\n\n{markdown_table(header, rows, 1)}\n{_CAPTION}\n"
    if len(curves) == 1:
        return text
    header = ["seconds until L was below", *(f"the end of {curve.name}" for curve in curves)]
    rows = [[curve.name, *(_passing(curve, other) for other in curves)] for curve in curves]
    return (
        f"{text}\n{markdown_table(header, rows, 1)}\n"
        "Seconds that the run of a row took until its L was first below the L with which the run of a "
        f"column ended; *{NOT_REACHED}* where it never was.\n"
    )


def _passing(curve: Curve, other: Curve) -> str:
    """When a run's L was first below the end of another one's."""
    if curve is other:
        return ABSENT
    pairs = zip(curve.seconds, curve.total, strict=True)
    return next((f"{seconds:.1f}" for seconds, L in pairs if other.total[-1] > L), NOT_REACHED)


def _printed(value: float | None) -> str:
    """Five digits at least."""
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.5g}"
