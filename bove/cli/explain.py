"""`bove explain`: how two sentences are aligned, word by word, and what their scores are made of."""

import argparse
import json
import logging
import sys

from bove.cli.run_files import (
    add_run_arguments,
    check_sentences,
    open_embedder,
    open_run,
    parsed,
    trees_of,
)
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.evaluate.explanation import Explanation, Token, align, as_json, row_cosines
from bove.evaluate.explanation_html import as_html
from bove.evaluate.explanation_text import as_text
from bove.files import atomic_write
from bove.text.conll import Sentence

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="two sentences, as text")
    parser.add_argument("--conllu", metavar="FILE", help="instead: a file with the two sentences' trees")
    parser.add_argument("--ids", nargs=2, metavar="ID", help="which two trees of the file, by sent_id")
    parser.add_argument("--json", action="store_true", help="print JSON, with every cosine in full")
    parser.add_argument("--html", metavar="FILE", help="write a page with a heat map of every cosine")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the alignment of two sentences under each system."""
    _check(args)
    embedder = open_embedder(args, open_run(args))
    if args.conllu:
        sentences = trees_of(args.conllu, args.ids, 2)
        texts, names = [" ".join(s.forms) for s in sentences], [f"tree {s.id}" for s in sentences]
    else:
        texts, names = args.sentences, ["the first sentence", "the second sentence"]
        sentences = parsed(embedder, texts)
    check_sentences(embedder, sentences, names)
    explanation = explain(embedder, sentences, texts)
    if args.html:
        with atomic_write(args.html) as stream:
            stream.write(as_html(explanation))
        log.info("wrote %s", args.html)
    if args.json:
        content = as_json(explanation) | {"model_hash": embedder.model.hash}
        json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(explanation))
    sys.stdout.flush()


def explain(embedder: Embedder, sentences: list[Sentence], texts: list[str]) -> Explanation:
    """Align two sentences under every system of the embedder.

    Args:
        sentences: both trees. texts: what is shown as their text.
    """
    alignments, bags = {}, {}
    for system in embedder.systems:
        first, second = bags[system] = embedder.bags(sentences, system)
        alignments[system] = align(first.vectors, second.vectors, (first.places, second.places))
    own = tuple(
        row_cosines(plain.vectors, moved.vectors)
        for plain, moved in zip(bags["properties-only"], bags["bove"], strict=True)
    )
    known = embedder.known_as(sentences)
    tokens = tuple(
        tuple(map(Token, s.forms, s.tags, s.relations, s.heads, names))
        for s, names in zip(sentences, known, strict=True)
    )
    return Explanation(tuple(texts), tokens, alignments, own)


def _check(args) -> None:
    if args.conllu and args.sentences:
        raise BoveError("give two sentences as text or their trees with --conllu, not both")
    if args.ids and not args.conllu:
        raise BoveError("--ids names trees of a file; give the file with --conllu")
    if not args.conllu and len(args.sentences) != 2:
        raise BoveError(
            f"{len(args.sentences)} given, but two sentences are needed; put each in quotation marks"
        )
