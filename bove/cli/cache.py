"""Results of dear stages, kept in a folder that runs, checkouts and people can share.

A result lies under a hash over all that it depends on: the stage, its code, the versions of what computes,
its arguments, and the content of the files that it reads. Where files lie and what a run is called is no part
of it, so another run, in another place, finds what this one has made.

The folder is named by an environment variable. Its entries, `STAGE/HASH`, appear whole or not at all; each
has a file that says what it was made from and what its files' bytes must be. Any may be deleted at any time:
what is taken is copied.
"""

import argparse
import hashlib
import json
import logging
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO
from uuid import uuid4

from bove.errors import BoveError
from bove.files import atomic_path, sha256
from bove.fingerprint import fingerprint

log = logging.getLogger("bove")
VARIABLE = "BOVE_CACHE"
RECORD, FORMAT = "made-from.json", "bove-cache-1"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Parts:
    """Of a stage: the arguments that name files it reads and writes, and the libraries that compute."""

    reads: Sequence[str]
    writes: Sequence[str]
    libraries: Sequence[str]


_STANZA = ("numpy", "stanza", "torch")
_TRAINER = Parts(("treebank", "dev"), ("output", "report"), _STANZA)
_FURTHER = ("lemmatizer", "pretrain", "charlm_forward", "charlm_backward")
CACHED = {
    "vectors": Parts(("input",), ("output",), ("numpy", "gensim")),
    "train-tagger": _TRAINER,
    "train-parser": _TRAINER,
    "parse": Parts(("pairs", "tagger", "parser", *_FURTHER, "parses", "vocabulary"), ("output",), _STANZA),
}


def cache_folder() -> Path | None:
    """The folder that the environment names, or None where it names none.

    Raises:
        BoveError: there is no such folder.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise BoveError(f"{VARIABLE}: {named}: no such folder; make it, or unset {VARIABLE}")
    return Path(named)


def run(
    stage: str, code: str, execute: Callable[[argparse.Namespace], None], args: argparse.Namespace
) -> None:
    """Run a stage, or take its results from the cache.

    Args:
        code: module and name of the function that runs the stage, such as bove.cli.data:run_vectors.
        execute: that function.
    """
    parts, folder = CACHED.get(stage), cache_folder()
    if parts is None or folder is None:
        execute(args)
        return
    read = [path for name in parts.reads if (path := getattr(args, name, None)) is not None]
    if not all(Path(path).is_file() for path in read):
        execute(args)  # which says what is wrong
        return
    made_from = _made_from(stage, code, args, parts)
    text = json.dumps(made_from, sort_keys=True)
    entry = Entry(folder / stage / hashlib.sha256(text.encode()).hexdigest()[:32], made_from)
    outputs = {name: Path(getattr(args, name)) for name in parts.writes}
    if entry.take(outputs):
        return
    before = [_state(path) for path in read]
    execute(args)
    if before == [_state(path) for path in read]:
        entry.keep(outputs)


def _made_from(stage, code, args, parts) -> dict:
    """All that the results depend on; files count by their content alone."""
    skipped = {"log", *parts.writes}
    arguments = {name: value for name, value in vars(args).items() if name not in skipped}
    for name in parts.reads:
        if arguments.get(name) is not None:
            arguments[name] = {"sha256": sha256(arguments[name])}
    return {
        "format": FORMAT,
        "stage": stage,
        "code": fingerprint(code),
        "versions": {name: _version(name) for name in parts.libraries},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "machine": platform.machine(),
        "arguments": arguments,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _state(path: str) -> tuple[int, int]:
    """What tells that a file was changed while it was read."""
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


class Entry:
    """The results of one stage, as they are kept.

    Args:
        folder: of the entry.
        made_from: what the results depend on.
    """

    def __init__(self, folder: Path, made_from: dict) -> None:
        self.folder, self.made_from = folder, made_from

    def take(self, outputs: dict[str, Path]) -> bool:
        """Copy the results to where they belong; False if they are not there, or not what was kept."""
        try:
            record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            for name, path in outputs.items():
                with open(self.folder / name, "rb") as kept, atomic_path(path) as temporary:
                    if _copy(kept, temporary) != record["files"][name]:
                        raise ValueError(f"{name} is damaged")
        except FileNotFoundError:
            return False
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as e:
            log.warning("cache: %s cannot be used (%s); it is made again", self.folder, e)
            shutil.rmtree(self.folder, ignore_errors=True)
            return False
        log.info("taken from the cache: %s", self.folder)
        return True

    def keep(self, outputs: dict[str, Path]) -> None:
        """Keep results for others; where that fails, the log says so and nothing else happens."""
        partial = self.folder.with_name(f".{self.folder.name}.{uuid4().hex}.tmp")
        try:
            partial.mkdir(parents=True)
            files = {}
            for name, path in outputs.items():
                with open(path, "rb") as made:
                    files[name] = _copy(made, partial / name)
            record = json.dumps({"files": files, "made_from": self.made_from}, ensure_ascii=False, indent=1)
            (partial / RECORD).write_text(record + "\n", encoding="utf-8")
            partial.rename(self.folder)
        except OSError as e:
            shutil.rmtree(partial, ignore_errors=True)
            if (self.folder / RECORD).is_file():
                return  # another run was faster
            log.warning("cache: %s: not kept (%s)", self.folder, e.strerror or e)
            return
        log.info("kept in the cache: %s", self.folder)


def _copy(source: IO[bytes], target: Path) -> str:
    """Copy what a file has; the SHA-256 of its bytes."""
    digest = hashlib.sha256()
    with open(target, "wb") as copy:
        while block := source.read(_BLOCK):
            digest.update(block)
            copy.write(block)
        copy.flush()
        os.fsync(copy.fileno())
    return digest.hexdigest()
