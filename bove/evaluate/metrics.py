"""Agreement of scores with gold: correlations for similarity, rankings for entailment, accuracy for roles.

A metric is NaN where it is undefined: for fewer than two pairs, for a constant side of a correlation, and for
a ranking in which all pairs have the same label.

The second half computes the same metrics of many resamples at once, from how often each resample holds each
pair: counts [b, n] int32 for b resamples of n pairs, each row with the same sum. These functions give [b]
float64 and agree with the first half on the pairs repeated as often as the counts say.
"""

from collections.abc import Iterable

import numpy as np

POSITIVE = "entailment"
LABEL_ORDER = (POSITIVE, "neutral", "contradiction")  # others follow by name
# The metric that each task is judged by, and all metrics that its tables have.
METRICS = {"similarity": "pearson", "entailment": "average-precision", "roles": "accuracy"}
MEASURES = {
    "similarity": ("pearson", "spearman"),
    "entailment": ("average-precision", "roc-auc", "length-correlation"),
    "roles": ("accuracy",),
}
# Below this share of the variance in all pairs, rounding spoils a resample's variance in the fast formula.
_LEAST_VARIANCE = 1e-9


def pearson(gold: np.ndarray, scores: np.ndarray) -> float:
    """Pearson's correlation of [n] gold and [n] scores."""
    from scipy import stats

    return _correlation(stats.pearsonr, gold, scores)


def spearman(gold: np.ndarray, scores: np.ndarray) -> float:
    """Spearman's rank correlation of [n] gold and [n] scores."""
    from scipy import stats

    return _correlation(stats.spearmanr, gold, scores)


def average_precision(positive: np.ndarray, scores: np.ndarray) -> float:
    """The sum over thresholds of precision times gain in recall, of [n] bool and [n] scores.

    Pairs of one score share a threshold, so neither their order nor that of the rows counts, and a constant
    score gives the share of positives.
    """
    from sklearn.metrics import average_precision_score

    return _ranking(average_precision_score, positive, scores)


def roc_auc(positive: np.ndarray, scores: np.ndarray) -> float:
    """The share of (positive, other) couples of pairs that the scores order correctly; a tie counts half."""
    from sklearn.metrics import roc_auc_score

    return _ranking(roc_auc_score, positive, scores)


def correct(margins: np.ndarray) -> np.ndarray:
    """[n] how right each of [n] margins is: 1 above 0, 0 below it; a tie counts half."""
    return (1 + np.sign(margins)) / 2


def accuracy(margins: np.ndarray) -> float:
    """The share of [n] probes of roles with a margin above 0; a margin of 0 counts half."""
    return float(correct(margins).mean()) if len(margins) > 1 else np.nan


def in_order(labels: Iterable[str]) -> list[str]:
    """The distinct labels: from entailment to contradiction, then others by name."""
    found = set(labels)
    return [label for label in LABEL_ORDER if label in found] + sorted(found - set(LABEL_ORDER))


def is_positive(gold) -> np.ndarray:
    """[n] bool: which of n labels are the positive class."""
    return np.array([label == POSITIVE for label in gold], bool)


def evaluate(metric: str, gold, scores: np.ndarray, lengths: np.ndarray | None = None) -> float:
    """A metric by its name in MEASURES.

    Args:
        gold: [n] numbers for similarity, [n] labels for entailment; not used for roles.
        scores: [n], of roles margins.
        lengths: [n] tokens of the second sentences, for length-correlation.
    """
    if metric == "length-correlation":
        return pearson(lengths, scores)
    if metric == "accuracy":
        return accuracy(scores)
    functions = {"pearson": pearson, "spearman": spearman, "average-precision": average_precision}
    function = functions.get(metric, roc_auc)
    return function(gold if metric in MEASURES["similarity"] else is_positive(gold), scores)


def _correlation(function, gold, scores) -> float:
    gold, scores = np.asarray(gold, np.float64), np.asarray(scores, np.float64)
    if len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(scores) == 0:
        return np.nan
    return float(function(gold, scores).statistic)


def _ranking(function, positive, scores) -> float:
    positive = np.asarray(positive, bool)
    if len(positive) < 2 or positive.all() or not positive.any():
        return np.nan
    return float(function(positive, scores))


# The metrics of resamples, from counts.


class Levels:
    """The distinct values of [n] numbers in rising order: D levels.

    Attributes:
        order: [n] pairs from the lowest value to the highest.
        starts, ends: [D] place in that order of each level's first and last pair.
        level: [n] level of each pair.
    """

    def __init__(self, values: np.ndarray):
        self.order = np.argsort(values, kind="stable")
        ranked = values[self.order]
        self.ends = np.flatnonzero(np.diff(ranked, append=np.inf))
        self.starts = np.append(0, self.ends[:-1] + 1)
        self.level = np.searchsorted(ranked[self.ends], values)

    def ranks(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[b, n] rank of each pair's value less the mean rank, and [b] the draws' sum of their squares."""
        top = _up_to(counts, self.order)[:, self.ends]
        size = np.diff(top, axis=1, prepend=np.int32(0))
        ranks = top - (size + top[:, -1:]) / 2
        return np.take(ranks, self.level, axis=1), (size * ranks * ranks).sum(axis=1)


class Ranking:
    """A ranking of [n] pairs by score, highest first, of which some are positive [n] bool.

    Only thresholds at which a positive pair is gained count; K of them.
    """

    def __init__(self, positive: np.ndarray, scores: np.ndarray):
        levels = Levels(-np.asarray(scores))
        self.order = levels.order
        self.order_positive = self.order[positive[self.order]]
        found = np.cumsum(positive[self.order])[levels.ends]
        gains = np.diff(found, prepend=0) > 0
        self.starts, self.ends, self.found = levels.starts[gains], levels.ends[gains], found[gains] - 1

    def measures(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[b] average precision and [b] area under the ROC curve."""
        every, positive = _up_to(counts, self.order), _up_to(counts, self.order_positive)
        n = every[:, -1].astype(np.int64)
        n_positive = positive[:, -1].astype(np.int64) if len(self.order_positive) else np.zeros_like(n)
        selected, true = every[:, self.ends], positive[:, self.found]
        gained = np.diff(true, axis=1, prepend=np.int32(0))
        defined = (n_positive > 0) & (n_positive < n)
        area = (gained * (true / np.maximum(selected, 1))).sum(axis=1)
        average_precision = _divide(area, np.where(defined, n_positive, 0))
        before = np.where(self.starts > 0, every[:, self.starts - 1], 0)
        # twice the couples in which a positive pair is ranked below another one, a tie counting once
        wrong = (gained.astype(np.int64) * (selected - true + before - (true - gained))).sum(axis=1)
        couples = 2 * n_positive * (n - n_positive)
        return average_precision, _divide(couples - wrong, couples)


def pearson_of_resamples(counts: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation of x [n] and y [n] in each resample."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.full(len(counts), np.nan)
    u, v = ((values - values.mean()) / values.std() for values in (x, y))
    sums = np.einsum("bn,mn->mb", counts.astype(np.float64), np.array([u, v, u * u, v * v, u * v]))
    mean_u, mean_v, square_u, square_v, product = sums / counts[0].sum()
    variance_u, variance_v = square_u - mean_u**2, square_v - mean_v**2
    small = np.minimum(variance_u, variance_v) < _LEAST_VARIANCE
    variance_u[small] = variance_v[small] = 1
    values = (product - mean_u * mean_v) / np.sqrt(variance_u * variance_v)
    for b in np.flatnonzero(small):
        values[b] = pearson(np.repeat(x, counts[b]), np.repeat(y, counts[b]))
    return np.clip(values, -1, 1)


def spearman_of_resamples(counts: np.ndarray, x: tuple, y: tuple) -> np.ndarray:
    """Spearman's correlation of two sides in each resample, from what `Levels.ranks` gives for each."""
    (ranks_x, squares_x), (ranks_y, squares_y) = x, y
    products = np.einsum("bn,bn,bn->b", counts.astype(np.float64), ranks_x, ranks_y)
    return np.clip(_divide(products, np.sqrt(squares_x * squares_y)), -1, 1)


def _up_to(counts, order) -> np.ndarray:
    """[b, k] int32, how many draws are among the first of an order of k pairs."""
    return np.cumsum(np.take(counts, order, axis=1), axis=1, dtype=np.int32)


def _divide(numerator, denominator) -> np.ndarray:
    """NaN where the denominator is 0."""
    result = np.full(len(numerator), np.nan)
    return np.divide(numerator, denominator, out=result, where=denominator > 0)
