"""What is seen to of the arguments of every stage, before it begins."""

import argparse
import os
from collections.abc import Iterator

from bove.errors import BoveError

MOST_SEED = 2**32 - 1  # the configuration's; some libraries take no more
# Arguments that name a file to write, or a folder that gets files.
WRITTEN = ("output", "report", "training_log", "times", "table_notes", "trees", "html", "log")


def check_arguments(args: argparse.Namespace) -> None:
    """See that the seed can be one, and that what a stage writes takes the place of nothing that it reads.

    Raises:
        BoveError: another seed, two files to write that are one, or a file to write that is read too.
    """
    seed = getattr(args, "seed", None)
    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise BoveError(f"--seed {seed}: must be a whole number from 0 to {MOST_SEED}")
    written = {name: str(getattr(args, name)) for name in WRITTEN if _names_a_file(getattr(args, name, None))}
    read = {name: value for name, value in vars(args).items() if name not in written}
    seen: dict[str, str] = {}
    for name, path in written.items():
        place = os.path.realpath(path)
        if place in seen:
            raise BoveError(f"{seen[place]} and {_flag(name)} are one file, {path}; name two")
        seen[place] = _flag(name)
        if os.path.isfile(path):  # noqa: PTH113 pathlib costs start-up
            for other, value in read.items():
                if any(text and os.path.realpath(text) == place for text in _texts(value)):
                    raise BoveError(f"{_flag(name)} {path}: {other} names it too; name another file")


def _names_a_file(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and bool(str(value))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _texts(value: object) -> Iterator[str]:
    """Every text in an argument, and of NAME=FILE the file."""
    if isinstance(value, str):
        yield value
        yield value.partition("=")[2]
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
