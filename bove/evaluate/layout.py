"""Tables in two forms: Markdown to be read, and LaTeX (booktabs) to be put into a paper.

Captions and notes are plain text in which *a phrase* is emphasised. Everything is escaped for its form: no
text from a file can break a table.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from bove.evaluate.tables import escape, markdown_table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}
_EMPHASIS = re.compile(r"(?<!\w)\*(\S(?:[^*]*\S)?)\*(?!\w)")
_NUMBER = re.compile(r"-(?=\d)")
_NUMBER_IN_TEXT = re.compile(r"(?<!\S)-(?=\d)")  # not the hyphen of STS-2014


@dataclass(frozen=True, slots=True)
class Cell:
    """A value in print, with its interval, the marks behind it, and what must be known about it."""

    text: str
    bold: bool = False
    marks: str = ""
    interval: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Attributes:
        dataset, subset: names.
        detail: what must be known about the subset, or "".
        pairs: how many there are.
        names: what else says which row it is.
        cells: the values.
    """

    dataset: str
    subset: str
    detail: str
    pairs: str
    cells: Sequence[Cell]
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table in no form yet.

    Attributes:
        name: of the label in LaTeX.
        title: heading in Markdown.
        columns: header of the rows' cells.
        rows: rows of one data set stand together.
        caption, notes: below the table; in LaTeX the notes end the caption.
        names: header of the rows' names.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    caption: str
    notes: Sequence[str] = ()
    names: Sequence[str] = ()


def markdown(tables: Sequence[Table]) -> str:
    """All tables, the first under the highest heading."""
    return "\n".join(_markdown(table, "#" if t == 0 else "##") for t, table in enumerate(tables))


def latex(tables: Sequence[Table]) -> str:
    """All tables as floats that need the package booktabs and nothing else."""
    head = "% Put into a document with \\input; it needs \\usepackage{booktabs}.\n"
    return head + "\n".join(map(_latex, tables))


def latex_text(text: str) -> str:
    """Text for LaTeX: what is special there is escaped, *a phrase* emphasised."""
    escaped = "".join(_SPECIAL.get(mark, mark) for mark in " ".join(text.split()))
    return _EMPHASIS.sub(r"\\emph{\1}", escaped)


def _markdown(table: Table, level: str) -> str:
    header = ["data set", "subset", *table.names, "pairs", *table.columns]
    rows = []
    for row in table.rows:
        subset = f"{row.subset} ({row.detail})" if row.detail else row.subset
        rows.append([row.dataset, subset, *row.names, row.pairs, *map(_markdown_cell, row.cells)])
    body = markdown_table(header, rows, 2 + len(table.names))
    text = f"{level} {table.title}\n\n{body}\n{escape(table.caption)}\n"
    notes = "".join(f"* {escape(note)}\n" for note in table.notes)
    return f"{text}\n{notes}" if notes else text


def _markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return " ".join(part for part in (text + cell.marks, cell.interval, cell.note) if part)


def _latex(table: Table) -> str:
    header = ["subset", *table.names, *table.columns]
    lines = _latex_header(header)
    for dataset, rows in groupby(table.rows, lambda row: row.dataset):
        title = rf"\emph{{{latex_text(dataset)}}}"
        lines += [r"\midrule", rf"\multicolumn{{{len(header)}}}{{@{{}}l}}{{{title}}} \\"]
        for row in rows:
            lines += _latex_row(row)
    columns = "l" * (1 + len(table.names)) + "c" * len(table.columns)
    caption = " ".join(latex_text(text) for text in (table.caption, *table.notes))
    caption = _NUMBER_IN_TEXT.sub("$-$", caption)
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{table.name}}}",
            r"\end{table*}",
            "",
        ]
    )


def _latex_header(names: Sequence[str]) -> list[str]:
    """One line, or two where a name has a part before a colon."""
    above, below = zip(*(name.rpartition(": ")[::2] for name in names), strict=True)
    return [_line(map(latex_text, line)) for line in (above, below) if any(line)]


def _latex_row(row: Row) -> list[str]:
    """The values; below them, in small print, their intervals, and below the subset how many pairs it has."""
    detail = ", ".join(part for part in (row.detail, f"{row.pairs} pairs") if part)
    values = [*map(latex_text, (row.subset, *row.names)), *map(_latex_cell, row.cells)]
    small = [latex_text(detail), *[""] * len(row.names), *(_minus(latex_text(c.interval)) for c in row.cells)]
    return [_line(values), _line(rf"{{\scriptsize {text}}}" if text else "" for text in small)]


def _latex_cell(cell: Cell) -> str:
    text = _minus(latex_text(cell.text))
    text = rf"\textbf{{{text}}}" if cell.bold else text
    # marks take no room, so that the digits stand below each other
    marks = rf"\rlap{{\textsuperscript{{{latex_text(cell.marks)}}}}}" if cell.marks else ""
    return " ".join(part for part in (text + marks, latex_text(cell.note)) if part)


def _minus(text: str) -> str:
    """Numbers with a minus sign in place of a hyphen."""
    return _NUMBER.sub("$-$", text)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
