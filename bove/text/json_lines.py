"""One JSON object a line, read with the line's number in every message."""

import json
from collections.abc import Callable

from bove.errors import BoveError
from bove.utf8 import encoded


class Number(str):
    """A number of a JSON file, as it is written there."""

    __slots__ = ()


def read_object(path, number: int, line: str, numbers: Callable | None = None) -> dict:
    """The object of a line.

    Args:
        path, number: file and line, for messages.
        line: the text.
        numbers: what makes a value of a number's text, such as `Number`; None gives Python's numbers.

    Raises:
        BoveError: another kind of value, damaged JSON, a key that stands twice.
    """
    kinds = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), numbers) if numbers else {}
    try:
        record = json.loads(line, object_pairs_hook=_unique, **kinds)
    except _TwiceError as e:
        raise BoveError(f"{path}, line {number}: key {e} stands twice in one object; keep one") from e
    except (ValueError, RecursionError) as e:
        raise BoveError(f"{path}, line {number}: not JSON ({e}); is the file cut off?") from e
    if not isinstance(record, dict):
        raise BoveError(f"{path}, line {number}: not a JSON object; one object a line is due")
    return record


def check_text(path, number: int, text: str) -> None:
    """Raise BoveError for half of a surrogate pair, which JSON can escape but no UTF-8 file can hold."""
    encoded(text, f"{path}, line {number}: ")


class _TwiceError(ValueError):
    """A key stands twice."""


def _unique(entries: list[tuple]) -> dict:
    record = dict(entries)
    if len(record) < len(entries):
        names = [name for name, _ in entries]
        raise _TwiceError(repr(next(name for name in names if names.count(name) > 1)))
    return record
