"""Arguments for the files of a tagger and a parser."""

import argparse

from bove.text.foundations import NAMES as FURTHER


def add_parser_files(parser: argparse.ArgumentParser, required: bool) -> None:
    """Add --tagger, --parser, and the further files that published models need."""
    for kind in ("tagger", "parser"):
        parser.add_argument(
            f"--{kind}", required=required, metavar="FILE.pt", help=f"from `bove train-{kind}`, or Stanza's"
        )
    for name in FURTHER:
        parser.add_argument(
            f"--{name.replace('_', '-')}", metavar="FILE.pt", help="of Stanza, if tagger or parser need it"
        )


def further_files(args: argparse.Namespace) -> dict[str, str]:
    """The further files that are given, by name."""
    return {name: value for name in FURTHER if (value := getattr(args, name)) is not None}
