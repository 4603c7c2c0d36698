"""`bove train-parser`: a dependency parser from a treebank."""

import argparse

from bove.cli import train_tagger


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, which are the tagger's."""
    train_tagger.register(parser)


def run(args: argparse.Namespace) -> None:
    """Train the parser."""
    train_tagger.train_kind("parser", args)
