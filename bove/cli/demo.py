"""`bove demo`: write the built-in corpus."""

import argparse
import logging

from bove.demo.corpus import write
from bove.errors import BoveError

MINIMUM = 10
log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the stage."""
    parser.add_argument(
        "--seed", type=int, required=True, help="the same seed gives the same files, byte for byte"
    )
    parser.add_argument("--sentences", type=int, required=True, help="sentences of the training treebank")
    parser.add_argument("--output", required=True, help="folder that gets treebank/, raw.txt, sts/ and snli/")


def run(args: argparse.Namespace) -> None:
    """Write the files and log how many rows each has."""
    if args.sentences < MINIMUM:
        raise BoveError(f"--sentences: {args.sentences} is too few; ask for {MINIMUM} or more")
    for path, count in write(args.output, args.seed, args.sentences).items():
        log.info("%s/%s: %d", args.output, path, count)
