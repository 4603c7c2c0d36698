"""The metrics of resamples are those of SciPy and scikit-learn on the pairs repeated as they were drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bove.evaluate import metrics
from bove.evaluate.metrics import Levels, Ranking, pearson_of_resamples, spearman_of_resamples


@st.composite
def resamples(draw):
    """Counts [3, n] of equal sums, gold with ties, scores with ties, labels."""
    n = draw(st.integers(2, 12))
    rows = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    counts = np.array([np.bincount(draw(rows), minlength=n) for _ in range(3)], np.int32)
    gold = draw(st.lists(st.sampled_from([0.0, 0.2, 3.4, 5.0]), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([-0.25, 0.0, 0.1, 0.3, 0.35, 0.9]), min_size=n, max_size=n))
    return counts, np.array(gold), np.array(scores), np.array(gold) > 1


def one_by_one(metric, counts, *sides):
    """The metric of each resample, its pairs written out; NaN where undefined."""
    values = [metric(*(np.repeat(side, row) for side in sides)) for row in counts]
    return np.array([np.nan if value is None else value for value in values])


@settings(deadline=None, max_examples=50)
@given(resamples())
def test_each_agrees_with_the_metric_of_the_repeated_pairs(case):
    counts, gold, scores, positive = case
    np.testing.assert_allclose(
        pearson_of_resamples(counts, gold, scores),
        one_by_one(metrics.pearson, counts, gold, scores),
        atol=1e-9,
    )
    by_rank = spearman_of_resamples(counts, Levels(gold).ranks(counts), Levels(scores).ranks(counts))
    np.testing.assert_allclose(by_rank, one_by_one(metrics.spearman, counts, gold, scores), atol=1e-12)
    precision, area = Ranking(positive, scores).measures(counts)
    expected = one_by_one(metrics.average_precision, counts, positive, scores)
    np.testing.assert_allclose(precision, expected, atol=1e-12)
    np.testing.assert_allclose(area, one_by_one(metrics.roc_auc, counts, positive, scores), atol=1e-12)


def test_all_agree_on_many_pairs():
    rng = np.random.default_rng(5)
    n = 3000
    gold, lengths = rng.integers(0, 26, n) / 5, rng.integers(1, 40, n)
    scores = np.round(0.5 + 0.01 * gold + 0.1 * rng.normal(size=n), 3)
    positive = gold > 3
    counts = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(4)], np.int32)
    for side in (gold, lengths):
        expected = one_by_one(metrics.pearson, counts, side, scores)
        np.testing.assert_allclose(pearson_of_resamples(counts, side, scores), expected, atol=1e-12)
    by_rank = spearman_of_resamples(counts, Levels(gold).ranks(counts), Levels(scores).ranks(counts))
    np.testing.assert_allclose(by_rank, one_by_one(metrics.spearman, counts, gold, scores), atol=1e-12)
    precision, area = Ranking(positive, scores).measures(counts)
    expected = one_by_one(metrics.average_precision, counts, positive, scores)
    np.testing.assert_allclose(precision, expected, atol=1e-12)
    np.testing.assert_allclose(area, one_by_one(metrics.roc_auc, counts, positive, scores), atol=1e-12)


def test_a_constant_score_has_the_share_of_positives_in_each_resample():
    positive, counts = np.array([True, False, False]), np.array([[1, 1, 1], [2, 1, 0], [3, 0, 0], [0, 2, 1]])
    precision, area = Ranking(positive, np.full(3, 0.3)).measures(counts.astype(np.int32))
    np.testing.assert_allclose(precision, [1 / 3, 2 / 3, np.nan, np.nan])
    np.testing.assert_allclose(area, [1 / 2, 1 / 2, np.nan, np.nan])


def test_a_resample_with_hardly_any_variance_is_computed_exactly():
    x = np.array([1e6, 1.0, 1.0 + 1e-7, 1.0 + 2e-7])
    y = np.array([3.0, 2.0, 2.5, 7.0])
    counts = np.array([[0, 2, 1, 1], [0, 4, 0, 0], [1, 1, 1, 1]], np.int32)
    found = pearson_of_resamples(counts, x, y)
    assert found[0] == pytest.approx(metrics.pearson(x[[1, 1, 2, 3]], y[[1, 1, 2, 3]]), abs=1e-12)
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(metrics.pearson(x, y))


@pytest.mark.parametrize(("x", "y"), [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0])])
def test_a_constant_side_is_undefined_in_every_resample(x, y):
    x, y, counts = np.array(x, float), np.array(y, float), np.ones((2, 3), np.int32)
    assert np.isnan(pearson_of_resamples(counts, x, y)).all()
    assert np.isnan(spearman_of_resamples(counts, Levels(x).ranks(counts), Levels(y).ranks(counts))).all()


def test_levels_are_the_distinct_values_in_rising_order():
    levels = Levels(np.array([0.5, -1.0, 0.5, 2.0]))
    assert levels.level.tolist() == [1, 0, 1, 2]
    assert (levels.starts.tolist(), levels.ends.tolist()) == ([0, 1, 3], [0, 2, 3])
