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
from bove.evaluate.tables import (
    ABSENT,
    TITLES,
    UNDEFINED,
    Names,
    amount,
    bullets,
    count_note,
    entered_note,
    escape,
    markdown_table,
    printed,
    signed,
    undefined,
)

if TYPE_CHECKING:
    import pandas as pd

# Candidates: one is chosen by what it scores on the development sets.

SUMMARIES = {"mean": MEAN, "weighted": WEIGHTED_MEAN, "together": TOGETHER}


def summarise(results: "pd.DataFrame", summary: str) -> "pd.DataFrame":
    """What counts of each development set: a row for each candidate, a column for each set, NaN if undefined.

    It is the summary of a similarity set, and the mean of an entailment set's subsets. A candidate with an
    undefined subset has no mean if another candidate has a value there: means over other subsets are not
    comparable.

    Args:
        results: of all candidates.
        summary: a key of SUMMARIES.
    """
    by = ["variant", "dataset"]
    similarity = results.task == "similarity"
    counted = (results.subset == SUMMARIES[summary]) | (~similarity & ~results.subset.isin(AGGREGATES))
    values = results[counted].groupby(by, sort=False).value.agg(lambda column: column.dropna().mean())
    defined = without_summaries(results[~similarity] if summary == "together" else results)
    defined = defined.groupby(by, sort=False).value.count()
    fewer = defined[defined < defined.groupby("dataset").transform("max")]
    values[fewer.index] = np.nan
    return values.unstack(sort=False)


def ranked(values: "pd.DataFrame") -> "pd.Series":
    """Each candidate's mean over the development sets, best first; NaN, where one is undefined, last.

    Candidates that differ by rounding alone are equal; equal ones keep their order.
    """
    means = values.mean(axis=1, skipna=False)
    return means[means.round(12).sort_values(ascending=False, kind="stable").index]


def settings(name: str) -> dict[str, str]:
    """The keys and values of a candidate's name, such as alpha~10/e_step~averaged."""
    return dict(part.partition("~")[::2] for part in name.split("/"))


def choice(
    values: "pd.DataFrame", changes: Mapping, summary: str, metrics: Mapping[str, str]
) -> dict[str, Any]:
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


def candidates_frame(values: "pd.DataFrame") -> "pd.DataFrame":
    """What candidates.csv holds: every candidate in full precision, best first."""
    import pandas as pd

    means = ranked(values)
    rows = [(*settings(name).values(), *values.loc[name], mean) for name, mean in means.items()]
    found = pd.DataFrame(rows, columns=[*settings(means.index[0]), *values, "value"])
    found.insert(0, "rank", range(1, len(rows) + 1), allow_duplicates=True)
    return found


def candidate_table(values: "pd.DataFrame", metrics: Mapping[str, str], summary: str) -> str:
    """A Markdown table of all candidates, best first."""
    means, one = ranked(values), len(values.columns) == 1
    rows = []
    for name, mean in means.items():
        cells = [printed(metrics[dataset], value) for dataset, value in values.loc[name].items()]
        cells += [] if one else [printed("pearson", mean)]
        row = [*settings(name).values(), *cells]
        rows.append(row if rows else [f"**{cell}**" for cell in row])
    keys, sets = list(settings(means.index[0])), list(values)
    caption = (
        f"All {len(rows)} candidates, best first; the chosen one is bold. Chosen on {', '.join(sets)} alone, "
        f"by the *{SUMMARIES[summary]}* of the correlations for similarity and the mean of the subsets' "
        f"average precision for entailment{'' if one else ', and by the mean over these data sets'}. The "
        "chosen one's results on them are optimistic."
    )
    table = markdown_table([*keys, *sets, *([] if one else ["mean"])], rows, len(keys))
    return f"# Candidates\n\n{table}\n{escape(caption)}\n"


# Ablations: each variant's results beside those of a base.

ABLATION_COLUMNS = ["variant", *KEY, "n_scored", "metric", "value", "difference"]
_UNITS = {"pearson": "Pearson's correlation", "average-precision": "average precision (%)"}
_COMPARED = (
    "Each row is a variant of *{base}*, scored by the system *{system}* on the same pairs. In brackets "
    "stands the difference from *{base}*: above 0, the variant is better."
)
_SHOWN = {
    "similarity": "*{columns}*: unweighted mean of the subsets' Pearson correlations between the gold scores "
    "and STS(S1, S2); differences are of correlations.",
    "entailment": "*{columns}*: average precision, in percent, of the ranking of the pairs by SNLI(S1, S2), "
    "with *entailment* as the positive class; differences are in percentage points.",
}


def compare(results: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """The results with a column `difference`: the value less the base's.

    It is NaN where either is undefined, and for means over other subsets than the base's.
    """
    own = results[results.variant == base]
    of_base = results[KEY].merge(own[[*KEY, "value"]], how="left", on=KEY).value.set_axis(results.index)
    over = defined_subsets(results, ["variant", "dataset"])
    keys = zip(results.variant, results.dataset, strict=True)
    same = np.array([over[variant, dataset] == over[base, dataset] for variant, dataset in keys], bool)
    return results.assign(difference=(results.value - of_base).where(~results.subset.isin(MEANS) | same))


def ablation_titles(
    compared: "pd.DataFrame", base: str, names: Names, between: str = ", "
) -> dict[tuple, str]:
    """What is shown, by KEY, with its title: means of similarity, then subsets of entailment."""
    own = compared[compared.variant == base].sort_values("task", ascending=False, kind="stable")
    shown = own[(own.task == "entailment") | (own.subset == MEAN)]
    return {
        (row.task, row.dataset, row.subset): names.marked(row.dataset)
        + between
        + f"{row.subset} {count_note(row)}".strip()
        for row in shown.itertuples()
    }


def ablation_table(compared: "pd.DataFrame", base: str, system: str, names: Names) -> str:
    """The Markdown table of what `compare` gives, base first, with title, caption and notes."""
    titles = ablation_titles(compared, base, names)
    rows: dict[str, dict[tuple, str]] = {base: {}}
    for row in compared.itertuples():
        cell = undefined(row.metric, row.n_scored, row.subset)
        if not np.isnan(row.value):
            apart = row.variant != base and not np.isnan(row.difference)
            cell = printed(row.metric, row.value) + (
                f" ({signed(row.metric, row.difference)})" if apart else ""
            )
        rows.setdefault(row.variant, {})[row.task, row.dataset, row.subset] = cell + entered_note(row)
    body = [
        [f"{variant} (base)" if variant == base else variant, *(cells[key] for key in titles)]
        for variant, cells in rows.items()
    ]
    parts = [_COMPARED.format(base=base, system=system)]
    for task, text in _SHOWN.items():
        if columns := [title for key, title in titles.items() if key[0] == task]:
            parts.append(text.format(columns="*, *".join(columns)))
    parts.append("All subsets and summaries are in ablations.csv, in full precision.")
    notes = bullets(_ablation_notes(compared, titles, names))
    table = markdown_table(["variant", *titles.values()], body, 1)
    return f"# Ablations\n\n{table}\n{escape(' '.join(parts))}\n" + (f"\n{notes}" if notes else "")


def _ablation_notes(compared: "pd.DataFrame", titles: Mapping[tuple, str], names: Names) -> list[str]:
    notes = []
    empty = without_summaries(compared).groupby("variant", sort=False).n_empty.sum()
    if empty.any():
        counts = ", ".join(f"{variant} {count}" for variant, count in empty[empty > 0].items())
        notes.append(f"Pairs in which a sentence has no vectors, scored 0, of all data sets: {counts}.")
    lacking = [
        f"{row.variant} on {titles[row.task, row.dataset, row.subset]}"
        for row in compared[compared.difference.isna()].itertuples()
        if (row.task, row.dataset, row.subset) in titles
    ]
    if lacking:
        notes.append(
            "No difference where a value is undefined, or a mean is over other subsets than the base's: "
            f"{'; '.join(lacking)}. The figure says so in place of a dot."
        )
    return notes + names.notes(compared.dataset.unique())


@dataclass(frozen=True)
class Panel:
    """One measure of every variant: values, and remarks that stand where a variant has no value to show."""

    title: str
    unit: str
    values: Mapping[str, float]
    remarks: Mapping[str, str] = field(default_factory=dict)


def panels(compared: "pd.DataFrame", base: str, names: Names) -> list[Panel]:
    """The columns of the table as panels of a figure; values that are not comparable become remarks."""
    of_key = dict(iter(compared.set_index("variant").groupby(KEY)))
    made = []
    for key, title in ablation_titles(compared, base, names, "\n").items():
        rows = of_key[key]
        remarks = rows.value.isna().map({True: UNDEFINED, False: ""})
        if not np.isnan(rows.value[base]):
            remarks[rows.value.notna() & rows.difference.isna()] = "mean of other subsets"
        values = rows.value[remarks == ""] * (100.0 if key[0] == "entailment" else 1.0)
        made.append(Panel(title, _UNITS[METRICS[key[0]]], values.to_dict(), remarks[remarks != ""].to_dict()))
    return made


# Seeds: mean and deviation over models that differ in their seed alone.

SPREAD_COLUMNS = [*KEY, "n_scored", "metric", "seeds", "mean", "standard_deviation", "minimum", "maximum"]
_MEASURED = {
    "similarity": "Pearson's correlation of the gold scores and STS(S1, S2)",
    "entailment": "Average precision, in percent, of the ranking by SNLI(S1, S2)",
}
_SEEDS = (
    "The model was trained {n} times, with the seeds {seeds}; all else is shared. {base} is the run's own. "
    "The standard deviation has n - 1 in its denominator."
)


def spreads(results: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """What seeds.csv holds: for each result of the base, the run's own seed, its spread over all seeds.

    After SPREAD_COLUMNS, a column `seed X` has each seed's value: NaN where undefined, and where a mean lacks
    a subset that another seed's has. The deviation has n - 1 in its denominator.
    """
    import pandas as pd

    whole = results.entered == results.groupby(KEY).entered.transform("max")
    values = results.assign(value=results.value.where(whole)).pivot(
        index=KEY, columns="variant", values="value"
    )
    own = results[results.variant == base].set_index(KEY, drop=False)
    values = values.loc[own.index, results.variant.unique()]
    known = [row[~np.isnan(row)].tolist() for row in values.to_numpy()]
    rows = [
        (len(x), statistics.fmean(x), statistics.stdev(x) if len(x) > 1 else np.nan, min(x), max(x))
        if x
        else (0, *[np.nan] * 4)
        for x in known
    ]
    found = pd.DataFrame(rows, columns=SPREAD_COLUMNS[5:], index=own.index)
    return pd.concat([own[SPREAD_COLUMNS[:5]], found, values.add_prefix("seed ")], axis=1)


def seeds_table(
    found: "pd.DataFrame", base: str, system: str, names: Names, same: Sequence[Sequence[str]] = ()
) -> str:
    """The Markdown page, a table for each task, with a caption and notes.

    Args:
        found: from `spreads`.
        base: the run's own seed.
        system: the system that the spreads are of.
        names: of the data sets.
        same: groups of seeds whose scores are the same, pair by pair.
    """
    parts = [f"# {system} over seeds of the model\n"]
    header = ["data set", "subset", "pairs", "mean", "standard deviation", "min to max", f"seed {base}"]
    for task, text in _MEASURED.items():
        rows = [_spread_cells(row, base, names) for row in found[found.task == task].to_dict("records")]
        if rows:
            parts.append(f"## {TITLES[task]}\n\n{markdown_table(header, rows, 2)}\n{text}.\n")
    seeds = _seeds(found)
    notes = [_SEEDS.format(n=len(seeds), seeds=", ".join(seeds), base=base)]
    if any(len(group) == len(seeds) for group in same):
        notes.append(
            "The scores of all seeds are the same, pair by pair: training did not depend on the seed."
        )
    else:
        notes += [f"Seeds {', '.join(group)} have the same scores, pair by pair." for group in same]
    notes.append("The value of each seed, in full precision, is in seeds.csv.")
    if (found.seeds < len(seeds)).any():
        notes.append(
            "Where a number of seeds stands beside a mean, the others have no value, or a mean of fewer "
            "subsets."
        )
    return "\n".join([*parts, bullets(notes)])


def seed_notes(found: "pd.DataFrame", system: str, names: Names) -> dict[str, list[str]]:
    """A note for each task's table of results: mean and deviation of what sums up a data set."""
    notes = {}
    for task in _MEASURED:
        shown = found[(found.task == task) & found["mean"].notna()]
        shown = shown[shown.subset == MEAN] if task == "similarity" else without_summaries(shown)
        figures = [
            f"{names.name(row['dataset'])} {row['subset']} {printed(row['metric'], row['mean'])}, "
            f"{_deviation(row)}"
            for row in shown.to_dict("records")
        ]
        if figures:
            over = f"Mean and standard deviation of {system} over {len(_seeds(found))} seeds (seeds.md)"
            notes[task] = [f"{over}: {'; '.join(figures)}."]
    return notes


def _seeds(found: "pd.DataFrame") -> list[str]:
    return [name.removeprefix("seed ") for name in found.columns[len(SPREAD_COLUMNS) :]]


def _spread_cells(row: Mapping[str, Any], base: str, names: Names) -> list[str]:
    metric, n = row["metric"], row["seeds"]
    cells = [names.marked(row["dataset"]), row["subset"], str(row["n_scored"])]
    if not n:
        return [*cells, undefined(metric, row["n_scored"], row["subset"]), ABSENT, ABSENT, ABSENT]
    mean, low, high, own = (printed(metric, row[x]) for x in ("mean", "minimum", "maximum", f"seed {base}"))
    lacking = f" ({n} seeds)" if n + len(SPREAD_COLUMNS) < len(row) else ""
    return [*cells, mean + lacking, _deviation(row), f"{low} to {high}", own]


def _deviation(row: Mapping[str, Any]) -> str:
    deviation = row["standard_deviation"]
    if np.isnan(deviation):
        return ABSENT
    text = printed(row["metric"], deviation)
    return re.sub("0(?=%?$)", "1", f"< {text}") if deviation and not amount(text) else text


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
