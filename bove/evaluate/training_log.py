"""Training logs with the times of their rounds: read, summed up by term of L, and compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bove.errors import BoveError, finite
from bove.evaluate.tables import ABSENT, markdown_table
from bove.files import csv_records

if TYPE_CHECKING:
    from pandas import DataFrame

TERMS = ("words", "tags", "relations", "penalties")
NOT_REACHED = "not reached"
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

    Raises BoveError where a file is malformed, or where the two have other rounds.
    """
    rows = _read(log, ("round", "total"), "--training-log")
    timed = _read(times, ("round", "seconds"), "--times")
    rounds = [int(row["round"]) for row in rows]
    if rounds != [row["round"] for row in timed]:
        raise BoveError(f"{log}: has other rounds than {times}; give the log and the times of one training")
    terms = {}
    for term in TERMS:
        parts = [[x for column, x in row.items() if _term(column) == term and x is not None] for row in rows]
        if any(parts):
            terms[term] = [sum(own) if own else None for own in parts]
    return Curve(name, rounds, [row["seconds"] for row in timed], [row["total"] for row in rows], terms)


def _term(column: str) -> str | None:
    """The term of L that a log's column is, or is a part of."""
    if column.startswith("relation:"):
        return "relations"
    if column.startswith("lambda_"):
        return "penalties"
    return column if column in ("words", "tags") else None


def _read(path: str | Path, needed: Sequence[str], option: str) -> list[dict[str, float | None]]:
    """Numbers by column of each round; None for an empty cell, and for one that is no number."""
    advice = f"give the CSV that a trainer writes by {option}"
    rows = []
    for line, cells in csv_records(path, needed, advice):
        rows.append({column: finite(cell) for column, cell in cells.items()})
        if bad := [column for column in needed if rows[-1][column] is None]:
            raise BoveError(f"{path}, line {line}: '{bad[0]}' is {cells[bad[0]]!r}; make the file again")
    if not rows:
        raise BoveError(f"{path}: has no round; {advice} after a round at least")
    return rows


def training_frame(curves: Iterable[Curve]) -> "DataFrame":
    """One row per run and round in full precision; a term without a number is an empty cell."""
    import pandas as pd

    rows = [
        (curve.name, *row)
        for curve in curves
        for row in zip(curve.rounds, curve.seconds, curve.total, *_terms(curve), strict=True)
    ]
    return pd.DataFrame(rows, columns=["run", "round", "seconds", "total", *TERMS])


def _terms(curve: Curve) -> list[Sequence[float | None]]:
    """Each term in every round; None where there is none."""
    return [curve.terms.get(term, [None] * len(curve.rounds)) for term in TERMS]


def training_table(curves: Sequence[Curve]) -> str:
    """The Markdown tables: what each run came to, and when each passed the others."""
    header = ["run", "rounds", "seconds", "L at the end", *TERMS]
    rows = []
    for curve in curves:
        numbers = [_printed(values[-1]) for values in (curve.total, *_terms(curve))]
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
