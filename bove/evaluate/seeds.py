"""Mean and spread of a system's results over models that differ in their seed alone."""

import csv
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from bove.evaluate.results import AGGREGATES, MEAN, Result
from bove.evaluate.tables import (
    ABSENT,
    UNDEFINED,
    dataset_cell,
    dataset_name,
    escape,
    markdown_table,
    number,
    undefined,
)

CSV_COLUMNS = (
    "task", "dataset", "subset", "n_scored", "metric", "seeds", "mean", "standard_deviation", "minimum",
    "maximum",
)  # fmt: skip
_TITLES = {"similarity": "Semantic textual similarity", "entailment": "Textual entailment"}
_METRICS = {
    "similarity": "Pearson's correlation of the gold scores and STS(S1, S2)",
    "entailment": "Average precision, in percent, of the ranking by SNLI(S1, S2)",
}


@dataclass(frozen=True)
class Spread:
    """Values of one subset, or of one summary of subsets, over seeds.

    Attributes:
        result: that of the run's own seed, for the names and the number of pairs.
        values: of each seed. None where undefined, and where a mean lacks a subset that another seed's has.
    """

    result: Result
    values: Mapping[str, float | None]

    @property
    def defined(self) -> list[float]:
        return [value for value in self.values.values() if value is not None]

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.defined) if self.defined else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation with n - 1 in the denominator; None for fewer than two values."""
        return statistics.stdev(self.defined) if len(self.defined) > 1 else None

    @property
    def range(self) -> tuple[float, float] | None:
        """Least and greatest value."""
        return (min(self.defined), max(self.defined)) if self.defined else None


def spreads(results: Mapping[str, Sequence[Result]], base: str) -> list[Spread]:
    """A spread for each result, in the order of the base's.

    Args:
        results: of each seed, of one system and the same pairs.
        base: the run's own seed.
    """
    of_seed = {seed: {(r.task, r.dataset, r.subset): r for r in found} for seed, found in results.items()}
    found = []
    for key, result in of_seed[base].items():
        entered = max(rows[key].entered for rows in of_seed.values())
        values = {
            seed: rows[key].value if rows[key].entered == entered else None for seed, rows in of_seed.items()
        }
        found.append(Spread(result, values))
    return found


def write_csv(stream: IO[str], found: Sequence[Spread]) -> None:
    """Write spreads as CSV in full precision, with a column for each seed; what is undefined is empty."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*CSV_COLUMNS, *(f"seed {seed}" for seed in found[0].values)])
    for spread in found:
        names = [getattr(spread.result, name) for name in CSV_COLUMNS[:5]]
        figures = [len(spread.defined), spread.mean, spread.deviation, *(spread.range or (None, None))]
        table.writerow([*names, *figures, *spread.values.values()])


def seeds_table(
    found: Sequence[Spread],
    base: str,
    system: str,
    labels: Mapping[str, str],
    development: Collection[str] = (),
    same: Sequence[Sequence[str]] = (),
) -> str:
    """The Markdown page, a table for each task, with a caption and notes.

    Args:
        found: spreads of any tasks.
        base: the run's own seed.
        system: the system that they are of.
        labels: name in print of each data set.
        development: data sets on which choices were made.
        same: groups of seeds whose scores are the same, pair by pair.
    """
    parts = [f"# {system} over seeds of the model\n"]
    for task, title in _TITLES.items():
        of_task = [spread for spread in found if spread.result.task == task]
        if of_task:
            body = [_row(spread, base, labels, development) for spread in of_task]
            header = [
                "data set",
                "subset",
                "pairs",
                "mean",
                "standard deviation",
                "min to max",
                f"seed {base}",
            ]
            parts.append(f"## {title}\n\n{markdown_table(header, body, 2)}\n{_METRICS[task]}.\n")
    notes = "".join(f"* {escape(note)}\n" for note in _notes(found, base, same))
    return "\n".join([*parts, notes])


def table_notes(found: Sequence[Spread], system: str, labels: Mapping[str, str]) -> dict[str, list[str]]:
    """A note for each task's table of results: mean and deviation of what sums up a data set."""
    notes: dict[str, list[str]] = {}
    for task in _TITLES:
        shown = [
            spread
            for spread in found
            if spread.result.task == task and _sums_up(spread.result) and spread.mean is not None
        ]
        if shown:
            figures = "; ".join(
                f"{dataset_name(s.result.dataset, labels)} {s.result.subset} {number(task, s.mean)}, "
                f"{_deviation(s)}"
                for s in shown
            )
            n = len(shown[0].values)
            notes[task] = [f"Mean and standard deviation of {system} over {n} seeds (seeds.md): {figures}."]
    return notes


def _sums_up(result: Result) -> bool:
    return result.subset == MEAN if result.task == "similarity" else result.subset not in AGGREGATES


def _row(spread: Spread, base: str, labels, development) -> list[str]:
    result, own = spread.result, spread.values[base]
    cells = [dataset_cell(result.dataset, labels, development), result.subset, str(result.n_scored)]
    if spread.mean is None or spread.range is None:
        return [*cells, undefined(result), ABSENT, ABSENT, ABSENT]
    lacking = len(spread.values) - len(spread.defined)
    mean = number(result.task, spread.mean) + (f" ({len(spread.defined)} seeds)" if lacking else "")
    least, most = (number(result.task, value) for value in spread.range)
    shown = UNDEFINED if own is None else number(result.task, own)
    return [*cells, mean, _deviation(spread), f"{least} to {most}", shown]


def _deviation(spread: Spread) -> str:
    if spread.deviation is None:
        return ABSENT
    text = number(spread.result.task, spread.deviation)
    nothing = float(text.removesuffix("%")) == 0
    return (
        f"< {text[: -1 - text.endswith('%')]}1{'%' * text.endswith('%')}"
        if nothing and spread.deviation
        else text
    )


def _notes(found: Sequence[Spread], base: str, same) -> list[str]:
    seeds = list(found[0].values)
    notes = [
        f"The model was trained {len(seeds)} times, with the seeds {', '.join(seeds)}; all else is shared. "
        f"{base} is the run's own. The standard deviation has n - 1 in its denominator."
    ]
    if any(len(group) == len(seeds) for group in same):
        notes.append(
            "The scores of all seeds are the same, pair by pair: training did not depend on the seed."
        )
    else:
        notes += [f"Seeds {', '.join(group)} have the same scores, pair by pair." for group in same]
    notes.append("The value of each seed, in full precision, is in seeds.csv.")
    if any(len(spread.defined) < len(seeds) for spread in found):
        notes.append(
            "Where a number of seeds stands beside a mean, the others have no value, or a mean of fewer "
            "subsets."
        )
    return notes
