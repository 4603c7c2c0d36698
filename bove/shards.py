"""What shards of parsing and of inference have in common: how they are named, and that they are one whole.

A shard says of itself which one it is and of how many, and in further entries what made it. Those of one
whole agree in all of the latter.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from bove.errors import BoveError

SHARD = "shard"
_TOTAL = "number of shards"
_NAMED = 10  # shards that are missing and named


def read_shard(text: str) -> tuple[int, int]:
    """(number from 1, how many there are) of a shard that is written 2/4.

    Raises:
        BoveError: anything else, or a number beyond the last.
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total:
        raise BoveError(f"shard {text!r}: write NUMBER/HOW_MANY, such as 2/4; numbers start at 1")
    return number, total


def in_order(
    paths: Sequence[str | Path], entries: Sequence[Mapping[str, str]], again: str
) -> tuple[list[str | Path], dict[str, str]]:
    """The shards of a whole by their numbers, and what all of them say alike.

    Args:
        paths: all of them, in any order.
        entries: what each says of itself, under SHARD which one it is.
        again: what to do about shards that differ, such as "parse all shards alike".

    Raises:
        BoveError: shards that differ in an entry, one that is missing, or one that is given twice.
    """
    shards: dict[int, str | Path] = {}
    common: dict[str, str] = {}
    for path, found in zip(paths, entries, strict=True):
        number, total = read_shard(found[SHARD])
        header = {key: value for key, value in found.items() if key != SHARD} | {_TOTAL: str(total)}
        if number in shards:
            raise BoveError(f"{path}: shard {number}, as {shards[number]} is; give each shard once")
        shards[number] = path
        common = common or header
        _check_equal(path, header, paths[0], common, again)
    total = int(common.pop(_TOTAL))
    if len(shards) < total:
        missing = list(islice((str(n) for n in range(1, total + 1) if n not in shards), _NAMED))
        others = total - len(shards) - len(missing)
        more = f" and {others} others" if others else ""
        raise BoveError(f"of {total} shards, {', '.join(missing)}{more} not given; give all of them")
    return [path for _, path in sorted(shards.items())], common


def _check_equal(path, header, other, expected, again) -> None:
    for key in expected | header:
        found, wanted = header.get(key, "missing"), expected.get(key, "missing")
        if found != wanted:
            raise BoveError(f"{path}: its {key} is {found}, but that of {other} is {wanted}; {again}")
