"""Choosing a candidate: what counts of a data set, who wins, and what is said and written about it."""

import csv
import io
import json

import numpy as np
import pytest

from bove.evaluate.comparisons import (
    Candidate,
    candidate_table,
    choice,
    ranked,
    settings,
    summarise,
    write_csv,
)
from bove.evaluate.results import Scores, results_of

GOLD = ("1", "2", "3", "3", "1", "2", "5")
SUBSETS = ("a", "a", "a", "b", "b", "b", "b")
GOOD, POOR, CONSTANT = (1, 2, 3, 3, 1, 2, 5), (1, 3, 2, 1, 3, 2, 1), (1, 1, 1, 3, 1, 2, 5)


def results(values, gold=GOLD, subsets=SUBSETS, task="similarity", others=()):
    """Results of the system bove, and of others that must not count."""
    systems = {
        **{name: np.arange(len(gold), dtype=float) for name in others},
        "bove": np.array(values, float),
    }
    return results_of(
        Scores(
            dataset="d",
            label="D",
            task=task,
            ids=tuple(map(str, range(len(gold)))),
            subsets=subsets,
            gold=gold,
            scored=np.ones(len(gold), bool),
            values=systems,
            empty={name: np.zeros(len(gold), bool) for name in systems},
            pairs_sha256="p",
            model_hashes=dict.fromkeys(systems, ""),
            lengths=np.ones((len(gold), 2), int),
        )
    )


@pytest.mark.parametrize("summary", ["mean", "weighted", "together"])
def test_each_summary_of_a_similarity_set_is_the_one_that_it_is_named_after(summary):
    gold, values = np.array(GOLD, float), np.array(POOR, float)
    a, b = np.corrcoef(gold[:3], values[:3])[0, 1], np.corrcoef(gold[3:], values[3:])[0, 1]
    expected = {
        "mean": (a + b) / 2,
        "weighted": (3 * a + 4 * b) / 7,
        "together": np.corrcoef(gold, values)[0, 1],
    }
    got = summarise({"x": results(POOR), "y": results(GOOD)}, summary)
    assert got == {"x": pytest.approx(expected[summary]), "y": pytest.approx(1)}


def test_other_systems_do_not_count():
    alone = summarise({"x": results(POOR)}, "mean")
    assert summarise({"x": results(POOR, others=["aaa", "word-vectors"])}, "mean") == alone


def test_entailment_counts_the_mean_of_its_subsets_whatever_the_summary():
    gold = ("entailment", "neutral", "contradiction", "neutral", "entailment", "neutral", "neutral")
    values = (3, 2, 1, 9, 5, 7, 1)  # average precision 1 in subset a, 1/3 in b
    for summary in ("mean", "weighted", "together"):
        got = summarise({"x": results(values, gold, task="entailment")}, summary)
        assert got == {"x": pytest.approx((1 + 1 / 3) / 2)}


@pytest.mark.parametrize("summary", ["mean", "weighted"])
def test_a_mean_over_fewer_subsets_than_another_s_does_not_win(summary):
    got = summarise({"poor": results(POOR), "lucky": results(CONSTANT)}, summary)
    assert got["lucky"] is None and got["poor"] < 0
    assert summarise({"lucky": results(CONSTANT)}, summary) == {"lucky": pytest.approx(1)}


def test_all_pairs_together_need_no_subset_to_be_defined():
    got = summarise({"poor": results(POOR), "lucky": results(CONSTANT)}, "together")
    assert got["lucky"] > 0.5


def test_a_subset_that_is_undefined_for_all_is_left_out_for_all():
    gold = ("1", "1", "1", "3", "1", "2", "5")
    got = summarise({"x": results(POOR, gold), "y": results(GOOD, gold)}, "mean")
    assert got["y"] == pytest.approx(1) and got["x"] < 0


def test_without_any_value_the_set_is_undefined():
    flat = results((1,) * 7)
    assert summarise({"x": flat, "y": flat}, "mean") == {"x": None, "y": None}
    labels = ("neutral",) * 7
    assert summarise({"x": results(GOOD, labels, task="entailment")}, "mean") == {"x": None}


def candidate(name, *values):
    return Candidate(name, {"model": {"alpha": 1}}, dict(zip(("sts", "snli"), values, strict=True)))


A, B, C, D = (
    candidate("alpha~1", 0.5, 0.5),
    candidate("alpha~2", 0.9, None),
    candidate("alpha~3", 0.25, 0.75),
    candidate("alpha~4", 0.8, 0.6),
)


def test_the_mean_over_the_sets_ranks_equal_ones_stay_in_order_and_undefined_ones_come_last():
    assert [c.name for c in ranked([B, A, C, D])] == ["alpha~4", "alpha~1", "alpha~3", "alpha~2"]
    assert [c.name for c in ranked([C, B, A])] == ["alpha~3", "alpha~1", "alpha~2"]


def test_the_choice_has_its_changes_its_values_and_its_reason():
    metrics = {"sts": "pearson", "snli": "average-precision"}
    got = choice([B, A, D, C], "mean", metrics)
    assert json.loads(json.dumps(got)) == {
        "chosen": "alpha~4",
        "changes": {"model": {"alpha": 1}},
        "value": pytest.approx(0.7),
        "values": {"sts": 0.8, "snli": 0.6},
        "summary": "mean",
        "development": ["sts", "snli"],
        "candidates": 4,
        "reason": "highest of 4 candidates on sts (pearson), snli (average-precision): 0.700000; "
        "the next, alpha~1, has 0.500000",
    }
    assert choice([A, C], "mean", metrics)["reason"].endswith(
        "the next, alpha~3, has 0.500000 too, and stands later in the list"
    )
    assert choice([B, A], "mean", metrics)["reason"].endswith("the next, alpha~2, is undefined")
    assert choice([A], "mean", metrics)["reason"] == (
        "the only candidate on sts (pearson), snli (average-precision): 0.500000"
    )


def test_a_name_is_its_keys_and_values():
    assert settings("alpha~1e-05/e_step~fixed-point") == {"alpha": "1e-05", "e_step": "fixed-point"}


def test_the_csv_has_every_candidate_in_full_precision_best_first():
    stream = io.StringIO()
    third = Candidate("alpha~9", {}, {"sts": 1 / 3, "snli": 1 / 3})
    write_csv(stream, [B, third, D])
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [(row["rank"], row["alpha"]) for row in rows] == [("1", "4"), ("2", "9"), ("3", "2")]
    assert float(rows[1]["value"]) == 1 / 3
    assert (rows[2]["sts"], rows[2]["snli"], rows[2]["value"]) == ("0.9", "", "")


def test_the_table_has_the_chosen_one_first_and_bold():
    text = candidate_table([B, A, D], {"sts": "similarity", "snli": "entailment"}, "weighted")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if "|" in line
    ]
    assert lines[0] == ["alpha", "sts", "snli", "mean"]
    assert lines[2:] == [
        ["**4**", "**0.8000**", "**60.00%**", "**0.7000**"],
        ["1", "0.5000", "50.00%", "0.5000"],
        ["2", "0.9000", "undefined", "undefined"],
    ]
    assert "All 3 candidates, best first" in text and "*mean weighted by pairs* of the correlations" in text
    assert "Chosen on sts, snli alone" in text and "by the mean over these data sets" in text


def test_with_one_development_set_there_is_no_mean():
    one = [Candidate("alpha~1", {}, {"sts": 0.5}), Candidate("alpha~2", {}, {"sts": 0.75})]
    text = candidate_table(one, {"sts": "similarity"}, "mean")
    assert text.split("\n")[2].strip("| ").split() == ["alpha", "|", "sts"]
    assert "mean over these data sets" not in text
