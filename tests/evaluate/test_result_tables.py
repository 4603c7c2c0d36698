"""The tables have the paper's shape and digits, mark what is significant, and say what a reader must know."""

import dataclasses
import re

import pytest

from bove.evaluate import paper
from bove.evaluate.results import MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.statistics import Bootstrap, Difference
from bove.evaluate.tables import Findings, markdown_table, task_files, task_tables

BOOTSTRAP = Bootstrap(2000, 0.95, 7)


def result(subset, system, value, *, task="similarity", dataset="sts14", n=(750, 750, 0), entered=6):
    metric = "pearson" if task == "similarity" else "average-precision"
    return Result(task, dataset, subset, system, *n, metric, value, entered)


def task_table(task, results, labels, development=(), **more):
    """The Markdown of a task."""
    return next(iter(task_files(task, Findings(results, labels, development, **more)).values()))


def cells(table):
    """Rows of the first table as {(data set, subset): {column: cell}}."""
    lines = [line for line in table.partition("\n## ")[0].split("\n") if line.startswith("|")]
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


def test_an_undefined_value_has_its_reason():
    few = [result("no", "x", None, n=(3, 0, 0), entered=0), result("one", "x", None, n=(3, 1, 0), entered=0)]
    several = [*few, result("two", "x", None, n=(3, 2, 0), entered=0), result(MEAN, "x", None, entered=0)]
    table = cells(task_table("similarity", several, {"sts14": "D"}))
    assert [row["x"] for row in table.values()] == [
        f"undefined ({why})" for why in ("no pair", "one pair", "constant", "0 of 3 subsets defined")
    ]
    single = result("dev", "x", None, task="entailment", dataset="snli", n=(9, 9, 0), entered=0)
    assert (
        cells(task_table("entailment", [single], {"snli": "S"}))["S", "dev"]["x"] == "undefined (one class)"
    )


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


def bounded(subset, system, value, **more):
    """A result with an interval."""
    return dataclasses.replace(result(subset, system, value, **more), low=value - 0.1, high=value + 0.05)


def difference(subset, system, against, p, task="similarity", value=0.1):
    metric, dataset = ("pearson", "sts14") if task == "similarity" else ("average-precision", "snli")
    names = (task, dataset, subset, metric, system, against)
    return Difference(*names, value, value - 0.05, value + 0.05, p / 2, 2000, 0, p)


def test_intervals_stand_in_brackets_and_the_caption_says_how_they_were_made():
    results = [bounded("a", "x", 0.5), result("b", "x", 0.25)]
    text = task_table("similarity", results, {"sts14": "D"}, bootstrap=BOOTSTRAP)
    assert cells(text)["D", "a"]["x"] == "0.5000 [0.4000, 0.5500]"
    assert cells(text)["D", "b"]["x"] == "0.2500 [no interval]"
    said = (
        "In brackets stand 95% intervals: percentiles of 2000 resamples of the pairs, drawn with replacement"
    )
    assert said in text and "(seed 7)" in text
    assert "Marked are" not in text, "one system differs from none"


def test_few_resamples_for_the_level_are_said():
    texts = [
        task_table("similarity", [bounded("a", "x", 0.5)], {"sts14": "D"}, bootstrap=Bootstrap(n, level, 1))
        for n, level in ((399, 0.95), (400, 0.95), (400, 0.99), (2000, 0.99))
    ]
    said = [re.findall("take at least ([0-9]+)", text) for text in texts]
    assert said == [["400"], [], ["2000"], []]


def test_marks_say_from_which_baseline_a_system_differs():
    systems = ("word-vectors", "properties-only", "bove", "sgd")
    results = [bounded(subset, system, 0.5) for subset in ("a", "b") for system in systems]
    differences = [
        difference("a", "properties-only", "word-vectors", 0.04),
        difference("a", "bove", "word-vectors", 0.04, value=-0.1),
        difference("a", "bove", "properties-only", 0.01),
        difference("a", "sgd", "properties-only", 0.05),
        difference("a", "sgd", "bove", 0.001),
        difference("b", "bove", "properties-only", 0.049),
    ]
    text = task_table("similarity", results, {"sts14": "D"}, differences=differences, bootstrap=BOOTSTRAP)
    table = cells(text)
    marks = {subset: [table["D", subset][system] for system in systems] for subset in ("a", "b")}
    assert marks == {
        subset: [f"**0.5000**{mark} [0.4000, 0.5500]" for mark in row]
        for subset, row in {"a": ["", "†", "†‡", ""], "b": ["", "", "‡", ""]}.items()
    }
    assert "† a system that differs from *word-vectors* and ‡ a system that differs from" in text
    assert "below 0.05 after Benjamini and Hochberg's adjustment" in text


def test_without_a_baseline_marks_are_against_the_first_system():
    results = [bounded("a", system, 0.5) for system in ("bove", "sgd")]
    differences = [difference("a", "sgd", "bove", 0.02)]
    text = task_table("similarity", results, {"sts14": "D"}, differences=differences, bootstrap=BOOTSTRAP)
    assert cells(text)["D", "a"]["sgd"] == "**0.5000**† [0.4000, 0.5500]"


def test_differences_are_shown_on_summaries_or_else_on_subsets():
    results = [bounded(subset, system, 0.5) for subset in ("a", MEAN) for system in ("x", "y")]
    differences = [difference(subset, "y", "x", 0.02) for subset in ("a", MEAN)]
    findings = Findings(results, {"sts14": "D"}, differences=differences, bootstrap=BOOTSTRAP)
    table = task_tables("similarity", findings)[1]
    assert [(row.subset, row.detail, row.names) for row in table.rows] == [(MEAN, "of 1 subset", ("y", "x"))]
    assert [cell.text for cell in table.rows[0].cells] == ["+0.1000", "0.010", "0.020"]
    assert table.rows[0].cells[0].interval == "[0.0500, 0.1500]"
    assert "can not fall below 0.001." in table.caption

    results = [bounded("dev", name, 0.5, task="entailment", dataset="snli") for name in ("x", "y")]
    undefined = Difference(
        "entailment", "snli", "dev", "average-precision", "y", "x", *[None] * 4, 2000, 2000
    )
    differences = [difference("dev", "y", "x", 0.0002, "entailment", -0.0123), undefined]
    findings = Findings(results, {"snli": "SNLI"}, differences=differences, bootstrap=BOOTSTRAP)
    rows = task_tables("entailment", findings)[1].rows
    assert [cell.text for cell in rows[0].cells] == ["-1.23", "<0.001", "<0.001"]
    assert rows[0].cells[0].interval == "[-6.23, 3.77]"
    assert [cell.text for cell in rows[1].cells] == ["undefined", "-", "-"]


def test_further_metrics_have_tables_of_their_own():
    results = [
        dataclasses.replace(bounded("dev", name, 0.5, task="entailment", dataset="snli"), metric=metric)
        for metric in ("average-precision", "roc-auc", "length-correlation")
        for name in ("x", "y")
    ]
    notes = {"entailment": ["Of the task."], "length-correlation": ["Of the length."]}
    findings = Findings(results, {"snli": "SNLI"}, notes=notes, bootstrap=BOOTSTRAP)
    first, area, length = task_tables("entailment", findings)
    assert [table.name for table in (first, area, length)] == [
        "snli-average-precision",
        "snli-roc-auc",
        "snli-length-correlation",
    ]
    assert first.columns[2:] == ["paper: bag of W2V", "paper: BoVE"] and area.columns == ["x", "y"]
    assert area.rows[0].cells[0].text == "50.00%" and length.rows[0].cells[0].text == "0.5000"
    assert area.rows[0].cells[0].bold and not length.rows[0].cells[0].bold
    assert "Of the task." in first.notes and length.notes == ["Of the length."]


def test_the_caption_names_data_and_origin():
    results = [
        result("a", "x", 0.5, n=(700, 600, 0)),
        result("b", "x", 0.5, n=(50, 50, 0)),
        result(MEAN, "x", 0.5, n=(750, 650, 0)),
    ]
    text = task_table("similarity", results, {"sts14": "D"}, origin="Made by bove 1.")
    assert "Data: D (650 pairs scored, 100 left out). Made by bove 1." in text


def test_resamples_without_a_value_are_counted_in_a_note():
    some = dataclasses.replace(bounded("a", "x", 0.5), undefined_resamples=30)
    constant = dataclasses.replace(result("a", "y", None, entered=0), undefined_resamples=2000)
    text = task_table("similarity", [some, constant], {"sts14": "D"}, bootstrap=BOOTSTRAP)
    said = "* D a: resamples without a value, of 2000, which intervals and p-values leave out: x 30."
    assert said in text.split("\n")
    assert cells(text)["D", "a"]["y"] == "undefined (constant)"
