"""`bove neighbours`: the training tokens nearest to a word in its sentence, and the nearest word types."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from bove.cli.run_files import (
    add_run_arguments,
    check_sentences,
    open_embedder,
    open_run,
    parsed,
    trees_of,
)
from bove.cli.training_tokens import TrainingTokens, check_treebank, training_tokens
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.evaluate.alignment import unit_rows
from bove.evaluate.nearest import nearest
from bove.evaluate.neighbours import (
    Neighbours,
    TokenNeighbour,
    WordNeighbour,
    as_json,
    as_text,
    find_places,
)
from bove.runs import Run, defaults
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import load_graphs
from bove.text.vectors import WordLookup, pretrained_rows


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("word", metavar="WORD", help="a word of the sentence; WORD:2 is its second place there alone")
    add("--in", dest="sentence", metavar="SENTENCE", help="the sentence, as text")
    add("--conllu", metavar="FILE", help="instead: a file with the sentence's tree")
    add("--ids", nargs=1, metavar="ID", help="which tree of the file, by sent_id")
    add("--top", type=int, default=10, help="neighbours to show (default 10)")
    add("--other-words", action="store_true", help="leave out training tokens of the same word")
    add("--limit", type=int, metavar="N", help="search only the first N training sentences")
    add("--json", action="store_true", help="print JSON, at full precision")
    add("--graphs", metavar="FILE", help="the treebank's graphs, if not the run's")
    add("--treebank", metavar="FILE", help="the treebank itself, if not the run's")
    add("--columns", choices=("gold", "predicted"), help="of CoNLL-2009 (default: the run's, or gold)")
    add("--encoding", help="of the treebank (default: the run's, or utf-8)")
    add("--cache", metavar="FILE", help="keeps the training tokens' vectors (default: in the run's folder)")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the neighbours of each place of the word."""
    _check(args)
    opened = open_run(args)
    embedder = open_embedder(args, opened)
    graphs, cache = _files(args, opened)
    sentence = _sentence(args, embedder)
    places = find_places(args.word, sentence.forms)
    if not places:
        raise BoveError(f"{args.word!r} is not in the sentence; its words are: {' '.join(sentence.forms)}")
    training, path = _treebank(args, opened)
    corpus = load_graphs(graphs)
    check_treebank(corpus, training, path)
    with training_tokens(embedder, corpus, graphs, cache, args.limit, args.threads) as tokens:
        found = _find(args, embedder, sentence, places, tokens, training)
        distinct = len(np.unique(tokens.sentences))
        searched = f"{len(tokens.vectors):,} tokens of {distinct:,} different training sentences"
    if args.json:
        content = {"format": "bove-neighbours", "places": [as_json(one) for one in found]}
        json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("\n\n".join(as_text(one, searched) for one in found))
    sys.stdout.flush()


def _check(args) -> None:
    if (args.sentence is None) == (args.conllu is None):
        raise BoveError("give the sentence as text with --in, or its tree with --conllu")
    if args.ids and not args.conllu:
        raise BoveError("--ids names a tree of a file; give the file with --conllu")
    for name in ("top", "limit"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise BoveError(f"--{name} {value}: must be at least 1")


def _files(args, run: Run | None) -> tuple[Path, Path | None]:
    """The treebank's graphs, and where its tokens are kept."""
    if run is None and not (args.graphs and args.treebank):
        raise BoveError("without --run, give --graphs and --treebank too, for the training tokens")
    graphs = Path(args.graphs) if args.graphs else run.training_graphs()
    if args.cache:
        return graphs, Path(args.cache)
    own = run is not None and not (args.model or args.graphs)
    return graphs, run.path / run.variant.folder / "neighbours" / "train.safetensors" if own else None


def _sentence(args, embedder: Embedder) -> Sentence:
    if args.conllu:
        (tree,) = trees_of(args.conllu, args.ids, 1)
        name = f"tree {tree.id}"
    else:
        (tree,), name = parsed(embedder, [args.sentence]), "the sentence"
    check_sentences(embedder, [tree], [name])
    return tree


def _treebank(args, run: Run | None) -> tuple[list[Sentence], Path]:
    """The training sentences, and their file."""
    path = Path(args.treebank) if args.treebank else run.treebank()
    section = (run.config if run else defaults())["treebank"]
    columns, encoding = args.columns or section["columns"], args.encoding or section["encoding"]
    return list(read_sentences(path, columns, encoding)), path


def _find(args, embedder: Embedder, sentence, places, tokens: TrainingTokens, training) -> list[Neighbours]:
    """The neighbours of each place."""
    (bag,) = embedder.bags([sentence], "bove", punctuation=True)
    allowed = None
    if args.other_words:
        own = {sentence.forms[place].casefold() for place in places}
        pairs = zip(tokens.sentences.tolist(), tokens.places.tolist(), strict=True)
        allowed = np.array([training[s].forms[place].casefold() not in own for s, place in pairs], bool)
    near = nearest(bag.vectors[places], tokens.vectors, args.top, allowed)
    lookup = WordLookup(embedder.vocabulary, embedder.vectors) if embedder.vectors else None
    found = []
    for place, one in zip(places, near, strict=True):
        form = sentence.forms[place]
        listed = []
        for row, cosine in zip(one.rows.tolist(), one.cosines.tolist(), strict=True):
            other, at = training[tokens.sentences[row]], int(tokens.places[row])
            word_cosine = _word_cosine(lookup, form, other.forms[at])
            listed.append(
                TokenNeighbour(cosine, word_cosine, other.id, other.forms, at, int(tokens.alike[row]))
            )
        words = _word_neighbours(embedder, lookup, form, args.top)
        found.append(Neighbours(sentence.forms, place, tuple(listed), words))
    return found


def _word_cosine(lookup, form: str, other: str) -> float | None:
    if lookup is None or lookup.row(form) < 0 or lookup.row(other) < 0:
        return None
    first, second = unit_rows(lookup.vectors.rows([lookup.row(form), lookup.row(other)]))
    return float(np.clip(first @ second, -1, 1))


def _word_neighbours(embedder, lookup, form: str, count: int) -> tuple[WordNeighbour, ...] | None:
    """The words of the vocabulary nearest to a form by their own vectors; None where it has none."""
    if lookup is None or lookup.row(form) < 0:
        return None
    own, vectors = lookup.row(form), embedder.vectors
    rows = np.unique(pretrained_rows(embedder.vocabulary, vectors))
    rows = rows[(rows >= 0) & (rows != own)]
    (near,) = nearest(vectors.rows([own]), vectors.rows(rows), count)
    return tuple(
        WordNeighbour(vectors.word(rows[row]), float(cosine))
        for row, cosine in zip(near.rows, near.cosines, strict=True)
    )
