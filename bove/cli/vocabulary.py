"""`bove vocabulary`: count a treebank and write the vocabulary."""

import argparse
import logging

from bove.cli.reading import add_strict_argument, read_files
from bove.errors import BoveError
from bove.text.vocabulary import UNKNOWN_RELATION, Vocabulary
from bove.text.vocabulary_counts import build
from bove.text.words import LOOKUP

log = logging.getLogger("bove")
OPTIONS = ("numbers", "punctuation", "lookup", "adjacency", "tags", "dependencies")


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--treebank", nargs="+", required=True, metavar="FILE", help="CoNLL-2009 or CoNLL-U files"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), required=True, help="columns of CoNLL-2009"
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_strict_argument(parser)
    parser.add_argument("--min-words", type=int, required=True, help="least count of a word form")
    parser.add_argument("--min-tags", type=int, required=True, help="least count of a tag")
    parser.add_argument("--min-relations", type=int, required=True, help="least count of a relation")
    parser.add_argument(
        "--no-numbers", dest="numbers", action="store_false", help="do not replace numbers by NB"
    )
    parser.add_argument(
        "--no-punctuation",
        dest="punctuation",
        action="store_false",
        help="do not replace punctuation by PUNCT",
    )
    parser.add_argument(
        "--lookup",
        nargs="+",
        choices=LOOKUP,
        required=True,
        help="forms under which a word is looked up, in order",
    )
    parser.add_argument(
        "--adjacency",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="a relation from each token to the next",
    )
    parser.add_argument(
        "--tags",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="tags are properties, and tell unknown words apart",
    )
    parser.add_argument(
        "--dependencies",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the treebank's relations are relations",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="vocabulary.json to write")


def run(args: argparse.Namespace) -> None:
    thresholds = {"words": args.min_words, "tags": args.min_tags, "relations": args.min_relations}
    for name, least in thresholds.items():
        if least < 1:
            raise BoveError(f"--min-{name} {least}: must be at least 1")
    sentences = read_files(args.treebank, args.columns, args.encoding, args.strict, "treebank: ")
    options = {name: getattr(args, name) for name in OPTIONS}
    vocabulary = build(sentences, thresholds, options)
    _log_vocabulary(vocabulary)
    vocabulary.save(args.output)


def _log_vocabulary(vocabulary: Vocabulary) -> None:
    coverage = vocabulary.coverage
    log.info(
        "%d words (%d of %d types kept), %d tags (%d rare), %d relations (%d rare)",
        vocabulary.n_words,
        coverage["word_types_kept"],
        coverage["word_types"],
        vocabulary.n_tags,
        len(vocabulary.rare_tags),
        vocabulary.n_relations,
        len(vocabulary.rare_relations),
    )
    if not vocabulary.has_tags:
        log.info("tags are switched off: a token has its word alone")
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off: the one relation is adjacency")
    for route, count in coverage["tokens_by_route"].items():
        log.info("%7d tokens (%.1f %%): %s", count, 100 * count / coverage["tokens"], route)
    if vocabulary.rare_relations and not any(map(vocabulary.is_own_relation, vocabulary.relations)):
        log.warning("every relation is below the threshold: all arcs are %s", UNKNOWN_RELATION)
