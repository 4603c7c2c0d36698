"""Intervals and p-values are those of SciPy's bootstrap: paired, repeatable, undefined where values are."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from made_scores import scores_of
from scipy import stats

from bove.evaluate import metrics
from bove.evaluate.results import MEAN, RESULT_COLUMNS, TOGETHER, WEIGHTED_MEAN, results_of
from bove.evaluate.statistics import (
    DIFFERENCE_COLUMNS,
    Bootstrap,
    adjust,
    evidence,
    interval,
    p_value,
    resampled,
)

BOOTSTRAP = Bootstrap(400, 0.95, 3)
ENDS = ["low", "high", "undefined_resamples"]


def similarity(sizes, seed=0, noise=(1.0, 0.9)):
    """Subsets a, b, … of these sizes, each system the gold with its noise."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    gold = rng.integers(0, 26, n) / 5
    subsets = np.repeat([chr(ord("a") + k) for k in range(len(sizes))], sizes)
    values = {f"s{i}": gold + share * rng.normal(size=n) for i, share in enumerate(noise)}
    return scores_of("similarity", subsets.tolist(), gold, values)


def entailment(n=60, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.choice(["entailment", "neutral", "contradiction"], n)
    values = {f"s{i}": rng.normal(size=n) + (i + 1) * (gold == "entailment") for i in range(2)}
    lengths = np.column_stack([np.ones(n, int), np.arange(n) % 7 + 1])
    return scores_of("entailment", ["dev"] * n, gold.tolist(), values, lengths=lengths)


def with_systems(scores, **columns):
    """The scores and those of more systems, or other ones."""
    empty = {name: np.zeros(len(scores.ids), bool) for name in columns}
    return dataclasses.replace(scores, values=scores.values | columns, empty=scores.empty | empty)


def by_row(frame):
    """Results by (metric, subset, system), or differences by (metric, subset, system, against)."""
    names = ["metric", "subset", "system", *(["against"] if "against" in frame else [])]
    return {tuple(getattr(row, name) for name in names): row for row in frame.itertuples()}


def ends(row):
    return row.low, row.high, row.undefined_resamples


def drawn(sizes, n_resamples, seed, batch=None):
    """The draws that SciPy makes for strata of these sizes: [R, n] of each."""
    held = []

    def statistic(*samples, axis):
        held.append(samples)
        return samples[0].mean(axis=axis)

    stats.bootstrap(
        [np.arange(size) for size in sizes], statistic, n_resamples=n_resamples, vectorized=True,
        method="percentile", random_state=np.random.default_rng(seed), batch=batch,
    )  # fmt: skip
    return [np.concatenate(parts) for parts in zip(*held, strict=True)]


@pytest.mark.parametrize("batch", [None, 7])
def test_every_metric_is_measured_on_scipys_draws_of_each_subset(monkeypatch, batch):
    scores = similarity((20, 15))
    first, second = drawn((20, 15), 50, 3, batch)
    both = [np.append(i, 20 + j) for i, j in zip(first, second, strict=True)]
    if batch:
        monkeypatch.setattr("bove.evaluate.statistics._BATCH", batch * 35)
    found = resampled(scores, Bootstrap(50, 0.95, 3))
    gold = scores.gold_of(np.arange(35))
    for name, column in scores.values.items():
        for metric in ("pearson", "spearman"):
            for subset, draws in (("a", first), ("b", 20 + second), (TOGETHER, both)):
                expected = [getattr(metrics, metric)(gold[i], column[i]) for i in draws]
                np.testing.assert_allclose(found[metric, subset, name], expected, atol=1e-12)


def test_entailment_is_measured_on_the_same_draws():
    scores = entailment()
    (draws,) = drawn((60,), 40, 3)
    found = resampled(scores, Bootstrap(40, 0.95, 3))
    positive = np.array([label == "entailment" for label in scores.gold])
    for name, column in scores.values.items():
        sides = {
            "average-precision": (metrics.average_precision, positive),
            "roc-auc": (metrics.roc_auc, positive),
            "length-correlation": (metrics.pearson, scores.lengths[:, 1]),
        }
        for metric, (measure, side) in sides.items():
            expected = [measure(side[i], column[i]) for i in draws]
            np.testing.assert_allclose(found[metric, "dev", name], expected, atol=1e-12)


def test_accuracy_counts_ties_half_on_the_same_draws_of_each_subset():
    margins = np.random.default_rng(1).integers(-2, 4, 30) / 10
    scores = scores_of("roles", ["a"] * 18 + ["b"] * 12, ["second"] * 30, {"s": margins})
    first, second = drawn((18, 12), 40, 3)
    found = resampled(scores, Bootstrap(40, 0.95, 3))
    both = [np.append(i, 18 + j) for i, j in zip(first, second, strict=True)]
    for subset, draws in (("a", first), ("b", 18 + second), (TOGETHER, both)):
        expected = [sum(1 if m > 0 else 0.5 if m == 0 else 0 for m in margins[i]) / len(i) for i in draws]
        np.testing.assert_allclose(found["accuracy", subset, "s"], expected, atol=1e-12)
    results = results_of(scores)
    assert results.subset.tolist() == ["a", "b", TOGETHER]
    assert results.value[2] == pytest.approx(((margins > 0).sum() + (margins == 0).sum() / 2) / 30)


def test_the_interval_is_scipys():
    values = np.random.default_rng(0).normal(size=80)
    found = stats.bootstrap(
        [values], np.mean, n_resamples=999, confidence_level=0.9, method="percentile",
        random_state=np.random.default_rng(1),
    )  # fmt: skip
    assert interval(found.bootstrap_distribution, 0.9) == pytest.approx(tuple(found.confidence_interval))


def test_results_keep_their_values_and_get_an_interval_around_them():
    scores = similarity((40, 50))
    results, _ = evidence(scores, BOOTSTRAP)
    plain = results_of(scores, ("pearson", "spearman"))
    pd.testing.assert_frame_equal(results.drop(columns=ENDS), plain.drop(columns=ENDS))
    assert ((results.low < results.value) & (results.value < results.high)).all()
    assert list(results)[: len(RESULT_COLUMNS)] == RESULT_COLUMNS
    rows, draws = by_row(results), resampled(scores, BOOTSTRAP)
    a, b = (draws["pearson", subset, "s1"] for subset in "ab")
    assert ends(rows["pearson", MEAN, "s1"]) == (*interval((a + b) / 2, 0.95), 0)
    weighted = interval((40 * a + 50 * b) / 90, 0.95)
    assert ends(rows["pearson", WEIGHTED_MEAN, "s1"]) == pytest.approx((*weighted, 0), abs=1e-14)


def test_differences_are_paired_and_of_each_two_systems():
    scores = similarity((60, 40), noise=(1.0, 0.9, 0.3))
    _, differences = evidence(scores, BOOTSTRAP)
    assert list(differences) == DIFFERENCE_COLUMNS
    rows = by_row(differences)
    pairs = [("s1", "s0"), ("s2", "s0"), ("s2", "s1")]
    assert list(zip(differences.system, differences.against, strict=True))[:3] == pairs
    values, draws = by_row(results_of(scores)), resampled(scores, BOOTSTRAP)
    for system, against in pairs:
        row = rows["pearson", "b", system, against]
        assert row.difference == values["pearson", "b", system].value - values["pearson", "b", against].value
        paired = draws["pearson", "b", system] - draws["pearson", "b", against]
        assert (*ends(row), row.p_value) == (*interval(paired, 0.95), 0, p_value(paired))
        assert row.resamples == 400


def test_systems_are_held_against_those_of_their_weight_and_against_themselves_by_another():
    names = ["x", "y", "x (length)", "y (length)", "x (evidence)"]
    noise = np.linspace(0.3, 1, 5)
    values = similarity((20,), noise=tuple(noise)).values.values()
    scores = similarity((20,), noise=tuple(noise))
    _, differences = evidence(with_systems(scores, **dict(zip(names, values, strict=True))), BOOTSTRAP)
    pairs = {tuple(pair) for pair in differences[["against", "system"]].to_numpy().tolist()}
    assert {pair for pair in pairs if pair[0] in names and pair[1] in names} == {
        ("x", "y"), ("x (length)", "y (length)"), ("x", "x (length)"), ("x", "x (evidence)"),
        ("x (length)", "x (evidence)"), ("y", "y (length)"),
    }  # fmt: skip


def test_a_clear_difference_has_a_small_p_value_and_none_a_large_one():
    scores = similarity((200,), noise=(2.0, 0.1))
    rows = by_row(evidence(with_systems(scores, copy=scores.values["s0"] * 2 + 1), BOOTSTRAP)[1])
    clear, none = rows["pearson", "a", "s1", "s0"], rows["pearson", "a", "copy", "s0"]
    assert clear.p_value == pytest.approx(2 / 401) and clear.low > 0
    assert none.p_value == 1 and none.difference == pytest.approx(0, abs=1e-14)


def test_p_values_count_both_sides_of_zero():
    values = np.array([-1.0] * 3 + [2.0] * 96 + [np.nan])
    assert p_value(values) == pytest.approx(2 * (1 + 3) / (1 + 99))
    assert p_value(-values) == p_value(values)
    assert p_value(np.array([1e-16, -1e-16, 1e-17])) == 1
    assert np.isnan(p_value(np.full(3, np.nan)))


def test_p_values_of_equal_systems_are_spread_evenly():
    """Where systems are equally good, at most about 5% of data sets have p < 0.05."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        gold = rng.normal(size=60)
        scores = scores_of("similarity", "a" * 60, gold, {name: gold + rng.normal(size=60) for name in "xy"})
        found.append(evidence(scores, Bootstrap(100, 0.95, 0))[1].p_value[0])
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.1


def test_the_seed_decides_and_other_systems_change_nothing():
    scores = similarity((30, 20))
    results, differences = evidence(scores, BOOTSTRAP)
    again = evidence(scores, BOOTSTRAP)
    pd.testing.assert_frame_equal(again[0], results)
    pd.testing.assert_frame_equal(again[1], differences)
    other, _ = evidence(scores, dataclasses.replace(BOOTSTRAP, seed=4))
    assert other.low[0] != results.low[0]
    alone, _ = evidence(dataclasses.replace(scores, values={"s1": scores.values["s1"]}), BOOTSTRAP)
    own = results[results.system == "s1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, own)


def test_a_constant_system_has_no_interval_and_no_difference():
    scores = with_systems(similarity((30, 20)), flat=np.full(50, 0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results, differences = evidence(scores, BOOTSTRAP)
    row = by_row(results)["pearson", "a", "flat"]
    np.testing.assert_equal((row.value, *ends(row)), (np.nan, np.nan, np.nan, 400))
    against = by_row(differences)["pearson", "a", "flat", "s0"]
    np.testing.assert_equal((against.difference, against.p_value, *ends(against)), (*[np.nan] * 4, 400))


def test_a_constant_ranking_has_an_interval_of_the_share_of_positives():
    scores = entailment()
    rows = by_row(evidence(with_systems(scores, flat=np.zeros(60)), BOOTSTRAP)[0])
    share = np.mean([label == "entailment" for label in scores.gold])
    row, area = rows["average-precision", "dev", "flat"], rows["roc-auc", "dev", "flat"]
    assert row.value == pytest.approx(share) and row.low < share < row.high
    assert (area.value, area.low, area.high) == (0.5, 0.5, 0.5)
    assert np.isnan(rows["length-correlation", "dev", "flat"].value)


def test_resamples_of_two_pairs_are_undefined_half_of_the_time_and_counted():
    scores = scores_of("similarity", "aabbb", [1, 2, 1, 2, 4], {"s0": [0.1, 0.2, 0.3, 0.2, 0.6]})
    rows = by_row(evidence(scores, BOOTSTRAP)[0])
    two = rows["pearson", "a", "s0"]
    assert (two.value, two.low, two.high) == pytest.approx((1, 1, 1))
    assert 150 < two.undefined_resamples < 250
    assert rows["pearson", MEAN, "s0"].undefined_resamples >= two.undefined_resamples
    assert rows["pearson", TOGETHER, "s0"].undefined_resamples < two.undefined_resamples


def test_one_positive_pair_is_missing_from_a_third_of_the_resamples():
    gold = ["entailment"] + ["neutral"] * 29
    scores = scores_of("entailment", ["dev"] * 30, gold, {"s0": np.linspace(1, 0, 30)})
    row = next(evidence(scores, BOOTSTRAP)[0].itertuples())
    assert row.value == row.low == row.high == 1
    assert 100 < row.undefined_resamples < 200  # (1 - 1 / 30) ** 30 = 0.36 of 400


def test_pairs_alone_in_their_subsets_are_in_every_resample():
    scores = scores_of("similarity", "abbbc", [5, 1, 2, 4, None], {"s0": [0.9, 0.3, 0.2, 0.6, 0.1]})
    found = resampled(scores, Bootstrap(30, 0.95, 3))
    (draws,) = drawn((3,), 30, 3)
    gold, column = np.array([5.0, 1, 2, 4]), scores.values["s0"]
    expected = [metrics.pearson(gold[[0, *(1 + i)]], column[[0, *(1 + i)]]) for i in draws]
    np.testing.assert_allclose(found["pearson", TOGETHER, "s0"], expected, atol=1e-12)
    assert np.isnan(found["pearson", "a", "s0"]).all() and np.isnan(found["pearson", "c", "s0"]).all()


def test_without_two_pairs_in_any_subset_nothing_can_be_resampled():
    scores = scores_of("similarity", "abc", [5, 1, None], {"s0": [0.9, 0.3, 0.1], "s1": [0.2, 0.1, 0.3]})
    results, differences = evidence(scores, BOOTSTRAP)
    row = by_row(results)["pearson", TOGETHER, "s0"]
    np.testing.assert_equal((row.value, *ends(row)), (1, np.nan, np.nan, 400))
    assert differences.p_value.isna().all() and differences.low.isna().all()
    assert np.isnan(evidence(scores_of("entailment", ["dev"], ["-"], {"s0": [0.9]}), BOOTSTRAP)[0].value[0])


def test_means_over_different_subsets_have_no_difference():
    scores = similarity((30, 20))
    flat = np.where(np.arange(50) < 30, scores.values["s1"], 0.5)
    results, differences = evidence(with_systems(scores, s1=flat), BOOTSTRAP)
    mean = by_row(results)["pearson", MEAN, "s1"]
    assert (mean.entered, mean.undefined_resamples) == (1, 0)
    assert mean.value == by_row(results)["pearson", "a", "s1"].value
    rows = by_row(differences)
    of_mean = rows["pearson", MEAN, "s1", "s0"]
    assert np.isnan(of_mean.difference) and of_mean.undefined_resamples == 400
    assert not np.isnan(rows["pearson", TOGETHER, "s1", "s0"].p_value)


def test_adjusted_p_values_are_scipys_over_each_metric_of_each_task():
    rows = [
        ("similarity", "pearson", 0.01),
        ("similarity", "spearman", 0.04),
        ("similarity", "pearson", np.nan),
    ]
    rows += [("similarity", "pearson", 0.04), ("entailment", "pearson", 0.03)]
    found = adjust(pd.DataFrame(rows, columns=["task", "metric", "p_value"]))
    np.testing.assert_allclose(found.p_adjusted, [0.02, 0.04, np.nan, 0.04, 0.03])
    assert adjust(found[:0]).empty
