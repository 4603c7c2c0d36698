"""In how many shards a data set is parsed and inferred, where the configuration leaves that open.

The number is chosen from the lines of the pairs' files that are there when the workflow is read. A checkpoint
of Snakemake would know the sentences themselves, but then no dry run could show the jobs that follow it, and
the whole plan would be made again after each of its jobs. Nor does it matter much: results are the same to
the byte whatever the number.

But the number must not move under a run. So it is kept in a file of the run, from which the jobs on other
machines read it too, and stands for as long as anything that was made with it is there.
"""

import gzip
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_write, open_bytes

AUTO = "auto"
# So many keep a job busy for a minute or a few, as docs/parsing.md and docs/speed.md let expect.
SENTENCES = {"parsing": 4_000, "averaged": 8_000, "fixed-point": 100_000}
_BLOCK = 1 << 20


class ShardCounts:
    """The numbers of a run.

    Args:
        run: the run's folder.
        choosing: whether numbers may be chosen anew; a job of a run that has begun takes what is kept.
    """

    def __init__(self, run: str | Path, choosing: bool):
        self._run, self._choosing = Path(run), choosing
        self._file = self._run / "shards.json"
        self._kept, self._used = _read(self._file), {}

    def number(
        self, target: str, ending: str, setting: int | str, sentences: int, files: Iterable[str]
    ) -> int:
        """How many shards a file is made in.

        Args:
            target: the file within the run's folder, without its ending; shards lie in a folder of that name.
            ending: of the file.
            setting: a number, or AUTO.
            sentences: for AUTO, how many of them a shard should have at most.
            files: the pairs' files; what is not there yet does not count.
        """
        kept = self._kept.get(target)
        if setting != AUTO:
            number = setting
        elif self._begun(target, ending) or (kept and not self._choosing):
            number = kept or 1
        else:
            # two sentences a line, of which equal ones are computed once
            number = max(1, -(-2 * sum(map(_lines, set(files))) // sentences))
        self._used[target] = number
        return number

    def store(self) -> None:
        """Keep the numbers in use, beside those of data sets and variants that are left out this time."""
        numbers = self._kept | self._used
        if numbers != self._kept:
            with atomic_write(self._file) as stream:
                stream.write(json.dumps(numbers, indent=0, sort_keys=True) + "\n")

    def _begun(self, target: str, ending: str) -> bool:
        return (self._run / f"{target}.{ending}").exists() or any((self._run / target).glob("*-of-*"))


def _read(path: Path) -> dict[str, int]:
    """What is kept; nothing where the file is missing or is none of ours, for it only saves work."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if type(value) is int and value > 0}


@cache
def _lines(path: str) -> int:
    """Lines of a file, 0 if it can not be read: the stage that reads it says so."""
    if not os.path.isfile(path):  # noqa: PTH113 a path as the configuration has it
        return 0
    try:
        with open_bytes(path) as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))
    except (BoveError, OSError, gzip.BadGzipFile):
        return 0
