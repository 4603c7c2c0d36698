"""`bove provenance`: what a run was made from and with, in one JSON file.

Nothing in it tells when or where the run was made, so the same run gives the same bytes. The hash of the
vectors' own file, which may be large, was made when they were read, and is taken from there.
"""

import json
import logging
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bove import artefacts
from bove._version import __version__
from bove.errors import BoveError
from bove.factor.model import FORMAT as MODEL
from bove.files import atomic_write, sha256
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
FORMAT, VERSION = "bove-run", 1
LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors", "torch", "stanza", "gensim", "matplotlib",
    "snakemake",
)  # fmt: skip


def register(parser) -> None:
    def named(flag, metavar, line, **options):
        parser.add_argument(
            flag, nargs="+", action="extend", default=[], metavar=metavar, help=line, **options
        )

    parser.add_argument("--config", required=True, metavar="FILE", help="the run's resolved configuration")
    named("--input", "KEY=FILE", "file that the run reads, by its key in the configuration")
    named("--vocabulary", "NAME=FILE", "vocabulary.json, by the name of its variant", required=True)
    named("--vectors", "NAME=FILE", "vectors.safetensors, likewise")
    named("--model", "NAME=FILE", "model.safetensors, likewise")
    named("--rule-threads", "RULE=N", "threads that a rule of the workflow asks for")
    named("--result", "FILE", "result table")
    parser.add_argument("--output", required=True, metavar="FILE", help="run.json to write")


def run(args) -> None:
    """Write the record; the same arguments and files give the same bytes."""
    config = _configuration(args.config)
    threads = _named(args.rule_threads, "--rule-threads", _count)
    record = {
        "format": FORMAT,
        "version": VERSION,
        "run": config["run"],
        "versions": _versions(),
        "seeds": {"run": config["seed"], "model": sorted({config["seed"], *config["seeds"]})},
        "threads": threads,
        "inputs": _named(args.input, "--input", _file),
        "vocabularies": _named(args.vocabulary, "--vocabulary", _vocabulary),
        "vectors": _named(args.vectors, "--vectors", _vectors),
        "models": _named(args.model, "--model", _model),
        "results": {Path(path).name: sha256(path) for path in args.result},
        "configuration": config,
    }
    with atomic_write(args.output) as stream:
        json.dump(record, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    for kind in ("inputs", "models"):
        for name, entry in record[kind].items():
            log.info("%s %s: %s", kind[:-1], name, entry["sha256" if kind == "inputs" else "hash"])
    log.info("wrote %s", args.output)


def _configuration(path: str) -> dict:
    import yaml

    try:
        config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as e:
        raise BoveError(f"{path}: can not be read as a configuration ({e}); run the workflow again") from e
    if not isinstance(config, dict) or not {"run", "seed", "seeds"} <= config.keys():
        raise BoveError(f"{path}: no resolved configuration; give the run's own config.yaml")
    return config


def _versions() -> dict[str, str]:
    """Of this program, Python, and what is installed of the libraries; none of them is imported."""
    found = {"bove": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _named(arguments: Sequence[str], flag: str, read: Callable) -> dict:
    """What is read of each NAME=VALUE, in the order given."""
    found: dict = {}
    for argument in arguments:
        name, _, value = argument.partition("=")
        if not name or not value:
            raise BoveError(f"{flag} {argument}: not a name, = and a value; write both")
        if name in found:
            raise BoveError(f"{flag} {argument}: {name} stands twice; give it once")
        found[name] = read(value)
    return found


def _count(text: str) -> int:
    if not (text.isdecimal() and len(text) < 10):
        raise BoveError(f"--rule-threads {text}: not a number of threads")
    return int(text)


def _file(path: str) -> dict:
    return {"file": path, "sha256": sha256(path), "bytes": Path(path).stat().st_size}


def _vocabulary(path: str) -> dict:
    vocabulary = Vocabulary.load(path)
    counts = {"words": vocabulary.n_words, "tags": vocabulary.n_tags, "relations": vocabulary.n_relations}
    return {"file": path, "hash": vocabulary.hash, **counts}


def _vectors(path: str) -> dict:
    vectors = WordVectors.open(path)
    size = {"words": len(vectors), "dimensions": vectors.dimensions}
    return {"file": path, "source_sha256": vectors.source_sha256, **size}


def _model(path: str) -> dict:
    _, metadata = artefacts.open_mapped(path, MODEL)
    try:
        read = {name: json.loads(metadata[name]) for name in ("hyperparameters", "versions")}
        return {"file": path, "hash": metadata["hash"], "vocabulary": metadata["vocabulary"], **read}
    except (KeyError, ValueError, RecursionError) as e:
        raise BoveError(f"{path}: a model file that lacks {e}; train the model again") from e
