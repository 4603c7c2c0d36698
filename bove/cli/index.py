"""`bove index`: an index over a file of bags, for `bove search` in collections that take long to read."""

import argparse
import logging
import time

from bove.bag_index import GraphSettings, build
from bove.bags import Bags
from bove.errors import BoveError

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add, usual = parser.add_argument, GraphSettings()
    add("--bags", required=True, metavar="FILE", help="bags of the collection, as `bove infer` writes them")
    add("--output", required=True, metavar="FOLDER", help="the index; one that lies there is replaced")
    add("--links", type=int, default=usual.links, help=f"of each bag to like ones (default {usual.links})")
    add(
        "--breadth",
        type=int,
        default=usual.breadth,
        help=f"bags in view when those are looked for (default {usual.breadth})",
    )


def run(args: argparse.Namespace) -> None:
    """Make the index, whole or not at all."""
    for name, least in (("links", 2), ("breadth", 1)):
        if getattr(args, name) < least:
            raise BoveError(f"--{name} {getattr(args, name)}: must be at least {least}")
    bags, began = Bags.open(args.bags), time.monotonic()
    told = build(bags, args.output, GraphSettings(args.links, args.breadth), args.threads)
    log.info(
        "%d different bags, %d vectors, of %d sentences: %.1f s", told["n_bags"], told["n_vectors"],
        len(bags), time.monotonic() - began,
    )  # fmt: skip
