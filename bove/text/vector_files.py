r"""Rows of word2vec and GloVe files, in blocks, without holding the file in memory.

word2vec binary: a line `V r`, then per row the word, a space and r little-endian float32; some writers end
each row with a line break. Its words cannot hold a space: what follows would be read shifted, and is refused
by its absurd numbers and control characters. word2vec text: a line `V r`, then `word x_1 … x_r` per line.
GloVe: the same lines without the first. A GloVe word may hold spaces, so numbers are those at its end.
"""

import re
import warnings
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bove.errors import BoveError
from bove.files import check_file, open_bytes, text_line

Blocks = Iterator[tuple[list[bytes], np.ndarray]]
BLOCK_BYTES = 1 << 22
BLOCK_ROWS = 4096
_LONGEST_WORD = 4096
_DIGITS = 18  # of a header's numbers at most; longer ones are none
_CONTROL = re.compile(rb"[\0-\x1f\x7f]")
_ABSURD = 1e9  # larger than any number of a vector, and smaller than most that are no float32
_SHIFTED = (2.0**-63, 2.0**-62)  # what three letters and a space are as a number
_SPACE = "the file is damaged, or a word there has a space, which ends a word here: write it with _"
_DAMAGED = "the file is damaged or its header wrong"


class Kind(NamedTuple):
    """Binary or text, with a header or none, the rows that the header says, and the numbers of a row."""

    binary: bool
    header: bool
    size: int | None
    dimensions: int


def read_blocks(path: str | Path, format: str = "auto", limit: int | None = None) -> Blocks:
    """Yield (words as bytes, rows [n, r] float32) of a word2vec or GloVe file.

    Args:
        format: "word2vec", "glove", or "auto": by content.
        limit: number of rows to read; all where None.

    Raises:
        BoveError: the file is not in the format, a row is damaged or not finite, or there are more or fewer
            rows than its header says.
    """
    if limit is not None and limit < 1:
        raise BoveError(f"limit {limit}: no row would be read; give 1 or more, or none")
    check_file(path)
    kind = find_kind(path, format)
    wanted = kind.size if limit is None or (kind.size is not None and kind.size < limit) else limit
    read = _binary_blocks if kind.binary else _text_blocks
    number = 0
    for words, rows, starts in read(path, kind, wanted):
        bad = ~np.isfinite(rows).all(axis=1)
        if kind.binary:
            bad |= np.abs(rows).max(axis=1) > _ABSURD
            bad |= (rows[:, 0] >= _SHIFTED[0]) & (rows[:, 0] < _SHIFTED[1])
            bad |= [_CONTROL.search(word) is not None for word in words]
        if bad.any():
            row = int(bad.argmax())
            raise _odd_row(path, number + row + 1, words[row], rows[row], starts and starts[row])
        number += len(words)
        yield words, rows


def _odd_row(path, number, word, row, start) -> BoveError:
    place = f"row {number}" if start is None else f"row {number} (byte {start})"
    if not np.isfinite(row).all():
        found = "a number that is not finite"
    elif start is not None and _CONTROL.search(word):
        found = f"a control character in the word {word[:40].decode('utf-8', 'replace')!a}"
    else:
        odd = row[0] if abs(row).max() <= _ABSURD else row[abs(row).argmax()]
        found = f"the number {odd:.3g}, which no vector has"
    if start is None:
        return BoveError(f"{path}, {place}: {found}; is the file damaged?")
    return BoveError(f"{path}, {place}: {found}; {_SPACE}")


def find_kind(path: str | Path, format: str) -> Kind:
    """The kind of a file by its first lines; for `format` and what is raised see `read_blocks`."""
    with open_bytes(path) as stream:
        line, _, rest = stream.read(1 << 20).partition(b"\n")
    fields = text_line(path, 1, line).split()
    header = len(fields) == 2 and all(field.isdigit() and len(field) <= _DIGITS for field in fields)
    if header and format != "glove":
        size, dimensions = map(int, fields)
        if not size or not dimensions:
            raise BoveError(f"{path}: its header says {size} rows of {dimensions}; is the file damaged?")
        cells = rest.partition(b"\n")[0].split()
        found = _trailing_numbers(cells)
        # A row of text is numbers after its word; of a binary row that could hardly be so.
        text = found > 0 and found in (dimensions, len(cells) - 1)
        if text and found != dimensions:
            raise BoveError(
                f"{path}: its header says {dimensions} numbers a row, but the first row has {found}; "
                f"repair the header"
            )
        return Kind(not text, True, size, dimensions)
    if format == "word2vec":
        raise BoveError(f"{path}: no word2vec header (rows, dimensions) in its first line; is it GloVe?")
    if len(fields) < 2 or not _is_number(fields[-1]):
        raise BoveError(f"{path}: neither a word2vec nor a GloVe file by its first line; give word vectors")
    return Kind(False, False, None, _trailing_numbers(fields))


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return b"_" not in cell


def _trailing_numbers(fields) -> int:
    """How many of the fields after the first are numbers, counted from the end."""
    return sum(1 for _ in takewhile(_is_number, reversed(fields[1:])))


def _binary_blocks(path, kind, wanted):
    """Blocks with the byte of the file at which each row starts."""
    size = 4 * kind.dimensions
    with open_bytes(path) as stream:
        before = len(stream.readline())  # bytes of the file before those in the buffer
        buffer, place, number, breaks, ended = b"", 0, 0, None, False
        while number < wanted:
            piece = b"" if ended else stream.read(BLOCK_BYTES)
            ended = not piece
            before, buffer, place = before + place, buffer[place:] + piece, 0
            words, raw, starts = [], [], []
            while number < wanted:
                space = buffer.find(b" ", place, place + _LONGEST_WORD)
                end = space + 1 + size
                # One more byte tells whether rows end with a line break; the last row may lack it.
                if space < 0 or end + (not ended) > len(buffer):
                    break
                words.append(buffer[place:space])
                starts.append(before + place)
                raw.append(buffer[space + 1 : end])
                number += 1
                if breaks is None:
                    breaks = buffer[end : end + 1] == b"\n"
                if breaks and end < len(buffer):
                    if buffer[end] != 10:
                        found = f"row {number} (byte {starts[-1]}): no line break after it, unlike row 1"
                        raise BoveError(f"{path}, {found}; {_SPACE}")
                    end += 1
                place = end
            if words:
                rows = np.frombuffer(b"".join(raw), "<f4").reshape(len(words), kind.dimensions)
                yield words, rows, starts
            elif ended:
                raise _cut_off(path, number, kind)
            elif len(buffer) - place > _LONGEST_WORD + size:
                raise BoveError(f"{path}, row {number + 1}: no word of a sane length; {_DAMAGED}")
        if number == kind.size and (buffer[place:] + stream.read(64)).strip():
            raise BoveError(
                f"{path}: more follows the {kind.size} rows of {kind.dimensions} of its header; {_DAMAGED}"
            )


def _text_blocks(path, kind, wanted):
    number = 0
    with open_bytes(path) as stream:
        found = (text_line(path, place, raw).rstrip(b" ") for place, raw in enumerate(stream, 1))
        rows = (line for line in islice(found, kind.header, None) if line)
        while wanted is None or number < wanted:
            count = BLOCK_ROWS if wanted is None else min(BLOCK_ROWS, wanted - number)
            lines = list(islice(rows, count))
            if not lines:
                break
            yield *_text_rows(path, lines, kind.dimensions, number), None
            number += len(lines)
        ended = not stream.read(64).strip()
    if kind.size is not None and number < min(wanted, kind.size):
        raise _cut_off(path, number, kind)
    if number == kind.size and not ended:
        raise BoveError(f"{path}: more follows the {kind.size} rows that its header says; {_DAMAGED}")


def _cut_off(path, number, kind) -> BoveError:
    return BoveError(
        f"{path}, row {number + 1}: the file ends there, but its header says {kind.size} rows; {_DAMAGED}"
    )


def _text_rows(path, lines, dimensions, number) -> tuple[list[bytes], np.ndarray]:
    words, tails = [], []
    for row, line in enumerate(lines, number + 1):
        if line.count(b" ") == dimensions:
            word, tail = line.split(b" ", 1)
        else:
            word, tail = _split_odd(path, row, line, dimensions)
        words.append(word)
        tails.append(tail)
    values = _numbers(b" ".join(tails))
    # No tail has too many numbers, so the total is short if any has too few or something else.
    if values.size != len(lines) * dimensions:
        for row, tail in enumerate(tails, number + 1):
            if _numbers(tail).size != dimensions:
                bad = next((cell for cell in tail.split() if not _is_number(cell)), None)
                fault = f"{len(tail.split())} numbers, not {dimensions}"
                if bad is not None:
                    fault = f"{bad[:20].decode('utf-8', 'replace')!r} is not a number"
                raise BoveError(f"{path}, row {row}: {fault}; is the file damaged?")
    return words, values.reshape(len(lines), dimensions)


def _numbers(text: bytes) -> np.ndarray:
    """The numbers of a text, none where something else is among them."""
    if not text.strip():
        return np.zeros(0, np.float32)  # NumPy would give -1
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # older NumPy warns where newer raises
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return np.zeros(0, np.float32)


def _split_odd(path, row, line, dimensions) -> tuple[bytes, bytes]:
    """Word and numbers of a line whose word holds spaces, or whose cells have tabs or more between them."""
    cells = b" ".join(line.split()).rsplit(b" ", dimensions)
    if line.startswith(b" "):
        cells = [b"", *line.split()]
    left = cells[0].split()
    if len(cells) != dimensions + 1 or (len(left) > 1 and _is_number(left[-1])):
        found = _trailing_numbers(line.split())
        raise BoveError(f"{path}, row {row}: {found} numbers, not {dimensions}; is the file damaged?")
    return cells[0], b" ".join(cells[1:])
