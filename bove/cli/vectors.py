"""`bove vectors load` and `bove vectors train`: word vectors into a mapped file."""

import argparse
import logging

from bove.text.vectors import WordVectors, convert
from bove.text.word2vec import train

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="load|train")
    load = actions.add_parser(
        "load", help="read word2vec or GloVe", description="Read word2vec or GloVe vectors."
    )
    load.add_argument("--input", required=True, metavar="FILE", help="vectors, gzip or not")
    load.add_argument(
        "--format", choices=("auto", "word2vec", "glove"), required=True, help="auto: by content"
    )
    load.add_argument("--limit", type=int, help="rows to read, from the first (default all)")
    own = actions.add_parser(
        "train", help="train word2vec", description="Train word2vec (skip-gram) on raw text."
    )
    own.add_argument(
        "--input", required=True, metavar="FILE", help="text, a sentence a line, spaces between tokens"
    )
    own.add_argument("--dimensions", type=int, required=True, help="numbers of a vector")
    own.add_argument(
        "--window", type=int, required=True, help="most words between two that predict each other"
    )
    own.add_argument("--epochs", type=int, required=True, help="times that the text is read")
    own.add_argument("--min-count", type=int, required=True, help="least count of a word")
    own.add_argument("--negative", type=int, required=True, help="negative samples for each observed pair")
    own.add_argument("--seed", type=int, required=True, help="of the random numbers")
    for action in (load, own):
        action.add_argument("--output", required=True, metavar="FILE", help="vectors.safetensors to write")
        # Each stage's parser has these; here they may follow the action too.
        action.add_argument(
            "--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)"
        )
        action.add_argument("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")


def run(args: argparse.Namespace) -> None:
    if args.action == "load":
        counts = convert(args.input, args.output, args.format, args.limit)
        for kind, count in counts.items():
            log.info("%d %s, first in row %d", count, kind, counts.places[kind][0])
    else:
        train(
            args.input,
            args.output,
            dimensions=args.dimensions,
            window=args.window,
            epochs=args.epochs,
            min_count=args.min_count,
            negative=args.negative,
            seed=args.seed,
        )
    vectors = WordVectors.open(args.output)
    log.info("%d words, %d dimensions", len(vectors), vectors.dimensions)
