"""`bove gather-parses`: the trees of all shards of `bove parse`, in the pairs' order."""

import argparse

from bove.cli.parse import read_sides, write_trees


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--pairs", required=True, metavar="pairs.jsonl", help="from `bove pairs`")
    parser.add_argument(
        "--shards", required=True, nargs="+", metavar="FILE", help="all files of `bove parse --shard`"
    )
    parser.add_argument(
        "--output", required=True, metavar="parses.conllu.gz", help="what parsing at once would write"
    )


def run(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these pairs, and write one tree a pair side."""
    from bove.text.parse_shards import gather

    ids, texts = read_sides(args.pairs)
    provenance, trees = gather(args.shards, ids, texts)
    write_trees(args.output, ids, texts, trees, provenance)
