"""Agreement of scores with gold: correlation for similarity, average precision for entailment.

Each metric gives None where it is undefined: for fewer than two pairs, for a constant side of a
correlation, and for average precision where all pairs have the same label.
"""

import numpy as np

POSITIVE = "entailment"
METRICS = {"similarity": "pearson", "entailment": "average-precision"}


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

    positive = np.asarray(positive, bool)
    if len(positive) < 2 or positive.all() or not positive.any():
        return None
    return float(average_precision_score(positive, scores))


def evaluate(task: str, gold: np.ndarray, scores: np.ndarray) -> float | None:
    """The task's metric; gold is [n] numbers for similarity, [n] labels for entailment."""
    if task == "similarity":
        return pearson(gold, scores)
    return average_precision([label == POSITIVE for label in gold], scores)


def _correlation(function, gold, scores) -> float | None:
    gold, scores = np.asarray(gold, np.float64), np.asarray(scores, np.float64)
    if len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(scores) == 0:
        return None
    return float(function(gold, scores).statistic)
