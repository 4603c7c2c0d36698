"""How far results can be trusted: intervals, and tests of the differences between systems.

All rest on one bootstrap over the pairs of a data set: every system and metric is measured on the same
resamples, so differences are paired. Intervals are percentile intervals; a difference's two-sided p-value
counts how often it lies on the other side of 0,

    p = min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (1 + R))   of R resampled differences d,

which agrees with the interval: where that excludes 0, p is about 1 - confidence at most. Percentiles, because
the bias-corrected and accelerated interval needs every metric on all pairs but one, n times (4e8 draws for
the 20,000 pairs of SNLI), has no value where that leaves a metric undefined, and would not agree with the
p-value. Swapping the systems' scores within pairs would not be a test here: scores of two systems lie on
different scales, and the correlation or ranking of a mixture of them is that of neither.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bove.evaluate import metrics
from bove.evaluate.results import (
    MEANS,
    SUMMED_UP,
    TOGETHER,
    WEIGHTED_MEAN,
    Scores,
    comparable,
    defined_subsets,
    results_of,
    without_summaries,
)

if TYPE_CHECKING:
    from pandas import DataFrame

# Columns of the frame of differences, and of differences.csv: a system's value less that of `against`, on one
# subset or summary; NaN where either value is undefined, and between means over different subsets.
DIFFERENCE_COLUMNS = [
    *("task", "dataset", "subset", "metric", "system", "against", "difference", "low", "high"),
    *("p_value", "p_adjusted", "resamples", "undefined_resamples"),
]
# Draws worked on at once: few enough that what is made of them stays in a processor's cache.
_BATCH = 1 << 17
# With fewer resamples beyond it, the end of an interval is little but chance.
TAIL = 10
# Differences that are zero but for rounding lie on neither side.
_DECIMALS = 12


@dataclass(frozen=True)
class Bootstrap:
    """How many resamples are drawn, the confidence level of intervals, and the seed."""

    resamples: int
    confidence: float
    seed: int

    @property
    def least(self) -> int:
        """Resamples that the intervals want: as many as put TAIL of them beyond either end."""
        return math.ceil(round(2 * TAIL / (1 - self.confidence), 6))

    @property
    def level(self) -> float:
        """Below this a p-value is called significant: 1 - confidence."""
        return round(1 - self.confidence, 10)


def evidence(scores: Scores, bootstrap: Bootstrap) -> tuple["DataFrame", "DataFrame"]:
    """All results of a data set with their intervals, and the differences of each two systems.

    Systems with weights are held against those with the same ones, and each against itself with others; a
    baseline that has no weights is held against all.
    Results are in the order of `results_of`, one metric after another; of two systems the later is held
    against the earlier. The same scores and settings give the same numbers, and neither other data sets
    nor other systems change them.

    Returns:
        Frames with RESULT_COLUMNS and DIFFERENCE_COLUMNS, of which p_adjusted is left to `adjust`.
    """
    import pandas as pd

    results = results_of(scores, metrics.MEASURES[scores.task])
    draws = _draws(scores, results, bootstrap)
    keys = results[["metric", "subset", "system"]].itertuples(index=False, name=None)
    bounds = [_bounds(draws[key], bootstrap) for key in keys]
    results[["low", "high", "undefined_resamples"]] = pd.DataFrame(bounds)
    over = defined_subsets(results, ["metric", "system"])
    rows = []
    for (metric, subset), systems in results.groupby(["metric", "subset"], sort=False):
        for against, system in combinations(systems.itertuples(), 2):
            if not comparable(against.system, system.system):
                continue
            drawn = draws[metric, subset, system.system] - draws[metric, subset, against.system]
            difference = system.value - against.value
            if subset in MEANS and over[metric, system.system] != over[metric, against.system]:
                drawn, difference = np.full_like(drawn, np.nan), np.nan
            low, high, undefined = _bounds(drawn, bootstrap)
            names = (scores.task, scores.dataset, subset, metric, system.system, against.system)
            tested = (difference, low, high, p_value(drawn), np.nan)
            rows.append((*names, *tested, bootstrap.resamples, undefined))
    return results, pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS)


def adjust(differences: "DataFrame") -> "DataFrame":
    """Fill in p-values adjusted, by Benjamini and Hochberg, for all comparisons by one metric of one task."""
    from scipy.stats import false_discovery_control

    adjusted = differences.p_value.copy()
    for _, family in differences.dropna(subset="p_value").groupby(["task", "metric"]):
        adjusted[family.index] = false_discovery_control(family.p_value)
    return differences.assign(p_adjusted=adjusted)


def interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """The percentile interval of resampled values [R], NaN left out; two NaN where all are."""
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def p_value(differences: np.ndarray) -> float:
    """Two-sided p-value of resampled differences [R], NaN left out; NaN where all are."""
    differences = np.round(differences[~np.isnan(differences)], _DECIMALS)
    if not len(differences):
        return np.nan
    fewer = min((differences <= 0).sum(), (differences >= 0).sum())
    return float(min(1.0, 2 * (1 + fewer) / (1 + len(differences))))


def _bounds(drawn: np.ndarray, bootstrap: Bootstrap) -> tuple[float, float, int]:
    """Ends of the interval, and how many resamples have no value."""
    return *interval(drawn, bootstrap.confidence), int(np.isnan(drawn).sum())


def _draws(
    scores: Scores, results: "DataFrame", bootstrap: Bootstrap
) -> dict[tuple[str, str, str], np.ndarray]:
    """[R] the value of each result, by metric, subset and system, in each resample.

    A mean is NaN where one of its subsets is undefined there; all draws are NaN where the value is undefined.
    """
    draws = resampled(scores, bootstrap)
    subsets = without_summaries(results)
    for row in results.itertuples():
        key = row.metric, row.subset, row.system
        if np.isnan(row.value):
            draws[key] = np.full(bootstrap.resamples, np.nan)
        elif row.subset in MEANS:
            same = (subsets.metric == row.metric) & (subsets.system == row.system) & subsets.value.notna()
            parts = [draws[row.metric, name, row.system] for name in subsets.subset[same]]
            weights = subsets.n_scored[same] if row.subset == WEIGHTED_MEAN else None
            draws[key] = np.average(parts, axis=0, weights=weights)
    return draws


def resampled(scores: Scores, bootstrap: Bootstrap) -> dict[tuple[str, str, str], np.ndarray]:
    """Each metric of each subset and system, and of all pairs together where a task has that, in R resamples.

    Scored pairs are drawn with replacement within each subset, as many as it has. The draws depend on the
    seed and the subsets' sizes alone.

    Returns:
        [R] float64 by (metric, subset, system), NaN where the metric is undefined.
    """
    strata = [pairs[scores.scored[pairs]] for pairs in scores.by_subset().values()]
    pairs, sizes = np.concatenate(strata), [len(stratum) for stratum in strata]
    starts = np.cumsum([0, *sizes])
    slices = dict(zip(scores.by_subset(), map(slice, starts, starts[1:]), strict=True))
    if scores.task in SUMMED_UP:
        slices[TOGETHER] = slice(0, len(pairs))
    measures = [(where, _measure(scores, pairs[where])) for where in slices.values()]
    names = metrics.MEASURES[scores.task]
    values = np.full((len(slices), len(scores.values), len(names), bootstrap.resamples), np.nan)
    if max(sizes) > 1:  # else all resamples are the same
        batch, rng = max(1, _BATCH // len(pairs)), np.random.default_rng(bootstrap.seed)
        for start in range(0, bootstrap.resamples, batch):
            stop = min(start + batch, bootstrap.resamples)
            places = [(at, n) for at, n in zip(starts, sizes, strict=False) if n]
            drawn = [at + rng.integers(0, n, (stop - start, n)) for at, n in places]
            counts = _counts(np.concatenate(drawn, axis=1), len(pairs))
            for p, (where, measure) in enumerate(measures):
                values[p, ..., start:stop] = measure(counts[:, where])
    return {
        (metric, subset, system): values[p, s, m]
        for m, metric in enumerate(names)
        for p, subset in enumerate(slices)
        for s, system in enumerate(scores.values)
    }


def _counts(drawn: np.ndarray, n: int) -> np.ndarray:
    """[b, n] int32, how often each resample holds each of n pairs, from the [b, n] pairs drawn."""
    shifted = drawn + n * np.arange(len(drawn))[:, None]
    return np.bincount(shifted.ravel(), minlength=len(drawn) * n).reshape(-1, n).astype(np.int32)


def _measure(scores: Scores, pairs: np.ndarray) -> Callable[[np.ndarray], object]:
    """A function from counts [b, k] of k numbered pairs to [systems, metrics, b]."""
    values = [column[pairs] for column in scores.values.values()]
    gold, lengths = scores.gold_of(pairs), scores.lengths[pairs, 1].astype(np.float64)
    if len(pairs) < 2:
        return lambda counts: np.nan
    if scores.task == "roles":
        right = np.stack([metrics.correct(column) for column in values])
        return lambda counts: (right @ counts.T / len(pairs))[:, None]
    if scores.task == "entailment":
        rankings = [(column, metrics.Ranking(metrics.is_positive(gold), column)) for column in values]
        return lambda counts: [
            (*ranking.measures(counts), metrics.pearson_of_resamples(counts, lengths, column))
            for column, ranking in rankings
        ]
    levels, levels_gold = [(column, metrics.Levels(column)) for column in values], metrics.Levels(gold)

    def measure(counts):
        ranks = levels_gold.ranks(counts)
        return [
            (
                metrics.pearson_of_resamples(counts, gold, column),
                metrics.spearman_of_resamples(counts, ranks, of_system.ranks(counts)),
            )
            for column, of_system in levels
        ]

    return measure
