"""What a change does: the results of several variants of one run, side by side and against a base."""

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from bove.evaluate.metrics import METRICS
from bove.evaluate.plots import Panel
from bove.evaluate.results import AGGREGATES, MEAN, WEIGHTED_MEAN, Result
from bove.evaluate.tables import (
    dataset_cell,
    development_notes,
    entered_note,
    escape,
    markdown_table,
    number,
    undefined,
)

CSV_COLUMNS = ("variant", "task", "dataset", "subset", "n_scored", "metric", "value", "difference")
_UNITS = {"pearson": "Pearson's correlation", "average-precision": "average precision (%)"}
_METRICS = {
    "similarity": (
        "*{columns}*: unweighted mean of the subsets' Pearson correlations between the gold scores and "
        "STS(S1, S2); differences are of correlations."
    ),
    "entailment": (
        "*{columns}*: average precision, in percent, of the ranking of the pairs by SNLI(S1, S2), with "
        "*entailment* as the positive class; differences are in percentage points."
    ),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A variant's result on a subset or a summary, and its difference from the base's.

    `difference` is None where either value is undefined, and for means over other subsets than the base's.
    """

    variant: str
    result: Result
    difference: float | None


@dataclass(frozen=True)
class Ablations:
    """Comparisons of all variants, in the order given, with what their printing needs.

    Attributes:
        comparisons: of each variant the same data sets and subsets, in one order.
        base: name of the variant that the others are held against.
        system: the system that all results are of.
        labels: name in print of each data set.
        development: data sets on which choices were made.
    """

    comparisons: Sequence[Comparison]
    base: str
    system: str
    labels: Mapping[str, str]
    development: Collection[str] = ()

    @property
    def variants(self) -> list[str]:
        return list(dict.fromkeys(comparison.variant for comparison in self.comparisons))

    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """(task, data set, subset) of what is shown: means of similarity, then subsets of entailment."""
        results = [c.result for c in self.comparisons if c.variant == self.base]
        means = [r for r in results if r.task == "similarity" and r.subset == MEAN]
        subsets = [r for r in results if r.task == "entailment" and r.subset not in AGGREGATES]
        return [_key(result) for result in means + subsets]

    def n_subsets(self, dataset: str) -> int:
        """How many subsets a data set has, summaries left out."""
        results = [c.result for c in self.comparisons if c.variant == self.base]
        return sum(r.dataset == dataset and r.subset not in AGGREGATES for r in results)

    def cells(self, variant: str) -> dict[tuple[str, str, str], Comparison]:
        """A variant's comparisons by task, data set and subset."""
        return {_key(c.result): c for c in self.comparisons if c.variant == variant}


def compare(results: Mapping[str, Sequence[Result]], base: str) -> list[Comparison]:
    """Hold each variant's results, of one system and the same pairs, against those of the base."""
    of_base = {_key(result): result for result in results[base]}
    defined_in_base = _defined(results[base])
    comparisons = []
    for variant, rows in results.items():
        defined = _defined(rows)
        for row in rows:
            other = of_base[_key(row)]
            same = row.subset not in (MEAN, WEIGHTED_MEAN) or (
                defined[row.dataset] == defined_in_base[row.dataset]
            )
            known = row.value is not None and other.value is not None and same
            comparisons.append(Comparison(variant, row, row.value - other.value if known else None))
    return comparisons


def write_csv(stream: IO[str], comparisons: Iterable[Comparison]) -> None:
    """Write comparisons as CSV in full precision; what is undefined is an empty cell."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for comparison in comparisons:
        row = [getattr(comparison.result, name) for name in CSV_COLUMNS[1:-1]]
        table.writerow([comparison.variant, *row, comparison.difference])


def ablation_table(ablations: Ablations) -> str:
    """The Markdown table, base first, with title, caption and notes."""
    columns, base = ablations.columns, ablations.base
    titles = {column: _title(ablations, column, ", ") for column in columns}
    body = []
    for variant in sorted(ablations.variants, key=lambda name: name != base):
        cells = ablations.cells(variant)
        shown = [_cell(cells[c], variant == base, ablations.n_subsets(c[1])) for c in columns]
        body.append([f"{variant} (base)" if variant == base else variant, *shown])
    parts = [
        f"Each row is a variant of *{base}*, scored by the system *{ablations.system}* on the same pairs. "
        f"In brackets stands the difference from *{base}*: above 0, the variant is better."
    ]
    for task, text in _METRICS.items():
        if names := [title for column, title in titles.items() if column[0] == task]:
            parts.append(text.format(columns="*, *".join(names)))
    parts.append("All subsets and summaries are in ablations.csv, in full precision.")
    notes = "".join(f"* {escape(note)}\n" for note in _notes(ablations))
    table = markdown_table(["variant", *titles.values()], body, 1)
    return f"# Ablations\n\n{table}\n{escape(' '.join(parts))}\n" + (f"\n{notes}" if notes else "")


def panels(ablations: Ablations) -> list[Panel]:
    """The columns of the table as panels of a figure; values that can not be compared become remarks."""
    cells = {variant: ablations.cells(variant) for variant in ablations.variants}
    return [_panel(ablations, column, cells) for column in ablations.columns]


def _panel(ablations, column, cells) -> Panel:
    factor = 100.0 if column[0] == "entailment" else 1.0
    values, remarks = {}, {}
    base_defined = cells[ablations.base][column].result.value is not None
    for variant, row in cells.items():
        comparison = row[column]
        if comparison.result.value is None:
            remarks[variant] = "undefined"
        elif base_defined and comparison.difference is None:
            remarks[variant] = "mean of other subsets"
        else:
            values[variant] = factor * comparison.result.value
    return Panel(_title(ablations, column, "\n"), _UNITS[METRICS[column[0]]], values, remarks)


def _key(result: Result) -> tuple[str, str, str]:
    return result.task, result.dataset, result.subset


def _defined(results: Sequence[Result]) -> dict[str, set[str]]:
    """The subsets of each data set whose value is defined."""
    found: dict[str, set[str]] = {result.dataset: set() for result in results}
    for result in results:
        if result.subset not in AGGREGATES and result.value is not None:
            found[result.dataset].add(result.subset)
    return found


def _title(ablations: Ablations, column: tuple[str, str, str], between: str) -> str:
    task, dataset, subset = column
    if subset == MEAN:
        n = ablations.n_subsets(dataset)
        subset = f"{MEAN} of {n} subset{'s' if n > 1 else ''}"
    return dataset_cell(dataset, ablations.labels, ablations.development) + between + subset


def _cell(comparison: Comparison, is_base: bool, n_subsets: int) -> str:
    result = comparison.result
    if result.value is None:
        return undefined(result) + entered_note(result, n_subsets)
    cell = number(result.task, result.value)
    if not is_base and comparison.difference is not None:
        cell += f" ({_signed(result.task, comparison.difference)})"
    return cell + entered_note(result, n_subsets)


def _signed(task: str, difference: float) -> str:
    """A difference in print: + or - before it, unless it prints as 0."""
    text = number(task, difference).removesuffix("%")
    return f"+{text}" if difference > 0 and float(text) else text


def _notes(ablations: Ablations) -> list[str]:
    notes = []
    empty: dict[str, int] = {}
    for c in ablations.comparisons:
        if c.result.subset not in AGGREGATES and c.result.n_empty:
            empty[c.variant] = empty.get(c.variant, 0) + c.result.n_empty
    if empty:
        counts = ", ".join(f"{variant} {count}" for variant, count in empty.items())
        notes.append(f"Pairs in which a sentence has no vectors, scored 0, of all data sets: {counts}.")
    shown = set(ablations.columns)
    lacking = [
        f"{c.variant} on {_title(ablations, _key(c.result), ', ')}"
        for c in ablations.comparisons
        if _key(c.result) in shown and c.difference is None
    ]
    if lacking:
        notes.append(
            "No difference where a value is undefined, or a mean is over other subsets than the base's: "
            f"{'; '.join(lacking)}. The figure says so in place of a dot."
        )
    datasets = list(dict.fromkeys(c.result.dataset for c in ablations.comparisons))
    return notes + development_notes(datasets, ablations.labels, ablations.development)
