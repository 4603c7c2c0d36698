"""`bove pack`: a finished run in one file, to be used anywhere."""

import argparse
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bove._version import __version__
from bove.cli.common import named_values
from bove.config.load import store
from bove.config.packed import CARD, FORMAT, NEEDED, PARSER, VERSION, write_archive
from bove.config.sources import source_encoder
from bove.config.variants import Run
from bove.errors import BoveError
from bove.evaluate.metrics import METRICS
from bove.evaluate.tables import markdown_table
from bove.factor.model import Model
from bove.files import check_target, csv_records, read_json, sha256, write_json
from bove.text.checkpoints import pack_checkpoint
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
LICENSED = ("model", "treebank", "vectors")
SCORES = ("dataset", "subset", "system", "metric")
_BLOCK = 1 << 16


def register_pack(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="results/NAME", help="a finished run")
    add("--variant", metavar="FOLDER", default="", help="of the run, such as ablations/no-relations")
    add("-o", "--output", required=True, metavar="FILE.zip", help="the file to write")
    add("--words", type=int, metavar="N", help="only the first N word vectors (default all)")
    add("--licence", nargs="+", action="extend", default=[], metavar="NAME=TEXT",
        help=f"for the card: the licence of each of {', '.join(LICENSED)}")  # fmt: skip


def run_pack(args: argparse.Namespace) -> None:
    """Write the model, its vocabulary, word vectors, tagger and parser, and a card into one zip file."""
    if args.words is not None and args.words < 1:
        raise BoveError(f"--words {args.words}: must be at least 1")
    licences = dict.fromkeys(LICENSED, "not stated") | named_values("--licence", args.licence)
    if other := [name for name in licences if name not in LICENSED]:
        raise BoveError(f"--licence {other[0]}: unknown; allowed: {', '.join(LICENSED)}")
    check_target(args.output)
    run, place = Run.open(args.run, args.variant), Path(args.output).absolute().parent
    if source_encoder(run.config):
        raise BoveError(f"{args.run}: its model is over an encoder, which is not packed; use the run itself")
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".bove.") as name:
        folder = Path(name)
        members = dict(_members(run, folder, args.words))
        card = _card(run, members, licences)
        write_json(folder / CARD, card)
        (folder / "README.md").write_text(_readme(card), encoding="utf-8")
        shown = {name: folder / name for name in ("README.md", CARD)}
        write_archive(args.output, shown | members)
    log.info("wrote %s: %.1f MB", args.output, Path(args.output).stat().st_size / 1e6)


def _members(run: Run, folder: Path, words: int | None) -> Iterator[tuple[str, Path]]:
    """Each member's name and file; those that are made go to the folder."""
    config, vocabulary, vectors, model = NEEDED
    store(_without_folders(run.config), folder / config)
    yield config, folder / config
    yield vocabulary, run.file("vocabulary")
    yield vectors, run.file("vectors") if words is None else _first(run, words, folder / vectors)
    yield model, run.file("model")
    try:
        found = run.parser_files()
    except BoveError as e:
        log.warning("no tagger and parser are packed, so that it takes trees alone: %s", e)
        found = {}
    (folder / "parser").mkdir()
    for name, path in found.items():
        pack_checkpoint(path, folder / PARSER[name], name)
        yield PARSER[name], folder / PARSER[name]


def _without_folders(value):
    """A configuration whose absolute paths, which say nothing elsewhere, are only the files' names."""
    if isinstance(value, dict):
        return {key: _without_folders(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_without_folders(own) for own in value]
    return value.rpartition("/")[2] if isinstance(value, str) and value.startswith(("/", "~")) else value


def _first(run: Run, words: int, output: Path) -> Path:
    """A file of the first word vectors."""
    whole = WordVectors.open(run.file("vectors"))
    rows = range(min(words, len(whole)))
    blocks = (
        ([whole.word(row).encode() for row in part], whole.rows(np.array(part)))
        for part in (rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK))
    )
    write_vectors(output, blocks, {"source_sha256": whole.source_sha256})
    return output


def _card(run: Run, members: dict[str, Path], licences: dict[str, str]) -> dict:
    """What the model is, what it was trained on and how it scored."""
    model, vocabulary = Model.load(run.file("model")), Vocabulary.load(run.file("vocabulary"))
    vectors = WordVectors.open(members["vectors.safetensors"])
    return {
        "format": FORMAT,
        "version": VERSION,
        "bove": __version__,
        "run": run.config["run"],
        "variant": run.variant.folder.rstrip("/"),
        "licence": licences,
        "trained_on": _inputs(run),
        "model": {
            "hash": model.hash,
            "rank": model.rank,
            "words": vocabulary.n_words,
            "relations": len(model.relation_names),
            "word_vectors": len(vectors),
            "settings": run.config["model"],
        },
        "scores": _scores(run),
        "files": {name: sha256(path) for name, path in members.items()},
    }


def _inputs(run: Run) -> dict[str, dict]:
    """Address, file name and hash of treebank and word vectors, as far as the run's record has them."""
    config, record = run.config, run.path / "tables" / "run.json"
    inputs = {}
    if record.is_file():
        inputs = read_json(record).get("inputs", {})
    key = "file" if config["vectors"]["source"] == "load" else "text"
    found = {}
    for name, value in (("treebank", config["treebank"]["train"]), ("vectors", config["vectors"][key])):
        source = config["sources"].get(value.removeprefix("source:").partition("/")[0], {})
        hashed = inputs.get("treebank.train" if name == "treebank" else f"vectors.{key}", {})
        found[name] = {"file": value.rpartition("/")[2], "url": source.get("url")}
        found[name] |= {"sha256": hashed.get("sha256")}
    return found


def _scores(run: Run) -> list[dict]:
    """The results of the run's own model, by the metric that each task is judged by."""
    table = run.path / "tables" / "scores.csv"
    if run.variant.kind or not table.is_file():
        return []
    columns = ("task", *SCORES, "value")
    rows = [row for _, row in csv_records(table, columns, "make the tables again")]
    judged = [row for row in rows if row["metric"] == METRICS.get(row["task"]) and row["value"]]
    return [{name: row[name] for name in columns} | {"value": float(row["value"])} for row in judged]


def _readme(card: dict) -> str:
    trained = "\n".join(
        f"* {name}: {own['url'] or own['file']}" + (f" (sha256 {own['sha256']})" if own["sha256"] else "")
        for name, own in card["trained_on"].items()
    )
    licences = "\n".join(f"* {name}: {text}" for name, text in card["licence"].items())
    shown = [[row[name] for name in SCORES] + [f"{row['value']:.3f}"] for row in card["scores"]]
    table = markdown_table([*SCORES, "value"], shown, len(SCORES)) if shown else "None."
    model = card["model"]
    return f"""# {card["run"]}

A model of bag-of-vector embeddings, rank {model["rank"]}, {model["words"]:,} words, {model["relations"]}
relations, {model["word_vectors"]:,} word vectors. With `bove` {card["bove"]}:

```python
import bove

run = bove.load("FILE.zip")
bags = run.encode(["The dog chased the man."])
```

## Trained on

{trained}

## Licences

{licences}

## Scores

{table}
"""
