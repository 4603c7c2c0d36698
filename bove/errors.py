"""The error class and the warning class that a user sees."""


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
