"""`bove explain`: how two sentences are aligned, word by word, and what their scores are made of."""

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bove.bags.store import Bags, BagWriter
from bove.cli.common import (
    Progress,
    add_run_arguments,
    check_sentences,
    open_embedder,
    open_run,
    parsed,
    trees_of,
)
from bove.config.load import defaults
from bove.config.variants import Run
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.evaluate.alignment import unit_rows
from bove.evaluate.explain import (
    Explanation,
    Token,
    align,
    explanation_as_html,
    explanation_as_json,
    explanation_as_text,
    row_cosines,
)
from bove.evaluate.neighbours import (
    Neighbours,
    TokenNeighbour,
    WordNeighbour,
    find_places,
    neighbours_as_json,
    neighbours_as_text,
)
from bove.evaluate.search import nearest
from bove.factor.graphs import GraphCorpus, ranges
from bove.factor.inference import Inference, infer_batches
from bove.factor.parallel import Workers, make_batches
from bove.files import atomic_write, sha256
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import load_graphs
from bove.text.vectors import WordLookup, pretrained_rows

# The bove vectors of all tokens of a treebank, inferred once and kept in a file.

log = logging.getLogger("bove")


@dataclass(frozen=True)
class TrainingTokens:
    """Token vectors of a treebank; sentences whose graphs are equal share theirs, and count once.

    Attributes:
        vectors: [N, r], mapped.
        sentences: [N] int64, the first sentence that each vector belongs to.
        places: [N] int64, its token there.
        alike: [N] int64, how many sentences share it.
    """

    vectors: np.ndarray
    sentences: np.ndarray
    places: np.ndarray
    alike: np.ndarray


@contextmanager
def training_tokens(
    embedder: Embedder, corpus: GraphCorpus, graphs: Path, cache: Path | None, limit: int | None, threads: int
) -> Iterator[TrainingTokens]:
    """The token vectors of a treebank's graphs: from the file `cache` if it has them, else inferred.

    Args:
        corpus: the treebank's graphs. graphs: their file.
        cache: where the vectors are kept; None keeps them nowhere.
        limit: take only so many sentences, from the first; what is inferred is then not kept.

    Raises:
        BoveError: graphs of another vocabulary, or a damaged file.
    """
    identity = _identity(embedder, graphs)
    with tempfile.TemporaryDirectory() as folder:
        kept = _kept(cache, identity)
        if kept is None:
            whole = limit is None and cache is not None and _can_write(cache)
            file = cache if whole else Path(folder, "tokens.safetensors")
            some = corpus.select(slice(limit))
            if whole:
                log.info("training tokens: inferring %d sentences once, for %s", some.n_graphs, file)
            _infer(embedder, some, graphs, file, identity, threads)
            kept = Bags.open(file)
        yield _tokens(kept, limit)


def check_treebank(corpus: GraphCorpus, sentences: Sequence[Sentence], path: Path) -> None:
    """BoveError unless the graphs are of the sentences of the file `path`, by number, ids and lengths."""
    ours = list(zip(corpus.ids or [""] * corpus.n_graphs, corpus.lengths.tolist(), strict=True))
    theirs = [(sentence.id if corpus.ids else "", len(sentence.forms)) for sentence in sentences]
    if ours == theirs:
        return
    what = f"{len(theirs)} sentences, but the graphs are of {len(ours)}"
    if len(ours) == len(theirs):
        s = next(s for s, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other)
        (name, size), (other, length) = ours[s], theirs[s]
        what = f"sentence {other!r} of {length} tokens where the graphs have {name!r} of {size}"
    raise BoveError(f"{path}: {what}; give the treebank that the model was trained on")


def _identity(embedder, graphs) -> dict[str, str]:
    """What the vectors depend on."""
    settings = asdict(embedder.settings.inference)
    del settings["batch_tokens"]  # makes no difference to a vector
    return {
        "inference": json.dumps(settings, sort_keys=True),
        "graphs_sha256": sha256(graphs),
        "model_hash": embedder.model.hash,
    }


def _kept(cache, identity) -> Bags | None:
    """The file of vectors, if it is there and of this model, these graphs and settings."""
    if cache is None or not cache.is_file():
        return None
    bags = Bags.open(cache)
    if all(bags.metadata.get(name) == value for name, value in identity.items()):
        return bags
    log.info("%s: of another model or other settings, so it is made again", cache)
    return None


def _can_write(path: Path) -> bool:
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    if os.access(folder, os.W_OK):
        return True
    log.info("%s: cannot be written, so the training tokens are not kept", path)
    return False


def _infer(embedder: Embedder, corpus, graphs, file, identity, threads) -> None:
    model, settings = embedder.model, embedder.settings.inference
    infer = Inference(model, "bove", settings).solver(corpus, str(graphs))
    first, index = corpus.distinct()
    # a treebank may give an id twice, so its sentences are numbered
    numbers = [str(s) for s in range(corpus.n_graphs)]
    more = {name: value for name, value in identity.items() if name != "model_hash"}
    writer = BagWriter(file, numbers, corpus.lengths[first], index, model.rank, "bove", model.hash, more)
    with writer, Workers(threads) as workers, Progress(len(first), "sentences") as progress:
        batches = make_batches(corpus, settings.batch_tokens, model.properties.dtype, first)
        for batch, got in infer_batches(infer, batches, workers):
            writer.put_many(index[batch.graphs], got.E)
            progress.step(batch.size)


def _tokens(bags: Bags, limit: int | None) -> TrainingTokens:
    """Bags stand in the order in which their graphs first appear, so the first sentences have the first."""
    index = bags.index if limit is None else bags.index[:limit]
    _, first, alike = np.unique(index, return_index=True, return_counts=True)
    members = np.arange(len(first))
    rows, bag = ranges(bags.offsets, members)
    return TrainingTokens(
        vectors=bags.vectors[: len(rows)],
        sentences=first[bag],
        places=rows - bags.offsets[:-1][bag],
        alike=alike[bag],
    )


# `bove explain`: how two sentences are aligned, word by word, and what their scores are made of.


def register_explain(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="two sentences, as text")
    parser.add_argument("--conllu", metavar="FILE", help="instead: a file with the two sentences' trees")
    parser.add_argument("--ids", nargs=2, metavar="ID", help="which two trees of the file, by sent_id")
    parser.add_argument("--json", action="store_true", help="print JSON, with every cosine in full")
    parser.add_argument("--html", metavar="FILE", help="write a page with a heat map of every cosine")
    add_run_arguments(parser)


def run_explain(args: argparse.Namespace) -> None:
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
            stream.write(explanation_as_html(explanation))
        log.info("wrote %s", args.html)
    if args.json:
        content = explanation_as_json(explanation) | {"model_hash": embedder.model.hash}
        json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(explanation_as_text(explanation))
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


# `bove neighbours`: the training tokens nearest to a word in its sentence, and the nearest word types.


def register_neighbours(parser: argparse.ArgumentParser) -> None:
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


def run_neighbours(args: argparse.Namespace) -> None:
    """Print the neighbours of each place of the word."""
    _check_word(args)
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
        content = {"format": "bove-neighbours", "places": [neighbours_as_json(one) for one in found]}
        json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("\n\n".join(neighbours_as_text(one, searched) for one in found))
    sys.stdout.flush()


def _check_word(args) -> None:
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
