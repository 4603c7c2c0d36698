"""`bove evaluate-parser`: how well a tagger and a parser do together, on a treebank's own tokens."""

import argparse
import json
import logging
import time
from collections import Counter
from contextlib import contextmanager
from importlib.metadata import version
from itertools import tee

from bove._version import __version__
from bove.cli.parser_files import add_parser_files, further_files
from bove.errors import BoveError
from bove.files import atomic_write, gzip_text, sha256
from bove.text.conll import read_sentences, write_conllu
from bove.text.parser_accuracy import Accuracy

log = logging.getLogger("bove")
FEW = 50


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--treebank", required=True, metavar="FILE", help="gold trees, CoNLL-2009 or CoNLL-U, not trained on"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), default="gold", help="of a CoNLL-2009 file"
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_parser_files(parser, required=True)
    parser.add_argument(
        "--max-tokens", type=int, required=True, metavar="N", help="a longer sentence is parsed in pieces"
    )
    parser.add_argument(
        "--trees", metavar="FILE", help="CoNLL-U to write: the predicted tree of every sentence; gzip if .gz"
    )
    parser.add_argument("--output", required=True, metavar="FILE.json", help="accuracy and counts")


def run(args: argparse.Namespace) -> None:
    """Tag and parse the treebank's sentences, and report how many tokens are right."""
    from bove.cli.stanza_log import stanza_messages
    from bove.text.parsing import CUT, Parser

    oddities: Counter = Counter()
    sentences = read_sentences(args.treebank, args.columns, args.encoding, oddities)
    with stanza_messages():
        parser = Parser(args.tagger, args.parser, args.max_tokens, further=further_files(args))
        start = time.monotonic()
        accuracy, counts = _evaluate(parser, args.treebank, sentences, args.trees)
        seconds = time.monotonic() - start
    total = sum(accuracy.labels.values())
    unknown = {label: n for label, n in accuracy.labels.most_common() if label not in parser.relations}
    content = {
        "format": "bove-parser-accuracy",
        "accuracy": accuracy.shares(punctuation=True),
        "accuracy_without_punctuation": accuracy.shares(punctuation=False),
        "tokens": accuracy.tokens[True],
        "tokens_without_punctuation": accuracy.tokens[False],
        "sentences": dict(counts),
        "sentences_cut": parser.counts[CUT],
        "arcs_with_known_labels": 1 - sum(unknown.values()) / total,
        "labels_the_parser_lacks": unknown,
        "max_tokens": args.max_tokens,
        **{f"{kind}_sha256": digest for kind, digest in parser.hashes.items()},
        "treebank_sha256": sha256(args.treebank),
        "treebank_oddities": dict(oddities),
        "versions": {"bove": __version__, **{name: version(name) for name in ("stanza", "torch")}},
    }
    with atomic_write(args.output) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    _report(content, counts["read"] / max(seconds, 1e-9))


def _evaluate(parser, path, sentences, trees) -> tuple[Accuracy, Counter]:
    """Parse all sentences, compare those that have a gold tree, and write all trees if asked to."""
    from bove.text.parser_training import find_fault

    accuracy, counts = Accuracy(), Counter(read=0, used=0)
    gold, given = tee(sentences)  # holds a chunk at most
    with _opened(trees) as stream:
        comments = [f"bove = {__version__}"]
        comments += [f"{kind}_sha256 = {digest}" for kind, digest in parser.hashes.items()]
        for sentence, tree in zip(gold, parser.parse_tokens(given), strict=True):
            fault = find_fault(sentence, "parser")
            counts["read"] += 1
            counts[fault or "used"] += 1
            if not fault:
                accuracy.add(sentence, tree)
            if stream:
                write_conllu(stream, tree, " ".join(tree.forms), comments)
                comments = []
        _check(path, counts)
    return accuracy, counts


@contextmanager
def _opened(path):
    """A stream to write the trees to; None without a path."""
    if path is None:
        yield None
    else:
        with gzip_text(path) if path.endswith(".gz") else atomic_write(path) as stream:
            yield stream


def _check(path, counts) -> None:
    if not counts["used"]:
        faults = ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind not in ("read", "used"))
        raise BoveError(
            f"{path}: none of its {counts['read']} sentences has a gold tree to compare with "
            f"({faults or 'it is empty'}); give a treebank"
        )
    if counts["used"] < FEW:
        log.warning("only %d sentences: take the accuracy as rough", counts["used"])


def _report(content, rate) -> None:
    log.info("sentences: %s", ", ".join(f"{n} {kind}" for kind, n in content["sentences"].items()))
    if content["sentences_cut"]:
        log.warning("%d sentences longer than the limit, parsed in pieces", content["sentences_cut"])
    for title, tokens, name in (
        ("all", "tokens", "accuracy"),
        ("no punctuation", "tokens_without_punctuation", "accuracy_without_punctuation"),
    ):
        shares = ", ".join(f"{key} {100 * x:.2f} %" for key, x in content[name].items() if x is not None)
        log.info("%s, %d tokens: %s", title, content[tokens], shares or "none")
    log.info("the parser knows the labels of %.2f %% of arcs", 100 * content["arcs_with_known_labels"])
    if lacks := list(content["labels_the_parser_lacks"].items())[:5]:
        log.warning("labels that the parser lacks: %s", ", ".join(f"{name} ({n})" for name, n in lacks))
    log.info("%.0f sentences a second", rate)
