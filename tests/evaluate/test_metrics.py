"""The metrics follow their definitions, also where scores tie or are constant."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bove.evaluate.metrics import MEASURES, METRICS, average_precision, evaluate, pearson, roc_auc, spearman

ranked = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=20)


def average_precision_by_definition(positive, scores):
    """Lower the threshold over the distinct scores; add precision times the gain in recall."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        above = [p for p, s in zip(positive, scores, strict=True) if s >= threshold]
        new = sum(above) / sum(positive)
        total += (new - recall) * sum(above) / len(above)
        recall = new
    return total


@settings(deadline=None)
@given(ranked)
def test_average_precision_agrees_with_its_definition(pairs):
    positive, scores = zip(*pairs, strict=True)
    value = average_precision(positive, scores)
    if len(set(positive)) == 1:
        assert value is None
    else:
        assert value == pytest.approx(average_precision_by_definition(positive, scores))


@settings(deadline=None)
@given(ranked, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_average_precision(pairs, random):
    positive, scores = zip(*pairs, strict=True)
    random.shuffle(pairs)
    assert average_precision(*zip(*pairs, strict=True)) == average_precision(positive, scores)


@pytest.mark.parametrize("n_positive", [1, 3, 9])
def test_a_constant_score_has_the_share_of_positives_as_average_precision(n_positive):
    positive = [i < n_positive for i in range(10)]
    for order in (positive, positive[::-1]):
        assert average_precision(order, [0.3] * 10) == pytest.approx(n_positive / 10)


def test_a_perfect_ranking_has_average_precision_one():
    assert average_precision([True, False, True], [0.9, -0.2, 0.3]) == 1


def test_pearson_agrees_with_its_formula():
    rng = np.random.default_rng(0)
    gold, scores = rng.normal(size=(2, 50))
    assert pearson(gold, scores) == pytest.approx(np.corrcoef(gold, scores)[0, 1])
    assert pearson(gold, 3 - 2 * gold) == pytest.approx(-1)


def test_spearman_is_pearson_of_ranks():
    gold, scores = [1.0, 2.0, 2.0, 5.0, 0.0], [0.1, 0.5, 0.4, 0.9, 0.4]
    ranks = [2, 3.5, 3.5, 5, 1], [1, 4, 2.5, 5, 2.5]
    assert spearman(gold, scores) == pytest.approx(pearson(*ranks))
    assert spearman([1, 2, 3], [1, 8, 27]) == pytest.approx(1)


@pytest.mark.parametrize("metric", [pearson, spearman])
@pytest.mark.parametrize(("gold", "scores"), [([], []), ([1], [2]), ([1, 2], [3, 3]), ([1, 1], [2, 3])])
def test_a_correlation_with_a_constant_is_undefined_without_a_warning(metric, gold, scores):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric(gold, scores) is None


@settings(deadline=None, max_examples=50)
@given(ranked)
def test_the_area_under_the_curve_is_the_share_of_couples_in_the_right_order(pairs):
    above = [score for positive, score in pairs if positive]
    below = [score for positive, score in pairs if not positive]
    if above and below:
        right = sum((a > b) + (a == b) / 2 for a in above for b in below)
        assert roc_auc(*zip(*pairs, strict=True)) == pytest.approx(right / (len(above) * len(below)))


@pytest.mark.parametrize("metric", [average_precision, roc_auc])
@pytest.mark.parametrize("positive", [[], [True], [False, False], [True, True]])
def test_a_ranking_of_one_label_is_undefined_without_a_warning(metric, positive):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric(positive, [0.5] * len(positive)) is None


def test_each_task_has_its_metric():
    assert evaluate("similarity", [0.0, 5.0, 2.5], [0, 1, 0.5]) == pytest.approx(1)
    labels = ["neutral", "entailment", "contradiction"]
    scores = [0.1, 0.2, 0.3]
    assert evaluate("entailment", labels, scores) == pytest.approx(0.5)
    assert evaluate("entailment", labels, scores, "roc-auc") == pytest.approx(0.5)
    assert evaluate("entailment", labels, scores, "length-correlation", [9, 8, 7]) == pytest.approx(-1)
    assert evaluate("similarity", [0.0, 5.0, 2.5], [0, 9, 0.5], "spearman") == pytest.approx(1)
    assert all(METRICS[task] == names[0] for task, names in MEASURES.items())
