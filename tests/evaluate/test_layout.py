"""Tables in Markdown and LaTeX hold what they are given, escaped."""

import dataclasses
import shutil
import subprocess

import pytest

from bove.evaluate.tables import Cell, Row, Table, latex, latex_text, markdown

CELLS = [Cell("0.5000", True, "†‡", "[-0.1000, 0.6000]"), Cell("-0.2500", note="(1 of 2 subsets defined)")]
TABLE = Table(
    name="sts",
    title="A title",
    columns=["x_1", "paper: BoVE"],
    rows=[
        Row("STS & 50%", "a|b", "of 2 subsets", "9 of 10", CELLS),
        Row("STS & 50%", "c", "", "5", [Cell("1.0000"), Cell("-")]),
        Row("other", "d", "", "5", [Cell("1.0000"), Cell("-")]),
    ],
    caption="A *caption* with 95% & † marks.",
    notes=["One_note.", "p < 0.05, r of -0.3 in STS-2014."],
)
ODD = 'a_b & 50% #1 $x$ {y} ~z^2 \\cmd <|> "q" *emphasis* STS-2014'


def test_markdown_has_a_row_a_line():
    lines = [" ".join(line.split()) for line in markdown([TABLE]).split("\n")]
    assert lines[:3] == ["# A title", "", "| data set | subset | pairs | x_1 | paper: BoVE |"]
    assert lines[4:] == [
        r"| STS & 50% | a\|b (of 2 subsets) | 9 of 10 | **0.5000**†‡ [-0.1000, 0.6000] | "
        "-0.2500 (1 of 2 subsets defined) |",
        "| STS & 50% | c | 5 | 1.0000 | - |",
        "| other | d | 5 | 1.0000 | - |",
        "",
        "A *caption* with 95% & † marks.",
        "",
        "* One_note.",
        "* p < 0.05, r of -0.3 in STS-2014.",
        "",
    ]


def test_latex_has_values_and_small_print_below_them():
    lines = latex([TABLE]).split("\n")
    assert r"\usepackage{booktabs}" in lines[0]
    rows = [line for line in lines if line.endswith(r"\\")]
    assert rows == [
        r" &  & paper \\",
        r"subset & x\_1 & BoVE \\",
        r"\multicolumn{3}{@{}l}{\emph{STS \& 50\%}} \\",
        r"a\textbar{}b & \textbf{0.5000}\rlap{\textsuperscript{\textdagger{}\textdaggerdbl{}}}"
        r" & $-$0.2500 (1 of 2 subsets defined) \\",
        r"{\boveprint of 2 subsets, 9 of 10 pairs} & {\boveprint [$-$0.1000, 0.6000]} &  \\",
        r"c & 1.0000 & - \\",
        r"{\boveprint 5 pairs} &  &  \\",
        r"\multicolumn{3}{@{}l}{\emph{other}} \\",
        r"d & 1.0000 & - \\",
        r"{\boveprint 5 pairs} &  &  \\",
    ]
    caption = (
        r"\caption[{A title}]{\footnotesize A \emph{caption} with 95\% \& \textdagger{} marks. One\_note. "
        r"p \textless{} 0.05, r of $-$0.3 in STS-2014.}"
    )
    assert caption in lines
    assert r"\label{tab:sts}" in lines


def test_text_is_escaped_for_latex():
    assert latex_text(ODD) == (
        r"a\_b \& 50\% \#1 \$x\$ \{y\} \textasciitilde{}z\textasciicircum{}2 \textbackslash{}cmd "
        r"\textless{}\textbar{}\textgreater{} ''q'' \emph{emphasis} STS-2014"
    )
    assert latex_text("two * stars * apart, 2*3*4\nlines") == r"two * stars * apart, 2*3*4 lines"


def test_more_than_one_table_has_one_main_heading():
    text = markdown([TABLE, TABLE])
    assert [line for line in text.split("\n") if line.startswith("#")] == ["# A title", "## A title"]
    assert latex([TABLE, TABLE]).count(r"\begin{table*}") == 2


def test_later_tables_refer_to_the_first_one_and_a_long_table_is_several_floats():
    later = dataclasses.replace(TABLE, name="later", caption="As in the first table.")
    assert r"\footnotesize As in Table~\ref{tab:sts}." in latex([TABLE, later])
    sizes = {"x": 12, "y": 10, "z": 20}
    rows = [Row(name, str(i), "", "5", CELLS) for name, size in sizes.items() for i in range(size)]
    text = latex([dataclasses.replace(TABLE, rows=rows)])
    floats = text.split(r"\begin{table*}")[1:]
    shown = [[name for name in sizes if rf"\emph{{{name}}}" in one] for one in floats]
    assert shown == [["x"], ["y"], ["z"], ["z"]]
    assert text.count(r"\label{") == 1 and text.count("A title, continued.") == 3
    assert sum(one.count(r"\textbf{0.5000}") for one in floats) == len(rows)


def compiled(folder, tables):
    """What pdflatex says of a minimal document with the tables."""
    (folder / "tables.tex").write_text(latex(tables), encoding="utf-8")
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{tables}\end{document}"
    (folder / "main.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert (folder / "main.pdf").stat().st_size > 0
    return said


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_tables_compile_in_a_minimal_document(tmp_path):
    row = Row(ODD, ODD, ODD, "5", [Cell(ODD, True, "†", ODD, ODD)], [ODD])
    odd = Table("odd", ODD, [ODD], [row], ODD, [ODD], [ODD])
    compiled(tmp_path, [TABLE, odd])


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_tables_of_many_systems_and_rows_fit_the_page(tmp_path):
    for n in (3, 4, 5):
        columns = [*(f"properties-{i}" for i in range(n)), "paper: bag of W2V", "paper: BoVE"]
        cells = [*[CELLS[0]] * n, Cell("0.6429"), Cell("-")]
        rows = [
            Row(data, f"answers-students {i}", "of 6 subsets", "3750", cells)
            for data in ("STS-2014", "STS-2015", "STS-2016")
            for i in range(9)
        ]
        table = dataclasses.replace(TABLE, columns=columns, rows=rows, caption="A caption. " * 150)
        said = compiled(tmp_path, [table])
        assert "Overfull" not in said and "Float too large" not in said, n
