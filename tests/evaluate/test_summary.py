"""The summary has a line for each system, the values of the results, and a caption that fits a paper."""

import csv
import io
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from made_scores import scores_of

from bove.evaluate.results import MEAN, TOGETHER
from bove.evaluate.statistics import Bootstrap, adjust, evidence
from bove.evaluate.summary import ending, summary_files
from bove.evaluate.tables import Findings, named, task_tables

SYSTEMS = [
    f"{name}{weight}"
    for weight in ("", " (evidence)")
    for name in ("word-vectors", "properties-only", "bove")
]
TASKS = {f"sts-{year}": "similarity" for year in range(12, 17)} | {
    "sick": "entailment",
    "snli": "entailment",
    "roles": "roles",
}
LABELS = ["entailment", "neutral", "contradiction"]


def scores(dataset, task, systems, uneven=False):
    rng = np.random.default_rng(len(dataset))
    subsets = ["a"] * 30 + ["b"] * (20 if uneven else 30)
    if dataset == "snli":
        subsets = ["test"] * len(subsets)
    n = len(subsets)
    gold = {"similarity": rng.normal(size=n), "entailment": [LABELS[i % 3] for i in range(n)]}
    truth = (
        np.array([g == LABELS[0] for g in gold["entailment"]]) if task == "entailment" else gold["similarity"]
    )
    values = {name: truth * (1 + s) + rng.normal(size=n) for s, name in enumerate(systems)}
    return scores_of(task, subsets, gold.get(task, ["second"] * n), values, dataset=dataset, lengths=None)


def findings_of(tasks, systems=SYSTEMS, development=(), uneven=False):
    bootstrap = Bootstrap(200, 0.9, 1)
    found = [evidence(scores(name, task, systems, uneven), bootstrap) for name, task in tasks.items()]
    results, differences = (pd.concat(frames, ignore_index=True) for frames in zip(*found, strict=True))
    return Findings(named(results, development), adjust(differences), bootstrap, {}, "Made by bove.")


def rows_of(text):
    lines = [line.strip("| ").split("|") for line in text.split("\n") if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines]
    header = next(line for line in text.split("\n") if line.startswith("|"))
    titles = [cell.strip() for cell in header.strip("|").split("|")]
    return titles[1:], {row[0]: row[1:] for row in rows[2:]}


@pytest.fixture(scope="module")
def whole():
    return findings_of(TASKS, development=("sts-14",))


def test_bove_is_held_against_baselines_whatever_its_weight():
    names = ["word-vectors (evidence)", "bove (evidence)", "sif", "whitened (evidence)"]
    found = findings_of({"sts": "similarity"}, names)
    _, rows = rows_of(summary_files(found)["summary.md"])
    less = [name for name in rows if " less " in name]
    assert less == [f"bove (evidence) less {other}" for other in (names[0], "sif", names[3])]
    assert "†" not in rows["sif"][0], "marks are for systems of the same weight"


def test_six_systems_by_eight_data_sets_are_ten_lines_with_the_values_of_the_results(whole):
    files = summary_files(whole)
    titles, rows = rows_of(files["summary.md"])
    assert titles == [
        *("STS-12", "STS-13", "STS-14*", "STS-15", "STS-16"),
        *("SICK a", "SICK b", "SNLI", "ROLES"),
    ]
    assert list(rows) == [*SYSTEMS, "bove less word-vectors", "bove less properties-only"]
    assert sum(line.startswith("|") for line in files["summary.md"].split("\n")) == 10
    of = whole.results.set_index(["dataset", "subset", "metric", "system"]).value
    table = csv.DictReader(io.StringIO(files["summary.csv"]))
    for row in table:
        system = row["system"]
        expected = [
            of["sts-14", MEAN, "pearson", system],
            of["sick", "a", "average-precision", system],
            of["snli", "test", "average-precision", system],
            of["roles", TOGETHER, "accuracy", system],
        ]
        assert [float(row[name]) for name in ("STS-14", "SICK a", "SNLI", "ROLES")] == expected
        shown = [rows[system][titles.index(name)] for name in ("STS-14*", "SICK a", "SNLI", "ROLES")]
        assert [cell.strip("*†‡") for cell in shown] == [f"{100 * value:.1f}" for value in expected]


def test_the_best_of_a_column_is_bold_and_differences_have_their_adjusted_p(whole):
    titles, rows = rows_of(summary_files(whole)["summary.md"])
    for column in range(len(titles)):
        values = {name: cells[column] for name, cells in rows.items() if " less " not in name}
        bold = {name for name, cell in values.items() if cell.startswith("**")}
        numbers = {name: float(cell.strip("*†‡")) for name, cell in values.items()}
        assert bold == {name for name, number in numbers.items() if number == max(numbers.values())}
    d = whole.differences
    d = d[(d.dataset == "sts-12") & (d.subset == MEAN) & (d.metric == "pearson")]
    [row] = d[(d.system == "bove") & (d.against == "properties-only")].itertuples()
    assert rows["bove less properties-only"][0] == f"{100 * row.difference:+.1f} ({row.p_adjusted:.3f})"


def test_the_caption_has_at_most_40_words_and_the_legend_the_rest(whole):
    files = summary_files(whole)
    caption = files["summary.md"].strip().split("\n")[-1]
    assert len(caption.split()) <= 40 and "*: settings were chosen on it" in caption
    said = "harmonic mean", "Spearman's rank correlation", "200 resamples", "Made by bove.", "exchanged"
    assert all(words in files["legend.md"] for words in said)


def test_latex_has_booktabs_and_no_macro_of_its_own(whole, tmp_path):
    text = summary_files(whole)["summary.tex"]
    assert all(rule in text for rule in ("\\toprule", "\\midrule", "\\bottomrule"))
    assert "command" not in text and "\\def" not in text and "%" not in text.partition("\n")[2]
    if shutil.which("pdflatex"):
        page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\input{t}\\end{document}"
        (tmp_path / "t.tex").write_text(text, encoding="utf-8")
        (tmp_path / "p.tex").write_text(page, encoding="utf-8")
        subprocess.run(["pdflatex", "-interaction=batchmode", "p"], cwd=tmp_path, check=True)


def test_one_system_has_values_alone():
    titles, rows = rows_of(summary_files(findings_of({"roles": "roles"}, ["bove"]))["summary.md"])
    assert titles == ["ROLES"] and list(rows) == ["bove"] and not rows["bove"][0].startswith("**")


@pytest.mark.parametrize("uneven", [False, True])
def test_mean_and_weighted_mean_are_shown_once_where_they_are_the_same(uneven):
    found = findings_of({"sts-14": "similarity"}, uneven=uneven)
    for table in task_tables("similarity", found):
        subsets = {row.subset for row in table.rows}
        assert ("mean weighted by pairs" in subsets) == uneven and MEAN in subsets


@pytest.mark.parametrize("more", [0, 3])
def test_the_end_of_a_run_is_a_table_of_ten_lines_and_three_steps(whole, more):
    lines = summary_files(whole)["summary.md"].split("\n")
    lines[-1:-1] = ["| another system |"] * more
    said = ending("results/demo", "\n".join(lines)).split("\n")
    table = [line for line in said if line.startswith(("|", "…"))]
    assert len(table) == 10 and len(said) <= 25
    assert table[-1].startswith(f"… {more + 1} more lines" if more else "| bove less properties-only")
    assert sum(line.startswith("  ") for line in said) == 3
