"""`bove search` and `bove index`: the sentences of a file of bags that answer a query best."""

import argparse
import csv
import io
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from bove.api.text import texts_of
from bove.bags import BOVE
from bove.bags.store import Bags
from bove.cli.common import (
    add_run_arguments,
    add_weights,
    check_sentences,
    open_embedder,
    open_run,
    parsed,
)
from bove.cli.embed import add_text_arguments, embedded, write_bags
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.evaluate.alignment import EVIDENCE, NONE, check_weighting
from bove.evaluate.search import LEAST, PER_SHOWN, BagIndex, GraphSettings, Hits, answers, build, ranked
from bove.files import atomic_write
from bove.text.conll import read_sentences

log = logging.getLogger("bove")


def register_search(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("queries", nargs="*", metavar="QUERY", help="sentences, as text; they need --run or its files")
    _add_collection(parser)
    add("--index", metavar="FOLDER", help="of the collection, made by `bove index`; else all bags are read")
    add("--candidates", type=int, metavar="N", help="bags that the index gives to choose from (default "
        f"{PER_SHOWN} for each sentence to show, and at least {LEAST})")  # fmt: skip
    add("--conllu", metavar="FILE", help="instead: a file with the queries' trees")
    add("--query-bags", metavar="FILE", help="instead: the queries' bags, which need no run")
    add("--top", type=int, default=10, help="sentences to show for each query (default 10)")
    add("--output", metavar="FILE", help="CSV to write, instead of printing it")
    add_weights(parser, default=NONE)
    add_run_arguments(parser)


def _add_collection(parser) -> None:
    add = parser.add_argument
    add("--bags", metavar="FILE", help="bags of the collection, from `bove infer` or `bove embed`")
    add("--texts", metavar="FILE", help="instead: its sentences, one a line, or as `bove embed` takes them")
    add_text_arguments(parser)


def run_search(args: argparse.Namespace) -> None:
    """Print, or write, the best sentences of each query: query, rank, score, sentence id and sentence."""
    if sum(map(bool, (args.queries, args.conllu, args.query_bags))) != 1:
        raise BoveError("give queries as text, or their trees with --conllu, or their bags with --query-bags")
    if not (args.bags or args.texts or args.index):
        raise BoveError("give the collection with --bags, as --texts, or its --index")
    for name in ("top", "candidates"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise BoveError(f"--{name} {value}: must be at least 1")
    if args.candidates and not args.index:
        raise BoveError("--candidates is for --index alone; without one all bags are scored")
    check_weighting(args.weight, args.power, "--power")
    embedder = None if args.query_bags and not args.texts else open_embedder(args, open_run(args))
    with _collection(args, embedder) as (collection, index):
        names, asked = (_from_file if args.query_bags else _embedded)(args, embedder, collection)
        began = time.monotonic()
        # sentences that are alike share a bag, so as many bags as sentences will do
        found = answers(asked, collection, index, args.top, args.weight, args.power, args.candidates)
        log.info(
            "%d queries in %d different bags of %d sentences: %.3f s", len(asked), collection.n_bags,
            len(collection), time.monotonic() - began,
        )  # fmt: skip
        text = _table(names, found, collection, args.top)
    if args.output:
        with atomic_write(args.output) as stream:
            stream.write(text)
    else:
        sys.stdout.write(text)


@contextmanager
def _collection(args, embedder) -> Iterator[tuple[Bags, BagIndex | None]]:
    """The bags that are searched and, if one is named, their index."""
    if args.texts and (args.bags or args.index):
        raise BoveError("--texts is a collection of its own; leave --bags and --index out")
    if args.index:
        with closing(BagIndex.open(args.index, args.bags, args.threads)) as index:
            yield index.bags, index
    elif args.bags:
        yield Bags.open(args.bags), None
    else:
        with _bags_of_texts(args, embedder, tempfile.gettempdir()) as path:
            yield Bags.open(path), None


@contextmanager
def _bags_of_texts(args, embedder, place: str | Path) -> Iterator[Path]:
    """The bags of the sentences of --texts, in a file that is there until the end of the block."""
    system = args.system or BOVE
    found = embedded(args.texts, args.column, embedder, system)
    Path(place).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".bove.") as folder:
        path = Path(folder) / "bags.safetensors"
        write_bags(path, found, embedder, system)
        yield path


def _table(names: list[str], found: list[Hits], collection: Bags, top: int) -> str:
    """query, rank, score, sentence id and, where it is known, sentence as CSV."""
    texts, out = texts_of(collection), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["query", "rank", "score", "id", "sentence"])
    for name, hits in zip(names, found, strict=True):
        for rank, (s, score) in enumerate(ranked(hits, collection.index, top), 1):
            own = collection.ids[s]
            writer.writerow([name, rank, f"{score:.6f}", own, texts.get(own, "")])
    return out.getvalue()


# of each query its name, and its vectors with their evidence
Asked = tuple[list[str], list[tuple[np.ndarray, np.ndarray | None]]]


def _from_file(args, _, collection: Bags) -> Asked:
    given = Bags.open(args.query_bags)
    collection.check_model(given.rank, given.model_hash, args.query_bags)
    given.check_finite()
    evidence = given.evidence_of if args.weight == EVIDENCE else lambda b: None
    return list(given.ids), [(given.bag(b), evidence(b)) for b in map(given.bag_of, given.ids)]


def _embedded(args, embedder: Embedder, collection: Bags) -> Asked:
    system = collection.system or BOVE
    collection.check_model(*embedder.made_by(system), "the model")
    sentences = list(read_sentences(args.conllu)) if args.conllu else parsed(embedder, args.queries)
    names = [sentence.id for sentence in sentences] if args.conllu else args.queries
    check_sentences(embedder, sentences, [f"query {name}" for name in names])
    return names, [(bag.vectors, bag.evidence) for bag in embedder.bags(sentences, system)]


def register_index(parser: argparse.ArgumentParser) -> None:
    add, usual = parser.add_argument, GraphSettings()
    _add_collection(parser)
    add("--output", required=True, metavar="FOLDER", help="the index; an existing one is replaced")
    add("--links", type=int, default=usual.links, help=f"of each bag to like ones (default {usual.links})")
    add("--breadth", type=int, default=usual.breadth,
        help=f"bags in view when those are looked for (default {usual.breadth})")  # fmt: skip
    add_run_arguments(parser)


def run_index(args: argparse.Namespace) -> None:
    """Make an index of a file of bags or of sentences, for searches in collections that take long to read."""
    for name, least in (("links", 2), ("breadth", 1)):
        if getattr(args, name) < least:
            raise BoveError(f"--{name} {getattr(args, name)}: must be at least {least}")
    if bool(args.bags) == bool(args.texts):
        raise BoveError("give the collection, either with --bags or as --texts")
    output, settings = Path(args.output), GraphSettings(args.links, args.breadth)
    if args.bags:
        bags, began = Bags.open(args.bags), time.monotonic()
        build(bags, output, settings, args.threads)
    else:
        embedder = open_embedder(args, open_run(args))
        with _bags_of_texts(args, embedder, output.absolute().parent) as path:
            bags, began = Bags.open(path), time.monotonic()
            build(bags, output, settings, args.threads, move=True)
    log.info(
        "%d different bags, %d vectors, of %d sentences: %.1f s", bags.n_bags, len(bags.vectors), len(bags),
        time.monotonic() - began,
    )  # fmt: skip
