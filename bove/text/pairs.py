r"""Sentence pairs, and the file `pairs.jsonl` that the later stages read."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from bove.errors import BoveError, finite
from bove.files import Number, check_encoding, check_text, read_lines, read_object
from bove.text.conll import SENT_ID, Sentence, blocks, first_comment, read_sentences

# What a configuration says about the files of a data set: columns, labels, header, encoding.
#
# Nothing is assumed about a data set but what its form says; the forms of STS and SNLI are the defaults of
# the
# configuration's schema.

TASKS = ("similarity", "entailment")
SIDES = ("first", "second")
COLUMNS = (*SIDES, "gold", "id")
POSITIVE = "entailment"
NO_LABEL = "-"
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class Form:
    """How the files of a data set are laid out.

    Attributes:
        task: "similarity" or "entailment".
        columns: where `first`, `second` and perhaps `gold` and `id` stand: a name in the header or in JSON
            lines, or a number from 1. Without `gold`, a file of its own has the gold; without `id`, pairs are
            named by their lines.
        labels: meaning of each gold label (entailment); NO_LABEL means that the pair is not scored.
        separator: what stands between the columns of text. There is no quoting.
        encoding: of the files.
        header: whether text has a header; None where that is told by whether a column is named.
    """

    task: str
    columns: Mapping[str, str]
    labels: Mapping[str, str]
    separator: str
    encoding: str
    header: bool | None = None

    @classmethod
    def of(cls, dataset: Mapping) -> "Form":
        """The form of a data set in a resolved configuration."""
        names = ("task", "columns", "separator", "encoding", "header")
        return cls(labels=dataset.get("labels", {}), **{name: dataset.get(name) for name in names})

    def check(self, where: str) -> None:
        """See that the form makes sense.

        Args:
            where: what messages call the data set.

        Raises:
            BoveError: what does not, with its key.
        """
        _check_columns(where, self.columns)
        check_encoding(self.encoding, f"{where}.encoding:")
        if not self.separator or any(mark in self.separator for mark in "\r\n"):
            raise BoveError(f"{where}.separator: {self.separator!r} can not separate columns; write another")
        if self.header is False and has_names(self.columns.values()):
            name = next(column for column in self.columns.values() if not _NUMBER.fullmatch(column))
            raise BoveError(
                f"{where}.columns: {name!r} is a name, but header is false; give the columns' numbers"
            )
        if self.task == "similarity" and self.labels:
            raise BoveError(f"{where}.labels: a similarity task has scores, not labels; leave labels out")
        if self.task == "entailment" and POSITIVE not in self.labels.values():
            raise BoveError(
                f"{where}.labels: none means {POSITIVE}, which is the positive class; write LABEL: {POSITIVE}"
            )

    def check_subset(self, where: str, gold_file: bool, selection: Mapping[str, str]) -> None:
        """See that a subset's files can be read by the form.

        Args:
            where: what messages call the subset.
            gold_file: whether the gold is in a file of its own.
            selection: values that the rows must have, by column.

        Raises:
            BoveError: what can not, with its key.
        """
        if gold_file == ("gold" in self.columns):
            raise BoveError(
                f"{where}.gold: columns.gold names the input's gold column; leave one of them out"
                if gold_file
                else f"{where}.gold is missing; give a file with the gold of each line, or name columns.gold"
            )
        if self.header is False and has_names(selection):
            raise BoveError(f"{where}.where: a column by name, but header is false; give its number")
        if gold_file and (self.header or has_names([*self.columns.values(), *selection])):
            raise BoveError(
                f"{where}.gold: its lines are those of an input without a header; give columns by their "
                f"numbers, or name columns.gold"
            )


def has_names(columns: Iterable[str]) -> bool:
    """Whether a column is given by its name."""
    return any(not _NUMBER.fullmatch(column) for column in columns)


def number_of(column: str) -> int | None:
    """The number of a column, from 1; None where it is a name."""
    return int(column) if _NUMBER.fullmatch(column) else None


def check_dataset(where: str, dataset: Mapping) -> None:
    """See that the files of a data set can be read as it says.

    Args:
        where: what messages call it, such as "configuration: datasets.sts".
        dataset: its block of a resolved configuration.

    Raises:
        BoveError: the first thing that makes no sense, with its key.
    """
    form = Form.of(dataset)
    form.check(where)
    for subset, files in dataset["subsets"].items():
        form.check_subset(f"{where}.subsets.{subset}", "gold" in files, files.get("where", {}))


def read_dataset(path: str | Path) -> dict:
    """A data set from a file of JSON: its block of a resolved configuration, and its name under `name`.

    Files are paths there; `parses` and `development` are left out.

    Raises:
        BoveError: not JSON, or a key that is missing or of another type.
    """
    dataset = read_object(path, 1, "\n".join(line for _, line in read_lines(path)))
    if not _is_dataset(dataset):
        raise BoveError(
            f"{path}: does not describe a data set; give what the workflow writes, or the options"
        )
    return dataset


def _is_dataset(found: Mapping) -> bool:
    texts = [found.get(key) for key in ("name", "label", "task", "separator", "encoding")]
    maps, subsets = [found.get("columns"), found.get("labels", {})], found.get("subsets")
    if not (isinstance(subsets, dict) and subsets):
        return False
    for files in subsets.values():
        if not isinstance(files, dict):
            return False
        texts += [files.get("input"), files.get("gold", "")]
        maps.append(files.get("where", {}))
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(m, dict) and all(isinstance(v, str) for v in m.values()) for m in maps)
        and found["task"] in TASKS
        and isinstance(found.get("header"), bool | None)
    )


def _check_columns(where, columns) -> None:
    for name, column in columns.items():
        if name not in COLUMNS:
            raise BoveError(f"{where}.columns: {name!r} is not allowed; allowed: {', '.join(COLUMNS)}")
        if not column:
            raise BoveError(f"{where}.columns.{name}: is empty; write a column's name or its number")
        if column == "0":
            raise BoveError(f"{where}.columns.{name}: is 0; columns are numbered from 1")
    missing = [name for name in SIDES if name not in columns]
    if missing:
        raise BoveError(f"{where}.columns: {missing[0]} is missing; say which column has that sentence")
    twice = [name for name in COLUMNS if list(columns.values()).count(columns.get(name)) > 1]
    if twice:
        raise BoveError(f"{where}.columns: {' and '.join(twice)} are one column; give each its own")


# Sentence pairs, and the file `pairs.jsonl` that the later stages read.


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences with a gold score or label.

    Attributes:
        id: `<subset>-<id in the file>`, or `<subset>-<line number, 5 digits>` where the file has no ids.
        dataset: name in the configuration.
        label: name in the tables, such as "STS-2014".
        task: "similarity" or "entailment".
        subset: part of the data set, such as "images" or "dev".
        first, second: the sentences; the first is the premise.
        gold: score (similarity), or what the label means (entailment); None where there is no score, "-"
            where there is no label.
        scored: whether the pair counts in a result.
    """

    id: str
    dataset: str
    label: str
    task: str
    subset: str
    first: str
    second: str
    gold: float | str | None
    scored: bool


def write_pairs(stream: IO[str], pairs: Iterable[Pair]) -> None:
    """Write pairs as JSON, one object a line."""
    for pair in pairs:
        stream.write(json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n")


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs of a file that `write_pairs` wrote.

    Raises:
        BoveError: a line that is no pair, or a pair id that stands twice.
    """
    pairs: list[Pair] = []
    seen: set[str] = set()
    for number, line in read_lines(path):
        record = read_object(path, number, line)
        try:
            pair = Pair(**record)
        except TypeError as e:
            raise BoveError(f"{path}, line {number}: not a sentence pair ({e}); make the file again") from e
        _check_pair(path, number, pair)
        if pair.id in seen:
            raise BoveError(f"{path}, line {number}: pair id {pair.id!r} stands twice; give each its own")
        seen.add(pair.id)
        pairs.append(pair)
    return pairs


def _check_pair(path, number, pair) -> None:
    texts = (pair.id, pair.dataset, pair.label, pair.task, pair.subset, pair.first, pair.second)
    sound = all(isinstance(text, str) for text in texts) and pair.task in TASKS
    gold = isinstance(pair.gold, str) if pair.task == "entailment" else _is_score(pair.gold)
    if not sound or not gold or not isinstance(pair.scored, bool):
        raise BoveError(f"{path}, line {number}: a value of the wrong kind; make the file again")
    for text in texts if pair.task == "similarity" else (*texts, pair.gold):
        check_text(path, number, text)


def _is_score(gold) -> bool:
    number = isinstance(gold, int | float) and not isinstance(gold, bool) and finite(gold) is not None
    return gold is None or number


# Files of sentence pairs, such as those of STS and SNLI, read as a `Form` says.
#
# A file is text in columns, without any quoting, or JSON lines; where columns are named, a first line that
# starts with `{` is JSON. Gold stands in a column, or in a file of its own with a line for each line of the
# input. One line is one pair, whatever it holds; lines end at \n or \r\n alone.

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
    score = finite(cell) if _SCORE.fullmatch(cell) else None
    if score is None:
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


# Trees that a user brings, matched with the sentences of the pairs.

_TEXT = re.compile(r"#[ \t]*text[ \t]*=[ \t]*(.*?)[ \t]*$")


def match_parses(path: str | Path, ids: Sequence[str], texts: Sequence[str]) -> Iterator[Sentence]:
    """Yield the tree of each sentence, in order, found by its `sent_id`.

    Where a tree has a `text` comment, it must be the sentence's, white space aside. Trees of other sentences
    are passed over.

    Raises:
        BoveError: a sentence without a tree or with two, or a tree of another text.
    """
    trees: dict[str, Sentence] = {}
    wanted = set(ids)
    for tree in read_sentences(path):
        if tree.id in trees:
            raise BoveError(f"{path}: two trees have sent_id {tree.id}; keep one")
        if tree.id in wanted:
            trees[tree.id] = tree
    missing = [name for name in ids if name not in trees]
    if missing:
        raise BoveError(
            f"{path}: no tree has sent_id {missing[0]} (the first of {len(missing)} missing, of {len(ids)} "
            f"sentences); name each tree by its pair, with .1 or .2 for the side"
        )
    given = _texts(path)
    for name, text in zip(ids, texts, strict=True):
        found, line = given.get(name, (text, 0))
        if found.split() != text.split():
            raise BoveError(
                f"{path}, line {line}: the tree {name} is of {found!r}, but the sentence is {text!r}; "
                f"parse the sentences of these pairs"
            )
        yield trees[name]


def _texts(path) -> dict[str, tuple[str, int]]:
    """Text and line number by sent_id, where both comments stand before a tree."""
    found: dict[str, tuple[str, int]] = {}
    for comments, _ in blocks(path):
        _, name = first_comment(SENT_ID, comments)
        number, text = first_comment(_TEXT, comments)
        if name is not None and text is not None:
            found[name] = text, number
    return found
