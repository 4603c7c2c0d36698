"""What a change does: the results of several variants of one run, side by side and against a base."""

import csv
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from bove.bags.store import Bags
from bove.errors import BoveError
from bove.evaluate.metrics import METRICS
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.tables import (
    ABSENT,
    UNDEFINED,
    dataset_cell,
    dataset_name,
    development_notes,
    entered_note,
    escape,
    markdown_table,
    number,
    undefined,
)

# Choosing one of several candidates by what they score on the development sets, and saying why.

SUMMARIES = {"mean": MEAN, "weighted": WEIGHTED_MEAN, "together": TOGETHER}
SYSTEM = "bove"


@dataclass(frozen=True)
class Candidate:
    """A candidate and what it scores.

    Attributes:
        name: as its folder is called, such as alpha~10/lambda_P~1000.
        changes: what it changes of the configuration.
        values: for each development set its summary, or None where that is undefined.
    """

    name: str
    changes: Mapping
    values: Mapping[str, float | None]

    @property
    def value(self) -> float | None:
        """The mean over the development sets; None where one is undefined."""
        values = list(self.values.values())
        return None if None in values else float(np.mean(values))


def summarise(candidates: Mapping[str, Sequence[Result]], summary: str) -> dict[str, float | None]:
    """What counts of one development set, for each candidate.

    A candidate with an undefined subset has no mean if another candidate has a value there: means over other
    subsets are not to be compared.

    Args:
        candidates: results of each candidate, all on the same pairs.
        summary: of similarity a key of SUMMARIES; entailment's is the mean of its subsets.
    """
    own = {name: [r for r in results if r.system == SYSTEM] for name, results in candidates.items()}
    subsets = {name: [r for r in results if r.subset not in AGGREGATES] for name, results in own.items()}
    most = max(sum(r.entered for r in results) for results in subsets.values())
    values: dict[str, float | None] = {}
    for name, results in own.items():
        defined = [r.value for r in subsets[name] if r.value is not None]
        if results[0].task == "similarity":
            value = next(r.value for r in results if r.subset == SUMMARIES[summary])
        else:
            value = float(np.mean(defined)) if defined else None
        whole = len(defined) == most or (results[0].task == "similarity" and summary == "together")
        values[name] = value if whole else None
    return values


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first; equal ones in the order given; undefined ones last."""
    return sorted(candidates, key=_place, reverse=True)


def _place(candidate: Candidate) -> float:
    # what differs by rounding alone is equal
    return -np.inf if candidate.value is None else round(candidate.value, 12)


def settings(name: str) -> dict[str, str]:
    """The candidate's keys and values as its name has them; a part without ~ has an empty value."""
    return dict(part.partition("~")[::2] for part in name.split("/"))


def choice(candidates: Sequence[Candidate], summary: str, metrics: Mapping[str, str]) -> dict:
    """The choice and its reason, ready to be written as JSON.

    Args:
        metrics: of each development set its metric.
    """
    best, *others = ranked(candidates)
    sets = ", ".join(f"{dataset} ({metrics[dataset]})" for dataset in best.values)
    of = f"highest of {len(candidates)} candidates" if others else "the only candidate"
    reason = f"{of} on {sets}: {best.value:.6f}"
    if others:
        next_value = "is undefined" if others[0].value is None else f"has {others[0].value:.6f}"
        reason += f"; the next, {others[0].name}, {next_value}"
        if _place(others[0]) == _place(best):
            reason += " too, and stands later in the list"
    return {
        "chosen": best.name,
        "changes": best.changes,
        "value": best.value,
        "values": dict(best.values),
        "summary": summary,
        "development": list(best.values),
        "candidates": len(candidates),
        "reason": reason,
    }


def write_csv(stream: IO[str], candidates: Sequence[Candidate]) -> None:
    """Every candidate in full precision, best first; an undefined value is an empty cell."""
    keys, sets = list(settings(candidates[0].name)), list(candidates[0].values)
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["rank", *keys, *sets, "value"])
    for place, candidate in enumerate(ranked(candidates), 1):
        table.writerow(
            [place, *settings(candidate.name).values(), *candidate.values.values(), candidate.value]
        )


def candidate_table(candidates: Sequence[Candidate], tasks: Mapping[str, str], summary: str) -> str:
    """A Markdown table of all candidates, best first.

    Args:
        tasks: of each development set its task.
    """
    order = ranked(candidates)
    keys, sets = list(settings(order[0].name)), list(order[0].values)
    one = len(sets) == 1
    rows = []
    for candidate in order:
        cells = [
            UNDEFINED if value is None else number(tasks[dataset], value)
            for dataset, value in candidate.values.items()
        ]
        mean = [] if one else [UNDEFINED if candidate.value is None else f"{candidate.value:.4f}"]
        row = [*settings(candidate.name).values(), *cells, *mean]
        rows.append([f"**{cell}**" for cell in row] if candidate is order[0] else row)
    header = [*keys, *sets, *([] if one else ["mean"])]
    caption = (
        f"All {len(order)} candidates, best first; the chosen one is bold. Chosen on {', '.join(sets)} "
        f"alone, by the *{SUMMARIES[summary]}* of the correlations for similarity and the mean of the "
        "subsets' average precision for entailment"
    )
    caption += "." if one else ", and by the mean over these data sets."
    caption += " The chosen one's results on them are optimistic."
    return f"# Candidates\n\n{markdown_table(header, rows, len(keys))}\n{escape(caption)}\n"


# What a change does: the results of several variants of one run, side by side and against a base.

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


def write_ablations(stream: IO[str], comparisons: Iterable[Comparison]) -> None:
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


@dataclass(frozen=True)
class Panel:
    """One measure of every variant: values, and remarks that stand where a variant has no value to show."""

    title: str
    unit: str
    values: Mapping[str, float]
    remarks: Mapping[str, str] = field(default_factory=dict)


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


# Mean and spread of a system's results over models that differ in their seed alone.

SEED_COLUMNS = (
    "task", "dataset", "subset", "n_scored", "metric", "seeds", "mean", "standard_deviation", "minimum",
    "maximum",
)  # fmt: skip
_TITLES = {"similarity": "Semantic textual similarity", "entailment": "Textual entailment"}
_SEED_METRICS = {
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


def write_seeds(stream: IO[str], found: Sequence[Spread]) -> None:
    """Write spreads as CSV in full precision, with a column for each seed; what is undefined is empty."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*SEED_COLUMNS, *(f"seed {seed}" for seed in found[0].values)])
    for spread in found:
        names = [getattr(spread.result, name) for name in SEED_COLUMNS[:5]]
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
            parts.append(f"## {title}\n\n{markdown_table(header, body, 2)}\n{_SEED_METRICS[task]}.\n")
    notes = "".join(f"* {escape(note)}\n" for note in _seed_notes(found, base, same))
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


def _seed_notes(found: Sequence[Spread], base: str, same) -> list[str]:
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


# How far two bags of the same tokens agree, such as from gold trees and from predicted ones.

# Numbers of tokens of a sentence, by class; the last class has no end.
LENGTHS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, None))
QUANTILES = (0, 0.01, 0.05, 0.25, 0.5, 0.75, 1)
BELOW = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class TokenCosines:
    """Token by token, how alike the vectors of two files are.

    Attributes:
        lengths: [S] tokens of each sentence, in the first file's order.
        cosines: [T] one sentence's after another's; NaN where one vector or both are zero.
        zeros: number of zero vectors in the "first" file, in the "second", and of tokens where "both" are.
    """

    lengths: np.ndarray
    cosines: np.ndarray
    zeros: dict[str, int]


def compare_bags(first: Bags, second: Bags) -> TokenCosines:
    """Cosines of corresponding vectors; sentences are found by id and may stand in any order.

    Raises:
        BoveError: the files differ in their sentences, a sentence's number of vectors, or the vectors'
            dimensions; or a vector is not finite.
    """
    if first.rank != second.rank:
        raise BoveError(
            f"{second.path}: vectors of {second.rank} dimensions, but {first.path} has {first.rank}; "
            f"compare bags of models of one rank"
        )
    for one, other in ((first, second), (second, first)):
        missing = [name for name in one if name not in other]
        if missing:
            raise BoveError(
                f"{other.path}: has no bag for sentence '{missing[0]}', which {one.path} has (the first of "
                f"{len(missing)} such); compare bags of the same sentences"
            )
    lengths = _lengths(first, second)
    total = int(lengths.sum())
    cosines, zero = np.empty(total), np.empty((2, total), bool)
    start = 0
    for found, empty in _sentences(first, second):
        stop = start + len(found)
        cosines[start:stop], zero[:, start:stop] = found, empty
        start = stop
    counts = {"first": zero[0], "second": zero[1], "both": zero.all(axis=0)}
    return TokenCosines(lengths, cosines, {name: int(values.sum()) for name, values in counts.items()})


def _lengths(first: Bags, second: Bags) -> np.ndarray:
    """[S] number of vectors of each sentence, the same in both files."""
    sizes = np.diff(first.offsets)[first.index]
    others = np.diff(second.offsets)[[second.bag_of(name) for name in first]] if len(first) else sizes
    differ = np.flatnonzero(sizes != others)
    if len(differ):
        s = differ[0]
        raise BoveError(
            f"{second.path}: sentence '{first.ids[s]}' has {others[s]} vectors, but {sizes[s]} in "
            f"{first.path} (the first of {len(differ)} such sentences); compare bags of the same tokens"
        )
    return sizes


def _sentences(first: Bags, second: Bags) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Cosines [n] of each sentence, and [2, n] whether a vector is zero."""
    for name in first:
        vectors = []
        for bags in (first, second):
            vectors.append(bags.finite_bag(bags.bag_of(name)).astype(np.float64))
        a, b = vectors
        norms = np.stack([np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)])
        zero = norms == 0
        with np.errstate(invalid="ignore"):
            cosines = np.einsum("nr,nr->n", a, b) / norms[0] / norms[1]
        yield np.where(zero.any(axis=0), np.nan, np.clip(cosines, -1, 1)), zero


def summarise_bags(cosines: np.ndarray) -> dict:
    """Mean, quantiles, and tokens below some values, of cosines without the NaN; None where none is left."""
    known = cosines[~np.isnan(cosines)]
    some = len(known) > 0
    below = {str(limit): int((known < limit).sum()) for limit in BELOW}
    return {
        "tokens": len(known),
        "mean": float(known.mean()) if some else None,
        "quantiles": {
            str(q): float(value) if some else None
            for q, value in zip(QUANTILES, np.quantile(known, QUANTILES) if some else QUANTILES, strict=True)
        },
        "tokens_below": below,
        "share_below": {limit: count / len(known) if some else None for limit, count in below.items()},
    }


def by_length(found: TokenCosines) -> list[dict]:
    """The same for each class of sentence lengths that occurs."""
    out = []
    of_token = np.repeat(found.lengths, found.lengths)
    for low, high in LENGTHS:
        top = np.inf if high is None else high
        sentences = int(((found.lengths >= low) & (found.lengths <= top)).sum())
        if sentences:
            chosen = found.cosines[(of_token >= low) & (of_token <= top)]
            name = f"{low} or more" if high is None else f"{low} to {high}"
            out.append({"length": name, "sentences": sentences, **summarise_bags(chosen)})
    return out
