"""`bove compress`: a model whose relations are kept as low-rank factors."""

import argparse
import logging
from pathlib import Path

from bove.factor.model import Model

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="FILE", help="model.safetensors")
    add("--energy", type=float, required=True, help="share of each relation's squared norm to keep (0 to 1)")
    add("--output", required=True, metavar="FILE", help="compressed model to write")


def run(args: argparse.Namespace) -> None:
    model = Model.load(args.model)
    small = model.compress(args.energy)
    small.save(args.output)
    ranks = small.relations.ranks
    log.info("%d of %d singular values kept", ranks.sum(), len(ranks) * model.rank)
    for name, rank in zip(model.relation_names, ranks, strict=True):
        log.info("%4d  %s", rank, name)
    before, after = Path(args.model).stat().st_size, Path(args.output).stat().st_size
    log.info("%.1f MB became %.1f MB", before / 1e6, after / 1e6)
