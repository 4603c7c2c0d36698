"""The error class and the warning class that a user sees, and what several messages have in common."""

import math
from collections.abc import Iterable
from typing import Any


def visible(text: str) -> str:
    r"""Text of any file; what a terminal would obey, such as an escape, is written as \x1b."""
    return "".join(mark if mark.isprintable() or mark == "\n" else ascii(mark)[1:-1] for mark in text)


def one_line(text: str) -> str:
    """Text of any file on one line, as `visible` shows it; any white space is a blank."""
    return visible(" ".join(text.split()))


class BoveError(Exception):
    """Something is wrong with the input; the message says where, what was found and what to do.

    The message is made one line, whatever names or values of a file stand in it. The command line prints it
    on stderr and exits with code 2.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


class BoveWarning(UserWarning):
    """Something that the user of the Python interface should know, which stops nothing."""


def similar(word: str, known: Iterable[str]) -> str:
    """The question "did you mean X? " where one of the known words is much like this one, else ""."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}? " if close else ""


def finite(value: Any) -> float | None:
    """A text or a number as a finite number; None where it is not one."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def check_finite(values: Any, where: str, advice: str) -> None:
    """Raise BoveError where an array has a value that is not finite."""
    import numpy as np

    if not np.isfinite(values).all():
        raise BoveError(f"{where} holds a value that is not finite; {advice}")
