"""Variants are held against the base where, and only where, their values are over the same things."""

import csv
import io

import numpy as np
import pytest

from bove.evaluate.comparisons import CSV_COLUMNS, Ablations, ablation_table, compare, panels, write_ablations
from bove.evaluate.results import MEAN, TOGETHER, WEIGHTED_MEAN, Scores, results_of

SUBSETS = ["news"] * 4 + ["captions"] * 5
GOLD = [1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 5.0, 2.0, 4.0]
LABELS = ["entailment", "neutral", "entailment", "contradiction"]
STS, SNLI = ("similarity", "sts", MEAN), ("entailment", "snli", "dev")
# Scores of the two data sets' pairs by each variant.
VARIANTS = {
    "shuffled": ([2, 1, 4, 3, 1, 0, 4, 3, 2], [0.9, 0.8, 0.3, 0.1]),
    "full": (GOLD, [0.9, 0.2, 0.8, 0.1]),
    "flat news": ([1, 1, 1, 1, 0, 1, 5, 2, 4], [0.9, 0.2, 0.8, 0.1]),
    "flat": ([1] * 9, [0.5] * 4),
}
PRINTED = {"sts": "STS-2014", "snli": "SNLI"}


def scores(dataset, values, empty=0):
    similarity = dataset == "sts"
    n = len(values)
    return Scores(
        dataset=dataset,
        label=PRINTED[dataset],
        task="similarity" if similarity else "entailment",
        ids=tuple(map(str, range(n))),
        subsets=tuple(SUBSETS if similarity else ["dev"] * n),
        gold=tuple(map(str, GOLD) if similarity else LABELS),
        scored=np.ones(n, bool),
        values={"bove": np.array(values, float)},
        empty={"bove": np.arange(n) < empty},
        pairs_sha256=dataset,
        model_hashes={"bove": ""},
        lengths=np.ones((n, 2), int),
    )


def results(variant, empty=0):
    sts, snli = VARIANTS[variant]
    return [*results_of(scores("snli", snli)), *results_of(scores("sts", sts, empty))]


def ablations(*variants, base="full", development=(), empty=0):
    comparisons = compare({name: results(name, empty) for name in variants}, base)
    return Ablations(comparisons, base, "bove", PRINTED, development)


def cells(table):
    """Cells of the Markdown table by variant and title."""
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in table.split("\n")
        if line.startswith("|")
    ]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def test_differences_are_from_the_bases_value_of_the_same_subset():
    found = ablations("shuffled", "full").cells("shuffled")
    correlations = {
        subset: np.corrcoef(*np.array([GOLD, VARIANTS["shuffled"][0]])[:, rows])[0, 1]
        for subset, rows in (("news", slice(4)), ("captions", slice(4, 9)), (TOGETHER, slice(9)))
    }
    correlations[MEAN] = (correlations["news"] + correlations["captions"]) / 2
    for subset, value in correlations.items():
        assert found["similarity", "sts", subset].difference == pytest.approx(value - 1)
    # Precision is 1 and 2/3 at the two pairs that entail; the base ranks both first.
    assert found[SNLI].difference == pytest.approx((1 + 2 / 3) / 2 - 1)


def test_the_base_differs_from_itself_by_nothing():
    assert {c.difference for c in ablations("shuffled", "full").cells("full").values()} == {0.0}


def test_a_mean_over_other_subsets_than_the_bases_has_no_difference():
    found = ablations("full", "flat news").cells("flat news")
    for summary in (MEAN, WEIGHTED_MEAN):
        comparison = found["similarity", "sts", summary]
        assert comparison.result.value == pytest.approx(1) and comparison.difference is None
    assert found["similarity", "sts", "captions"].difference == pytest.approx(0)
    assert found["similarity", "sts", TOGETHER].difference < 0


def test_means_over_the_same_part_of_the_subsets_are_compared():
    found = ablations("full", "flat news", base="flat news").cells("flat news")
    assert found[STS].difference == 0.0


def test_the_csv_has_every_subset_and_summary_in_full_precision_and_gaps_where_undefined():
    stream = io.StringIO()
    write_ablations(stream, ablations("shuffled", "full", "flat").comparisons)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert list(rows[0]) == list(CSV_COLUMNS)
    subsets = ["dev", "news", "captions", MEAN, WEIGHTED_MEAN, TOGETHER]
    wanted = [(variant, subset) for variant in ("shuffled", "full", "flat") for subset in subsets]
    assert [(row["variant"], row["subset"]) for row in rows] == wanted
    by_row = {(row["variant"], row["subset"]): row for row in rows}
    value = by_row["shuffled", "dev"]
    assert (value["task"], value["dataset"], value["n_scored"]) == ("entailment", "snli", "4")
    assert float(value["value"]) == (1 + 2 / 3) / 2 and value["metric"] == "average-precision"
    assert (by_row["flat", "news"]["value"], by_row["flat", "news"]["difference"]) == ("", "")


def test_the_table_has_the_base_first_means_before_entailment_and_signed_differences():
    text = ablation_table(ablations("shuffled", "full", development=["sts"]))
    table = cells(text)
    assert list(table) == ["full (base)", "shuffled"]
    sts, snli = "STS-2014 (development), mean of 2 subsets", "SNLI, dev"
    assert table["full (base)"] == {sts: "1.0000", snli: "100.00%"}
    assert table["shuffled"][snli] == "83.33% (-16.67)"
    assert table["shuffled"][sts].startswith("0.") and "(-0." in table["shuffled"][sts]
    assert "difference from *full*" in text and "*bove*" in text
    assert f"*{sts}*: unweighted mean" in text and f"*{snli}*: average precision, in percent" in text
    assert "chosen on STS-2014" in text


def test_a_gain_has_a_plus_and_what_prints_as_0_no_sign():
    table = cells(ablation_table(ablations("full", "shuffled", base="shuffled")))
    assert table["full"]["SNLI, dev"] == "100.00% (+16.67)"
    same = cells(ablation_table(ablations("full", "flat news")))
    assert same["flat news"]["SNLI, dev"] == "100.00% (0.00)"


def test_undefined_values_and_other_means_are_said_in_table_notes_and_figure():
    made = ablations("full", "flat", "flat news")
    text = ablation_table(made)
    table, title = cells(text), "STS-2014, mean of 2 subsets"
    assert table["flat"][title] == "undefined (0 of 2 subsets defined)"
    assert table["flat news"][title] == "1.0000 (1 of 2 subsets defined)"
    assert f"than the base's: flat on {title}; flat news on {title}." in text
    sts, snli = panels(made)
    assert sts.remarks == {"flat": "undefined", "flat news": "mean of other subsets"}
    assert set(sts.values) == {"full"}
    assert snli.values == {"full": 100.0, "flat": 50.0, "flat news": 100.0} and not snli.remarks
    assert (sts.unit, snli.unit) == ("Pearson's correlation", "average precision (%)")
    assert (sts.title, snli.title) == ("STS-2014\nmean of 2 subsets", "SNLI\ndev")


def test_an_undefined_base_leaves_values_without_differences():
    made = ablations("full", "flat", base="flat")
    assert cells(ablation_table(made))["full"]["STS-2014, mean of 2 subsets"] == "1.0000"
    sts = panels(made)[0]
    assert sts.values == {"full": pytest.approx(1)} and sts.remarks == {"flat": "undefined"}


def test_empty_bags_are_counted_once_for_each_variant():
    text = ablation_table(ablations("full", "shuffled", empty=3))
    assert "scored 0, of all data sets: full 3, shuffled 3." in text
    assert "no vectors" not in ablation_table(ablations("full", "shuffled"))
