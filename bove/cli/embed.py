"""`bove embed`: vectors of sentences of your own, with a finished run."""

import argparse
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bove.api.corpus import POOLS, pooled
from bove.api.text import joined
from bove.bags import BOVE, SYSTEMS
from bove.bags.store import BagWriter
from bove.cli.common import (
    SHOWN,
    Progress,
    add_run_arguments,
    open_embedder,
    open_run,
    read_files,
    stanza_messages,
    warn_of_new_names,
)
from bove.embedder import Bag, Embedder
from bove.errors import BoveError
from bove.files import atomic_path, check_text, csv_records, read_lines, read_object
from bove.text.conll import Sentence

log = logging.getLogger("bove")
_TREES = re.compile(r"\.conll\w*(\.gz)?$")


@dataclass(frozen=True)
class Embedded:
    """Sentences with their trees and bags.

    Attributes:
        texts, trees, bags: one entry per sentence. ids: names of the sentences, none twice.
    """

    texts: list[str]
    trees: list[Sentence]
    bags: list[Bag]

    @property
    def ids(self) -> list[str]:
        names = [tree.id for tree in self.trees]
        return names if len(set(names)) == len(names) else [str(i) for i in range(1, len(names) + 1)]


def register_embed(parser: argparse.ArgumentParser) -> None:
    add, kinds = parser.add_argument, ", ".join(WRITERS)
    add("texts", metavar="FILE", help="sentences, one a line, gzip or not; - is standard input; a file named "
        ".conllu or .conll09 has trees, which are taken as they are")  # fmt: skip
    add(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help=f"file to write, of the kind that it is named: {kinds}",
    )
    add("--pool", choices=("none", *POOLS), default="none", help="one vector for each sentence: the mean of "
        "its tokens' vectors, the products of their numbers, or both")  # fmt: skip
    add_text_arguments(parser)
    add_run_arguments(parser)


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """How sentences of a file are read and embedded: --column and --system."""
    add = parser.add_argument
    add("--column", metavar="NAME", help="the sentences' column in a CSV file, or key in JSON lines")
    add("--system", choices=SYSTEMS, help=f"what makes the sentences' vectors (default {BOVE})")


def run_embed(args: argparse.Namespace) -> None:
    """Parse the sentences, infer their bags, and write these."""
    kind = Path(args.output).suffix
    if kind not in WRITERS:
        raise BoveError(f"--output {args.output}: ends in none of {', '.join(WRITERS)}; name it so")
    embedder, system = open_embedder(args, open_run(args)), args.system or BOVE
    found = embedded(args.texts, args.column, embedder, system)
    bags = [bag.vectors for bag in found.bags]
    made = None if args.pool == "none" else pooled(bags, embedder.made_by(system)[0], args.pool)
    WRITERS[kind](args.output, found, embedder, system, None if made is None else (args.pool, made))
    log.info("wrote %s", args.output)


def embedded(path: str, column: str | None, embedder: Embedder, system: str) -> Embedded:
    """The sentences of a file with their trees and bags; the log counts them.

    Args:
        path: the file, or - for standard input. column: of a table; else each line is a sentence.

    Raises:
        BoveError: a file without sentences or that cannot be read, no parser, or no such system.
    """
    embedder.places([], system)  # so that nothing is parsed for a system that is not there
    if _TREES.search(path):
        if column:
            raise BoveError(f"--column is for tables, but {path} has trees; leave it out")
        trees = list(read_files([path], "gold", "utf-8"))
        texts = [" ".join(tree.forms) for tree in trees]
    else:
        trees, texts = [], read_texts(path, column)
    if not texts:
        raise BoveError(f"{path}: holds no sentence; write one on each line")
    if not trees:
        with stanza_messages():
            embedder.parse([])  # loads the parser, which is not a part of its speed
            with Progress(len(texts), "sentences") as progress:
                trees = embedder.parse(texts, progress.step)
        log.info("parsed %d sentences, %.0f a second", progress.done, progress.rate)
    unknown = warn_of_new_names(embedder, trees)
    bags = embedder.bags(trees, system)
    vectors, tokens = sum(len(bag.places) for bag in bags), sum(len(tree.forms) for tree in trees)
    log.info("%d sentences, %d tokens, %d vectors", len(trees), tokens, vectors)
    if unknown:
        log.info("%d tokens are words that neither treebank nor word vectors have", unknown)
    if empty := [number for number, bag in enumerate(bags, 1) if not len(bag.places)]:
        shown = ", ".join(map(str, empty[:SHOWN])) + (", …" if len(empty) > SHOWN else "")
        log.warning("%d sentences have no vector, and so empty bags: numbers %s", len(empty), shown)
    return Embedded(texts, trees, bags)


def read_texts(path: str, column: str | None = None) -> list[str]:
    """The lines of a file of text or, with a column, its cells in a CSV file or its values in JSON lines.

    A file whose first line starts with `{` is one of JSON lines. Blank lines of a table are left out.

    Raises:
        BoveError: a file that cannot be read so, with the line.
    """
    if column is None:
        return [line for _, line in read_lines("/dev/stdin" if path == "-" else path)]
    if path == "-":
        raise BoveError("--column needs a file, since standard input is read by lines; name one")
    _, first = next(read_lines(path), (1, ""))
    if first.lstrip().startswith("{"):
        return [_value(path, number, line, column) for number, line in read_lines(path) if line.strip()]
    advice = "give a CSV file with a header, or JSON lines"
    return [cells[column] for _, cells in csv_records(path, [column], advice)]


def _value(path, number, line, key) -> str:
    record = read_object(path, number, line)
    if not isinstance(value := record.get(key), str):
        names = ", ".join(name for name, other in record.items() if isinstance(other, str)) or "none"
        raise BoveError(f"{path}, line {number}: has no text under {key!r}; keys with a text: {names}")
    check_text(path, number, value)
    return value


# --- files of vectors


def write_bags(path, found: Embedded, embedder: Embedder, system: str, made=None) -> None:
    """A file of bags, as `bove infer` writes them, with the sentences."""
    rank, model_hash = embedder.made_by(system)
    more, index = {} if made is None else {"pool": made[0]}, np.arange(len(found.bags))
    rank = rank if made is None else made[1].shape[1]
    lengths = [len(bag.vectors) if made is None else 1 for bag in found.bags]
    made_by, kept = (system, model_hash, more), {"evidence": made is None, "texts": found.texts}
    with BagWriter(path, found.ids, lengths, index, rank, *made_by, **kept) as writer:
        if made is None:
            writer.put_many(index, joined(found.bags, rank)[0], _evidence(found.bags))
        else:
            writer.put_many(index, made[1])


def _write_npz(path, found: Embedded, embedder: Embedder, system: str, made=None) -> None:
    """Arrays of NumPy: vectors and texts and, unless these are pooled, offsets, tokens and evidence."""
    arrays = {"texts": np.array(found.texts, str)}
    if made is not None:
        arrays["vectors"] = made[1]
    else:
        arrays["vectors"], arrays["offsets"] = joined(found.bags, embedder.made_by(system)[0])
        arrays["evidence"] = _evidence(found.bags)
        arrays["tokens"] = np.array([form for _, _, form in _tokens(found)], str)
    with atomic_path(path) as made, open(made, "wb") as stream:
        np.savez(stream, **arrays)


def _write_parquet(path, found: Embedded, embedder: Embedder, system: str, made=None) -> None:
    """One row for each vector: number of the sentence and of the token, from 1, form, evidence, vector."""
    import pyarrow as pa
    from pyarrow import parquet

    rank, model_hash = embedder.made_by(system)
    if made is None:
        vectors, tokens = joined(found.bags, rank)[0], _tokens(found)
        columns = dict(zip(("sentence", "token", "form"), map(list, zip(*tokens, strict=True)), strict=True))
    else:
        vectors, columns = made[1], {"sentence": range(1, len(found.texts) + 1), "text": found.texts}
    kinds = {name: pa.string() if name in ("form", "text") else pa.int64() for name in columns}
    arrays = {name: pa.array(values, kinds[name]) for name, values in columns.items()}
    if made is None:
        arrays["evidence"] = pa.array(_evidence(found.bags))
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    table = pa.table(arrays).replace_schema_metadata({"system": system, "model_hash": model_hash})
    with atomic_path(path) as made:
        parquet.write_table(table, made)


def _evidence(bags: Sequence[Bag]) -> np.ndarray:
    """[N] float64, the evidence of all vectors."""
    return np.concatenate([np.zeros(0), *(bag.evidence for bag in bags)])


def _tokens(found: Embedded) -> list[tuple[int, int, str]]:
    """Number of the sentence, number of the token in it (both from 1) and form of each vector."""
    return [
        (number, place + 1, tree.forms[place])
        for number, (tree, bag) in enumerate(zip(found.trees, found.bags, strict=True), 1)
        for place in bag.places.tolist()
    ]


WRITERS = {".npz": _write_npz, ".safetensors": write_bags, ".parquet": _write_parquet}
