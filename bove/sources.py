"""Where the files that a configuration names lie: local paths, downloads, or the built-in corpus.

`source:NAME/FILE` is FILE of the source NAME; `source:NAME` is a source that is one file; anything else is
a path.
"""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import PurePosixPath

from bove.errors import BoveError

DOWNLOADS = "results/downloads"
# Keys of the section parser that name files of Stanza.
PARSER_FILES = ("tagger", "parser", "lemmatizer", "pretrain", "charlm_forward", "charlm_backward")
# Keys of a subset that name files of pairs, in the order of the command line.
PAIR_FILES = ("input", "gold")
_PREFIX = "source:"


def references(config: dict) -> Iterator[tuple[str, str]]:
    """Every (key, value) of a resolved configuration that names a file which the run reads."""
    for key in ("train", "dev"):
        yield f"treebank.{key}", config["treebank"][key]
    key = "file" if config["vectors"]["source"] == "load" else "text"
    yield f"vectors.{key}", config["vectors"][key]
    if config["parser"]["source"] == "load":
        for key in PARSER_FILES:
            if key in config["parser"]:
                yield f"parser.{key}", config["parser"][key]
    for name, dataset in config["datasets"].items():
        if "parses" in dataset:
            yield f"datasets.{name}.parses", dataset["parses"]
        for subset, files in dataset["subsets"].items():
            for key in PAIR_FILES:
                if key in files:
                    yield f"datasets.{name}.subsets.{subset}.{key}", files[key]
    for system, files in config["bags"].items():
        for name, value in files.items():
            yield f"bags.{system}.{name}", value


def used(config: dict) -> dict[str, dict]:
    """The sources that some file of the run comes from."""
    names = {value.removeprefix(_PREFIX).partition("/")[0] for _, value in references(config)}
    return {name: source for name, source in config["sources"].items() if name in names}


def kind(source: dict) -> str | None:
    """What a source is: `file`, `url` or `sentences`, the first that it has."""
    return next((key for key in ("file", "url", "sentences") if key in source), None)


def members(source: dict) -> list[str]:
    """The file names that a downloaded archive leaves in its folder."""
    return [PurePosixPath(member).name for member in source.get("members", ())]


def corpus_files() -> list[str]:
    """The files of the built-in corpus, within its folder."""
    from bove.demo.pairs import SETS

    pairs = [f"sts/STS.{part}.{name}.txt" for name in SETS for part in ("input", "gs")]
    return [
        "treebank/train.conll09",
        "treebank/dev.conll09",
        "raw.txt",
        *pairs,
        "snli/dev.jsonl",
        "snli/test.jsonl",
    ]


def outputs(name: str, source: dict) -> list[str]:
    """The paths that a download leaves: its members in a folder, or one file."""
    return [f"{DOWNLOADS}/{name}/{file}" for file in members(source)] or [f"{DOWNLOADS}/{name}"]


def locate(config: dict, value: str) -> str:
    """The path of a file, relative to the working directory unless the user named it otherwise."""
    if not value.startswith(_PREFIX):
        return os.path.expanduser(value)  # noqa: PTH111 a path stays as the user wrote it
    name, _, rest = value.removeprefix(_PREFIX).partition("/")
    source = config["sources"][name]
    base = {
        "file": os.path.expanduser(source.get("file", "")),  # noqa: PTH111
        "url": f"{DOWNLOADS}/{name}",
        "sentences": f"results/{config['run']}/data",
    }[kind(source)]
    return f"{base}/{rest}" if rest else base


def check(config: dict) -> None:
    """See that every file is there, or that something makes it.

    Raises:
        BoveError: the first file or source that is not there, with its key.
    """
    for name, source in config["sources"].items():
        if kind(source) is None:
            raise BoveError(f"configuration: sources.{name}: has no url, file or sentences; give one")
        files = members(source)
        if len(set(files)) < len(files):
            raise BoveError(f"configuration: sources.{name}.members: two members have one file name")
    for key, value in references(config):
        if value.startswith(_PREFIX):
            _check_source(config, key, value)
        path = locate(config, value)
        if _is_local(config, value) and not os.path.isfile(path):  # noqa: PTH113 a name may be too long
            found = "is a folder, not a file" if os.path.isdir(path) else "no such file"  # noqa: PTH112
            raise BoveError(f"configuration: {key}: {path}: {found}; correct the path")


def _is_local(config: dict, value: str) -> bool:
    name = value.removeprefix(_PREFIX).partition("/")[0]
    return not value.startswith(_PREFIX) or kind(config["sources"][name]) == "file"


def _check_source(config: dict, key: str, value: str) -> None:
    name, _, rest = value.removeprefix(_PREFIX).partition("/")
    if name not in config["sources"]:
        raise BoveError(f"configuration: {key}: no source {name!r};{_options(name, config['sources'])}")
    source = config["sources"][name]
    if kind(source) == "file":
        return
    files = corpus_files() if kind(source) == "sentences" else members(source)
    if files and rest not in files:
        raise BoveError(f"configuration: {key}: source {name!r} has no file {rest!r};{_options(rest, files)}")
    if rest and not files:
        raise BoveError(f"configuration: {key}: source {name!r} is one file; write {_PREFIX}{name}")


def _options(name: str, known) -> str:
    close = get_close_matches(name, known, n=1)
    hint = f" did you mean {close[0]!r}?" if close else ""
    return f"{hint} there are: {', '.join(known) or 'none'}"
