"""Intervals and p-values are those of SciPy's bootstrap: paired, repeatable, undefined where values are."""

import csv
import dataclasses
import io
import warnings

import numpy as np
import pytest
from scipy import stats

from bove.evaluate import metrics
from bove.evaluate.results import MEAN, TOGETHER, WEIGHTED_MEAN, Scores, results_of
from bove.evaluate.statistics import (
    DIFFERENCE_COLUMNS,
    Bootstrap,
    Difference,
    adjust,
    evidence,
    interval,
    p_value,
    resampled,
    write_differences,
)

BOOTSTRAP = Bootstrap(400, 0.95, 3)


def scores_of(task, subsets, gold, **values):
    """Scores; gold of None or "-" is not scored."""
    scored = np.array([g not in (None, "-") for g in gold])
    return Scores(
        dataset="d",
        label="D",
        task=task,
        ids=tuple(map(str, range(len(gold)))),
        subsets=tuple(subsets),
        gold=tuple(g if g is None else str(g) for g in gold),
        scored=scored,
        values={name: np.where(scored, column, np.nan) for name, column in values.items()},
        empty={name: np.zeros(len(gold), bool) for name in values},
        pairs_sha256="",
        model_hashes=dict.fromkeys(values, ""),
        lengths=np.column_stack([np.ones(len(gold), int), np.arange(len(gold)) % 7 + 1]),
    )


def similarity(sizes, seed=0, noise=(1.0, 0.9)):
    """Subsets a, b, … of these sizes, each system the gold with its noise."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    gold = rng.integers(0, 26, n) / 5
    subsets = np.repeat([chr(ord("a") + k) for k in range(len(sizes))], sizes)
    values = {f"s{i}": gold + share * rng.normal(size=n) for i, share in enumerate(noise)}
    return scores_of("similarity", subsets, gold, **values)


def entailment(n=60, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.choice(["entailment", "neutral", "contradiction"], n)
    values = {f"s{i}": rng.normal(size=n) + (i + 1) * (gold == "entailment") for i in range(2)}
    return scores_of("entailment", ["dev"] * n, gold, **values)


def with_system(scores, name, column):
    """The scores and those of one more system."""
    empty = {**scores.empty, name: np.zeros(len(column), bool)}
    return dataclasses.replace(scores, values={**scores.values, name: column}, empty=empty)


def by_row(rows):
    """Results by (metric, subset, system), or differences by (metric, subset, system, against)."""
    if isinstance(rows[0], Difference):
        return {(r.metric, r.subset, r.system, r.against): r for r in rows}
    return {(r.metric, r.subset, r.system): r for r in rows}


def drawn(sizes, n_resamples, seed):
    """The draws that SciPy makes for strata of these sizes, in one batch: [R, n] of each."""
    held = []

    def statistic(*samples, axis):
        held.append(samples)
        return samples[0].mean(axis=axis)

    stats.bootstrap(
        [np.arange(size) for size in sizes], statistic, n_resamples=n_resamples, vectorized=True,
        method="percentile", rng=np.random.default_rng(seed),
    )  # fmt: skip
    return held[0]


def test_every_metric_is_measured_on_the_draws_of_each_subset():
    scores = similarity((20, 15))
    first, second = drawn((20, 15), 50, 3)
    found = resampled(scores, Bootstrap(50, 0.95, 3))
    gold = scores.gold_of(np.arange(35))
    for name, column in scores.values.items():
        for metric in ("pearson", "spearman"):
            measure = getattr(metrics, metric)
            expected = [measure(gold[:20][i], column[:20][i]) for i in first]
            np.testing.assert_allclose(found[metric, "a", name], expected, atol=1e-12)
            both = [np.append(i, 20 + j) for i, j in zip(first, second, strict=True)]
            expected = [measure(gold[i], column[i]) for i in both]
            np.testing.assert_allclose(found[metric, TOGETHER, name], expected, atol=1e-12)


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


def test_the_interval_is_scipys():
    values = np.random.default_rng(0).normal(size=80)
    found = stats.bootstrap(
        [values], np.mean, n_resamples=999, confidence_level=0.9, method="percentile",
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert interval(found.bootstrap_distribution, 0.9) == pytest.approx(tuple(found.confidence_interval))


def test_results_keep_their_values_and_get_an_interval_around_them():
    scores = similarity((40, 50))
    results, _ = evidence(scores, BOOTSTRAP)
    plain = results_of(scores, ("pearson", "spearman"))
    assert [dataclasses.replace(r, low=None, high=None) for r in results] == plain
    assert all(r.low < r.value < r.high for r in results)
    rows = by_row(results)
    draws = resampled(scores, BOOTSTRAP)
    a, b = (draws["pearson", subset, "s1"] for subset in "ab")
    assert (rows["pearson", MEAN, "s1"].low, rows["pearson", MEAN, "s1"].high) == interval((a + b) / 2, 0.95)
    weighted = interval((40 * a + 50 * b) / 90, 0.95)
    found = rows["pearson", WEIGHTED_MEAN, "s1"]
    assert (found.low, found.high) == pytest.approx(weighted, abs=1e-14)


def test_differences_are_paired_and_of_each_two_systems():
    scores = similarity((60, 40), noise=(1.0, 0.9, 0.3))
    _, differences = evidence(scores, BOOTSTRAP)
    rows = by_row(differences)
    pairs = [("s1", "s0"), ("s2", "s0"), ("s2", "s1")]
    assert [(d.system, d.against) for d in differences[:3]] == pairs
    values, draws = by_row(results_of(scores)), resampled(scores, BOOTSTRAP)
    for system, against in pairs:
        row = rows["pearson", "b", system, against]
        assert row.difference == values["pearson", "b", system].value - values["pearson", "b", against].value
        paired = draws["pearson", "b", system] - draws["pearson", "b", against]
        assert (row.low, row.high, row.p_value) == (*interval(paired, 0.95), p_value(paired))
        assert (row.resamples, row.undefined_resamples) == (400, 0)


def test_a_clear_difference_has_a_small_p_value_and_none_a_large_one():
    scores = similarity((200,), noise=(2.0, 0.1))
    same = with_system(scores, "copy", scores.values["s0"] * 2 + 1)
    rows = by_row(evidence(same, BOOTSTRAP)[1])
    clear, none = rows["pearson", "a", "s1", "s0"], rows["pearson", "a", "copy", "s0"]
    assert clear.p_value == pytest.approx(2 / 401)
    assert clear.low > 0
    assert none.p_value == 1
    assert none.difference == pytest.approx(0, abs=1e-14)


def test_p_values_count_both_sides_of_zero():
    values = np.array([-1.0] * 3 + [2.0] * 96 + [np.nan])
    assert p_value(values) == pytest.approx(2 * (1 + 3) / (1 + 99))
    assert p_value(-values) == p_value(values)
    assert p_value(np.array([1e-16, -1e-16, 1e-17])) == 1
    assert p_value(np.full(3, np.nan)) is None


def test_p_values_of_equal_systems_are_spread_evenly():
    """Where systems are equally good, at most about 5% of data sets have p < 0.05."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(150):
        gold = rng.normal(size=60)
        values = {name: gold + rng.normal(size=60) for name in ("s0", "s1")}
        scores = scores_of("similarity", ["a"] * 60, gold, **values)
        found.append(evidence(scores, Bootstrap(150, 0.95, 0))[1][0].p_value)
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.1


def test_the_seed_decides_and_other_systems_change_nothing():
    scores = similarity((30, 20))
    assert evidence(scores, BOOTSTRAP) == evidence(scores, BOOTSTRAP)
    other = evidence(scores, dataclasses.replace(BOOTSTRAP, seed=4))
    assert other[0][0].low != evidence(scores, BOOTSTRAP)[0][0].low
    alone = dataclasses.replace(scores, values={"s1": scores.values["s1"]})
    rows = by_row(evidence(scores, BOOTSTRAP)[0])
    assert all(rows[key] == row for key, row in by_row(evidence(alone, BOOTSTRAP)[0]).items())


def test_a_constant_system_has_no_interval_and_no_difference():
    scores = similarity((30, 20))
    flat = with_system(scores, "flat", np.full(50, 0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results, differences = evidence(flat, BOOTSTRAP)
    row = by_row(results)["pearson", "a", "flat"]
    assert (row.value, row.low, row.high, row.undefined_resamples) == (None, None, None, 400)
    against = by_row(differences)["pearson", "a", "flat", "s0"]
    assert (against.difference, against.low, against.p_value) == (None, None, None)


def test_a_constant_ranking_has_an_interval_of_the_share_of_positives():
    scores = entailment()
    flat = with_system(scores, "flat", np.zeros(60))
    rows = by_row(evidence(flat, BOOTSTRAP)[0])
    share = np.mean([label == "entailment" for label in scores.gold])
    row = rows["average-precision", "dev", "flat"]
    assert row.value == pytest.approx(share)
    assert row.low < share < row.high
    area = rows["roc-auc", "dev", "flat"]
    assert (area.value, area.low, area.high) == (0.5, 0.5, 0.5)
    assert rows["length-correlation", "dev", "flat"].value is None


def test_resamples_of_two_pairs_are_undefined_half_of_the_time_and_counted():
    scores = scores_of("similarity", ["a", "a", "b", "b", "b"], [1, 2, 1, 2, 4], s0=[0.1, 0.2, 0.3, 0.2, 0.6])
    rows = by_row(evidence(scores, BOOTSTRAP)[0])
    two = rows["pearson", "a", "s0"]
    assert (two.value, two.low, two.high) == pytest.approx((1, 1, 1))
    assert 150 < two.undefined_resamples < 250
    assert rows["pearson", MEAN, "s0"].undefined_resamples >= two.undefined_resamples
    assert rows["pearson", TOGETHER, "s0"].undefined_resamples < two.undefined_resamples


def test_one_positive_pair_is_missing_from_a_third_of_the_resamples():
    gold = ["entailment"] + ["neutral"] * 29
    scores = scores_of("entailment", ["dev"] * 30, gold, s0=np.linspace(1, 0, 30))
    row = evidence(scores, BOOTSTRAP)[0][0]
    assert row.value == row.low == row.high == 1
    assert 100 < row.undefined_resamples < 200  # (1 - 1 / 30) ** 30 = 0.36 of 400


def test_pairs_alone_in_their_subsets_are_in_every_resample():
    rows = ["a", "b", "b", "b", "c"], [5, 1, 2, 4, None]
    scores = scores_of("similarity", *rows, s0=[0.9, 0.3, 0.2, 0.6, 0.1])
    found = resampled(scores, Bootstrap(30, 0.95, 3))
    (draws,) = drawn((3,), 30, 3)
    gold, column = np.array([5.0, 1, 2, 4]), scores.values["s0"]
    expected = [metrics.pearson(gold[[0, *(1 + i)]], column[[0, *(1 + i)]]) for i in draws]
    np.testing.assert_allclose(found["pearson", TOGETHER, "s0"], expected, atol=1e-12)
    assert np.isnan(found["pearson", "a", "s0"]).all() and np.isnan(found["pearson", "c", "s0"]).all()


def test_without_two_pairs_in_any_subset_nothing_can_be_resampled():
    scores = scores_of("similarity", ["a", "b", "c"], [5, 1, None], s0=[0.9, 0.3, 0.1], s1=[0.2, 0.1, 0.3])
    results, differences = evidence(scores, BOOTSTRAP)
    row = by_row(results)["pearson", TOGETHER, "s0"]
    assert (row.value, row.low, row.high, row.undefined_resamples) == (pytest.approx(1), None, None, 400)
    assert all(d.p_value is None and d.low is None for d in differences)
    nothing = scores_of("entailment", ["dev"], ["-"], s0=[0.9])
    assert evidence(nothing, BOOTSTRAP)[0][0].value is None


def test_means_over_different_subsets_have_no_difference():
    scores = similarity((30, 20))
    flat = scores.values["s1"].copy()
    flat[30:] = 0.5
    changed = dataclasses.replace(scores, values={"s0": scores.values["s0"], "s1": flat})
    results, differences = evidence(changed, BOOTSTRAP)
    mean = by_row(results)["pearson", MEAN, "s1"]
    assert (mean.entered, mean.undefined_resamples) == (1, 0)
    assert mean.value == by_row(results)["pearson", "a", "s1"].value
    rows = by_row(differences)
    assert rows["pearson", MEAN, "s1", "s0"].difference is None
    assert rows["pearson", MEAN, "s1", "s0"].undefined_resamples == 400
    assert rows["pearson", TOGETHER, "s1", "s0"].p_value is not None


def test_adjusted_p_values_are_scipys_over_each_metric_of_each_task():
    def row(metric, p, task="similarity"):
        return Difference(task, "d", "a", metric, "x", "y", 0.1, 0.0, 0.2, p, 400, 0)

    rows = [row("pearson", 0.01), row("spearman", 0.04), row("pearson", None), row("pearson", 0.04)]
    found = adjust([*rows, row("pearson", 0.03, "entailment")])
    assert [d.p_adjusted for d in found] == pytest.approx([0.02, 0.04, None, 0.04, 0.03])
    assert [d.p_value for d in found] == [0.01, 0.04, None, 0.04, 0.03]
    assert adjust([]) == []


def test_the_csv_of_differences_keeps_every_digit():
    differences, stream = adjust(evidence(similarity((30, 20)), BOOTSTRAP)[1]), io.StringIO()
    write_differences(stream, differences)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert tuple(rows[0]) == DIFFERENCE_COLUMNS
    for row, difference in zip(rows, differences, strict=True):
        for name in ("difference", "low", "high", "p_value", "p_adjusted"):
            assert float(row[name]) == getattr(difference, name)
