"""Over seeds: mean, deviation and range of each result, and what lacks a value is said."""

import csv
import io

import pytest

from bove.evaluate.comparisons import seeds_table, spreads, table_notes, write_seeds
from bove.evaluate.results import MEAN, Result


def result(value, task="similarity", subset="images", entered=1, dataset="d"):
    return Result(task, dataset, subset, "bove", 9, 8, 0, "pearson", value, entered)


def over(*values, **names):
    return {str(seed): [result(value, **names)] for seed, value in enumerate(values, 1)}


def page(found, same=()):
    return seeds_table(found, "1", "bove", {"d": "STS"}, ["d"], same)


def test_mean_deviation_and_range_are_those_of_the_values():
    (spread,) = spreads(over(0.5, 0.7, 0.9), "1")
    assert spread.mean == pytest.approx(0.7)
    assert spread.deviation == pytest.approx(0.2)  # squares 0.04 + 0 + 0.04 over 3 - 1
    assert spread.range == (0.5, 0.9)


def test_the_page_shows_them_beside_the_run_s_own_value():
    text = page(spreads(over(0.5, 0.7, 0.9), "1"))
    assert (
        "| STS (development) | images |     8 | 0.7000 |             0.2000 | 0.5000 to 0.9000 | 0.5000 |"
        in text
    )
    assert "trained 3 times, with the seeds 1, 2, 3" in text and "1 is the run's own" in text
    assert "Pearson's correlation of the gold scores and STS(S1, S2)." in text
    assert "the same" not in text and "beside a mean" not in text


def test_entailment_is_in_percent_and_a_small_deviation_is_not_printed_as_none():
    text = page(spreads(over(0.5, 0.50001, task="entailment", subset="dev"), "1"))
    assert "50.00% |            < 0.01% | 50.00% to 50.00% | 50.00% |" in text
    text = page(spreads(over(0.5, 0.50001), "1"))
    assert "| 0.5000 |           < 0.0001 |" in text


def test_seeds_that_agree_in_everything_are_told_and_have_no_deviation():
    found = spreads(over(0.5, 0.5), "1")
    text = page(found, [["1", "2"]])
    assert "| 0.5000 |             0.0000 |" in text
    assert "training did not depend on the seed" in text
    three = page(spreads(over(0.5, 0.5, 0.6), "1"), [["1", "2"]])
    assert "Seeds 1, 2 have the same scores" in three and "did not depend" not in three


def test_an_undefined_value_and_a_mean_of_fewer_subsets_are_left_out_and_counted():
    (spread,) = spreads(over(0.5, None, 0.7), "1")
    assert (spread.mean, len(spread.defined)) == (pytest.approx(0.6), 2)
    results = {"1": [result(0.5, subset=MEAN, entered=2)], "2": [result(0.9, subset=MEAN, entered=1)]}
    (fewer,) = spreads(results, "1")
    assert (fewer.values, fewer.deviation) == ({"1": 0.5, "2": None}, None)
    text = page([spread, fewer])
    assert "| 0.6000 (2 seeds) |" in text and "| 0.5000 (1 seeds) |                  - |" in text
    assert "Where a number of seeds stands beside a mean" in text
    (nothing,) = spreads(over(None, None), "1")
    assert "| undefined (constant) |                  - |" in page([nothing])


def test_the_csv_has_each_seed_in_full_precision():
    stream = io.StringIO()
    write_seeds(stream, spreads(over(0.1, None, 0.2), "1"))
    (row,) = csv.DictReader(io.StringIO(stream.getvalue()))
    assert (row["seeds"], row["seed 1"], row["seed 2"], row["seed 3"]) == ("2", "0.1", "", "0.2")
    assert float(row["mean"]) == pytest.approx(0.15) and row["standard_deviation"].startswith("0.0707106781")
    assert (row["minimum"], row["maximum"], row["n_scored"]) == ("0.1", "0.2", "8")


def test_the_tables_are_given_what_sums_up_each_task():
    results = {
        str(seed): [
            result(value),
            result(value + 0.1, subset=MEAN),
            result(value, "entailment", "dev", dataset="e"),
        ]
        for seed, value in ((1, 0.2), (2, 0.4))
    }
    notes = table_notes(spreads(results, "1"), "bove", {"d": "STS", "e": "SNLI"})
    assert notes == {
        "similarity": [
            "Mean and standard deviation of bove over 2 seeds (seeds.md): STS mean 0.4000, 0.1414."
        ],
        "entailment": [
            "Mean and standard deviation of bove over 2 seeds (seeds.md): SNLI dev 30.00%, 14.14%."
        ],
    }
