"""`bove train-tagger`: a part-of-speech tagger from a treebank."""

import argparse
import json
import logging
from collections import Counter
from dataclasses import asdict
from importlib.metadata import version

from bove._version import __version__
from bove.cli.reading import add_strict_argument
from bove.files import atomic_write, sha256

log = logging.getLogger("bove")
FEW = 50


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--treebank", required=True, metavar="FILE", help="training part, CoNLL-2009 or CoNLL-U"
    )
    parser.add_argument(
        "--dev", required=True, metavar="FILE", help="development part, to choose the best step"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), default="gold", help="of CoNLL-2009 files"
    )
    parser.add_argument("--encoding", default="utf-8", help="of both files (default utf-8)")
    add_strict_argument(parser)
    parser.add_argument("--preset", required=True, choices=("tiny", "demo", "full"), help="sizes and steps")
    parser.add_argument(
        "--option",
        action="append",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="change an option of Stanza's trainer; a switch is true or false",
    )
    parser.add_argument("--seed", type=int, required=True, help="equal seeds give equal weights")
    parser.add_argument("--output", required=True, metavar="FILE.pt", help="the model")
    parser.add_argument(
        "--report", required=True, metavar="FILE.json", help="accuracy, counts, options, versions"
    )


def run(args: argparse.Namespace) -> None:
    """Train the tagger."""
    train_kind("tagger", args)


def train_kind(kind: str, args: argparse.Namespace) -> None:
    """Train a tagger or a parser, and report it."""
    from bove.cli.stanza_log import stanza_messages
    from bove.text.conll import read_sentences
    from bove.text.parser_options import find_options
    from bove.text.parser_training import train

    options = find_options(kind, args.preset, [word for words in args.option for word in words])
    if args.threads > 1:
        log.info("training takes one thread: others make it slower, and its result vary")
    oddities: dict[str, Counter] = {"training": Counter(), "development": Counter()}
    training, development = (
        read_sentences(path, args.columns, args.encoding, counts, args.strict)
        for path, counts in zip((args.treebank, args.dev), oddities.values(), strict=True)
    )
    with stanza_messages():
        result = train(kind, training, development, options, args.seed, args.output)
    for part, counts in (("training", result.training), ("development", result.development)):
        log.info("%s sentences: %s", part, ", ".join(f"{count} {name}" for name, count in counts.items()))
    if result.development["used"] < FEW:
        log.warning("only %d development sentences: take the accuracy as rough", result.development["used"])
    log.info("%s: %s", kind, ", ".join(f"{name} {100 * x:.2f} %" for name, x in result.accuracy.items()))
    content = {
        "format": "bove-parser-report",
        "kind": kind,
        "preset": args.preset,
        "seed": args.seed,
        **asdict(result),
        "treebank_sha256": sha256(args.treebank),
        "treebank_oddities": oddities["training"],
        "versions": {"bove": __version__, **{name: version(name) for name in ("stanza", "torch")}},
    }
    with atomic_write(args.report) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
