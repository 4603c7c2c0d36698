"""Shared cache for expensive stages: a folder that runs, checkouts and people can share.

The key of a result is a hash over all that it depends on: the stage, its code, the versions of the libraries
that compute, its arguments, and the content of the files that it reads. Paths and run names are not part of
the key.

An environment variable names the folder. Its entries, `STAGE/HASH`, appear whole or not at all; each records
what it was made from and the hashes of its files. Entries may be deleted at any time: results are copied.
"""

import argparse
import hashlib
import json
import logging
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from bove.cli.common import versions_of
from bove.errors import BoveError
from bove.files import atomic_write, sha256
from bove.fingerprint import fingerprint

log = logging.getLogger("bove")
VARIABLE = "BOVE_CACHE"
RECORD, FORMAT = "made-from.json", "bove-cache-1"


class Parts(NamedTuple):
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
    """
    parts, folder = CACHED.get(stage), cache_folder()
    read = [Path(path) for name in (parts.reads if parts else ()) if (path := getattr(args, name, None))]
    if parts is None or folder is None or not all(path.is_file() for path in read):
        execute(args)  # which says what is wrong
        return
    made_from = _made_from(stage, code, args, parts)
    text = json.dumps(made_from, sort_keys=True)
    entry = folder / stage / hashlib.sha256(text.encode()).hexdigest()[:32]
    outputs = {name: Path(getattr(args, name)) for name in parts.writes}
    if _take(entry, outputs):
        return
    before = [path.stat() for path in read]
    execute(args)
    after = [path.stat() for path in read]
    if [(s.st_size, s.st_mtime_ns) for s in before] == [(s.st_size, s.st_mtime_ns) for s in after]:
        _keep(entry, outputs, made_from)


def _made_from(stage: str, code: str, args: argparse.Namespace, parts: Parts) -> dict:
    """All that the results depend on; files count by their content alone."""
    arguments = {name: value for name, value in vars(args).items() if name not in ("log", *parts.writes)}
    arguments |= {name: {"sha256": sha256(path)} for name in parts.reads if (path := arguments.get(name))}
    python, machine = ".".join(platform.python_version_tuple()[:2]), platform.machine()
    libraries = versions_of(parts.libraries)
    return {"format": FORMAT, "stage": stage, "code": fingerprint(code), "versions": libraries,
            "python": python, "machine": machine, "arguments": arguments}  # fmt: skip


def _take(entry: Path, outputs: dict[str, Path]) -> bool:
    """Copy the results to where they belong; False if they are not there, or not what was kept."""
    if not (entry / RECORD).is_file():
        return False
    try:
        record = json.loads((entry / RECORD).read_text(encoding="utf-8"))
        for name, path in outputs.items():
            with open(entry / name, "rb") as kept:
                if hashlib.file_digest(kept, "sha256").hexdigest() != record["files"][name]:
                    raise ValueError(f"{name} is damaged")
                kept.seek(0)
                with atomic_write(path, "wb") as copy:
                    shutil.copyfileobj(kept, copy, 1 << 20)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as e:
        log.warning("cache: %s cannot be used (%s); it is made again", entry, e)
        shutil.rmtree(entry, ignore_errors=True)
        return False
    log.info("taken from the cache: %s", entry)
    return True


def _keep(entry: Path, outputs: dict[str, Path], made_from: dict) -> None:
    """Keep results for others; where that fails, the log says so and nothing else happens."""
    partial = entry.with_name(f".{entry.name}.{uuid4().hex}.tmp")
    try:
        partial.mkdir(parents=True)
        files = {}
        for name, path in outputs.items():
            shutil.copyfile(path, partial / name)
            files[name] = sha256(partial / name)
        record = json.dumps({"files": files, "made_from": made_from}, ensure_ascii=False, indent=1)
        (partial / RECORD).write_text(record + "\n", encoding="utf-8")
        partial.rename(entry)
        log.info("kept in the cache: %s", entry)
    except OSError as e:
        shutil.rmtree(partial, ignore_errors=True)
        if not (entry / RECORD).is_file():  # otherwise another run was faster
            log.warning("cache: %s: not kept (%s)", entry, e.strerror or e)
