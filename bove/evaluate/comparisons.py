"""Variants of a run held against each other: candidates, ablations, seeds; and two files of bags.

Candidates, ablations and seeds each take one frame: the results (bove.evaluate.results) of one system in all
variants, on the same pairs, with a further column `variant` of the variants' names.
"""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bove.bags.store import Bags
from bove.errors import BoveError
from bove.evaluate import tables
from bove.evaluate.metrics import METRICS
from bove.evaluate.results import (
    AGGREGATES,
    KEY,
    MEAN,
    MEANS,
    TOGETHER,
    WEIGHTED_MEAN,
    defined_subsets,
    without_summaries,
)
from bove.evaluate.tables import ABSENT, TITLES, UNDEFINED, below, markdown_table, marked, printed, undefined

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# Candidates: one is chosen by what it scores on the development sets.

SUMMARIES = {"mean": MEAN, "weighted": WEIGHTED_MEAN, "together": TOGETHER}


def summarise(results: "DataFrame", summary: str) -> "DataFrame":
    """What counts of each development set: a row for each candidate, a column for each set, NaN if undefined.

    It is the summary of a similarity set, and the mean of another set's subsets. A candidate with an
    undefined subset has no mean if another candidate has a value there: means over other subsets are not
    comparable.

    Args:
        results: of all candidates.
        summary: a key of SUMMARIES.
    """
    by = ["variant", "dataset"]
    similarity = results.task == "similarity"
    counted = (results.subset == SUMMARIES[summary]).where(similarity, ~results.subset.isin(AGGREGATES))
    values = results[counted].groupby(by, sort=False).value.agg(lambda column: column.dropna().mean())
    defined = without_summaries(results[~similarity] if summary == "together" else results)
    defined = defined.groupby(by, sort=False).value.count()
    fewer = defined[defined < defined.groupby("dataset").transform("max")]
    values[fewer.index] = np.nan
    return values.unstack(sort=False)


def ranked(values: "DataFrame") -> "Series":
    """Each candidate's mean over the development sets, best first; NaN, where one is undefined, last.

    Candidates that differ by rounding alone are equal; equal ones keep their order.
    """
    means = values.mean(axis=1, skipna=False)
    return means[means.round(12).sort_values(ascending=False, kind="stable").index]


def settings(name: str) -> dict[str, str]:
    """The keys and values of a candidate's name, such as alpha~10/e_step~averaged."""
    return dict(part.partition("~")[::2] for part in name.split("/"))


def choice(values: "DataFrame", changes: Mapping, summary: str, metrics: Mapping[str, str]) -> dict[str, Any]:
    """The choice and its reason, ready to be written as JSON.

    Args:
        values: from `summarise`, of which the best candidate's are defined.
        changes: of each candidate what it changes of the configuration.
        summary: as in `summarise`.
        metrics: of each development set.
    """
    (best, value), *others = ranked(values).items()
    sets = ", ".join(f"{dataset} ({metrics[dataset]})" for dataset in values)
    of = f"highest of {len(values)} candidates" if others else "the only candidate"
    reason = f"{of} on {sets}: {value:.6f}"
    for name, second in others[:1]:
        reason += f"; the next, {name}, {'is undefined' if np.isnan(second) else f'has {second:.6f}'}"
        if round(second, 12) == round(value, 12):
            reason += " too, and stands later in the list"
    chosen = {"chosen": best, "changes": changes[best], "value": value, "values": values.loc[best].to_dict()}
    asked = {"summary": summary, "development": list(values), "candidates": len(values)}
    return {**chosen, **asked, "reason": reason}


def candidates_frame(values: "DataFrame") -> "DataFrame":
    """What candidates.csv holds: every candidate in full precision, best first."""
    import pandas as pd

    rows = [
        (rank, *settings(name).values(), *values.loc[name], mean)
        for rank, (name, mean) in enumerate(ranked(values).items(), 1)
    ]
    return pd.DataFrame(rows, columns=["rank", *settings(values.index[0]), *values, "value"])


def candidate_table(values: "DataFrame", metrics: Mapping[str, str], summary: str) -> str:
    """A Markdown table of all candidates, best first."""
    keys, sets, several, rows = list(settings(values.index[0])), list(values), len(values.columns) > 1, []
    for name, mean in ranked(values).items():
        cells = [printed(metrics[dataset], value) for dataset, value in values.loc[name].items()]
        row = [*settings(name).values(), *cells, *([printed("pearson", mean)] if several else [])]
        rows.append(row if rows else [f"**{cell}**" for cell in row])
    also = ", and by the mean over these data sets" if several else ""
    caption = (
        f"All {len(rows)} candidates, best first; the chosen one is bold. Chosen on {', '.join(sets)} alone, "
        f"by the *{SUMMARIES[summary]}* of the correlations for similarity and the mean of the subsets' "
        f"average precision for entailment and accuracy for roles{also}. The chosen one's "
        "results on them are optimistic."
    )
    table = markdown_table([*keys, *sets, *(["mean"] if several else [])], rows, len(keys))
    return f"# Candidates\n\n{table}{below(caption)}"


# Ablations: each variant's results beside those of a base.

ABLATION_COLUMNS = ["variant", *KEY, "n_scored", "metric", "value", "difference"]
_UNITS = {
    "pearson": "Pearson's correlation",
    "average-precision": "average precision (%)",
    "accuracy": "accuracy (%)",
}
_COMPARED = (
    "Each row is a variant of *{base}*, scored by the system *{system}* on the same pairs. In brackets "
    "stands the difference from *{base}*: above 0, the variant is better."
)
_SHOWN = {
    "similarity": "*{columns}*: unweighted mean of the subsets' Pearson correlations between the gold scores "
    "and STS(S1, S2); differences are of correlations.",
    "entailment": "*{columns}*: average precision, in percent, of the ranking of the pairs by SNLI(S1, S2), "
    "with *entailment* as the positive class; differences are in percentage points.",
    "roles": "*{columns}*: accuracy, in percent, of telling roles apart, where 50% is chance; differences "
    "are in percentage points.",
}


def compare(results: "DataFrame", base: str) -> "DataFrame":
    """The results with a column `difference`: the value less the base's.

    It is NaN where either is undefined, and for means over other subsets than the base's.
    """
    own = results[results.variant == base]
    of_base = results[KEY].merge(own[[*KEY, "value"]], how="left", on=KEY).value.set_axis(results.index)
    over = defined_subsets(results, ["variant", "dataset"])
    keys = zip(results.variant, results.dataset, strict=True)
    same = np.array([over[variant, dataset] == over[base, dataset] for variant, dataset in keys], bool)
    return results.assign(difference=(results.value - of_base).where(~results.subset.isin(MEANS) | same))


def ablation_titles(compared: "DataFrame", base: str, between: str = ", ") -> dict[tuple, str]:
    """What is shown, by KEY, with its title: means of similarity, then subsets of other tasks."""
    own = compared[compared.variant == base].sort_values("task", ascending=False, kind="stable")
    counted = (own.subset == MEAN).where(own.task == "similarity", ~own.subset.isin(AGGREGATES))
    rows = own[counted].itertuples()
    shown = {_key(row): (marked(row), f"{row.subset} {tables.count_note(row)}".strip()) for row in rows}
    return {key: between.join(parts) for key, parts in shown.items()}


def _key(row: Any) -> tuple[str, str, str]:
    return row.task, row.dataset, row.subset


def ablation_table(compared: "DataFrame", base: str, system: str) -> str:
    """The Markdown table of what `compare` gives, base first, with title, caption and notes."""
    titles = ablation_titles(compared, base)
    rows: dict[str, dict[tuple, str]] = {base: {}}
    for row in compared.itertuples():
        cell = undefined(row.metric, row.n_scored, row.subset)
        if not np.isnan(row.value):
            apart = row.variant != base and not np.isnan(row.difference)
            change = f" ({tables.signed(row.metric, row.difference)})" if apart else ""
            cell = printed(row.metric, row.value) + change
        rows.setdefault(row.variant, {})[_key(row)] = cell + tables.entered_note(row)
    body = [
        [f"{variant} (base)" if variant == base else variant, *(cells[key] for key in titles)]
        for variant, cells in rows.items()
    ]
    parts = [_COMPARED.format(base=base, system=system)]
    for task, text in _SHOWN.items():
        if columns := [title for key, title in titles.items() if key[0] == task]:
            parts.append(text.format(columns="*, *".join(columns)))
    parts.append("All subsets and summaries are in ablations.csv, in full precision.")
    table = markdown_table(["variant", *titles.values()], body, 1)
    return f"# Ablations\n\n{table}{below(' '.join(parts), _ablation_notes(compared, titles))}"


def _ablation_notes(compared: "DataFrame", titles: Mapping[tuple, str]) -> list[str]:
    notes = []
    empty = without_summaries(compared).groupby("variant", sort=False).n_empty.sum()
    if empty.any():
        counts = ", ".join(f"{variant} {count}" for variant, count in empty[empty > 0].items())
        notes.append(f"Pairs in which a sentence has no vectors, scored 0, of all data sets: {counts}.")
    rows = compared[compared.difference.isna()].itertuples()
    if lacking := [f"{row.variant} on {titles[_key(row)]}" for row in rows if _key(row) in titles]:
        notes.append(
            "No difference where a value is undefined, or a mean is over other subsets than the base's: "
            f"{'; '.join(lacking)}. The figure says so in place of a dot."
        )
    return notes + tables.development_notes(compared)


@dataclass(frozen=True)
class Panel:
    """One measure of every variant: values, and remarks that stand where a variant has no value to show."""

    title: str
    unit: str
    values: Mapping[str, float]
    remarks: Mapping[str, str] = field(default_factory=dict)


def panels(compared: "DataFrame", base: str) -> list[Panel]:
    """The columns of the table as panels of a figure; values that are not comparable become remarks."""
    made = []
    for key, title in ablation_titles(compared, base, "\n").items():
        rows = {row.variant: row for row in compared.itertuples() if _key(row) == key}
        other = "" if np.isnan(rows[base].value) else "mean of other subsets"
        remarks = {
            variant: UNDEFINED if np.isnan(row.value) else other if np.isnan(row.difference) else ""
            for variant, row in rows.items()
        }
        factor = 100.0 if METRICS[key[0]] in tables.PERCENT else 1.0
        values = {variant: factor * row.value for variant, row in rows.items() if not remarks[variant]}
        remarks = {variant: remark for variant, remark in remarks.items() if remark}
        made.append(Panel(title, _UNITS[METRICS[key[0]]], values, remarks))
    return made


# Seeds: mean and deviation over models that differ in their seed alone.

SPREAD_COLUMNS = [*KEY, "n_scored", "metric", "seeds", "mean", "standard_deviation", "minimum", "maximum"]
_MEASURED = {
    "similarity": "Pearson's correlation of the gold scores and STS(S1, S2)",
    "entailment": "Average precision, in percent, of the ranking by SNLI(S1, S2)",
    "roles": "Accuracy, in percent, of telling roles apart",
}
_SEEDS = (
    "The model was trained {n} times, with the seeds {seeds}; all else is shared. {base} is the run's own. "
    "The standard deviation has n - 1 in its denominator."
)
_SAME = "The scores of all seeds are the same, pair by pair: training did not depend on the seed."
_FEWER = "Where a number of seeds stands beside a mean, the others have no value, or a mean of fewer subsets."


def spreads(results: "DataFrame", base: str) -> "DataFrame":
    """For each result of the base, the run's own seed, its spread over all seeds.

    SPREAD_COLUMNS and a column `seed X` with each seed's value, which is NaN where undefined, and where a
    mean lacks a subset that another seed's has; and what `named` adds.
    """
    import pandas as pd

    whole = results.entered == results.groupby(KEY).entered.transform("max")
    values = results[whole].pivot(index=KEY, columns="variant", values="value")
    own = results[results.variant == base].set_index(KEY, drop=False)
    values = values.reindex(index=own.index, columns=results.variant.unique()).add_prefix("seed ")
    known = [row[~np.isnan(row)].tolist() for row in values.to_numpy()]
    found = own.assign(
        seeds=[len(x) for x in known],
        mean=[statistics.fmean(x) if x else np.nan for x in known],
        standard_deviation=[statistics.stdev(x) if len(x) > 1 else np.nan for x in known],
        minimum=[min(x, default=np.nan) for x in known],
        maximum=[max(x, default=np.nan) for x in known],
    )
    return pd.concat([found[SPREAD_COLUMNS], values, found[["name", "development"]]], axis=1)


def seeds_table(found: "DataFrame", base: str, system: str, same: Sequence[Sequence[str]] = ()) -> str:
    """The Markdown page, a table for each task, with a caption and notes.

    Args:
        found: from `spreads`.
        system: the system that the spreads are of.
        same: groups of seeds whose scores are the same, pair by pair.
    """
    seeds, parts = _seeds(found), [f"# {system} over seeds of the model\n"]
    header = ["data set", "subset", "pairs", "mean", "standard deviation", "min to max", f"seed {base}"]
    for task, text in _MEASURED.items():
        of_task = found[found.task == task].rename(columns={f"seed {base}": "own"})
        if rows := [_spread_cells(row, len(seeds)) for row in of_task.itertuples()]:
            parts.append(f"## {TITLES[task]}\n\n{markdown_table(header, rows, 2)}{below(f'{text}.')}")
    notes = [_SEEDS.format(n=len(seeds), seeds=", ".join(seeds), base=base)]
    if any(len(group) == len(seeds) for group in same):
        notes.append(_SAME)
    else:
        notes += [f"Seeds {', '.join(group)} have the same scores, pair by pair." for group in same]
    notes.append("The value of each seed, in full precision, is in seeds.csv.")
    notes += [_FEWER] if (found.seeds < len(seeds)).any() else []
    return "\n".join([*parts, tables.bullets(notes)])


def seed_notes(found: "DataFrame", system: str) -> dict[str, list[str]]:
    """A note for each task's table of results: mean and deviation of what sums up a data set."""
    notes = {}
    for task in _MEASURED:
        shown = found[(found.task == task) & found["mean"].notna()]
        shown = shown[shown.subset == MEAN] if task == "similarity" else without_summaries(shown)
        figures = [
            f"{row.name} {row.subset} {printed(row.metric, row.mean)}, {_deviation(row)}"
            for row in shown.itertuples()
        ]
        if figures:
            over = f"Mean and standard deviation of {system} over {len(_seeds(found))} seeds (seeds.md)"
            notes[task] = [f"{over}: {'; '.join(figures)}."]
    return notes


def _seeds(found: "DataFrame") -> list[str]:
    return [name.removeprefix("seed ") for name in found if name.startswith("seed ")]


def _spread_cells(row: Any, n_seeds: int) -> list[str]:
    cells = [marked(row), row.subset, str(row.n_scored)]
    if not row.seeds:
        return [*cells, undefined(row.metric, row.n_scored, row.subset), ABSENT, ABSENT, ABSENT]
    figures = (row.mean, row.minimum, row.maximum, row.own)
    mean, low, high, own = (printed(row.metric, figure) for figure in figures)
    mean += f" ({row.seeds} seeds)" if row.seeds < n_seeds else ""
    return [*cells, mean, _deviation(row), f"{low} to {high}", own]


def _deviation(row: Any) -> str:
    if np.isnan(row.standard_deviation):
        return ABSENT
    text = printed(row.metric, row.standard_deviation)
    is_small = row.standard_deviation > 0 and tables.amount(text) == 0
    return re.sub("0(?=%?$)", "1", f"< {text}") if is_small else text


# Bags: how far two files agree token by token, such as one from gold trees and one from predicted trees.

LENGTHS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, np.inf))  # classes of sentences by their tokens
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
    """Cosines of corresponding vectors; sentences are found by id and may be in any order.

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
        if missing := [name for name in one if name not in other]:
            raise BoveError(
                f"{other.path}: has no bag for sentence '{missing[0]}', which {one.path} has (the first of "
                f"{len(missing)} such); compare bags of the same sentences"
            )
    lengths, cosines, zeros = [], [np.zeros(0)], [np.zeros((2, 0), bool)]
    for name in first:
        a, b = (bags.finite_bag(bags.bag_of(name)).astype(np.float64) for bags in (first, second))
        if len(a) != len(b):
            raise BoveError(
                f"{second.path}: sentence '{name}' has {len(b)} vectors, but {len(a)} in {first.path}; "
                "compare bags of the same tokens"
            )
        norms = np.stack([np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)])
        with np.errstate(invalid="ignore"):
            cosine = np.einsum("nr,nr->n", a, b) / norms[0] / norms[1]
        lengths.append(len(a))
        zeros.append(norms == 0)
        cosines.append(np.where((norms == 0).any(axis=0), np.nan, np.clip(cosine, -1, 1)))
    zero = np.concatenate(zeros, axis=1)
    counts = {"first": zero[0].sum(), "second": zero[1].sum(), "both": zero.all(axis=0).sum()}
    counts = {name: int(count) for name, count in counts.items()}
    return TokenCosines(np.array(lengths, np.int64), np.concatenate(cosines), counts)


def summarise_bags(cosines: np.ndarray) -> dict[str, Any]:
    """Mean, quantiles, and tokens below some values, of cosines without the NaN; None where none is left."""
    known = cosines[~np.isnan(cosines)]
    n = len(known)
    below = {str(limit): int((known < limit).sum()) for limit in BELOW}
    quantiles = np.quantile(known, QUANTILES).tolist() if n else [None] * len(QUANTILES)
    return {
        "tokens": n,
        "mean": float(known.mean()) if n else None,
        "quantiles": dict(zip(map(str, QUANTILES), quantiles, strict=True)),
        "tokens_below": below,
        "share_below": {limit: count / n if n else None for limit, count in below.items()},
    }


def by_length(found: TokenCosines) -> list[dict[str, Any]]:
    """The same for each class of sentence lengths that occurs."""
    made = []
    of_token = np.repeat(found.lengths, found.lengths)
    for low, high in LENGTHS:
        if sentences := int(((found.lengths >= low) & (found.lengths <= high)).sum()):
            chosen = found.cosines[(of_token >= low) & (of_token <= high)]
            name = f"{low} or more" if np.isinf(high) else f"{low} to {high}"
            made.append({"length": name, "sentences": sentences, **summarise_bags(chosen)})
    return made
