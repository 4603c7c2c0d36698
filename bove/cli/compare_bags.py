"""`bove compare-bags`: how far two files of bags agree, token by token."""

import argparse
import json
import logging

from bove.bags import Bags
from bove.evaluate.bag_comparison import by_length, compare, summarise
from bove.files import atomic_write

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    for name, example in (("first", "gold trees"), ("second", "predicted trees")):
        parser.add_argument(
            f"--{name}", required=True, metavar="BAGS", help=f"bags.safetensors, such as from {example}"
        )
    parser.add_argument(
        "--output", required=True, metavar="FILE.json", help="mean and quantiles of the tokens' cosines"
    )


def run(args: argparse.Namespace) -> None:
    """Compare the vectors of each token in both files."""
    first, second = Bags.open(args.first), Bags.open(args.second)
    if first.model_hash != second.model_hash:
        log.warning(
            "different models: %s (%s), %s (%s)",
            first.path,
            first.model_hash[:12] or "unknown",
            second.path,
            second.model_hash[:12] or "unknown",
        )
    found = compare(first, second)
    whole, classes = summarise(found.cosines), by_length(found)
    content = {
        "format": "bove-bag-comparison",
        **{
            name: {"file": str(bags.path), "system": bags.system, "model_hash": bags.model_hash}
            for name, bags in (("first", first), ("second", second))
        },
        "sentences": len(found.lengths),
        "empty_sentences": int((found.lengths == 0).sum()),
        "tokens": len(found.cosines),
        "zero_vectors": found.zeros,
        "cosine": whole,
        "cosine_by_length": classes,
    }
    with atomic_write(args.output) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    log.info(
        "%d sentences (%d empty), %d tokens; zero vectors: %d in the first file, %d in the second",
        content["sentences"],
        content["empty_sentences"],
        content["tokens"],
        found.zeros["first"],
        found.zeros["second"],
    )
    for name, part in [("all", whole), *((f"{part['length']} tokens", part) for part in classes)]:
        if part["tokens"]:
            log.info(
                "%s: cosine %.4f on average, %.4f median, %.4f at 5 %%; %.1f %% of %d below 0.9",
                name,
                part["mean"],
                part["quantiles"]["0.5"],
                part["quantiles"]["0.05"],
                100 * part["share_below"]["0.9"],
                part["tokens"],
            )
