"""The error class and the warning class that a user sees."""


class BoveError(Exception):
    """Something is wrong with the input; the message says where, what was found and what to do.

    The command line prints it as one line on stderr and exits with code 2.
    """


class BoveWarning(UserWarning):
    """Something that the user of the Python interface should know, which stops nothing."""
