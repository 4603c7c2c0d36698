"""Agreement of scores with gold: correlations for similarity, rankings for entailment.

Each metric gives None where it is undefined: for fewer than two pairs, for a constant side of a
correlation, and for a ranking where all pairs have the same label.
"""

import numpy as np

POSITIVE = "entailment"
# The metric that a task is judged by, and all that its table has.
METRICS = {"similarity": "pearson", "entailment": "average-precision"}
MEASURES = {
    "similarity": ("pearson", "spearman"),
    "entailment": ("average-precision", "roc-auc", "length-correlation"),
}


def pearson(gold: np.ndarray, scores: np.ndarray) -> float | None:
    """Pearson's correlation of [n] gold and [n] scores."""
    from scipy import stats

    return _correlation(stats.pearsonr, gold, scores)


def spearman(gold: np.ndarray, scores: np.ndarray) -> float | None:
    """Spearman's rank correlation of [n] gold and [n] scores."""
    from scipy import stats

    return _correlation(stats.spearmanr, gold, scores)


def average_precision(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Average precision of the ranking by scores: the sum over thresholds of precision times gain in recall.

    Pairs of one score share a threshold, so neither their order nor that of the rows counts, and a
    constant score gives the share of positives.

    Args:
        positive: [n] bool, whether the pair's label is the positive class.
        scores: [n].
    """
    from sklearn.metrics import average_precision_score

    return _ranking(average_precision_score, positive, scores)


def roc_auc(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """The share of (positive, other) couples of pairs that the scores order rightly; a tie counts half.

    Args:
        positive: [n] bool, whether the pair's label is the positive class.
        scores: [n].
    """
    from sklearn.metrics import roc_auc_score

    return _ranking(roc_auc_score, positive, scores)


def is_positive(gold) -> np.ndarray:
    """[n] bool: which of n labels are the positive class."""
    return np.array([label == POSITIVE for label in gold], bool)


def evaluate(
    task: str, gold, scores: np.ndarray, metric: str | None = None, lengths: np.ndarray | None = None
) -> float | None:
    """A metric of MEASURES[task], or without a name the one that the task is judged by.

    Args:
        gold: [n] numbers for similarity, [n] labels for entailment.
        scores: [n].
        metric: its name.
        lengths: [n] tokens of the second sentences, for length-correlation.
    """
    metric = metric or METRICS[task]
    if metric == "length-correlation":
        return pearson(lengths, scores)
    if task == "similarity":
        return {"pearson": pearson, "spearman": spearman}[metric](gold, scores)
    function = {"average-precision": average_precision, "roc-auc": roc_auc}[metric]
    return function(is_positive(gold), scores)


def _correlation(function, gold, scores) -> float | None:
    gold, scores = np.asarray(gold, np.float64), np.asarray(scores, np.float64)
    if len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(scores) == 0:
        return None
    return float(function(gold, scores).statistic)


def _ranking(function, positive, scores) -> float | None:
    positive = np.asarray(positive, bool)
    if len(positive) < 2 or positive.all() or not positive.any():
        return None
    return float(function(positive, scores))
