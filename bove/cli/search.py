"""`bove search` and `bove index`: the sentences of a file of bags that answer a query best."""

import argparse
import csv
import io
import logging
import sys
import time

import numpy as np

from bove.bags import BOVE, WORD_VECTORS
from bove.bags.store import Bags
from bove.cli.common import add_run_arguments, check_sentences, open_embedder, open_run, parsed
from bove.errors import BoveError
from bove.evaluate.search import BagIndex, GraphSettings, Hits, build, search
from bove.files import atomic_write
from bove.text.conll import read_sentences

log = logging.getLogger("bove")
PER_SHOWN, LEAST = 100, 200  # candidates by default


def register_search(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("queries", nargs="*", metavar="QUERY", help="sentences, as text; they need --run or its files")
    add("--bags", metavar="FILE", help="bags of the collection, as `bove infer` writes them")
    add("--index", metavar="FOLDER", help="of these bags, made by `bove index`; else all bags are read")
    add("--candidates", type=int, metavar="N", help="bags that the index gives to choose from (default "
        f"{PER_SHOWN} for each sentence to show, and at least {LEAST})")  # fmt: skip
    add("--conllu", metavar="FILE", help="instead: a file with the queries' trees")
    add("--query-bags", metavar="FILE", help="instead: the queries' bags, which need no run")
    add("--top", type=int, default=10, help="sentences to show for each query (default 10)")
    add("--output", metavar="FILE", help="CSV to write, instead of printing it")
    add_run_arguments(parser)


def run_search(args: argparse.Namespace) -> None:
    """Print, or write, the best sentences of each query: query, rank, score and sentence id."""
    if sum(map(bool, (args.queries, args.conllu, args.query_bags))) != 1:
        raise BoveError("give queries as text, or their trees with --conllu, or their bags with --query-bags")
    if not (args.bags or args.index):
        raise BoveError("give the collection with --bags, or its --index")
    for name in ("top", "candidates"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise BoveError(f"--{name} {value}: must be at least 1")
    if args.candidates and not args.index:
        raise BoveError("--candidates is for --index alone; without one all bags are scored")
    index = BagIndex.open(args.index, args.bags, args.threads) if args.index else None
    collection = index.bags if index else Bags.open(args.bags)
    names, queries = _from_file(args, collection) if args.query_bags else _embedded(args, collection)
    if not index:
        collection.check_finite()
    began = time.monotonic()
    if index:
        candidates = args.candidates or max(LEAST, PER_SHOWN * args.top)
        found = [index.search(query, args.top, candidates) for query in queries]
        index.close()
    else:  # sentences that are alike share a bag, so as many bags as sentences will do
        found = search(queries, collection.vectors, collection.offsets, args.top)
    log.info(
        "%d queries in %d different bags of %d sentences: %.3f s", len(queries), collection.n_bags,
        len(collection), time.monotonic() - began,
    )  # fmt: skip
    text = _table(names, found, collection, args.top)
    if args.output:
        with atomic_write(args.output) as stream:
            stream.write(text)
    else:
        sys.stdout.write(text)


def _table(names: list[str], found: list[Hits], collection: Bags, top: int) -> str:
    """query, rank, score and sentence id as CSV; the sentences of a bag in the file's order."""
    order = np.argsort(collection.index, kind="stable")
    cuts = np.searchsorted(collection.index[order], np.arange(collection.n_bags + 1))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", "rank", "score", "sentence"])
    for name, hits in zip(names, found, strict=True):
        pairs = zip(hits.numbers.tolist(), hits.scores.tolist(), strict=True)
        rows = [(score, s) for bag, score in pairs for s in order[cuts[bag] : cuts[bag + 1]].tolist()]
        for rank, (score, s) in enumerate(rows[:top], 1):
            writer.writerow([name, rank, f"{score:.6f}", collection.ids[s]])
    return text.getvalue()


def _from_file(args, collection: Bags) -> tuple[list[str], list[np.ndarray]]:
    given = Bags.open(args.query_bags)
    _check(given.rank, given.model_hash, args.query_bags, collection)
    given.check_finite()
    return list(given.ids), [given[name] for name in given.ids]


def _embedded(args, collection: Bags) -> tuple[list[str], list[np.ndarray]]:
    embedder = open_embedder(args, open_run(args))
    system = collection.system or BOVE
    vectors = embedder.vectors if system == WORD_VECTORS else None
    made_by = embedder.model.hash if vectors is None else vectors.source_sha256
    _check(embedder.model.rank, made_by, "the model", collection)
    sentences = list(read_sentences(args.conllu)) if args.conllu else parsed(embedder, args.queries)
    names = [sentence.id for sentence in sentences] if args.conllu else args.queries
    check_sentences(embedder, sentences, [f"query {name}" for name in names])
    return names, [bag.vectors for bag in embedder.bags(sentences, system)]


def _check(rank: int, model_hash: str, name: str, collection: Bags) -> None:
    """BoveError where queries and collection come from different models."""
    path, advice = collection.path, "use one model"
    if rank != collection.rank:
        raise BoveError(f"{name}: vectors of {rank} dimensions, but {path} has {collection.rank}; {advice}")
    other = collection.model_hash
    if model_hash and other and model_hash != other:
        raise BoveError(f"{name}: of model {model_hash[:12]}, but {path} is of {other[:12]}; {advice}")


def register_index(parser: argparse.ArgumentParser) -> None:
    add, usual = parser.add_argument, GraphSettings()
    add("--bags", required=True, metavar="FILE", help="bags of the collection, as `bove infer` writes them")
    add("--output", required=True, metavar="FOLDER", help="the index; an existing one is replaced")
    add("--links", type=int, default=usual.links, help=f"of each bag to like ones (default {usual.links})")
    add("--breadth", type=int, default=usual.breadth,
        help=f"bags in view when those are looked for (default {usual.breadth})")  # fmt: skip


def run_index(args: argparse.Namespace) -> None:
    """Make an index of a file of bags, for searches in collections that take long to read."""
    for name, least in (("links", 2), ("breadth", 1)):
        if getattr(args, name) < least:
            raise BoveError(f"--{name} {getattr(args, name)}: must be at least {least}")
    bags, began = Bags.open(args.bags), time.monotonic()
    build(bags, args.output, GraphSettings(args.links, args.breadth), args.threads)
    log.info(
        "%d different bags, %d vectors, of %d sentences: %.1f s", bags.n_bags, len(bags.vectors), len(bags),
        time.monotonic() - began,
    )  # fmt: skip
