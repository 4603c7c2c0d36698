"""Results count what they are over, and their three summaries are three different things."""

import csv
import io

import numpy as np
import pytest

from bove.errors import BoveError
from bove.evaluate.metrics import pearson
from bove.evaluate.results import (
    CSV_COLUMNS,
    MEAN,
    TOGETHER,
    WEIGHTED_MEAN,
    Scores,
    results_of,
    write_results,
)


def scores_of(task, rows, dataset="d", label="D"):
    """Rows of (subset, gold, score of each system, …); a gold of None or "-" is not scored."""
    subsets, gold, *systems = zip(*rows, strict=True)
    names = [f"system {i}" for i in range(len(systems))]
    return Scores(
        dataset=dataset,
        label=label,
        task=task,
        ids=tuple(f"p{i}" for i in range(len(rows))),
        subsets=subsets,
        gold=tuple(g if g is None else str(g) for g in gold),
        scored=np.array([g not in (None, "-") for g in gold]),
        values={name: np.array(column, float) for name, column in zip(names, systems, strict=True)},
        empty={name: np.array(column, float) == 0 for name, column in zip(names, systems, strict=True)},
        pairs_sha256="",
        model_hashes=dict.fromkeys(names, ""),
        lengths=np.arange(2 * len(rows)).reshape(-1, 2),
    )


SIMILARITY = scores_of(
    "similarity",
    [
        ("long", 1, 0.1, 0.3),
        ("long", 2, 0.3, 0.1),
        ("long", 3, 0.2, 0.0),
        ("long", None, np.nan, np.nan),
        ("long", 4, 0.9, 0.2),
        ("short", 5, 0.1, 0.2),
        ("short", 1, 0.2, 0.1),
        ("flat", 2, 0.5, 0.4),
        ("flat", 2, 0.6, 0.7),
    ],
)


def by_subset(results, system):
    return {r.subset: r for r in results if r.system == system}


def test_rows_follow_subsets_then_systems_and_end_with_the_summaries():
    rows = [(r.subset, r.system) for r in results_of(SIMILARITY)]
    subsets = ["long", "short", "flat", MEAN, WEIGHTED_MEAN, TOGETHER]
    assert rows == [(subset, system) for subset in subsets for system in ("system 0", "system 1")]


def test_subsets_are_measured_on_their_scored_pairs():
    rows = by_subset(results_of(SIMILARITY), "system 1")
    assert rows["long"].value == pytest.approx(pearson([1, 2, 3, 4], [0.3, 0.1, 0, 0.2]))
    assert (rows["long"].n_pairs, rows["long"].n_scored, rows["long"].n_empty) == (5, 4, 1)
    assert rows["short"].value == pytest.approx(1)
    assert rows["flat"].value is None
    assert rows["long"].metric == "pearson"


def test_each_summary_is_what_its_name_says():
    rows = by_subset(results_of(SIMILARITY), "system 0")
    long = pearson([1, 2, 3, 4], [0.1, 0.3, 0.2, 0.9])
    assert rows[MEAN].value == pytest.approx((long - 1) / 2)
    assert rows[WEIGHTED_MEAN].value == pytest.approx((4 * long - 2) / 6)
    gold, scores = [1, 2, 3, 4, 5, 1, 2, 2], [0.1, 0.3, 0.2, 0.9, 0.1, 0.2, 0.5, 0.6]
    assert rows[TOGETHER].value == pytest.approx(pearson(gold, scores))
    for name in (MEAN, WEIGHTED_MEAN, TOGETHER):
        assert (rows[name].n_pairs, rows[name].n_scored) == (9, 8)
    assert rows[MEAN].entered == rows[WEIGHTED_MEAN].entered == 2


def test_a_data_set_without_a_defined_subset_has_no_mean():
    rows = by_subset(results_of(scores_of("similarity", [("a", 1, 0.5), ("b", 2, 0.7)])), "system 0")
    assert rows[MEAN].value is None and rows[WEIGHTED_MEAN].value is None
    assert rows[TOGETHER].value == pytest.approx(1)


def test_entailment_is_ranked_against_both_other_labels_and_has_no_summary():
    rows = [
        ("dev", "neutral", 0.9),
        ("dev", "entailment", 0.8),
        ("dev", "-", np.nan),
        ("dev", "contradiction", 0.7),
        ("dev", "entailment", 0.6),
        ("test", "-", np.nan),
    ]
    dev, test = results_of(scores_of("entailment", rows))
    assert dev.value == pytest.approx(0.5 * 1 / 2 + 0.5 * 2 / 4)
    assert (dev.n_pairs, dev.n_scored, dev.metric) == (5, 4, "average-precision")
    assert (test.n_pairs, test.n_scored, test.value) == (1, 0, None)


@pytest.mark.parametrize("name", [MEAN, TOGETHER])
def test_a_subset_named_like_a_summary_is_refused(name):
    with pytest.raises(BoveError, match=f"has a subset '{name}'"):
        results_of(scores_of("similarity", [(name, 1, 0.5)]))


def test_the_csv_keeps_every_digit_and_leaves_undefined_values_empty():
    results, stream = results_of(SIMILARITY), io.StringIO()
    write_results(stream, results)
    assert "\r" not in stream.getvalue()
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [float(row["value"]) if row["value"] else None for row in rows] == [r.value for r in results]
    assert [int(row["n_empty"]) for row in rows] == [r.n_empty for r in results]
