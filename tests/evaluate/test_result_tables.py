"""Tables have the paper's shape and digits, mark what is significant, and state what a reader must know.

In both forms they hold what they are given, escaped, and LaTeX sets them on a page.
"""

import dataclasses
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from bove.evaluate import paper, tables
from bove.evaluate.results import AGGREGATES, MEAN, RESULT_COLUMNS, TOGETHER, WEIGHTED_MEAN
from bove.evaluate.statistics import DIFFERENCE_COLUMNS, Bootstrap

CELLS = [
    tables.Cell("0.5000", True, "†‡", "[-0.1000, 0.6000]"),
    tables.Cell("-0.2500", note="(1 of 2 subsets defined)"),
]
TABLE = tables.Table(
    name="sts",
    title="A title",
    columns=["x_1", "paper: BoVE"],
    rows=[
        tables.Row("STS & 50%", "a|b", "of 2 subsets", "9 of 10", CELLS),
        tables.Row("STS & 50%", "c", "", "5", [tables.Cell("1.0000"), tables.Cell("-")]),
        tables.Row("other", "d", "", "5", [tables.Cell("undefined (constant)"), tables.Cell("-")]),
    ],
    short="A *short* one, with 95% & † marks.",
    caption="A *caption* with 95% & † marks.",
    notes=["One_note.", "p < 0.05, r of -0.3 in STS-2014."],
)
ODD = 'a_b & 50% #1 $x$ {y} ~z^2 \\cmd <|> "q" *emphasis* STS-2014'


def test_markdown_has_one_line_per_row():
    lines = [" ".join(line.split()) for line in tables.markdown([TABLE]).split("\n")]
    assert lines[:3] == ["# A title", "", "| data set | subset | pairs | x_1 | paper: BoVE |"]
    assert lines[4:] == [
        r"| STS & 50% | a\|b (of 2 subsets) | 9 of 10 | **0.5000**†‡ [-0.1000, 0.6000] | "
        "-0.2500 (1 of 2 subsets defined) |",
        "| STS & 50% | c | 5 | 1.0000 | - |",
        "| other | d | 5 | undefined (constant) | - |",
        "",
        "A *caption* with 95% & † marks.",
        "",
        "* One_note.",
        "* p < 0.05, r of -0.3 in STS-2014.",
        "",
    ]
    text = tables.markdown_table(["a|b", "n"], [["c", "1"], ["long cell", "22"]], 1)
    assert text == "| a\\|b      |   n |\n| --------- | --: |\n| c         |   1 |\n| long cell |  22 |\n"


def test_latex_has_values_and_a_short_caption_and_no_macro_of_its_own():
    text = tables.latex([TABLE])
    lines = text.split("\n")
    assert r"\usepackage{booktabs}" in lines[0] and "command" not in text and r"\def" not in text
    rows = [line for line in lines if line.endswith(r"\\")]
    assert rows == [
        r" &  &  & paper \\",
        r"subset & pairs & x\_1 & BoVE \\",
        r"\multicolumn{4}{@{}l}{\emph{STS \& 50\%}} \\",
        r"a\textbar{}b & 9 of 10 & \textbf{0.5000}\rlap{\textsuperscript{\textdagger{}\textdaggerdbl{}}}"
        r" & $-$0.2500 (1 of 2 subsets defined) \\",
        r"c & 5 & 1.0000 & - \\",
        r"\multicolumn{4}{@{}l}{\emph{other}} \\",
        r"d & 5 & undefined & - \\",
    ]
    caption = r"\caption[{A title}]{A \emph{short} one, with 95\% \& \textdagger{} marks.}"
    assert caption in lines and r"\label{tab:sts}" in lines and "One\\_note" not in text


def test_differences_are_below_the_subset_and_have_intervals_in_latex():
    row = tables.Row("STS", "mean", "", "9", [tables.Cell("+0.1000", interval="[-0.2, 0.3]")], ["x_1", "y"])
    text = tables.latex(
        [tables.Table("d", "D", ["difference"], [row, row], "", "", (), ["system", "against"])]
    )
    assert [line for line in text.split("\n") if line.endswith(r"\\")] == [
        r"system & against & difference \\",
        r"\multicolumn{3}{@{}l}{\emph{STS: mean}} \\",
        *[r"x\_1 & y & +0.1000 [$-$0.2, 0.3] \\"] * 2,
    ]


def test_text_is_escaped_for_latex():
    assert tables.latex_text(ODD) == (
        r"a\_b \& 50\% \#1 \$x\$ \{y\} \textasciitilde{}z\textasciicircum{}2 \textbackslash{}cmd "
        r"\textless{}\textbar{}\textgreater{} ''q'' \emph{emphasis} STS-2014"
    )
    assert tables.latex_text("two * stars * apart, 2*3*4\nlines") == r"two * stars * apart, 2*3*4 lines"


def test_later_tables_are_below_the_first_and_a_long_or_wide_table_is_several_floats():
    later = dataclasses.replace(TABLE, name="later")
    titles = [line for line in tables.markdown([TABLE, later]).split("\n") if line.startswith("#")]
    assert titles == ["# A title", "## A title"]
    sizes = {"x": 22, "y": 10, "z": 40}
    rows = [tables.Row(name, str(i), "", "5", CELLS * 4) for name, size in sizes.items() for i in range(size)]
    text = tables.latex([dataclasses.replace(TABLE, columns=list("abcdefgh"), rows=rows)])
    floats = text.split(r"\begin{table*}")[1:]
    shown = [[name for name in sizes if rf"\emph{{{name}}}" in one] for one in floats]
    assert shown == [["x"], ["y"], ["z"], ["z"]] * 2
    assert [("& a &" in one, "& e &" in one) for one in floats] == [(True, False)] * 4 + [(False, True)] * 4
    assert text.count(r"\label{") == 1 and text.count("A title, continued.") == 7
    assert sum(one.count(r"\textbf{0.5000}") for one in floats) == 4 * len(rows)


def compiled(folder, given):
    """What pdflatex says of a minimal document with the tables."""
    (folder / "tables.tex").write_text(tables.latex(given), encoding="utf-8")
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{tables}\end{document}"
    (folder / "main.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    return said


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_tables_compile_and_those_of_many_systems_and_rows_fit_the_page(tmp_path):
    row = tables.Row(ODD, ODD, ODD, "5", [tables.Cell(ODD, True, "†", ODD, ODD)], [ODD, ODD])
    compiled(tmp_path, [TABLE, tables.Table("odd", ODD, [ODD], [row], ODD, ODD, [ODD], [ODD, ODD])])
    names = [f"properties-{i} (evidence)" for i in range(9)]
    places = [(f"STS-{year}", f"answers-students {i}") for year in range(2014, 2017) for i in range(9)]
    cells = [*[CELLS[0]] * 10, tables.Cell("undefined (constant)")]
    rows = [tables.Row(*place, "of 6 subsets", "3750", cells) for place in places]
    wide = dataclasses.replace(TABLE, columns=[*names, "paper: bag of W2V", "paper: BoVE"], rows=rows)
    cells = [
        tables.Cell("-0.0070", interval="[-0.0124, -0.0016]"),
        tables.Cell("<0.001"),
        tables.Cell("0.02"),
    ]
    pairs = list(zip(names, names[1:], strict=False))
    rows = [tables.Row(*place, "", "9", cells, pair) for place in places for pair in pairs]
    columns = ["difference", "p", "adjusted p"]
    long = tables.Table("d", "D", columns, rows, "A caption. " * 20, "", (), ["system", "against"])
    said = compiled(tmp_path, [wide, long])
    assert "Overfull" not in said and "Float too large" not in said


# What tables say.

BOOTSTRAP = Bootstrap(2000, 0.95, 7)
SNLI = {"task": "entailment", "dataset": "snli"}


def result(
    subset, system, value=np.nan, task="similarity", dataset="sts14", n=(750, 750, 0), metric=None, entered=1,
    low=np.nan, high=np.nan, undefined=0,
):  # fmt: skip
    metric = metric or ("pearson" if task == "similarity" else "average-precision")
    return (task, dataset, subset, system, *n, metric, value, entered, low, high, undefined)


def bounded(subset, system, value, **more):
    return result(subset, system, value, low=value - 0.1, high=value + 0.05, **more)


def difference(subset, system, against, p, task="similarity", value=0.1):
    metric, dataset = ("pearson", "sts14") if task == "similarity" else ("average-precision", "snli")
    names = (task, dataset, subset, metric, system, against)
    return (*names, value, value - 0.05, value + 0.05, p / 2, p, 2000, 0)


def found(results, labels, development=(), differences=(), bootstrap=BOOTSTRAP, **more):
    frame = pd.DataFrame(results, columns=RESULT_COLUMNS)
    subsets = frame[~frame.subset.isin(AGGREGATES)].groupby("dataset").subset.nunique()
    frame = frame.assign(subsets=frame.dataset.map(subsets), label=frame.dataset.map(labels))
    against = pd.DataFrame(differences, columns=DIFFERENCE_COLUMNS)
    return tables.Findings(tables.named(frame, development), against, bootstrap, **more)


def page(task, *given, **more):
    """The Markdown of a task."""
    return next(iter(tables.task_files(task, found(*given, **more)).values()))


def cells(text):
    """Rows of the first table as {(data set, subset): {column: cell}}, without `[no interval]`."""
    lines = [line for line in text.partition("\n## ")[0].split("\n") if line.startswith("|")]
    lines = [line.replace(" [no interval]", "") for line in lines]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {(row[0], row[1]): dict(zip(header, row, strict=True)) for row in rows}


def paper_sized(values, label="STS-2014"):
    """Results of two systems on all of the paper's subsets, with the paper's pair counts."""
    return [
        result(subset, system, value, n=(n or 3750, n or 3750, 0), entered=6)
        for subset, (n, *_) in paper.PAPER[label].items()
        for system, value in values.items()
    ]


def test_rows_show_four_digits_with_the_best_in_bold_and_the_papers_figures_beside():
    table = cells(page("similarity", paper_sized({"words": 0.12344, "bove": 0.5}), {"sts14": "STS-2014"}))
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


def test_the_papers_figures_are_only_beside_rows_of_the_same_subsets():
    results = [row for row in paper_sized({"bove": 0.5}) if row[2] != "images"]
    table = cells(page("similarity", results, {"sts14": "STS-2014"}))
    assert table["STS-2014", "mean (of 5 subsets)"]["paper: BoVE"] == "-"
    assert table["STS-2014", "OnWN"]["paper: BoVE"] == "0.6800"
    assert "paper" not in page("similarity", results, {"sts14": "Demo"})


def test_entailment_is_in_percent_with_two_decimals():
    values = {"words": 0.64474, "bove": 0.65735}
    results = [result("dev", name, value, **SNLI, n=(10000, 9842, 0)) for name, value in values.items()]
    text = page("entailment", results, {"snli": "SNLI"})
    row = cells(text)["SNLI", "dev"]
    assert (row["words"], row["bove"], row["paper: BoVE"]) == ("64.47%", "**65.73%**", "65.74%")
    assert row["pairs"] == "9842 of 10000"
    assert "positive class is *entailment*" in text and "the paper has" not in text


def test_values_that_print_alike_are_both_bold_and_one_alone_is_not():
    results = [result("a", "x", 0.50001), result("a", "y", 0.50002), result("b", "x", 0.3)]
    results += [result("c", "x", -0.2), result("c", "y", -0.00001)]
    table = cells(page("similarity", results, {"sts14": "D"}))
    rows = [(table["D", subset]["x"], table["D", subset]["y"]) for subset in "abc"]
    assert rows == [("**0.5000**", "**0.5000**"), ("0.3000", "-"), ("-0.2000", "**0.0000**")]


def test_an_undefined_value_has_its_reason_and_a_mean_says_how_many_subsets_entered():
    values = {"no": 0, "one": 1, "two": 2}
    results = [result(name, "x", n=(3, n, 0), entered=0) for name, n in values.items()]
    results += [result("b", "x", 0.5), result(MEAN, "x", 0.5), result(WEIGHTED_MEAN, "x", entered=0)]
    table = cells(page("similarity", [*results, result(TOGETHER, "x", 0.4)], {"sts14": "D"}))
    assert [row["x"] for row in table.values()] == [
        *(f"undefined ({why})" for why in ("no pair", "one pair", "constant")),
        *("0.5000", "0.5000 (1 of 4 subsets defined)", "undefined (0 of 4 subsets defined)", "0.4000"),
    ]
    assert ("D", "mean weighted by pairs (of 4 subsets)") in table
    text = page("entailment", [result("dev", "x", n=(9, 9, 0), **SNLI)], {"snli": "S"})
    assert cells(text)["S", "dev"]["x"] == "undefined (one class)"


def test_notes_count_empty_bags_and_state_other_pair_counts_and_development_sets():
    results = [
        result("images", "words", 0.5, n=(700, 600, 3)),
        result("images", "bove", 0.6, n=(700, 600, 0)),
    ]
    text = page("similarity", results, {"sts14": "STS-2014", "snli": "SNLI"}, ["sts14", "snli"])
    assert "STS-2014 images: pairs in which a sentence has no vectors, scored 0: words 3." in text
    assert "STS-2014 images: the paper has 750 pairs, this table 600 of 700." in text
    assert "chosen on STS-2014:" in text
    assert ("STS-2014 (development)", "images") in cells(text)


def test_data_sets_of_one_label_have_their_own_names_too():
    results = [result("a", "x", 0.5), result("a", "x", 0.6, dataset="other")]
    text = page("similarity", results, {"sts14": "D", "other": "D"})
    assert [*cells(text)] == [("D (sts14)", "a"), ("D (other)", "a")]
    assert "No scored pair has a sentence without vectors." in text


def test_a_task_without_data_says_so():
    text = page("entailment", [result("a", "x", 0.5)], {"sts14": "D"})
    assert text == "# Textual entailment\n\nNo data set of this task was scored.\n"


def test_intervals_are_in_brackets_and_the_caption_says_how_they_were_made_and_of_which_data():
    results = [bounded("a", "x", 0.5, n=(700, 600, 0)), result("b", "x", 0.25, n=(50, 50, 0))]
    text = page("similarity", [*results, result(MEAN, "x", 0.5)], {"sts14": "D"}, origin="Made by bove 1.")
    assert cells(text)["D", "a"]["x"] == "0.5000 [0.4000, 0.5500]"
    assert " 0.2500 [no interval] |" in text
    assert "95% intervals: percentiles of 2000 resamples of the pairs" in text and "(seed 7)" in text
    assert "Data: D (650 pairs scored, 100 left out). Made by bove 1." in text
    assert "Marked are" not in text, "one system differs from none"


def test_few_resamples_for_the_level_are_mentioned():
    given = [Bootstrap(n, level, 1) for n, level in ((399, 0.95), (400, 0.95), (400, 0.99), (2000, 0.99))]
    texts = [page("similarity", [bounded("a", "x", 0.5)], {"sts14": "D"}, bootstrap=b) for b in given]
    assert [re.findall("take at least ([0-9]+)", text) for text in texts] == [["400"], [], ["2000"], []]


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
    text = page("similarity", results, {"sts14": "D"}, differences=differences)
    table = cells(text)
    marks = {subset: [table["D", subset][system] for system in systems] for subset in ("a", "b")}
    assert marks == {
        subset: [f"**0.5000**{mark} [0.4000, 0.5500]" for mark in row]
        for subset, row in {"a": ["", "†", "†‡", ""], "b": ["", "", "‡", ""]}.items()
    }
    assert "† a system that differs from *word-vectors* and ‡ a system that differs from" in text
    assert "below 0.05 after Benjamini and Hochberg's adjustment" in text


def test_marks_and_differences_stay_within_a_weight_and_the_caption_explains_it():
    systems = ("word-vectors", "bove", "word-vectors (length)", "bove (length)")
    results = [bounded("a", system, 0.5) for system in systems]
    differences = [
        difference("a", "bove", "word-vectors", 0.9),
        difference("a", "bove (length)", "word-vectors (length)", 0.01),
        difference("a", "word-vectors (length)", "word-vectors", 0.01),
        difference("a", "bove (length)", "bove", 0.01),
    ]
    given = found(results, {"sts14": "D"}, differences=differences, power=2)
    values, shown = tables.task_tables("similarity", given)
    assert [cell.marks for cell in values.rows[0].cells] == ["", "", "", "†"]
    assert [row.names for row in shown.rows] == [row[4:6] for row in differences]
    assert "*length* or *evidence* in brackets weight each word by it to the power 2: SNLI" in values.caption
    assert "a system that differs from *word-vectors*" in values.caption
    assert "weight each word" not in page("similarity", results[:2], {"sts14": "D"})


def test_without_a_baseline_marks_are_against_the_first_system():
    results = [bounded("a", system, 0.5) for system in ("bove", "sgd")]
    text = page("similarity", results, {"sts14": "D"}, differences=[difference("a", "sgd", "bove", 0.02)])
    assert cells(text)["D", "a"]["sgd"] == "**0.5000**† [0.4000, 0.5500]"


def test_differences_are_shown_on_summaries_or_else_on_subsets():
    results = [bounded(subset, system, 0.5) for subset in ("a", MEAN) for system in ("x", "y")]
    differences = [difference(subset, "y", "x", 0.02) for subset in ("a", MEAN)]
    table = tables.task_tables("similarity", found(results, {"sts14": "D"}, differences=differences))[1]
    assert [(row.subset, row.detail, row.names) for row in table.rows] == [(MEAN, "of 1 subset", ("y", "x"))]
    assert [cell.text for cell in table.rows[0].cells] == ["+0.1000", "0.010", "0.020"]
    assert table.rows[0].cells[0].interval == "[0.0500, 0.1500]"
    assert "below 0.001." in table.caption

    results = [bounded("dev", name, 0.5, **SNLI) for name in ("x", "y")]
    differences = [
        difference("dev", "y", "x", p, "entailment", value) for p, value in ((0.0002, -0.0123), (np.nan,) * 2)
    ]
    rows = tables.task_tables("entailment", found(results, {"snli": "SNLI"}, differences=differences))[1].rows
    assert [cell.text for cell in rows[0].cells] == ["-1.23", "<0.001", "<0.001"]
    assert rows[0].cells[0].interval == "[-6.23, 3.77]"
    assert [cell.text for cell in rows[1].cells] == ["undefined", "-", "-"]


def test_further_metrics_have_tables_of_their_own():
    metrics = ("average-precision", "roc-auc", "length-correlation")
    results = [bounded("dev", name, 0.5, metric=metric, **SNLI) for metric in metrics for name in ("x", "y")]
    notes = {"entailment": ["Of the task."], "length-correlation": ["Of the length."]}
    given = found(results, {"snli": "SNLI"}, ["snli"], notes=notes)
    first, area, length = tables.task_tables("entailment", given)
    assert all(0 < len(table.short.split()) <= 40 for table in (first, area, length))
    assert "paper: Popa and Henderson (2017)" in first.short and "best bold" not in length.short
    assert [table.name for table in (first, area, length)] == [f"snli-{metric}" for metric in metrics]
    assert first.columns[2:] == ["paper: bag of W2V", "paper: BoVE"] and area.columns == ["x", "y"]
    assert area.rows[0].cells[0].text == "50.00%" and length.rows[0].cells[0].text == "0.5000"
    assert area.rows[0].cells[0].bold and not length.rows[0].cells[0].bold
    assert "Of the task." in first.notes and length.notes == ["Of the length."]


def test_resamples_without_a_value_are_counted_in_a_note():
    results = [bounded("a", "x", 0.5, undefined=30), result("a", "y", entered=0, undefined=2000)]
    text = page("similarity", results, {"sts14": "D"})
    said = "* D a: resamples without a value, of 2000, which intervals and p-values leave out: x 30."
    assert said in text.split("\n")
    assert cells(text)["D", "a"]["y"] == "undefined (constant)"
