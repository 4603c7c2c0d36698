"""Rows of the CSV files that stages write for each other."""

import csv
from collections.abc import Iterator
from pathlib import Path

from bove.errors import BoveError
from bove.files import read_lines


def csv_rows(path: str | Path, advice: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, cells) of each row, the header among them.

    Args:
        path: the file, gzip or not.
        advice: what to do about a file that is no CSV, for the message.

    Raises:
        BoveError: with the line, what can not be CSV.
    """
    reader = csv.reader((f"{text}\n" for _, text in read_lines(path)), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as e:
        raise BoveError(f"{path}, line {reader.line_num}: not CSV ({e}); {advice}") from e
