"""How far results can be trusted: intervals, and tests of the differences between systems.

All rest on one bootstrap a data set (`bove.evaluate.bootstrap`), so differences are paired. Intervals are
those of the percentiles; a difference's two-sided p-value counts how often it lies on the other side of 0,

    p = min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (1 + R))   of R resampled differences d,

which goes with the interval: where that leaves out 0, p is about 1 - confidence at most. Percentiles, because
the bias-corrected and accelerated interval needs every metric on all pairs but one, n times (4e8 draws for
the 20,000 pairs of SNLI), has no value where that leaves a metric undefined, and would not fit the p-value.
Swapping the systems' scores within pairs would be no test here: scores of two systems lie on different
scales, and the correlation or ranking of a mixture of them is that of neither.
"""

import csv
import dataclasses
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import IO

import numpy as np

from bove.evaluate.metrics import (
    MEASURES,
    Levels,
    Ranking,
    is_positive,
    pearson_of_resamples,
    spearman_of_resamples,
)
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result, Scores, results_of

# The bootstrap over pairs: every system and metric measured on the same resamples of a data set.

# Draws worked on at once: few enough that what is made of them stays in a processor's cache.
_BATCH = 1 << 17
# With fewer resamples beyond it, the end of an interval is little but chance.
TAIL = 10


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


def resampled(scores: Scores, bootstrap: Bootstrap) -> dict[tuple[str, str, str], np.ndarray]:
    """Each metric of each subset and system, and for similarity of all pairs together, in R resamples.

    Scored pairs are drawn with replacement within each subset, as many as it has. The draws depend on the
    seed and the subsets' sizes alone.

    Returns:
        [R] float64 by (metric, subset, system), NaN where the metric is undefined.
    """
    of_subset = np.array(scores.subsets, object)
    subsets = list(dict.fromkeys(scores.subsets))
    strata = [np.flatnonzero((of_subset == name) & scores.scored) for name in subsets]
    ends = np.cumsum([len(stratum) for stratum in strata])
    slices = [slice(end - len(stratum), end) for end, stratum in zip(ends, strata, strict=True)]
    pairs = np.concatenate(strata)
    if scores.task == "similarity":
        subsets, slices = [*subsets, TOGETHER], [*slices, slice(0, len(pairs))]
    measures = [_measure(scores, pairs[where]) for where in slices]

    def statistic(*drawn, axis):
        counts = _counts(drawn, len(pairs))
        return np.stack([measure(counts[:, where]) for where, measure in zip(slices, measures, strict=True)])

    values = _bootstrap(np.split(np.arange(len(pairs)), ends[:-1]), statistic, bootstrap)
    return {
        (metric, subset, system): np.full(bootstrap.resamples, np.nan) if values is None else values[p, s, m]
        for m, metric in enumerate(MEASURES[scores.task])
        for p, subset in enumerate(subsets)
        for s, system in enumerate(scores.values)
    }


def _bootstrap(strata: Sequence[np.ndarray], statistic: Callable, bootstrap: Bootstrap) -> np.ndarray | None:
    """[…, R] statistics of draws from each stratum; None where no stratum has two pairs to draw from."""
    from scipy import stats

    # one pair alone is in every resample once
    fixed = [stratum for stratum in strata if len(stratum) == 1]
    drawable = [stratum for stratum in strata if len(stratum) > 1]
    if not drawable:
        return None

    def with_fixed(*drawn, axis):
        n = len(drawn[0])
        return statistic(*drawn, *(np.broadcast_to(place, (n, 1)) for place in fixed), axis=axis)

    with warnings.catch_warnings():
        # SciPy's own interval has no value where a resample has none; `bove.evaluate.statistics` takes it
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        return stats.bootstrap(
            drawable,
            with_fixed,
            n_resamples=bootstrap.resamples,
            batch=max(1, _BATCH // sum(map(len, strata))),
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(bootstrap.seed),
        ).bootstrap_distribution


def _counts(drawn: Sequence[np.ndarray], n: int) -> np.ndarray:
    """[b, n] int32, how often each resample holds each of n pairs, from the [b, …] pairs drawn."""
    drawn = np.concatenate(drawn, axis=1)
    shifted = drawn + n * np.arange(len(drawn))[:, None]
    return np.bincount(shifted.ravel(), minlength=len(drawn) * n).reshape(-1, n).astype(np.int32)


def _measure(scores: Scores, pairs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from counts [b, k] of k numbered pairs to [systems, metrics, b]."""
    values = [column[pairs] for column in scores.values.values()]
    if len(pairs) < 2:
        shape = len(values), len(MEASURES[scores.task])
        return lambda counts: np.full((*shape, len(counts)), np.nan)
    gold = scores.gold_of(pairs)
    if scores.task == "similarity":
        return _similarity(gold, values)
    return _entailment(is_positive(gold), values, scores.lengths[pairs, 1].astype(np.float64))


def _similarity(gold, values):
    levels_gold, levels = Levels(gold), [Levels(column) for column in values]

    def measure(counts):
        ranks = levels_gold.ranks(counts)
        return np.array(
            [
                (
                    pearson_of_resamples(counts, gold, column),
                    spearman_of_resamples(counts, ranks, of_system.ranks(counts)),
                )
                for column, of_system in zip(values, levels, strict=True)
            ]
        )

    return measure


def _entailment(positive, values, lengths):
    rankings = [Ranking(positive, column) for column in values]

    def measure(counts):
        return np.array(
            [
                (*ranking.measures(counts), pearson_of_resamples(counts, lengths, column))
                for column, ranking in zip(values, rankings, strict=True)
            ]
        )

    return measure


# How far results can be trusted: intervals, and tests of the differences between systems.
#
# All rest on one bootstrap a data set (`bove.evaluate.bootstrap`), so differences are paired. Intervals are
# those of the percentiles; a difference's two-sided p-value counts how often it lies on the other side of
# 0,
#
#     p = min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (1 + R))   of R resampled differences d,
#
# which goes with the interval: where that leaves out 0, p is about 1 - confidence at most. Percentiles,
# because
# the bias-corrected and accelerated interval needs every metric on all pairs but one, n times (4e8 draws
# for
# the 20,000 pairs of SNLI), has no value where that leaves a metric undefined, and would not fit the
# p-value.
# Swapping the systems' scores within pairs would be no test here: scores of two systems lie on different
# scales, and the correlation or ranking of a mixture of them is that of neither.

DIFFERENCE_COLUMNS = (
    *("task", "dataset", "subset", "metric", "system", "against", "difference", "low", "high"),
    *("p_value", "p_adjusted", "resamples", "undefined_resamples"),
)
# Differences that are zero but for rounding lie on neither side.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Difference:
    """A system's value less that of the system that it is held against, on one subset or summary.

    Attributes:
        task, dataset, subset, metric, system, against: names.
        difference: None where either value is undefined, and between means over different subsets.
        low, high, p_value: None where there is no difference, or no resample has one.
        resamples, undefined_resamples: how many were drawn, and how many of them have no difference.
        p_adjusted: the p-value allowing for the comparisons that it stands among; None before `adjust`.
    """

    task: str
    dataset: str
    subset: str
    metric: str
    system: str
    against: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    resamples: int
    undefined_resamples: int
    p_adjusted: float | None = None


def evidence(scores: Scores, bootstrap: Bootstrap) -> tuple[list[Result], list[Difference]]:
    """All results of a data set with their intervals, and the difference of each two systems.

    Results stand as `results_of` has them, one metric after another; of two systems the later is held
    against the earlier. The same scores and settings give the same numbers, and neither other data sets
    nor other systems change them.
    """
    results = results_of(scores, MEASURES[scores.task])
    draws = resampled(scores, bootstrap)
    for result in results:
        if result.subset in (MEAN, WEIGHTED_MEAN):
            draws[_key(result)] = _mean_draws(result, results, draws)
    rows = dict.fromkeys((result.metric, result.subset) for result in results)
    of_systems = {_key(result): result for result in results}
    differences = []
    for metric, subset in rows:
        for against, system in combinations(scores.values, 2):
            keys = (metric, subset, system), (metric, subset, against)
            result, other = (of_systems[key] for key in keys)
            drawn = draws[keys[0]] - draws[keys[1]] if _comparable(result, other, results) else None
            differences.append(_difference(result, other, drawn, bootstrap))
    return [_with_interval(result, draws[_key(result)], bootstrap) for result in results], differences


def adjust(differences: Sequence[Difference]) -> list[Difference]:
    """Fill in p-values adjusted, by Benjamini and Hochberg, for all comparisons by one metric of one task."""
    from scipy.stats import false_discovery_control

    families: dict[tuple[str, str], list[int]] = {}
    for i, difference in enumerate(differences):
        if difference.p_value is not None:
            families.setdefault((difference.task, difference.metric), []).append(i)
    adjusted = list(differences)
    for family in families.values():
        values = false_discovery_control([differences[i].p_value for i in family])
        for i, value in zip(family, values, strict=True):
            adjusted[i] = dataclasses.replace(differences[i], p_adjusted=float(value))
    return adjusted


def write_differences(stream: IO[str], differences: Iterable[Difference]) -> None:
    """Write differences as CSV in full precision; what is undefined is an empty cell."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(DIFFERENCE_COLUMNS)
    for difference in differences:
        table.writerow([getattr(difference, name) for name in DIFFERENCE_COLUMNS])


def interval(values: np.ndarray, confidence: float) -> tuple[float, float] | tuple[None, None]:
    """The percentile interval of resampled values [R], NaN left out; two None where all are."""
    values = values[~np.isnan(values)]
    if not len(values):
        return None, None
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def p_value(differences: np.ndarray) -> float | None:
    """Two-sided p-value of resampled differences [R], NaN left out; None where all are."""
    differences = np.round(differences[~np.isnan(differences)], _DECIMALS)
    if not len(differences):
        return None
    fewer = min((differences <= 0).sum(), (differences >= 0).sum())
    return float(min(1.0, 2 * (1 + fewer) / (1 + len(differences))))


def _key(result: Result) -> tuple[str, str, str]:
    return result.metric, result.subset, result.system


def _parts(result: Result, results: Iterable[Result]) -> list[Result]:
    """The subsets that a mean is over."""
    return [
        r
        for r in results
        if (r.metric, r.system) == (result.metric, result.system)
        and r.subset not in AGGREGATES
        and r.value is not None
    ]


def _comparable(result: Result, other: Result, results: Iterable[Result]) -> bool:
    """Not where they are means over different subsets."""
    if result.subset not in (MEAN, WEIGHTED_MEAN):
        return True
    return {r.subset for r in _parts(result, results)} == {r.subset for r in _parts(other, results)}


def _mean_draws(result: Result, results, draws: Mapping[tuple, np.ndarray]) -> np.ndarray:
    """[R] a mean in each resample; NaN where one of its subsets is undefined there."""
    parts = _parts(result, results)
    if not parts:
        return np.full_like(draws[_key(results[0])], np.nan)
    weights = [part.n_scored if result.subset == WEIGHTED_MEAN else 1 for part in parts]
    return np.average([draws[_key(part)] for part in parts], axis=0, weights=weights)


def _with_interval(result: Result, drawn: np.ndarray, bootstrap: Bootstrap) -> Result:
    if result.value is None:
        return dataclasses.replace(result, undefined_resamples=bootstrap.resamples)
    low, high = interval(drawn, bootstrap.confidence)
    undefined = int(np.isnan(drawn).sum())
    return dataclasses.replace(result, low=low, high=high, undefined_resamples=undefined)


def _difference(result: Result, other: Result, drawn: np.ndarray | None, bootstrap: Bootstrap) -> Difference:
    """A difference; drawn is None between means over different subsets."""
    names = (result.task, result.dataset, result.subset, result.metric, result.system, other.system)
    n = bootstrap.resamples
    if result.value is None or other.value is None or drawn is None:
        return Difference(*names, None, None, None, None, n, n)
    low, high = interval(drawn, bootstrap.confidence)
    undefined = int(np.isnan(drawn).sum())
    return Difference(*names, result.value - other.value, low, high, p_value(drawn), n, undefined)
