r"""Files of sentence pairs, such as those of STS and SNLI, read as a `Form` says.

A file is text in columns, without any quoting, or JSON lines; where columns are named, a first line that
starts with `{` is JSON. Gold stands in a column, or in a file of its own with a line for each line of the
input. One line is one pair, whatever it holds; lines end at \n or \r\n alone.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from bove.errors import BoveError
from bove.files import read_lines
from bove.text.json_lines import Number, check_text, read_object
from bove.text.pair_forms import NO_LABEL, SIDES, Form, has_names, number_of
from bove.text.pairs import Pair

LEFT_OUT = "rows that `where` leaves out"
_SCORE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SHOWN = 12  # values that a message lists


def read_pair_file(
    path: str | Path,
    form: Form,
    names: tuple[str, str, str],
    gold_path: str | Path | None = None,
    where: Mapping[str, str] | None = None,
    counts: Counter | None = None,
) -> list[Pair]:
    """Pairs of one file, in its order.

    Spaces around the columns of text are left off; the text of JSON lines is taken as it is. Blank lines are
    no pairs, unless the gold is in a file of its own, where they are faults. A similarity without a score and
    an entailment whose label means NO_LABEL are kept, but not scored.

    Args:
        path: the file, gzip or not.
        form: its layout.
        names: the data set's name, its label in the tables, and the subset's name.
        gold_path: the file of the gold, where the form has no column of it.
        where: values that the wanted rows have, by column.
        counts: gets the number of rows that are not wanted, under LEFT_OUT.

    Raises:
        BoveError: a row that is not as the form says, gold that is no finite number or no known label, a pair
            id that stands twice, unequal line counts, or no row that is wanted.
    """
    where, counts = where or {}, Counter() if counts is None else counts
    columns = {**form.columns, **{f"where {column}": column for column in where}}
    golds = None if gold_path is None else list(read_lines(gold_path, form.encoding))
    reader = _PairReader(path, form, names)
    total, others = 0, Counter()
    for total, (number, row) in enumerate(_rows(path, form, columns, golds is not None), 1):
        wrong = next((c for c, value in where.items() if row[f"where {c}"] != value), None)
        if wrong is not None:
            others[wrong, row[f"where {wrong}"]] += 1
        elif golds is None:
            reader.add(number, row, path, number, row["gold"])
        elif number <= len(golds):
            reader.add(number, row, gold_path, *golds[number - 1])
    if golds is not None and total != len(golds):
        raise BoveError(
            f"{path} has {total} lines, but {gold_path} has {len(golds)}; give the gold "
            f"file of this input, with a blank line where a pair has no gold"
        )
    counts[LEFT_OUT] += sum(others.values())
    if others and not reader.pairs:
        raise _nothing_selected(path, where, others)
    return reader.pairs


class _PairReader:
    """Makes pairs of rows and sees that their ids differ."""

    def __init__(self, path, form: Form, names: tuple[str, str, str]) -> None:
        self.path, self.form, self.names = path, form, names
        self.pairs: list[Pair] = []
        self.lines: dict[str, int] = {}

    def add(self, number: int, row: Mapping[str, str], gold_path, gold_number: int, gold: str) -> None:
        """One more pair, from a row and from the text of its gold, both with their lines."""
        dataset, label, subset = self.names
        name = self._id(number, row["id"]) if "id" in self.form.columns else f"{number:05d}"
        if self.form.task == "similarity":
            value = read_score(gold_path, gold_number, gold)
            scored = value is not None
        else:
            value = _label(gold_path, gold_number, gold, self.form.labels)
            scored = value != NO_LABEL
        first, second = (row[side] for side in SIDES)
        self.pairs.append(
            Pair(f"{subset}-{name}", dataset, label, self.form.task, subset, first, second, value, scored)
        )

    def _id(self, number: int, name: str) -> str:
        if not name or name != name.strip() or not name.isprintable():
            raise BoveError(
                f"{self.path}, line {number}: {_cut(name)} is no pair id; give each pair a plain name"
            )
        if name in self.lines:
            raise BoveError(
                f"{self.path}, line {number}: pair id {_cut(name)} stands in line {self.lines[name]} too; "
                f"give each pair its own, or leave columns.id out to name pairs by their lines"
            )
        self.lines[name] = number
        return name


def read_score(path: str | Path, number: int, cell: str) -> float | None:
    """The score that a cell says, None for a blank one.

    Args:
        path, number: file and line, for messages.
        cell: the text.

    Raises:
        BoveError: no finite number.
    """
    cell = cell.strip(" \t")
    if not cell:
        return None
    score = float(cell) if _SCORE.fullmatch(cell) else math.nan
    if not math.isfinite(score):
        raise BoveError(
            f"{path}, line {number}: {_cut(cell)} is no score; write a number, or nothing for none"
        )
    return score


def _label(path, number, cell, labels) -> str:
    if cell not in labels:
        raise BoveError(
            f"{path}, line {number}: unknown label {_cut(cell)}; known are {_some(labels)}: say under labels "
            f"what it means ({NO_LABEL!r}: not scored), or repair the line"
        )
    return labels[cell]


def _nothing_selected(path, where, others) -> BoveError:
    column = next(column for column in where if any(other == column for other, _ in others))
    found = sorted({value for other, value in others if other == column})
    return BoveError(
        f"{path}: no row has {' and '.join(f'{c} = {v!r}' for c, v in where.items())}; "
        f"{column} is {_some(found)}: correct where"
    )


def _rows(path, form, columns, aligned) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and wanted columns of each row; `aligned` ones are told by their lines."""
    lines = read_lines(path, form.encoding)
    if not aligned:
        lines = (entry for entry in lines if entry[1].strip(" "))
    start = next(lines, None)
    if start is None:
        return
    lines = chain([start], lines)
    if has_names(columns.values()) and start[1].lstrip(" \t").startswith("{"):
        yield from _json_rows(path, lines, columns)
    else:
        yield from _text_rows(path, lines, form, columns)


def _text_rows(path, lines, form, columns):
    places, width = None, None
    if not (form.header or has_names(columns.values())):
        places = {name: number_of(column) - 1 for name, column in columns.items()}
    for number, line in lines:
        cells = line.split(form.separator)
        if places is None:
            places, width = _places(path, number, cells, columns), len(cells)
            continue
        last = max(places, key=places.get)
        if len(cells) <= places[last]:
            raise BoveError(
                f"{path}, line {number}: {_columns(len(cells))}, but {last} is column {places[last] + 1}; "
                f"put {form.separator!r} between the columns"
            )
        if width is not None and len(cells) > width:  # even if empty: a tab in a sentence shifts the rest
            raise BoveError(
                f"{path}, line {number}: {_columns(len(cells))}, but the header has {width}; repair the row"
            )
        yield number, {name: cells[place].strip(" ") for name, place in places.items()}


def _places(path, number, header, columns) -> dict[str, int]:
    """Where the wanted columns stand in the rows under a header."""
    places = {}
    for name, column in columns.items():
        place = number_of(column)
        if place is None and header.count(column) > 1:
            raise BoveError(
                f"{path}, line {number}: two columns are named {column!r}; give the wanted one's number"
            )
        if place is None and column not in header:
            raise BoveError(
                f"{path}, line {number}: neither a JSON object nor a header with a column {column!r}; "
                f"it has {_some(header)}: correct columns or where"
            )
        places[name] = header.index(column) if place is None else place - 1
    return places


def _json_rows(path, lines, columns):
    for name, column in columns.items():
        if number_of(column) is not None:
            raise BoveError(f"{path}: holds JSON lines, but {name} is column {column}; give the key's name")
    for number, line in lines:
        record = read_object(path, number, line, Number)
        yield number, {name: _value(path, number, record, name, key) for name, key in columns.items()}


def _value(path, number, record, name, key) -> str:
    """The text of a key; a number may stand for anything but a sentence, null for no gold or id."""
    if key not in record:
        raise BoveError(
            f"{path}, line {number}: no key {key!r}; it has {_some(record)}: correct columns or where"
        )
    value = record[key]
    if value is None and name not in SIDES:
        return ""
    if not isinstance(value, str) or (isinstance(value, Number) and name in SIDES):
        raise BoveError(f"{path}, line {number}: no text under {key!r}; repair the line")
    check_text(path, number, value)
    return str(value)


def _columns(count) -> str:
    return "one column" if count == 1 else f"{count} columns"


def _cut(text) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _some(values) -> str:
    listed = list(values)
    return ", ".join(map(_cut, listed[:_SHOWN])) + " …" * (len(listed) > _SHOWN)
