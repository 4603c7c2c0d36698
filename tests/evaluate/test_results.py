"""The file of scores comes back as written, and results count what they are over."""

import csv
import dataclasses
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_scores import scores_of

from bove.errors import BoveError
from bove.evaluate.metrics import pearson
from bove.evaluate.results import (
    MEAN,
    RESULT_COLUMNS,
    TOGETHER,
    WEIGHTED_MEAN,
    Scores,
    csv_text,
    read_scores,
    results_of,
    write_scores,
)

SCORES = scores_of(
    "similarity",
    ["a", "a", "b"],
    [1.5, None, 5.0],
    {"words": [0.25, 0, -0.5], "bove": [0.1, 0, 0.2]},
    dataset="sts14",
    empty={"words": np.array([False, False, True])},
    pairs="12ab",
    models={"bove": "34cd"},
    lengths=np.array([[7, 3], [0, 0], [0, 12]]),
)


@pytest.fixture
def path(tmp_path):
    write_scores(SCORES, tmp_path / "s.parquet")
    return tmp_path / "s.parquet"


def test_scores_come_back_as_written_and_in_the_same_bytes(path, tmp_path):
    back = read_scores(path)
    for field in dataclasses.fields(Scores):
        np.testing.assert_equal(getattr(back, field.name), getattr(SCORES, field.name))
    write_scores(back, tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == path.read_bytes()


def test_the_columns_are_those_of_the_format(path):
    table = pq.read_table(path)
    assert table.column_names == [
        *("id", "dataset", "label", "task", "subset", "gold", "scored", "length_1", "length_2"),
        *("score:words", "empty:words", "score:bove", "empty:bove"),
    ]
    assert table["score:words"].to_pylist() == [0.25, None, -0.5]
    assert table["empty:words"].to_pylist() == [False, False, True]
    assert table["length_2"].to_pylist() == [3, None, 12]
    assert table["gold"].to_pylist() == ["1.5", None, "5.0"]
    assert table.schema.metadata[b"pairs_sha256"] == b"12ab"
    assert table.schema.metadata[b"model_hash:bove"] == b"34cd"


def test_other_and_damaged_files_are_refused(path, tmp_path):
    raw = path.read_bytes()
    for size in (0, 3, 100, len(raw) - 1):
        path.write_bytes(raw[:size])
        with pytest.raises(BoveError, match="damaged"):
            read_scores(path)
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(BoveError, match="an unnamed format"):
        read_scores(path)
    with pytest.raises(BoveError, match="no such file"):
        read_scores(tmp_path / "absent")


@pytest.mark.parametrize(
    ("column", "change"),
    [
        *((name, None) for name in ("task", "gold", "length_1", "empty:bove")),
        ("scored", pa.array([True, False, None])),
        ("gold", pa.array([1.5, None, 5.0])),
        ("score:bove", pa.array([0.1, None, 0.25])),
    ],
)
def test_scores_that_have_changed_are_refused(path, column, change):
    table = pq.read_table(path)
    place = table.column_names.index(column)
    changed = table.drop_columns([column]) if change is None else table.set_column(place, column, change)
    pq.write_table(changed, path)
    with pytest.raises(BoveError, match="changed since it was written"):
        read_scores(path)


# Results: three subsets, of which one has a constant gold, by two systems.

SIMILARITY = scores_of(
    "similarity",
    ["long"] * 5 + ["short"] * 2 + ["flat"] * 2,
    [1, 2, 3, None, 4, 5, 1, 2, 2],
    {"x": [0.1, 0.3, 0.2, 0, 0.9, 0.1, 0.2, 0.5, 0.6], "y": [0.3, 0.1, 0, 0, 0.2, 0.2, 0.1, 0.4, 0.7]},
    empty={"y": np.arange(9) == 2},
)


def by_subset(results, system):
    return {row.subset: row for row in results[results.system == system].itertuples()}


def test_rows_follow_subsets_then_systems_and_end_with_the_summaries():
    results = results_of(SIMILARITY)
    subsets = ["long", "short", "flat", MEAN, WEIGHTED_MEAN, TOGETHER]
    rows = list(zip(results.subset, results.system, strict=True))
    assert rows == [(subset, system) for subset in subsets for system in ("x", "y")]
    both = results_of(SIMILARITY, ["spearman", "pearson"])
    assert both.metric.tolist() == ["spearman"] * 12 + ["pearson"] * 12


def test_subsets_are_measured_on_their_scored_pairs():
    rows = by_subset(results_of(SIMILARITY), "y")
    assert rows["long"].value == pytest.approx(pearson([1, 2, 3, 4], [0.3, 0.1, 0, 0.2]))
    assert (rows["long"].n_pairs, rows["long"].n_scored, rows["long"].n_empty) == (5, 4, 1)
    assert rows["short"].value == pytest.approx(1)
    assert np.isnan(rows["flat"].value) and rows["flat"].entered == 0


def test_each_summary_is_what_its_name_says():
    rows = by_subset(results_of(SIMILARITY), "x")
    long = pearson([1, 2, 3, 4], [0.1, 0.3, 0.2, 0.9])
    assert rows[MEAN].value == pytest.approx((long - 1) / 2)
    assert rows[WEIGHTED_MEAN].value == pytest.approx((4 * long - 2) / 6)
    gold, scores = [1, 2, 3, 4, 5, 1, 2, 2], [0.1, 0.3, 0.2, 0.9, 0.1, 0.2, 0.5, 0.6]
    assert rows[TOGETHER].value == pytest.approx(pearson(gold, scores))
    for name in (MEAN, WEIGHTED_MEAN, TOGETHER):
        assert (rows[name].n_pairs, rows[name].n_scored, rows[name].subsets) == (9, 8, 3)
    assert rows[MEAN].entered == rows[WEIGHTED_MEAN].entered == 2


def test_a_data_set_without_a_defined_subset_has_no_mean():
    rows = by_subset(results_of(scores_of("similarity", ["a", "b"], [1, 2], {"x": [0.5, 0.7]})), "x")
    assert np.isnan(rows[MEAN].value) and np.isnan(rows[WEIGHTED_MEAN].value)
    assert rows[TOGETHER].value == pytest.approx(1)


def test_entailment_is_ranked_against_both_other_labels_and_has_no_summary():
    gold = ["neutral", "entailment", "-", "contradiction", "entailment", "-"]
    scores = scores_of("entailment", ["dev"] * 5 + ["test"], gold, {"x": [0.9, 0.8, 0, 0.7, 0.6, 0]})
    dev, test = results_of(scores).itertuples()
    assert dev.value == pytest.approx(0.5 * 1 / 2 + 0.5 * 2 / 4)
    assert (dev.n_pairs, dev.n_scored, dev.metric) == (5, 4, "average-precision")
    assert (test.n_pairs, test.n_scored) == (1, 0) and np.isnan(test.value)


@pytest.mark.parametrize("name", [MEAN, TOGETHER])
def test_a_subset_with_the_name_of_a_summary_is_refused(name):
    with pytest.raises(BoveError, match=f"has a subset '{name}'"):
        results_of(scores_of("similarity", [name], [1], {"x": [0.5]}))


def test_the_csv_keeps_every_digit_and_leaves_undefined_values_empty():
    results = results_of(SIMILARITY)
    text = csv_text(results[RESULT_COLUMNS])
    assert "\r" not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == RESULT_COLUMNS
    assert [row["value"] for row in rows] == ["" if np.isnan(x) else repr(x) for x in results.value]
    assert [int(row["n_empty"]) for row in rows] == results.n_empty.tolist()
