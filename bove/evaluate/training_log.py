"""Training logs with the times of their rounds: read, summed up by term of L, and compared."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from bove.errors import BoveError, finite
from bove.evaluate.tables import ABSENT, markdown_table
from bove.files import csv_rows

TERMS = ("words", "tags", "relations", "penalties")
CSV_COLUMNS = ("run", "round", "seconds", "total", *TERMS)
NOT_REACHED = "not reached"
_PARTS = {"relations": "relation:", "penalties": "lambda_"}  # terms that are sums of the columns named so
_LOG, _TIMES = "the CSV that a trainer writes by --training-log", "the CSV that a trainer writes by --times"
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
    header, rows = _read(log, ("round", "total"), _LOG)
    _, timed = _read(times, ("round", "seconds", "total"), _TIMES)
    _check_seconds(times, timed)
    by_round = {row["round"]: row for _, row in timed}
    curve = Curve(name, [], [], [], {term: [] for term in TERMS if _columns(header, term)})
    for line, row in rows:
        other = by_round.pop(row["round"], None)
        if other is None:
            raise BoveError(
                f"{log}, line {line}: round {row['round']} has no time in {times}; {_ONE_TRAINING}"
            )
        if not math.isclose(other["total"], row["total"], rel_tol=_SAME_TOTAL):
            raise BoveError(
                f"{log}, line {line}: the total of round {row['round']} is {row['total']!r}, but "
                f"{other['total']!r} in {times}; {_ONE_TRAINING}"
            )
        curve.rounds.append(row["round"])
        curve.seconds.append(other["seconds"])
        curve.total.append(row["total"])
        for term, values in curve.terms.items():
            parts = [row[column] for column in _columns(header, term) if row[column] is not None]
            values.append(sum(parts) if parts else None)
    if by_round:
        raise BoveError(f"{times}: has a round {min(by_round)}, which {log} has not; {_ONE_TRAINING}")
    known = {term: values for term, values in curve.terms.items() if values.count(None) < len(values)}
    return replace(curve, terms=known)


def _read(path, needed: Sequence[str], what: str) -> tuple[list[str], list[tuple[int, dict]]]:
    """Header and (line, numbers by column) of each round; only columns that count, None for an empty cell."""
    lines = list(csv_rows(path, f"give {what}"))
    header = _header(path, lines, needed, what)
    counted = {*needed, *(column for term in TERMS for column in _columns(header, term))}
    rows, last = [], -math.inf
    for line, cells in lines[1:]:
        if len(cells) != len(header):
            raise BoveError(
                f"{path}, line {line}: {len(cells)} cells, but {len(header)} columns; make the file again"
            )
        row = {
            column: _number(f"{path}, line {line}: '{column}'", cell, column in needed)
            for column, cell in zip(header, cells, strict=True)
            if column in counted
        }
        if row["round"] != int(row["round"]) or row["round"] <= last:
            raise BoveError(
                f"{path}, line {line}: round {row['round']:g} is no whole number above that of the line "
                f"before; make the file again"
            )
        last = row["round"] = int(row["round"])
        rows.append((line, row))
    return header, rows


def _header(path, lines, needed: Sequence[str], what: str) -> list[str]:
    header = lines[0][1] if lines else []
    missing = [name for name in needed if name not in header]
    if missing:
        raise BoveError(f"{path}, line 1: has no column '{missing[0]}'; give {what}")
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise BoveError(f"{path}, line 1: has column '{twice[0]}' twice; give {what}")
    if len(lines) == 1:
        raise BoveError(f"{path}: has no round; give {what} after a round at least")
    return header


def _columns(header: Sequence[str], term: str) -> list[str]:
    """The log's columns that a term is the sum of."""
    start = _PARTS.get(term)
    return [name for name in header if (name.startswith(start) if start else name == term)]


def _number(where: str, cell: str, needed: bool) -> float | None:
    if not cell.strip() and not needed:
        return None
    if (value := finite(cell)) is None:
        raise BoveError(f"{where} is {cell!r}, not a finite number; make the file again")
    return value


def _check_seconds(path, rows) -> None:
    """Seconds start at 0 or later and never go back."""
    last = 0.0
    for line, row in rows:
        if row["seconds"] < last:
            raise BoveError(
                f"{path}, line {line}: {row['seconds']:g} seconds after {last:g}; "
                f"seconds run from the start of training: make the file again"
            )
        last = row["seconds"]


def write_csv(stream: IO[str], curves: Iterable[Curve]) -> None:
    """Write a row a run and round in full precision; a term without a number is an empty cell."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for curve in curves:
        for i, number in enumerate(curve.rounds):
            terms = [curve.terms[term][i] if term in curve.terms else None for term in TERMS]
            table.writerow([curve.name, number, curve.seconds[i], curve.total[i], *terms])


def training_table(curves: Sequence[Curve]) -> str:
    """The Markdown tables: what each run came to, and when each passed the others."""
    header = ["run", "rounds", "seconds", "L at the end", *TERMS]
    rows = [
        [
            curve.name,
            str(len(curve.rounds)),
            _printed_seconds(curve.seconds[-1]),
            _printed(curve.total[-1]),
            *(_printed(curve.terms[term][-1]) if term in curve.terms else ABSENT for term in TERMS),
        ]
        for curve in curves
    ]
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


def seconds_until_below(curve: Curve, bound: float) -> float | None:
    """When L was first below the bound, or None."""
    return next((s for s, x in zip(curve.seconds, curve.total, strict=True) if x < bound), None)


def _passing(curve: Curve, other: Curve) -> str:
    if curve is other:
        return ABSENT
    seconds = seconds_until_below(curve, other.total[-1])
    return NOT_REACHED if seconds is None else _printed_seconds(seconds)


def _printed_seconds(seconds: float) -> str:
    return f"{seconds:.1f}"


def _printed(value: float | None) -> str:
    """Five digits at least."""
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.5g}"
