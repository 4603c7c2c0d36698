"""What a configuration says about the files of a data set: columns, labels, header, encoding.

Nothing is assumed about a data set but what its form says; the forms of STS and SNLI are the defaults of the
configuration's schema.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bove.errors import BoveError
from bove.files import check_encoding

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


def check_datasets(datasets: Mapping[str, Mapping]) -> None:
    """See that the data sets of a resolved configuration can be read.

    Raises:
        BoveError: the first thing that makes no sense, with its key.
    """
    for name, dataset in datasets.items():
        where, form = f"configuration: datasets.{name}", Form.of(dataset)
        form.check(where)
        for subset, files in dataset["subsets"].items():
            form.check_subset(f"{where}.subsets.{subset}", "gold" in files, files.get("where", {}))


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
