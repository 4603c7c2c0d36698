"""Variants are compared where, and only where, their values are over the same things; bags token by token."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from made_scores import scores_of

from bove.bags.store import Bags, BagWriter
from bove.errors import BoveError
from bove.evaluate import comparisons
from bove.evaluate.results import KEY, MEAN, TOGETHER, WEIGHTED_MEAN, csv_text, results_of
from bove.evaluate.tables import named


def variants(task, subsets, gold, dataset="d", empty=None, **values):
    """The results of variants of one data set, by their scores."""
    shared = {"dataset": dataset, "empty": empty}
    scores = {name: scores_of(task, subsets, gold, {"bove": v}, **shared) for name, v in values.items()}
    frames = [results_of(found).assign(variant=name) for name, found in scores.items()]
    return pd.concat(frames, ignore_index=True)


def cells(table, n=1):
    """Rows of the Markdown table by its first n columns, without padding."""
    lines = [line for line in table.split("\n") if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0] if n == 1 else tuple(row[:n]): dict(zip(header[n:], row[n:], strict=True)) for row in rows}


# Candidates.

GOLD = (1, 2, 3, 3, 1, 2, 5)
GOOD, POOR, LUCKY = GOLD, (1, 3, 2, 1, 3, 2, 1), (1, 1, 1, 3, 1, 2, 5)
LABELS = ("entailment", "neutral", "contradiction", "neutral", "entailment", "neutral", "neutral")


def summary(how, gold=GOLD, task="similarity", **values):
    return comparisons.summarise(variants(task, "aaabbbb", gold, **values), how).d.to_dict()


@pytest.mark.parametrize("how", ["mean", "weighted", "together"])
def test_each_summary_of_a_similarity_set_is_the_one_that_it_is_named_after(how):
    gold, values = np.array(GOLD, float), np.array(POOR, float)
    a, b = np.corrcoef(gold[:3], values[:3])[0, 1], np.corrcoef(gold[3:], values[3:])[0, 1]
    whole = np.corrcoef(gold, values)[0, 1]
    expected = {"mean": (a + b) / 2, "weighted": (3 * a + 4 * b) / 7, "together": whole}[how]
    assert summary(how, x=POOR, y=GOOD) == pytest.approx({"x": expected, "y": 1})


def test_entailment_counts_the_mean_of_its_subsets_whatever_the_summary():
    values = (3, 2, 1, 9, 5, 7, 1)  # average precision 1 in subset a, 1/3 in b
    for how in ("mean", "weighted", "together"):
        assert summary(how, LABELS, "entailment", x=values) == {"x": pytest.approx((1 + 1 / 3) / 2)}


def test_roles_count_the_mean_of_their_subsets_and_are_shown_in_percent():
    margins, gold = (1, -1, 1, 0, 0, 0, 0), ("second",) * 7  # accuracy 2/3 in subset a, 1/2 in b
    for how in ("mean", "weighted", "together"):
        assert summary(how, gold, "roles", x=margins) == {"x": pytest.approx(7 / 12)}
    results = named(variants("roles", "aaabbbb", gold, x=margins, y=(1,) * 7), [])
    compared = comparisons.compare(results, "x")
    assert cells(comparisons.ablation_table(compared, "x", "bove"))["y"]["D, a"] == "100.00% (+33.33)"
    assert [panel.unit for panel in comparisons.panels(compared, "x")] == ["accuracy (%)"] * 2


def test_a_mean_over_fewer_subsets_than_another_s_does_not_win():
    for how in ("mean", "weighted"):
        got = summary(how, poor=POOR, lucky=LUCKY)
        assert np.isnan(got["lucky"]) and got["poor"] < 0
        assert summary(how, lucky=LUCKY) == {"lucky": pytest.approx(1)}
    # all pairs together need no subset to be defined
    assert summary("together", poor=POOR, lucky=LUCKY)["lucky"] > 0.5


def test_what_is_undefined_for_all_is_left_out_for_all():
    got = summary("mean", (1, 1, 1, 3, 1, 2, 5), x=POOR, y=GOOD)
    assert got["y"] == pytest.approx(1) and got["x"] < 0
    assert np.isnan(list(summary("mean", x=(1,) * 7, y=(1,) * 7).values())).all()
    assert np.isnan(summary("mean", ("neutral",) * 7, "entailment", x=GOOD)["x"])


VALUES = pd.DataFrame(
    [(0.5, 0.5), (0.9, np.nan), (0.25, 0.75), (0.8, 0.6)],
    index=["alpha~1", "alpha~2", "alpha~3", "alpha~4"],
    columns=["sts", "snli"],
)
METRICS = {"sts": "pearson", "snli": "average-precision"}


def test_the_mean_over_the_sets_ranks_equal_ones_keep_their_order_and_undefined_ones_are_last():
    assert list(comparisons.ranked(VALUES).index) == ["alpha~4", "alpha~1", "alpha~3", "alpha~2"]
    assert list(comparisons.ranked(VALUES[2::-1]).index) == ["alpha~3", "alpha~1", "alpha~2"]


def test_the_choice_has_its_changes_its_values_and_its_reason():
    changes = {name: {"model": {"alpha": 1}} for name in VALUES.index}
    got = comparisons.choice(VALUES, changes, "mean", METRICS)
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
    for names, reason in (
        (["alpha~1", "alpha~3"], "the next, alpha~3, has 0.500000 too, and stands later in the list"),
        (["alpha~2", "alpha~1"], "the next, alpha~2, is undefined"),
        (["alpha~1"], "the only candidate on sts (pearson), snli (average-precision): 0.500000"),
    ):
        found = comparisons.choice(VALUES.loc[names], changes, "mean", METRICS)["reason"]
        assert found.endswith(reason)


def test_candidates_are_listed_in_full_precision_and_in_a_table_best_first():
    values = VALUES.loc[["alpha~2", "alpha~1", "alpha~4"]].replace(0.5, 1 / 3)
    rows = list(csv.DictReader(io.StringIO(csv_text(comparisons.candidates_frame(values)))))
    assert [(row["rank"], row["alpha"]) for row in rows] == [("1", "4"), ("2", "1"), ("3", "2")]
    assert float(rows[1]["value"]) == 1 / 3
    assert (rows[2]["sts"], rows[2]["snli"], rows[2]["value"]) == ("0.9", "", "")
    text = comparisons.candidate_table(values, METRICS, "weighted")
    assert cells(text) == {
        "**4**": {"sts": "**0.8000**", "snli": "**60.00%**", "mean": "**0.7000**"},
        "1": {"sts": "0.3333", "snli": "33.33%", "mean": "0.3333"},
        "2": {"sts": "0.9000", "snli": "undefined", "mean": "undefined"},
    }
    assert "Chosen on sts, snli alone, by the *mean weighted by pairs* of the correlations" in text
    assert "by the mean over these data sets" in text
    one = comparisons.candidate_table(values[["sts"]], METRICS, "mean")
    assert list(cells(one)["1"]) == ["sts"] and "mean over these data sets" not in one


# Ablations: two data sets, scored by each variant.

SUBSETS = ["news"] * 4 + ["captions"] * 5
STS_GOLD = [1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 5.0, 2.0, 4.0]
STS, SNLI = ("similarity", "sts", MEAN), ("entailment", "snli", "dev")
VARIANTS = {
    "shuffled": ([2, 1, 4, 3, 1, 0, 4, 3, 2], [0.9, 0.8, 0.3, 0.1]),
    "full": (STS_GOLD, [0.9, 0.2, 0.8, 0.1]),
    "flat news": ([1, 1, 1, 1, 0, 1, 5, 2, 4], [0.9, 0.2, 0.8, 0.1]),
    "flat": ([1] * 9, [0.5] * 4),
}
MEAN_TITLE, DEV_TITLE = "STS (development), mean of 2 subsets", "SNLI, dev"


def compared(*names, base="full", empty=0):
    labels = ["entailment", "neutral", "entailment", "contradiction"]
    empty, parts = {"bove": np.arange(9) < empty}, []
    for name in names:
        sts, snli = VARIANTS[name]
        parts.append(variants("entailment", ["dev"] * 4, labels, "snli", **{name: snli}))
        parts.append(variants("similarity", SUBSETS, STS_GOLD, "sts", empty, **{name: sts}))
    return comparisons.compare(named(pd.concat(parts, ignore_index=True), ["sts"]), base)


def of(frame, variant):
    return {
        tuple(getattr(row, name) for name in KEY): row for row in frame[frame.variant == variant].itertuples()
    }


def table(frame, base="full"):
    return comparisons.ablation_table(frame, base, "bove")


def test_differences_are_from_the_bases_value_of_the_same_subset():
    found = of(compared("shuffled", "full"), "shuffled")
    correlations = {
        subset: np.corrcoef(*np.array([STS_GOLD, VARIANTS["shuffled"][0]])[:, rows])[0, 1]
        for subset, rows in (("news", slice(4)), ("captions", slice(4, 9)), (TOGETHER, slice(9)))
    }
    correlations[MEAN] = (correlations["news"] + correlations["captions"]) / 2
    for subset, value in correlations.items():
        assert found["similarity", "sts", subset].difference == pytest.approx(value - 1)
    # Precision is 1 and 2/3 at the two pairs that entail; the base ranks both first.
    assert found[SNLI].difference == pytest.approx((1 + 2 / 3) / 2 - 1)
    assert {row.difference for row in of(compared("shuffled", "full"), "full").values()} == {0.0}


def test_only_means_over_the_same_subsets_are_compared():
    found = of(compared("full", "flat news"), "flat news")
    assert found[STS].value == pytest.approx(1) and np.isnan(found[STS].difference)
    assert np.isnan(found["similarity", "sts", WEIGHTED_MEAN].difference)
    assert found["similarity", "sts", "captions"].difference == pytest.approx(0)
    assert found["similarity", "sts", TOGETHER].difference < 0
    assert of(compared("full", "flat news", base="flat news"), "flat news")[STS].difference == 0.0


def test_the_csv_has_every_subset_and_summary_in_full_precision_and_gaps_where_undefined():
    text = csv_text(compared("shuffled", "full", "flat")[comparisons.ABLATION_COLUMNS])
    rows = list(csv.DictReader(io.StringIO(text)))
    subsets = ["dev", "news", "captions", MEAN, WEIGHTED_MEAN, TOGETHER]
    wanted = [(variant, subset) for variant in ("shuffled", "full", "flat") for subset in subsets]
    assert [(row["variant"], row["subset"]) for row in rows] == wanted
    by_row = {(row["variant"], row["subset"]): row for row in rows}
    value = by_row["shuffled", "dev"]
    assert (value["task"], value["dataset"], value["n_scored"]) == ("entailment", "snli", "4")
    assert float(value["value"]) == (1 + 2 / 3) / 2 and value["metric"] == "average-precision"
    assert (by_row["flat", "news"]["value"], by_row["flat", "news"]["difference"]) == ("", "")


def test_the_table_has_the_base_first_means_before_entailment_and_signed_differences():
    text = table(compared("shuffled", "full", "flat news"))
    rows = cells(text)
    assert list(rows) == ["full (base)", "shuffled", "flat news"]
    assert rows["full (base)"] == {MEAN_TITLE: "1.0000", DEV_TITLE: "100.00%"}
    assert (
        rows["shuffled"][DEV_TITLE] == "83.33% (-16.67)" and rows["flat news"][DEV_TITLE] == "100.00% (0.00)"
    )
    assert rows["shuffled"][MEAN_TITLE].startswith("0.") and "(-0." in rows["shuffled"][MEAN_TITLE]
    assert "difference from *full*" in text and "*bove*" in text and "chosen on STS" in text
    assert f"*{MEAN_TITLE}*: unweighted mean" in text and f"*{DEV_TITLE}*: average precision, in" in text
    gain = cells(table(compared("full", "shuffled", base="shuffled"), "shuffled"))
    assert gain["full"][DEV_TITLE] == "100.00% (+16.67)"


def test_undefined_values_and_other_means_are_in_table_notes_and_figure():
    made = compared("full", "flat", "flat news")
    text = table(made)
    rows = cells(text)
    assert rows["flat"][MEAN_TITLE] == "undefined (0 of 2 subsets defined)"
    assert rows["flat news"][MEAN_TITLE] == "1.0000 (1 of 2 subsets defined)"
    assert f"than the base's: flat on {MEAN_TITLE}; flat news on {MEAN_TITLE}." in text
    sts, snli = comparisons.panels(made, "full")
    assert sts.remarks == {"flat": "undefined", "flat news": "mean of other subsets"}
    assert set(sts.values) == {"full"}
    assert snli.values == {"full": 100.0, "flat": 50.0, "flat news": 100.0} and not snli.remarks
    assert (sts.unit, snli.unit) == ("Pearson's correlation", "average precision (%)")
    assert (sts.title, snli.title) == ("STS (development)\nmean of 2 subsets", "SNLI\ndev")


def test_an_undefined_base_leaves_values_without_differences():
    made = compared("full", "flat", base="flat")
    assert cells(table(made, "flat"))["full"][MEAN_TITLE] == "1.0000"
    sts = comparisons.panels(made, "flat")[0]
    assert sts.values == {"full": pytest.approx(1)} and sts.remarks == {"flat": "undefined"}


def test_empty_bags_are_counted_once_for_each_variant():
    text = table(compared("full", "shuffled", empty=3))
    assert "scored 0, of all data sets: full 3, shuffled 3." in text
    assert "no vectors" not in table(compared("full", "shuffled"))


# Seeds.


def over(*values, task="similarity", subset="images", entered=1, dataset="d"):
    """One result of each seed."""
    metric = "pearson" if task == "similarity" else "average-precision"
    names = {"task": task, "dataset": dataset, "label": {"d": "STS", "e": "SNLI"}[dataset], "subset": subset}
    shared = {**names, "n_scored": 8, "metric": metric}
    entered = entered if isinstance(entered, tuple) else (entered,) * len(values)
    rows = [
        {**shared, "variant": str(seed), "value": value, "entered": 0 if np.isnan(value) else n}
        for seed, (value, n) in enumerate(zip(values, entered, strict=True), 1)
    ]
    return pd.DataFrame(rows)


def spread(*parts):
    return comparisons.spreads(named(pd.concat(parts, ignore_index=True), ["d"]), "1")


def seeds_page(found, same=()):
    return comparisons.seeds_table(found, "1", "bove", same)


def test_mean_deviation_and_range_are_beside_the_run_s_own_value():
    found = spread(over(0.5, 0.7, 0.9))
    row = next(found.itertuples())
    assert (row.mean, row.minimum, row.maximum, row.seeds) == (pytest.approx(0.7), 0.5, 0.9, 3)
    assert row.standard_deviation == pytest.approx(0.2)  # squares 0.04 + 0 + 0.04 over 3 - 1
    text = seeds_page(found)
    shown = ["8", "0.7000", "0.2000", "0.5000 to 0.9000", "0.5000"]
    assert list(cells(text, 2)["STS (development)", "images"].values()) == shown
    assert "trained 3 times, with the seeds 1, 2, 3" in text and "1 is the run's own" in text
    assert "Pearson's correlation of the gold scores and STS(S1, S2)." in text
    assert "the same" not in text and "beside a mean" not in text


def test_entailment_is_in_percent_and_a_small_deviation_is_not_printed_as_none():
    text = seeds_page(spread(over(0.5, 0.50001, task="entailment", subset="dev")))
    shown = ["8", "50.00%", "< 0.01%", "50.00% to 50.00%", "50.00%"]
    assert list(cells(text, 2)["STS (development)", "dev"].values()) == shown
    assert "| 0.5000 |           < 0.0001 |" in seeds_page(spread(over(0.5, 0.50001)))


def test_seeds_that_agree_in_everything_are_named_and_have_no_deviation():
    text = seeds_page(spread(over(0.5, 0.5)), [["1", "2"]])
    assert "| 0.5000 |             0.0000 |" in text and "training did not depend on the seed" in text
    three = seeds_page(spread(over(0.5, 0.5, 0.6)), [["1", "2"]])
    assert "Seeds 1, 2 have the same scores" in three and "did not depend" not in three


def test_an_undefined_value_and_a_mean_of_fewer_subsets_are_left_out_and_counted():
    nan = np.nan
    found = spread(
        over(0.5, nan, 0.7),
        over(0.5, 0.9, nan, subset=MEAN, entered=(2, 1, 0)),
        over(nan, nan, nan, subset="none"),
    )
    np.testing.assert_array_equal(found["seed 2"], [nan] * 3)
    assert found["mean"].tolist()[:2] == pytest.approx([0.6, 0.5]) and found.seeds.tolist() == [2, 1, 0]
    rows = {key[1]: list(row.values())[1:3] for key, row in cells(seeds_page(found), 2).items()}
    assert rows == {
        "images": ["0.6000 (2 seeds)", "0.1414"],
        MEAN: ["0.5000 (1 seeds)", "-"],
        "none": ["undefined (constant)", "-"],
    }
    assert "Where a number of seeds stands beside a mean" in seeds_page(found)


def test_the_csv_has_each_seed_in_full_precision():
    (row,) = csv.DictReader(io.StringIO(csv_text(spread(over(0.1, np.nan, 0.2)))))
    assert (row["seeds"], row["seed 1"], row["seed 2"], row["seed 3"]) == ("2", "0.1", "", "0.2")
    assert float(row["mean"]) == pytest.approx(0.15) and row["standard_deviation"].startswith("0.0707106781")
    assert (row["minimum"], row["maximum"], row["n_scored"]) == ("0.1", "0.2", "8")


def test_the_tables_are_given_what_sums_up_each_task():
    found = spread(
        over(0.2, 0.4),
        over(0.3, 0.5, subset=MEAN),
        over(0.2, 0.4, task="entailment", subset="dev", dataset="e"),
    )
    said = "Mean and standard deviation of bove over 2 seeds (seeds.md): "
    assert comparisons.seed_notes(found, "bove") == {
        "similarity": [f"{said}STS mean 0.4000, 0.1414."],
        "entailment": [f"{said}SNLI dev 30.00%, 14.14%."],
    }


# Bags.


def bags(path, sentences):
    """A file of these sentences' vectors, by id."""
    arrays = [np.asarray(vectors, np.float32) for vectors in sentences.values()]
    lengths, rank = list(map(len, arrays)), max(array.shape[1] for array in arrays)
    with BagWriter(path, list(sentences), lengths, range(len(arrays)), rank, "bove", "m") as writer:
        for b, array in enumerate(arrays):
            if len(array):
                writer.put(b, array)
    return Bags.open(path)


def test_cosines_are_those_of_the_same_sentence_and_token_whatever_the_order(tmp_path):
    rng = np.random.default_rng(0)
    one = {name: rng.normal(size=(n, 5)) for name, n in (("a", 3), ("b", 1), ("c", 7))}
    other = {name: rng.normal(size=one[name].shape) for name in ("c", "a", "b")}
    found = comparisons.compare_bags(bags(tmp_path / "1", one), bags(tmp_path / "2", other))
    pairs = [(v, w) for name in one for v, w in zip(one[name], other[name], strict=True)]
    expected = [np.dot(v, w) / np.sqrt(np.dot(v, v) * np.dot(w, w)) for v, w in pairs]
    assert found.lengths.tolist() == [3, 1, 7]
    np.testing.assert_allclose(found.cosines, expected, rtol=1e-6)


def test_cosines_do_not_depend_on_length_and_zero_vectors_have_none(tmp_path):
    one = bags(tmp_path / "1", {"a": [[1, 0], [3, 4], [1e-30, 0], [1e15, 0]], "b": [[0, 0], [0, 0], [1, 0]]})
    two = bags(
        tmp_path / "2", {"a": [[5, 0], [-3, -4], [1e-30, 0], [0, 1e15]], "b": [[0, 0], [1, 0], [0, 0]]}
    )
    found = comparisons.compare_bags(one, two)
    np.testing.assert_allclose(found.cosines, [1, -1, 1, 0, *[np.nan] * 3], atol=1e-7)
    assert found.zeros == {"first": 2, "second": 2, "both": 1}
    assert comparisons.summarise_bags(found.cosines)["tokens"] == 4


def test_a_summary_of_known_values():
    found = comparisons.summarise_bags(np.array([1.0, np.nan, 0.9, 0.8, 0.4, -1.0]))
    assert found["tokens"] == 5 and found["mean"] == pytest.approx(0.42)
    assert found["quantiles"]["0"] == -1 and found["quantiles"]["1"] == 1 and found["quantiles"]["0.5"] == 0.8
    assert found["quantiles"]["0.25"] == pytest.approx(0.4)
    assert found["tokens_below"] == {"0.5": 2, "0.9": 3, "0.99": 4}
    assert found["share_below"]["0.9"] == 3 / 5


def test_classes_of_lengths_have_their_own_tokens_and_without_any_there_is_no_value(tmp_path):
    def sentences(sign):
        sizes = {"none": 0, "five": 5, "six": 6, "ten": 10, "forty": 40, "long": 41}
        return {name: np.tile([[1, sign * (n in (6, 10))]], (n, 1)) for name, n in sizes.items()}

    both = bags(tmp_path / "1", sentences(1)), bags(tmp_path / "2", sentences(-1))
    parts = comparisons.by_length(comparisons.compare_bags(*both))
    # (1, 1) against (1, -1) is 0; 11 to 20 tokens do not occur
    assert [
        (part["length"], part["sentences"], part["tokens"], round(part["mean"], 9)) for part in parts
    ] == [
        *(("1 to 5", 1, 5, 1), ("6 to 10", 2, 16, 0), ("21 to 40", 1, 40, 1), ("41 or more", 1, 41, 1)),
    ]
    nothing = bags(tmp_path / "3", {"a": np.zeros((0, 2))})
    found = comparisons.summarise_bags(comparisons.compare_bags(nothing, nothing).cosines)
    assert found["tokens"] == 0 and found["mean"] is None and set(found["quantiles"].values()) == {None}


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        ({"a": [[1]], "b": [[1]]}, {"a": [[1]]}, r"2: has no bag for sentence 'b', which .*1 has"),
        ({"a": [[1]]}, {"x": [[1]], "a": [[1]], "y": [[1]]}, r"1: has no bag for sentence 'x', .*of 2 such"),
        ({"a": [[1]], "b": [[1]]}, {"a": [[1]], "b": [[1], [2]]}, r"2: sentence 'b' has 2 vectors, but 1 in"),
        ({"a": [[1]]}, {"a": [[1, 2]]}, "2: vectors of 2 dimensions, but .*1 has 1"),
        ({"a": [[1]]}, {"a": [[np.nan]]}, "2: the bag of sentence 'a' holds a value that is not finite"),
    ],
)
def test_files_that_cannot_be_compared(tmp_path, one, two, message):
    with pytest.raises(BoveError, match=message):
        comparisons.compare_bags(bags(tmp_path / "1", one), bags(tmp_path / "2", two))
