"""`bove search`: the sentences of a file of bags that answer a query best, by late interaction."""

import argparse
import csv
import io
import logging
import sys
import time

import numpy as np

from bove.bags import Bags
from bove.cli.run_files import add_run_arguments, check_sentences, open_embedder, open_run, parsed
from bove.embedder import WORD_VECTORS
from bove.errors import BoveError
from bove.evaluate.search import search
from bove.files import atomic_write
from bove.text.conll import read_sentences

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("queries", nargs="*", metavar="QUERY", help="sentences, as text; they need --run or its files")
    add("--bags", required=True, metavar="FILE", help="bags of the collection, as `bove infer` writes them")
    add("--conllu", metavar="FILE", help="instead: a file with the queries' trees")
    add("--query-bags", metavar="FILE", help="instead: the queries' bags, which need no run")
    add("--top", type=int, default=10, help="sentences to show for each query (default 10)")
    add("--output", metavar="FILE", help="CSV to write, instead of printing it")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print, or write, the best sentences of each query: query, rank, score and sentence id."""
    if sum(map(bool, (args.queries, args.conllu, args.query_bags))) != 1:
        raise BoveError("give queries as text, or their trees with --conllu, or their bags with --query-bags")
    if args.top < 1:
        raise BoveError(f"--top {args.top}: must be at least 1")
    collection = Bags.open(args.bags)
    names, queries = _from_file(args, collection) if args.query_bags else _embedded(args, collection)
    if not np.isfinite(collection.vectors).all():
        raise BoveError(f"{args.bags}: holds a value that is not finite; look at what made it")
    began = time.monotonic()
    # sentences that are alike share a bag, so that as many bags as sentences are always enough
    found = search(queries, collection.vectors, collection.offsets, args.top)
    log.info(
        "%d queries in %d different bags of %d sentences: %.3f s", len(queries), collection.n_bags,
        len(collection), time.monotonic() - began,
    )  # fmt: skip
    order = np.argsort(collection.index, kind="stable")
    cuts = np.searchsorted(collection.index[order], np.arange(collection.n_bags + 1))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", "rank", "score", "sentence"])
    for name, hits in zip(names, found, strict=True):
        pairs = zip(hits.bags.tolist(), hits.scores.tolist(), strict=True)
        rows = [(score, s) for bag, score in pairs for s in order[cuts[bag] : cuts[bag + 1]].tolist()]
        for rank, (score, s) in enumerate(rows[: args.top], 1):
            writer.writerow([name, rank, f"{score:.6f}", collection.ids[s]])
    if args.output:
        with atomic_write(args.output) as stream:
            stream.write(text.getvalue())
    else:
        sys.stdout.write(text.getvalue())
        sys.stdout.flush()


def _from_file(args, collection: Bags) -> tuple[list[str], list[np.ndarray]]:
    given = Bags.open(args.query_bags)
    _check(given.rank, given.model_hash, args.query_bags, collection, args.bags)
    if not np.isfinite(given.vectors).all():
        raise BoveError(f"{args.query_bags}: holds a value that is not finite; look at what made it")
    return list(given.ids), [given[name] for name in given.ids]


def _embedded(args, collection: Bags) -> tuple[list[str], list[np.ndarray]]:
    embedder = open_embedder(args, open_run(args))
    system = collection.system or "bove"
    vectors = embedder.vectors if system == WORD_VECTORS else None
    made_by = embedder.model.hash if vectors is None else vectors.source_sha256
    _check(embedder.model.rank, made_by, "the model", collection, args.bags)
    sentences = list(read_sentences(args.conllu)) if args.conllu else parsed(embedder, args.queries)
    names = [sentence.id for sentence in sentences] if args.conllu else args.queries
    check_sentences(embedder, sentences, [f"query {name}" for name in names])
    return names, [bag.vectors for bag in embedder.bags(sentences, system)]


def _check(rank: int, model_hash: str, name: str, collection: Bags, path: str) -> None:
    """BoveError where queries and collection come from different models."""
    if rank != collection.rank:
        raise BoveError(
            f"{name}: vectors of {rank} dimensions, but {path} has {collection.rank}; use one model"
        )
    if model_hash and collection.model_hash and model_hash != collection.model_hash:
        raise BoveError(
            f"{name}: of model {model_hash[:12]}, but {path} is of {collection.model_hash[:12]}; "
            "use one model"
        )
