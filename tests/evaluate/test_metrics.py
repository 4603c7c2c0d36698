"""Metrics follow their definitions, also where scores tie or are constant, and on many resamples at once."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bove.evaluate.metrics import (
    MEASURES,
    METRICS,
    Levels,
    Ranking,
    average_precision,
    evaluate,
    pearson,
    pearson_of_resamples,
    roc_auc,
    spearman,
    spearman_of_resamples,
)

rankings = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=20)


def average_precision_by_definition(positive, scores):
    """Lower the threshold over the distinct scores; add precision times the gain in recall."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        above = [p for p, s in zip(positive, scores, strict=True) if s >= threshold]
        new = sum(above) / sum(positive)
        total += (new - recall) * sum(above) / len(above)
        recall = new
    return total


@given(rankings, st.randoms(use_true_random=False))
def test_rankings_agree_with_their_definitions_in_any_order_of_rows(pairs, random):
    random.shuffle(pairs)
    positive, scores = zip(*pairs, strict=True)
    found = average_precision(positive, scores), roc_auc(positive, scores)
    if len(set(positive)) == 1:
        assert np.isnan(found).all()
        return
    above, below = ([s for p, s in pairs if p == side] for side in (True, False))
    right = sum((a > b) + (a == b) / 2 for a in above for b in below)
    expected = average_precision_by_definition(positive, scores), right / (len(above) * len(below))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("n_positive", [1, 3, 9])
def test_a_constant_score_has_the_share_of_positives_as_average_precision(n_positive):
    positive = [i < n_positive for i in range(10)]
    for order in (positive, positive[::-1]):
        assert average_precision(order, [0.3] * 10) == pytest.approx(n_positive / 10)


def test_correlations_agree_with_their_formulas():
    gold, scores = np.random.default_rng(0).normal(size=(2, 50))
    assert pearson(gold, scores) == pytest.approx(np.corrcoef(gold, scores)[0, 1])
    assert pearson(gold, 3 - 2 * gold) == pytest.approx(-1)
    gold, scores = [1.0, 2.0, 2.0, 5.0, 0.0], [0.1, 0.5, 0.4, 0.9, 0.4]
    ranks = [2, 3.5, 3.5, 5, 1], [1, 4, 2.5, 5, 2.5]
    assert spearman(gold, scores) == pytest.approx(pearson(*ranks))


@pytest.mark.parametrize(
    ("functions", "gold", "scores"),
    [
        ((pearson, spearman), [], []),
        ((pearson, spearman), [1], [2]),
        ((pearson, spearman), [1, 2], [3, 3]),
        ((pearson, spearman), [1, 1], [2, 3]),
        ((average_precision, roc_auc), [], []),
        ((average_precision, roc_auc), [True], [0.5]),
        ((average_precision, roc_auc), [False, False], [0.5, 0.5]),
    ],
)
def test_a_metric_that_is_undefined_is_nan_without_a_warning(functions, gold, scores):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(np.isnan(function(gold, scores)) for function in functions)


def test_each_task_has_its_metrics():
    assert evaluate("pearson", [0.0, 5.0, 2.5], [0, 1, 0.5]) == pytest.approx(1)
    assert evaluate("spearman", [0.0, 5.0, 2.5], [0, 9, 0.5]) == pytest.approx(1)
    labels, scores = ["neutral", "entailment", "contradiction"], [0.1, 0.2, 0.3]
    assert evaluate("average-precision", labels, scores) == pytest.approx(0.5)
    assert evaluate("roc-auc", labels, scores) == pytest.approx(0.5)
    assert evaluate("length-correlation", labels, scores, [9, 8, 7]) == pytest.approx(-1)
    assert all(METRICS[task] == names[0] for task, names in MEASURES.items())


# Resamples, against the metrics of the pairs written out.


@st.composite
def resamples(draw):
    """Counts [3, n] of equal sums, gold with ties, scores with ties, labels, lengths."""
    n = draw(st.integers(2, 12))
    rows = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    counts = np.array([np.bincount(draw(rows), minlength=n) for _ in range(3)], np.int32)
    gold = draw(st.lists(st.sampled_from([0.0, 0.2, 3.4, 5.0]), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([-0.25, 0.0, 0.1, 0.3, 0.35, 0.9]), min_size=n, max_size=n))
    return counts, np.array(gold), np.array(scores)


def many():
    rng = np.random.default_rng(5)
    n = 3000
    gold = rng.integers(0, 26, n) / 5
    scores = np.round(0.5 + 0.01 * gold + 0.1 * rng.normal(size=n), 3)
    return (
        np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(4)], np.int32),
        gold,
        scores,
    )


def assert_as_repeated(counts, gold, scores):
    def one_by_one(metric, side):
        return [metric(np.repeat(side, row), np.repeat(scores, row)) for row in counts]

    pearsons = pearson_of_resamples(counts, gold, scores)
    np.testing.assert_allclose(pearsons, one_by_one(pearson, gold), atol=1e-9)
    by_rank = spearman_of_resamples(counts, Levels(gold).ranks(counts), Levels(scores).ranks(counts))
    np.testing.assert_allclose(by_rank, one_by_one(spearman, gold), atol=1e-12)
    precision, area = Ranking(gold > 1, scores).measures(counts)
    np.testing.assert_allclose(precision, one_by_one(average_precision, gold > 1), atol=1e-12)
    np.testing.assert_allclose(area, one_by_one(roc_auc, gold > 1), atol=1e-12)


@given(resamples())
def test_metrics_of_resamples_are_those_of_the_repeated_pairs(case):
    assert_as_repeated(*case)


def test_metrics_of_resamples_agree_on_many_pairs():
    assert_as_repeated(*many())


def test_a_constant_score_has_the_share_of_positives_in_each_resample():
    positive, counts = np.array([True, False, False]), np.array([[1, 1, 1], [2, 1, 0], [3, 0, 0], [0, 2, 1]])
    precision, area = Ranking(positive, np.full(3, 0.3)).measures(counts.astype(np.int32))
    np.testing.assert_allclose(precision, [1 / 3, 2 / 3, np.nan, np.nan])
    np.testing.assert_allclose(area, [1 / 2, 1 / 2, np.nan, np.nan])


def test_a_resample_with_hardly_any_variance_is_computed_exactly():
    x = np.array([1e6, 1.0, 1.0 + 1e-7, 1.0 + 2e-7])
    y = np.array([3.0, 2.0, 2.5, 7.0])
    counts = np.array([[0, 2, 1, 1], [0, 4, 0, 0], [1, 1, 1, 1]], np.int32)
    exact = [pearson(x[[1, 1, 2, 3]], y[[1, 1, 2, 3]]), np.nan, pearson(x, y)]
    np.testing.assert_allclose(pearson_of_resamples(counts, x, y), exact, atol=1e-12)


def test_levels_are_the_distinct_values_in_rising_order():
    levels = Levels(np.array([0.5, -1.0, 0.5, 2.0]))
    assert levels.level.tolist() == [1, 0, 1, 2]
    assert (levels.starts.tolist(), levels.ends.tolist()) == ([0, 1, 3], [0, 2, 3])
