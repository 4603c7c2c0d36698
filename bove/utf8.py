"""Text as UTF-8, which has no place for half a surrogate pair.

JSON and YAML can escape one, and Python makes one of each byte of a command line or a file's name that is not
UTF-8.
"""

from bove.errors import BoveError

_AROUND = 20  # characters to either side that a message shows


def encoded(text: str, where: str = "") -> bytes:
    """The bytes of a text.

    Args:
        text: any.
        where: how the message begins, such as with a file and a line.

    Raises:
        BoveError: half a surrogate pair.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise refusal(e, where) from e


def refusal(error: UnicodeEncodeError, where: str = "") -> BoveError:
    """What is said of a text that can not be written; for `where` see `encoded`."""
    before, after = error.object[: error.start].split("\n")[-1], error.object[error.start :].split("\n")[0]
    shown = before[-_AROUND:] + after[: 1 + _AROUND]
    return BoveError(
        f"{where}half a surrogate pair in {shown!r}, which is no text in UTF-8; repair what it comes from"
    )
