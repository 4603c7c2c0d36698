"""Files: opened by content, read by lines, rows or objects, and written whole or not at all.

Text is UTF-8, whose lines end at "\\n" or "\\r\\n" alone. What is written goes to a temporary file beside its
place, which is renamed at the end, so that nobody ever finds half of it.
"""

import bz2
import codecs
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from bove.errors import BoveError

# How packed files start, with what opens them, or what else they are.
_OPENERS = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\0": lzma.open, b"BZh": bz2.open}
_PACKED = {b"\x28\xb5\x2f\xfd": "Zstandard", b"\x04\x22\x4d\x18": "LZ4", b"7z\xbc\xaf": "7-Zip"}
_PACKED |= {b"PK\x03\x04": "a zip archive or office file", b"\x1f\x9d": "compress", b"LZIP": "lzip"}
_STANDS_FOR = {
    b"version https://git-lfs": "a pointer of Git LFS; fetch the file itself with: git lfs pull",
    b"<!doctype html": "a web page; fetch the file itself",
    b"<html": "a web page; fetch the file itself",
}
_MARK = "\ufeff"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_UMASK = os.umask(0)
os.umask(_UMASK)
_AROUND = 20  # characters to either side that a message shows


def encoded(text: str, where: str = "") -> bytes:
    """The bytes of a text in UTF-8.

    JSON and YAML can escape half a surrogate pair, and Python makes one of each byte of a command line or a
    file's name that is not UTF-8; no file of text can hold it.

    Args:
        where: how the message begins, such as with a file and a line.

    Raises:
        BoveError: half a surrogate pair.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise refusal(e, where) from e


def refusal(error: UnicodeEncodeError, where: str = "") -> BoveError:
    """What is said of a text that cannot be written; for `where` see `encoded`."""
    shown = _around(error.object, error.start)
    return BoveError(
        f"{where}half a surrogate pair in {shown!r}, which UTF-8 cannot hold; repair what it comes from"
    )


def _around(text: str, place: int) -> str:
    """What a message shows of the line around a place of a text."""
    before, after = text[:place].split("\n")[-1], text[place:].split("\n")[0]
    return before[-_AROUND:] + after[: 1 + _AROUND]


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes; gzip, xz and bzip2 are recognised by how they start, not by name.

    Raises BoveError where the file is missing, unreadable, or a damaged packed stream.
    """
    path = Path(path)
    try:
        with _opened(path) as raw:
            start = raw.peek(6)[:10]
            unpack = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
            if unpack is bz2.open and start[4:] not in (b"1AY&SY", b"\x17rE8P\x90"):  # BZh may be a word
                unpack = None
            with unpack(raw) if unpack else raw as stream:
                yield stream
    except (EOFError, zlib.error, lzma.LZMAError) as e:
        raise _damaged(path, e) from e
    except BrokenPipeError:  # of what is written meanwhile
        raise
    except OSError as e:
        raise _unreadable(path, e) if e.errno else _damaged(path, e) from e


def _damaged(path: Path, error: Exception) -> BoveError:
    return BoveError(f"{path}: damaged or truncated packed file ({error}); fetch or pack it again")


def _opened(path: Path) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as e:  # ValueError: a NUL in the name
        raise _unreadable(path, e) from e


def _unreadable(path: Path, error: OSError | ValueError) -> BoveError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return BoveError(f"{path}: no such file; check the path")
    if isinstance(error, IsADirectoryError):
        return BoveError(f"{path}: is a folder; name a file inside it")
    if isinstance(error, PermissionError):
        return BoveError(f"{path}: may not be read; check its permissions")
    return BoveError(f"{path}: cannot be read ({_reason(error)}); check the path")


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def check_file(path: str | Path) -> None:
    """See that a file can be read more than once, and in any order.

    Raises:
        BoveError: nothing is there, or a folder, or a pipe or device, which gives its content but once.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as e:
        raise _unreadable(path, e) from e
    if stat.S_ISDIR(mode):
        raise BoveError(f"{path}: is a folder; name a file inside it")
    if not stat.S_ISREG(mode):
        raise BoveError(
            f"{path}: is a pipe or a device, but is read more than once; write it to a file first"
        )


def check_encoding(encoding: str, where: str = "encoding") -> None:
    """Raise BoveError unless an encoding is known and writes line ends, tabs and all of ASCII as ASCII does.

    Lines are found before they are decoded, which needs that.
    """
    ascii_text = "".join(map(chr, (9, 10, 13, *range(32, 127))))
    try:
        sound = ascii_text.encode("ascii").decode(encoding) == ascii_text
    except (LookupError, ValueError):
        sound = False
    if not sound:
        raise BoveError(
            f"{where} {encoding!r}: unknown, or not built on ASCII; name another, such as latin-1, or "
            f"convert the text to UTF-8"
        )


def read_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end); lines end at \\n or \\r\\n alone.

    Raises BoveError for an unknown encoding and, with the line, for what `text_line` refuses, for bytes that
    are not of the encoding, and for a byte order mark after the file's start.
    """
    check_encoding(encoding)
    utf_8 = codecs.lookup(encoding).name.startswith("utf-8")
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, 1):
            if number == 1 and raw.startswith(codecs.BOM_UTF8) and not utf_8:
                raise BoveError(
                    f"{path}: starts with UTF-8's byte order mark; read it as utf-8, not {encoding}"
                )
            raw = text_line(path, number, raw)
            try:
                line = raw.decode(encoding)
            except UnicodeError as e:
                raise _encoding_error(path, number, raw, encoding, e) from e
            _refuse_mark(path, number, line)
            yield number, line


def read_text(path: str | Path) -> str:
    """The text of a file, whose lines end at \\n; errors are those of `read_lines`."""
    return "\n".join(line for _, line in read_lines(path))


def _refuse_mark(path, number, text) -> None:
    if _MARK in text:
        shown = _around(text, text.index(_MARK))
        raise BoveError(
            f"{path}, line {number}: an invisible byte order mark, U+FEFF, in {shown!a}; delete it"
        )


def text_line(path: str | Path, number: int, raw: bytes) -> bytes:
    """A line of any file of text, without its line end and, in line 1, UTF-8's byte order mark.

    Raises BoveError for a first line of UTF-16 or of a packed file, and a carriage return inside a line.
    """
    if number == 1:
        refuse_start(path, raw)
        raw = raw.removeprefix(codecs.BOM_UTF8)
    line = raw.removesuffix(b"\n").rstrip(b"\r")
    if b"\r" in line:
        raise BoveError(
            f"{path}, line {number}: a carriage return inside the line; end lines with line feeds "
            f"(such as with: tr '\\r' '\\n')"
        )
    return line


def refuse_start(path: str | Path, start: bytes) -> None:
    """BoveError where a file of text begins as another kind of file, or as UTF-16 with a mark or ASCII."""
    if kind := next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), None):
        raise BoveError(f"{path}: packed ({kind}), which is not read; unpack it, or pack it with gzip or xz")
    if said := next((said for magic, said in _STANDS_FOR.items() if start.lower().startswith(magic)), None):
        raise BoveError(f"{path}: not the data, but {said}")
    even, odd = start[:4:2], start[1:4:2]
    if start.startswith(_UTF_16) or (len(odd) == 2 and (not any(even)) != (not any(odd))):
        raise BoveError(f"{path}: UTF-16 text; convert it to UTF-8 (such as with: iconv -f UTF-16 -t UTF-8)")


def _encoding_error(path, number, raw, encoding, error) -> BoveError:
    # Some encodings do not say where they failed.
    byte = f"byte 0x{raw[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else "something"
    return BoveError(
        f"{path}, line {number}: {byte} is not {encoding}; "
        f"give the file's encoding (often latin-1 or cp1252) or convert it to UTF-8"
    )


@contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Write to a unique temporary file beside `path`, fsync, rename; on any error nothing is left.

    Text is UTF-8 with \\n line ends. Raises BoveError where the file cannot be written, or where
    UTF-8 cannot hold the text.
    """
    path = Path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with atomic_path(path) as tmp, open(tmp, mode, **text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
    except UnicodeEncodeError as e:
        raise refusal(e, f"{path}: ") from e


def write_json(path: str | Path, content: object) -> None:
    """Write a value as JSON that people can read, whole or not at all."""
    with atomic_write(path) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a unique temporary path beside `path` for a library to write; rename it at the end.

    Raises BoveError where it cannot be written, or where something other than a file is in its place.
    """
    path = Path(path)
    check_target(path)
    # named before it is made, so that whenever a signal comes, it is known what is to go
    made = path.parent / f".{path.name}.{uuid4().hex[:12]}.tmp"
    try:
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            made.touch(mode=0o600, exist_ok=False)
        try:
            yield made
            made.chmod(0o666 & ~_UMASK)
            made.replace(path)
        except OSError as e:
            raise BoveError(f"{path}: cannot be written ({e.strerror or e})") from e
    except BaseException:
        with suppress(OSError, ValueError):
            made.unlink(missing_ok=True)
        raise


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as e:  # ValueError: a NUL in the name
        raise BoveError(f"{path}: cannot be written ({_reason(e)}); choose another folder") from e


def check_target(path: str | Path) -> None:
    """BoveError where a folder, a pipe or a device is, which a file cannot replace."""
    path = Path(path)
    try:
        other = path.exists() and not path.is_file()
    except (OSError, ValueError):  # such as of a name that is too long: said when it is written
        return
    # /dev/stdout may lead to a file, but is not a file itself
    if other or path.absolute().parent == Path("/dev"):
        raise BoveError(f"{path}: cannot be written (is a folder, a pipe or a device); name a file")


@contextmanager
def atomic_folder(path: str | Path, replaceable: str) -> Iterator[Path]:
    """Give a unique temporary folder beside `path` to be filled; rename it at the end, or leave nothing.

    Args:
        path: the folder to be, absent, empty, or to be replaced.
        replaceable: name of the file that tells that a folder is of this kind and may be replaced.

    Raises:
        BoveError: something else is there, or it cannot be written.
    """
    path = Path(path)
    place = path.parent / f".{path.name}.{uuid4().hex[:12]}.tmp"
    new, old = place / "new", place / "old"
    try:
        with _writing(path):
            sound = path.is_dir() and ((path / replaceable).is_file() or not any(path.iterdir()))
            if path.exists() and not sound:
                raise BoveError(f"{path}: is there already and something else; choose another name")
            new.mkdir(parents=True)
        yield new
        try:
            if path.exists():
                path.replace(old)
            new.replace(path)
        except BaseException:
            if old.exists():
                old.replace(path)
            raise
    except OSError as e:
        raise BoveError(f"{path}: cannot be written ({_reason(e)}); choose another folder") from e
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def gzip_text(path: str | Path) -> Iterator[IO[str]]:
    """Write a UTF-8 gzip file atomically; the same text gives the same bytes (no time stamp, no name)."""
    with (
        atomic_write(path, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream,
    ):
        yield stream


def sha256(path: str | Path) -> str:
    """Hex SHA-256 of a file's bytes as they lie on disk."""
    check_file(path)
    with _opened(Path(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def csv_rows(path: str | Path, advice: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, cells) of each row, the header among them.

    Raises:
        BoveError: with the line, what cannot be CSV.
    """
    reader = csv.reader((f"{text}\n" for _, text in read_lines(path)), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as e:
        raise BoveError(f"{path}, line {reader.line_num}: not CSV ({e}); {advice}") from e


def csv_records(path: str | Path, needed: Sequence[str], advice: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number from 1, cells by column) of each row below the header.

    Args:
        needed: columns that must be there; others may be too.

    Raises:
        BoveError: with the line, what cannot be CSV, a column that is missing or repeated, or a row of
            another length than the header.
    """
    rows = csv_rows(path, advice)
    _, header = next(rows, (1, []))
    for name in needed:
        if name not in header:
            raise BoveError(
                f"{path}, line 1: has no column '{name}', but {', '.join(header)[:80]!r}; {advice}"
            )
    if len(set(header)) < len(header):
        raise BoveError(f"{path}, line 1: column '{max(header, key=header.count)}' is repeated; {advice}")
    for line, cells in rows:
        if cells and len(cells) != len(header):
            raise BoveError(f"{path}, line {line}: {len(cells)} cells, but {len(header)} columns; {advice}")
        if cells:  # of a blank line there are none
            yield line, dict(zip(header, cells, strict=True))


class Oddities(Counter):
    """Number of odd things by kind, which also keeps their places.

    Readers call `note`; where they are given a plain Counter instead, only the numbers are kept.

    Attributes:
        places: kind → places of the first `keep` of them, in the file's order. A place is a line number, or a
            row's where a file has no lines.
        keep: most places that are kept of a kind; None keeps all.
    """

    def __init__(self, keep: int | None = 5):
        super().__init__()
        self.keep = keep
        self.places: dict[str, list[int]] = {}


def note(counts: Counter, kind: str, place: int) -> None:
    """Count one odd thing, and keep its place where `counts` is an Oddities with room for it."""
    counts[kind] += 1
    if isinstance(counts, Oddities):
        places = counts.places.setdefault(kind, [])
        if counts.keep is None or len(places) < counts.keep:
            places.append(place)


class Number(str):
    """A number of a JSON file, as it is written there."""

    __slots__ = ()


def read_object(path, number: int, line: str, numbers: Callable | None = None) -> dict:
    """The object of a line.

    Args:
        numbers: what makes a value of a number's text, such as `Number`; None gives Python's numbers.

    Raises:
        BoveError: another kind of value, damaged JSON, a repeated key.
    """

    def unique(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(entries)
        if len(record) < len(entries):
            names = [name for name, _ in entries]
            key = max(names, key=names.count)
            raise BoveError(f"{path}, line {number}: key {key!r} is repeated in one object; keep one")
        return record

    kinds = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), numbers) if numbers else {}
    try:
        record = json.loads(line, object_pairs_hook=unique, **kinds)
    except (ValueError, RecursionError) as e:
        raise BoveError(f"{path}, line {number}: not JSON ({e}); is the file cut off?") from e
    if not isinstance(record, dict):
        raise BoveError(f"{path}, line {number}: not a JSON object; write one object per line")
    return record


def read_json(path: str | Path) -> dict:
    """The object that a whole file is; errors are those of `read_lines` and `read_object`."""
    return read_object(path, 1, read_text(path))


def check_text(path, number: int, text: str) -> None:
    """Raise BoveError for what JSON can escape: half a surrogate pair, or a byte order mark."""
    encoded(text, f"{path}, line {number}: ")
    _refuse_mark(path, number, text)
