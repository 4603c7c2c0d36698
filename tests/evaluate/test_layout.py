"""Tables in Markdown and LaTeX hold what they are given, escaped."""

import shutil
import subprocess

import pytest

from bove.evaluate.layout import Cell, Row, Table, latex, latex_text, markdown

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
        r"{\scriptsize of 2 subsets, 9 of 10 pairs} & {\scriptsize [$-$0.1000, 0.6000]} &  \\",
        r"c & 1.0000 & - \\",
        r"{\scriptsize 5 pairs} &  &  \\",
        r"\multicolumn{3}{@{}l}{\emph{other}} \\",
        r"d & 1.0000 & - \\",
        r"{\scriptsize 5 pairs} &  &  \\",
    ]
    caption = (
        r"\caption{A \emph{caption} with 95\% \& \textdagger{} marks. One\_note. "
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


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_tables_compile_in_a_minimal_document(tmp_path):
    row = Row(ODD, ODD, ODD, "5", [Cell(ODD, True, "†", ODD, ODD)], [ODD])
    odd = Table("odd", ODD, [ODD], [row], ODD, [ODD], [ODD])
    (tmp_path / "tables.tex").write_text(latex([TABLE, odd]), encoding="utf-8")
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{tables}\end{document}"
    (tmp_path / "main.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "main.pdf").stat().st_size > 0
