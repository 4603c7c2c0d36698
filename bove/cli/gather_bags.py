"""`bove gather-bags`: the bags of all shards of `bove infer`, in the graphs' order."""

import argparse
import logging

from bove.errors import BoveError

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("--graphs", required=True, metavar="FILE", help="the graphs of all shards")
    add("--shards", required=True, nargs="+", metavar="FILE", help="all files of `bove infer --shard`")
    add("--sentences", nargs="+", metavar="FILE", help="--no-punctuation: the graphs' sentences, CoNLL-U")
    add(
        "--punctuation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the shards have vectors of punctuation",
    )
    add("--reports", nargs="+", metavar="FILE", help="what `bove infer --shard --report` wrote of all shards")
    add("--report", metavar="FILE", help="CSV to write from these: tokens, iterations, last change")
    add("--output", required=True, metavar="FILE", help="bags.safetensors, as inference at once writes it")


def run(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these graphs, and write all bags."""
    from bove.bag_shards import gather, gather_reports
    from bove.cli.infer import bag_layout
    from bove.cli.punctuation import count_kept, log_left_out
    from bove.text.graphs import load_graphs

    if not args.punctuation and args.sentences is None:
        raise BoveError("--no-punctuation needs --sentences")
    if (args.reports is None) != (args.report is None):
        raise BoveError("--reports and --report belong together; give both or neither")
    corpus = load_graphs(args.graphs)
    layout, kept = bag_layout(args, corpus)
    gather(args.shards, layout, args.output)
    if args.report:
        gather_reports(args.reports, layout, corpus.lengths, args.report)
    log.info(
        "%d sentences, %d distinct bags of %d shards", len(layout.ids), len(layout.first), len(args.shards)
    )
    if not args.punctuation:
        log_left_out(corpus.lengths, count_kept(corpus, kept))
