"""The bootstrap over pairs: every system and metric measured on the same resamples of a data set."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bove.evaluate.metrics import MEASURES, is_positive
from bove.evaluate.resampling import Levels, Ranking, pearson, spearman
from bove.evaluate.results import TOGETHER
from bove.evaluate.scores import Scores

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
                (pearson(counts, gold, column), spearman(counts, ranks, of_system.ranks(counts)))
                for column, of_system in zip(values, levels, strict=True)
            ]
        )

    return measure


def _entailment(positive, values, lengths):
    rankings = [Ranking(positive, column) for column in values]

    def measure(counts):
        return np.array(
            [
                (*ranking.measures(counts), pearson(counts, lengths, column))
                for column, ranking in zip(values, rankings, strict=True)
            ]
        )

    return measure
