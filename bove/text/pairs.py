r"""Sentence pairs: their files in any layout, and `pairs.jsonl`, which the later stages read.

A file of pairs is text in columns, without any quoting, or JSON lines; where columns are named, a first line
that starts with `{` is JSON. Gold is in a column, or in a file of its own with a line for each line of the
input, whose rows then have one width. One line is one pair, whatever it holds. Nothing is assumed about a
data set but what its `Form` says; the forms of STS and SNLI are the defaults of the configuration's schema.
"""

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

# Tasks whose pairs are read from files, and the one whose pairs are made of others' (bove.text.roles).
FILE_TASKS, ROLES = ("similarity", "entailment"), "roles"
TASKS, SIDES = (*FILE_TASKS, ROLES), ("first", "second")
POSITIVE, NO_LABEL = "entailment", "-"
LEFT_OUT = "rows that `where` leaves out"
_SCORE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_TEXT = re.compile(r"#[ \t]*text[ \t]*=[ \t]*(.*?)[ \t]*$")
_SHOWN = 12  # values that a message lists


@dataclass(frozen=True, slots=True)
class Form:
    """How the files of a data set are laid out.

    Attributes:
        task: "similarity" or "entailment".
        columns: where `first`, `second` and perhaps `gold` and `id` are: a name in the header or in JSON
            lines, or a number from 1. Without `gold`, a file of its own has the gold; without `id`, pairs are
            named by their lines.
        labels: meaning of each gold label (entailment); NO_LABEL means that the pair is not scored.
        separator: what separates the columns of text. There is no quoting.
        encoding: of the files.
        header: whether text has a header; None: if a column is named.
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


def _number_of(column: str) -> int | None:
    """The number of a column, from 1; None where it is a name."""
    return int(column) if _NUMBER.fullmatch(column) else None


def _has_names(columns: Iterable[str]) -> bool:
    return any(_number_of(column) is None for column in columns)


def check_dataset(where: str, dataset: Mapping) -> None:
    """See that the files of a data set can be read as it says.

    Args:
        where: what messages call it, such as "configuration: datasets.sts".
        dataset: its block of a resolved configuration.

    Raises:
        BoveError: the first thing that makes no sense, with its key.
    """
    form = Form.of(dataset)
    _check_columns(f"{where}.columns", form)
    check_encoding(form.encoding, f"{where}.encoding:")
    if not form.separator or any(mark in form.separator for mark in "\r\n"):
        raise BoveError(f"{where}.separator: {form.separator!r} cannot separate columns; write another")
    if form.task == "similarity" and form.labels:
        raise BoveError(f"{where}.labels: a similarity task has scores, not labels; leave labels out")
    if form.task == "entailment" and POSITIVE not in form.labels.values():
        raise BoveError(
            f"{where}.labels: none means {POSITIVE}, which is the positive class; write LABEL: {POSITIVE}"
        )
    for subset, files in dataset["subsets"].items():
        _check_subset(f"{where}.subsets.{subset}", form, "gold" in files, files.get("where", {}))


def _check_columns(where, form) -> None:
    for role, column in form.columns.items():
        if column == "0":
            raise BoveError(f"{where}.{role}: '0' is not allowed; allowed: a name, or a number from 1")
        if form.header is False and _number_of(column) is None:
            raise BoveError(f"{where}: {column!r} is a name, but header is false; give the columns' numbers")
    columns = list(form.columns.values())
    if twice := [role for role, column in form.columns.items() if columns.count(column) > 1]:
        raise BoveError(f"{where}: {' and '.join(twice)} are one column; give each its own")


def _check_subset(where, form, gold_file, selection) -> None:
    if gold_file and "gold" in form.columns:
        raise BoveError(f"{where}.gold: columns.gold names the input's gold column; leave one of them out")
    if not gold_file and "gold" not in form.columns:
        raise BoveError(
            f"{where}.gold is missing; give a file with the gold of each line, or name columns.gold"
        )
    if form.header is False and _has_names(selection):
        raise BoveError(f"{where}.where: a column by name, but header is false; give its number")
    if gold_file and (form.header or _has_names([*form.columns.values(), *selection])):
        raise BoveError(
            f"{where}.gold: its lines are those of an input without a header; give columns by their "
            f"numbers, or name columns.gold"
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences with a gold score or label.

    Attributes:
        id: `<subset>-<id in the file>`, or `<subset>-<line number, 5 digits>` where the file has no ids.
        dataset: name in the configuration.
        label: name in the tables, such as "STS-2014".
        task: of TASKS.
        subset: part of the data set, such as "images" or "dev".
        first, second: the sentences; the first is the premise.
        gold: score (similarity), or what the label means (entailment); None where there is no score, "-"
            where there is no label.
        scored: whether the pair counts in a result.
        exchanged: the second sentence with its roles exchanged (roles alone).
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
    exchanged: str | None = None

    @property
    def sentences(self) -> dict[str, str]:
        """The texts by their sentence's id: ID.1, ID.2 and, of a probe of roles, ID.3."""
        texts = [self.first, self.second, *([] if self.exchanged is None else [self.exchanged])]
        return {f"{self.id}.{number}": text for number, text in enumerate(texts, 1)}


def write_pairs(stream: IO[str], pairs: Iterable[Pair]) -> None:
    """Write pairs as JSON, one object per line."""
    for pair in pairs:
        record = asdict(pair)
        if pair.exchanged is None:
            del record["exchanged"]
        stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs of a file that `write_pairs` wrote.

    Raises:
        BoveError: a line that is not a pair, a repeated pair id, or no pair.
    """
    pairs: dict[str, Pair] = {}
    for number, line in read_lines(path):
        record = read_object(path, number, line)
        try:
            pair = Pair(**record)
        except TypeError as e:
            raise BoveError(f"{path}, line {number}: not a sentence pair ({e}); make the file again") from e
        texts = (pair.id, pair.dataset, pair.label, pair.task, pair.subset, pair.first, pair.second)
        if not all(isinstance(text, str) for text in texts):
            raise BoveError(f"{path}, line {number}: a value of the wrong kind; make the file again")
        if pair.id in pairs:
            raise BoveError(f"{path}, line {number}: pair id {pair.id!r} is repeated; give each its own")
        pairs[pair.id] = pair
    if not pairs:
        raise BoveError(f"{path}: holds no pairs; make the file again with `bove pairs`")
    return list(pairs.values())


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
        names: the data set's name, its label in the tables, and the subset's name.
        gold_path: the file of the gold, where the form has no column of it.
        where: values that the wanted rows have, by column.
        counts: gets the number of rows that are not wanted, under LEFT_OUT.

    Raises:
        BoveError: a row that is not as the form says or as wide as most, gold that is not a finite number or
            a known label, a repeated pair id, unequal line counts, or no row that is wanted.
    """
    (dataset, label, subset), where = names, where or {}
    columns = {**form.columns, **{f"where {column}": column for column in where}}
    golds = None if gold_path is None else list(read_lines(gold_path, form.encoding))
    pairs, ids, others, total = [], {}, Counter(), 0
    for total, (number, row) in enumerate(pair_rows(path, form, columns, golds is not None), 1):
        wrong = next((c for c, value in where.items() if row[f"where {c}"] != value), None)
        if wrong is not None:
            others[wrong, row[f"where {wrong}"]] += 1
        elif golds is None or number <= len(golds):
            place = (path, number, row["gold"]) if golds is None else (gold_path, *golds[number - 1])
            gold = read_score(*place) if form.task == "similarity" else _label(*place, form.labels)
            name = _id(path, number, row["id"], ids) if "id" in form.columns else f"{number:05d}"
            sides, scored = (row["first"], row["second"]), gold not in (None, NO_LABEL)
            pairs.append(Pair(f"{subset}-{name}", dataset, label, form.task, subset, *sides, gold, scored))
    if golds is not None and total != len(golds):
        raise BoveError(
            f"{path} has {total} lines, but {gold_path} has {len(golds)}; give the gold "
            f"file of this input, with a blank line where a pair has no gold"
        )
    if counts is not None:
        counts[LEFT_OUT] += others.total()
    if others and not pairs:
        column = next(column for column in where if any(other == column for other, _ in others))
        found = sorted({value for other, value in others if other == column})
        raise BoveError(
            f"{path}: no row has {' and '.join(f'{c} = {v!r}' for c, v in where.items())}; "
            f"{column} is {_some(found)}: correct where"
        )
    return pairs


def read_subset(dataset: Mapping, subset: str, counts: Counter | None = None) -> list[Pair]:
    """Pairs of one subset of a data set.

    Args:
        dataset: a block of a resolved configuration, and its name under `name`.
        counts: as in `read_pair_file`.

    Raises:
        BoveError: what `read_pair_file` raises, or no pair with gold.
    """
    files = dataset["subsets"][subset]
    path, gold, names = files["input"], files.get("gold"), (dataset["name"], dataset["label"], subset)
    pairs = read_pair_file(path, Form.of(dataset), names, gold, files.get("where"), counts)
    if not any(pair.scored for pair in pairs):
        raise BoveError(f"{gold or path}: no pair has a gold score or label; check the file")
    return pairs


def read_score(path: str | Path, number: int, cell: str) -> float | None:
    """The score of a cell, None for a blank one.

    Raises:
        BoveError: not a finite number.
    """
    cell = cell.strip(" \t")
    if not cell:
        return None
    score = finite(cell) if _SCORE.fullmatch(cell) else None
    if score is None:
        raise BoveError(
            f"{path}, line {number}: {_cut(cell)} is not a score; write a number, or nothing for none"
        )
    return score


def _label(path, number, cell, labels) -> str:
    if cell not in labels:
        raise BoveError(
            f"{path}, line {number}: unknown label {_cut(cell)}; known are {_some(labels)}: say under labels "
            f"what it means ({NO_LABEL!r}: not scored), or repair the line"
        )
    return labels[cell]


def _id(path, number, name, ids) -> str:
    """The name, unless it is odd or an earlier line has it; `ids` has the lines."""
    if not name or name != name.strip() or not name.isprintable():
        raise BoveError(
            f"{path}, line {number}: {_cut(name)} cannot be a pair id; give each pair a plain name"
        )
    if name in ids:
        raise BoveError(
            f"{path}, line {number}: pair id {_cut(name)} is in line {ids[name]} too; give each pair its "
            f"own, or leave columns.id out to name pairs by their lines"
        )
    ids[name] = number
    return name


def pair_rows(
    path: str | Path, form: Form, columns: Mapping[str, str], aligned: bool
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and wanted columns of each row, as `read_pair_file` takes them.

    Args:
        aligned: whether the gold is in a file of its own: blank lines count too, and all rows are as wide.
    """
    lines = read_lines(path, form.encoding)
    if not aligned:
        lines = (entry for entry in lines if entry[1].strip(" "))
    start = next(lines, None)
    if start is None:
        return
    json_lines = _has_names(columns.values()) and start[1].lstrip(" \t").startswith("{")
    lines = chain([start], lines)
    if json_lines:
        yield from _json_rows(path, lines, columns)
    else:
        yield from _text_rows(path, _even(path, lines, form.separator) if aligned else lines, form, columns)


def _even(path, lines, separator) -> list[tuple[int, str]]:
    """The lines, if all have as many columns as most; else a tab stands in a sentence, or between none."""
    lines = list(lines)
    cells = [line.split(separator) for _, line in lines]
    # with and without empty cells at the end
    widths = [
        (len(row), max((n for n, cell in enumerate(row, 1) if cell.strip(" ")), default=0)) for row in cells
    ]
    usual = [Counter(kind).most_common(1)[0][0] for kind in zip(*widths, strict=True)]
    odd = [place for place, found in enumerate(widths) if found[0] != usual[0] and found[1] != usual[1]]
    if odd:
        raise BoveError(
            f"{path}, line {lines[odd[0]][0]}: {_width(cells[odd[0]])}, but most rows have {usual[0]} "
            f"({len(odd)} of {len(lines)} rows do not): repair them, or name the gold's column if it has one"
        )
    return lines


def _width(cells) -> str:
    return "one column" if len(cells) == 1 else f"{len(cells)} columns"


def _text_rows(path, lines, form, columns):
    places, width = None, None
    if not (form.header or _has_names(columns.values())):
        places = {name: _number_of(column) - 1 for name, column in columns.items()}
    for number, line in lines:
        cells = line.split(form.separator)
        if places is None:
            places, width = _places(path, number, [cell.strip(" ") for cell in cells], columns), len(cells)
            continue
        found, last = _width(cells), max(places, key=places.get)
        if len(cells) <= places[last]:
            raise BoveError(
                f"{path}, line {number}: {found}, but {last} is column {places[last] + 1}; "
                f"put {form.separator!r} between the columns"
            )
        if width is not None and len(cells) > width:  # even if empty: a tab in a sentence shifts the rest
            raise BoveError(f"{path}, line {number}: {found}, but the header has {width}; repair the row")
        yield number, {name: cells[place].strip(" ") for name, place in places.items()}


def _places(path, number, header, columns) -> dict[str, int]:
    """The places of the wanted columns in the rows under a header."""
    places = {}
    for name, column in columns.items():
        place = _number_of(column)
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
        if _number_of(column) is not None:
            raise BoveError(f"{path}: holds JSON lines, but {name} is column {column}; give the key's name")
    for number, line in lines:
        record = read_object(path, number, line, Number)
        yield number, {name: _value(path, number, record, name, key) for name, key in columns.items()}


def _value(path, number, record, name, key) -> str:
    """The text of a key; a number will do for anything but a sentence, null for no gold or id."""
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


def _cut(text) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _some(values) -> str:
    listed = list(values)
    return ", ".join(map(_cut, listed[:_SHOWN])) + " …" * (len(listed) > _SHOWN)


def match_parses(path: str | Path, ids: Sequence[str], texts: Sequence[str]) -> Iterator[Sentence]:
    """Yield the tree that a user brings for each sentence, in order, found by its `sent_id`.

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
    given: dict[str | None, tuple[int, str]] = {}  # line and text by sent_id, of trees with both comments
    for comments, _ in blocks(path):
        found = first_comment(_TEXT, comments)
        if found[1] is not None:
            given[first_comment(SENT_ID, comments)[1]] = found
    for name, text in zip(ids, texts, strict=True):
        line, found = given.get(name, (0, text))
        if found.split() != text.split():
            raise BoveError(
                f"{path}, line {line}: the tree {name} is of {found!r}, but the sentence is {text!r}; "
                f"parse the sentences of these pairs"
            )
        yield trees[name]
