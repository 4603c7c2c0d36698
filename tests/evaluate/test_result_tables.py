"""The Markdown tables have the paper's shape and digits, and say what a reader must know."""

import pytest

from bove.evaluate import paper
from bove.evaluate.results import MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.tables import markdown_table, task_table


def result(subset, system, value, *, task="similarity", dataset="sts14", n=(750, 750, 0), entered=6):
    metric = "pearson" if task == "similarity" else "average-precision"
    return Result(task, dataset, subset, system, *n, metric, value, entered)


def cells(table):
    """Rows of the table as {(data set, subset): {column: cell}}."""
    lines = [line for line in table.split("\n") if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {(row[0], row[1]): dict(zip(header, row, strict=True)) for row in rows}


def paper_sized(values, label="STS-2014"):
    """Results of two systems on all of the paper's subsets, with the paper's pair counts."""
    rows = []
    for subset, (n, *_) in paper.PAPER[label].items():
        n = n or 3750
        rows += [result(subset, system, value, n=(n, n, 0)) for system, value in values.items()]
    return rows


def test_rows_show_four_digits_with_the_best_in_bold_and_the_papers_figures_beside():
    results = paper_sized({"words": 0.12344, "bove": 0.5})
    table = cells(task_table("similarity", results, {"sts14": "STS-2014"}))
    assert table["STS-2014", "deft-news"] == {
        "data set": "STS-2014",
        "subset": "deft-news",
        "pairs": "300",
        "words": "0.1234",
        "bove": "**0.5000**",
        "paper: bag of W2V": "0.6583",
        "paper: BoVE": "0.6795",
    }
    mean = table["STS-2014", "mean (of 6 subsets)"]
    assert (mean["paper: bag of W2V"], mean["paper: BoVE"]) == ("0.6429", "0.6480")


def test_the_papers_figures_are_those_of_its_means():
    for rows in (paper.PAPER["STS-2014"], paper.PAPER["STS-2015"]):
        subsets = [figures for name, figures in rows.items() if name != MEAN]
        for column in (1, 2):
            mean = sum(figures[column] for figures in subsets) / len(subsets)
            assert mean == pytest.approx(rows[MEAN][column], abs=6e-5)


def test_the_papers_mean_stands_only_beside_a_mean_of_the_same_subsets():
    results = [r for r in paper_sized({"bove": 0.5}) if r.subset != "images"]
    table = cells(task_table("similarity", results, {"sts14": "STS-2014"}))
    assert table["STS-2014", "mean (of 5 subsets)"]["paper: BoVE"] == "-"
    assert table["STS-2014", "OnWN"]["paper: BoVE"] == "0.6800"


def test_data_sets_that_the_paper_lacks_get_no_paper_columns():
    text = task_table("similarity", [result("images", "bove", 0.5)], {"sts14": "Demo"})
    assert "paper" not in text


def test_entailment_is_in_percent_with_two_decimals():
    results = [
        result("dev", "words", 0.64474, task="entailment", dataset="snli", n=(10000, 9842, 0)),
        result("dev", "bove", 0.65735, task="entailment", dataset="snli", n=(10000, 9842, 0)),
    ]
    text = task_table("entailment", results, {"snli": "SNLI"})
    row = cells(text)["SNLI", "dev"]
    assert (row["words"], row["bove"], row["paper: BoVE"]) == ("64.47%", "**65.73%**", "65.74%")
    assert row["pairs"] == "9842 of 10000"
    assert "positive class is *entailment*" in text
    assert "the paper has" not in text


def test_values_that_print_alike_are_both_bold_and_one_alone_is_not():
    results = [result("a", "x", 0.50001), result("a", "y", 0.50002), result("b", "x", 0.3)]
    table = cells(task_table("similarity", results, {"sts14": "D"}))
    assert table["D", "a"]["x"] == table["D", "a"]["y"] == "**0.5000**"
    assert (table["D", "b"]["x"], table["D", "b"]["y"]) == ("0.3000", "-")


def test_the_best_is_the_largest_number_not_the_largest_text():
    results = [result("a", "x", -0.2), result("a", "y", -0.1), result("a", "z", -0.00001)]
    row = cells(task_table("similarity", results, {"sts14": "D"}))["D", "a"]
    assert (row["x"], row["y"], row["z"]) == ("-0.2000", "-0.1000", "**0.0000**")


def test_undefined_values_are_said_and_the_mean_tells_how_many_subsets_entered():
    results = [
        result("a", "x", None, entered=0),
        result("b", "x", 0.5, entered=1),
        result(MEAN, "x", 0.5, entered=1),
        result(WEIGHTED_MEAN, "x", 0.5, entered=1),
        result(TOGETHER, "x", 0.4, entered=1),
    ]
    table = cells(task_table("similarity", results, {"sts14": "D"}))
    assert table["D", "a"]["x"] == "undefined (constant)"
    assert table["D", "mean (of 2 subsets)"]["x"] == "0.5000 (1 of 2 subsets defined)"
    assert table["D", "mean weighted by pairs (of 2 subsets)"]["x"] == "0.5000 (1 of 2 subsets defined)"
    assert table["D", TOGETHER]["x"] == "0.4000"


def test_notes_count_empty_bags_and_tell_other_pair_counts_and_development_sets():
    results = [
        result("images", "words", 0.5, n=(700, 600, 3)),
        result("images", "bove", 0.6, n=(700, 600, 0)),
    ]
    text = task_table("similarity", results, {"sts14": "STS-2014", "snli": "SNLI"}, ["sts14", "snli"])
    assert "STS-2014 images: pairs in which a sentence has no vectors, scored 0: words 3." in text
    assert "STS-2014 images: the paper has 750 pairs, this table 600 of 700." in text
    assert "chosen on STS-2014:" in text
    assert ("STS-2014 (development)", "images") in cells(text)


def test_without_empty_bags_the_table_says_so():
    text = task_table("similarity", [result("a", "x", 0.5)], {"sts14": "D"})
    assert "No scored pair has a sentence without vectors." in text


def test_data_sets_of_one_label_are_told_apart():
    results = [result("a", "x", 0.5), result("a", "x", 0.6, dataset="other")]
    table = cells(task_table("similarity", results, {"sts14": "D", "other": "D"}))
    assert [*table] == [("D (sts14)", "a"), ("D (other)", "a")]


def test_a_task_without_data_says_so():
    text = task_table("entailment", [result("a", "x", 0.5)], {"sts14": "D"})
    assert text == "# Textual entailment\n\nNo data set of this task was scored.\n"


def test_a_pipe_in_a_name_does_not_break_the_table():
    text = markdown_table(["a|b", "n"], [["c", "1"], ["long cell", "22"]], 1)
    assert text == "| a\\|b      |   n |\n| --------- | --: |\n| c         |   1 |\n| long cell |  22 |\n"
