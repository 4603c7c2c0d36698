"""Tables in two forms: Markdown to be read, and LaTeX (booktabs) to be put into a paper.

Captions and notes are plain text in which *a phrase* is emphasised. Everything is escaped for its form: no
text from a file can break a table.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from textwrap import wrap

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
# What captions call the table that says what holds for those after it too.
FIRST = "the first table"
_NAME_WIDTH = 11  # characters in a line of a column's name
_MOST_COLUMNS = 5  # beside which there is room for both ends of an interval in one line
_MOST_LINES = 32  # of a float's rows, so that it has room on a page
# Of small print; of three sizes the first that fits the page's width is taken.
_FIT = r"""\providecommand{\bovefit}[1]{\begingroup\setlength{\tabcolsep}{3pt}%
  \let\boveprint\scriptsize\sbox0{\footnotesize#1}%
  \ifdim\wd0>\textwidth\let\boveprint\tiny\sbox0{\scriptsize#1}\fi
  \ifdim\wd0>\textwidth\setlength{\tabcolsep}{1.5pt}\sbox0{\tiny#1}\fi
  \usebox0\endgroup}
"""
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
        caption, notes: below the table; in LaTeX the notes end the caption. FIRST stands for another table.
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
    """All tables as floats that need the package booktabs and nothing else, and fit the page's width: in
    `article`, five systems beside the paper's.

    A table of many rows is several floats, which end with a data set where that is possible.
    """
    head = "% Put into a document with \\input; it needs \\usepackage{booktabs}.\n"
    first = rf"Table~\ref{{tab:{tables[0].name}}}" if tables else ""
    return head + _FIT + "\n".join(part for table in tables for part in _latex(table, first))


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


def _latex(table: Table, first: str) -> Iterator[str]:
    """The floats of a table, of which the first has the caption."""
    header = ["subset", *table.names, *table.columns]
    columns = "l" * (1 + len(table.names)) + "c" * len(table.columns)
    caption = " ".join(latex_text(text) for text in (table.caption, *table.notes))
    caption = _NUMBER_IN_TEXT.sub("$-$", caption).replace(FIRST, first)
    title, label = latex_text(table.title), rf"\label{{tab:{table.name}}}"
    stacked = len(table.columns) > _MOST_COLUMNS
    for part, rows in enumerate(_parts(table.rows, _MOST_LINES // (3 if stacked else 2))):
        lines = _latex_header(header)
        for dataset, of_dataset in groupby(rows, lambda row: row.dataset):
            above = rf"\emph{{{latex_text(dataset)}}}"
            lines += [r"\midrule", rf"\multicolumn{{{len(header)}}}{{@{{}}l}}{{{above}}} \\"]
            lines += [line for row in of_dataset for line in _latex_row(row, stacked)]
        said = rf"\caption[{{{title}}}]{{\footnotesize {caption}}}"
        if part:
            said, label = rf"\caption[]{{\footnotesize {title}, continued.}}", ""
        yield "\n".join(
            [
                r"\begin{table*}",
                r"\centering",
                rf"\bovefit{{\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
                r"\toprule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}}",
                said,
                *([label] if label else []),
                r"\end{table*}",
                "",
            ]
        )


def _parts(rows: Sequence[Row], most: int) -> Iterator[list[Row]]:
    """Rows by float, at most so many: whole data sets, or parts of one."""
    part: list[Row] = []
    for _, group in groupby(rows, lambda row: row.dataset):
        of_dataset = list(group)
        if part and len(part) + len(of_dataset) > most:
            yield part
            part = []
        part += of_dataset
        while len(part) > most:
            yield part[:most]
            part = part[most:]
    yield part


def _latex_header(names: Sequence[str]) -> list[str]:
    """As many lines as the longest name needs; what stands before a colon has a line of its own."""
    parts = [[line for part in name.split(": ") for line in wrap(part, _NAME_WIDTH)] for name in names]
    height = max(map(len, parts))
    padded = [[""] * (height - len(part)) + part for part in parts]
    return [_line(map(latex_text, line)) for line in zip(*padded, strict=True)]


def _latex_row(row: Row, stacked: bool) -> list[str]:
    """The values; below them, in small print, their intervals, and below the subset how many pairs it has.

    Where `stacked`, the ends of an interval stand below each other.
    """
    detail = ", ".join(part for part in (row.detail, f"{row.pairs} pairs") if part)
    values = [*map(latex_text, (row.subset, *row.names)), *map(_latex_cell, row.cells)]
    intervals = [cell.interval.split(" ") if stacked else [cell.interval] for cell in row.cells]
    lines = [values]
    for number, ends in enumerate(zip_longest(*intervals, fillvalue="")):
        names = ["" if number else latex_text(detail), *[""] * len(row.names)]
        lines.append([_small(text) for text in (*names, *(_minus(latex_text(end)) for end in ends))])
    return list(map(_line, lines))


def _small(text: str) -> str:
    return rf"{{\boveprint {text}}}" if text else ""


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
