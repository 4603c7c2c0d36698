"""`bove explain`: how two sentences are aligned, word by word. `bove neighbours`: what is near to a word."""

import argparse
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bove.bags import BOVE, PROPERTIES_ONLY, TOKENS
from bove.bags.store import Bags, BagWriter
from bove.cli.common import (
    Progress,
    add_run_arguments,
    add_weights,
    check_sentences,
    named_pairs,
    open_embedder,
    open_run,
    parsed,
    trees_of,
    weighting,
)
from bove.config.load import defaults
from bove.config.variants import Run, encoder_systems
from bove.embedder import Bag, Embedder
from bove.errors import BoveError
from bove.evaluate import explain, neighbours
from bove.evaluate.alignment import NONE, token_weights, unit_rows
from bove.evaluate.search import nearest
from bove.factor.graphs import GraphCorpus, ranges
from bove.factor.inference import Inference, infer_batches
from bove.factor.parallel import Workers, make_batches
from bove.files import atomic_write, sha256
from bove.text.conll import Sentence
from bove.text.graphs import load_graphs, sentences_of
from bove.text.pairs import Pair, read_pairs
from bove.text.vectors import WordLookup, pretrained_rows

log = logging.getLogger("bove")


def _sentences(args, embedder: Embedder, texts: list[str], names: list[str]) -> list[Sentence]:
    """Trees that --conllu names or, without it, those of the texts; BoveError for one without words."""
    if args.ids and not args.conllu:
        raise BoveError("--ids names trees of a file; give the file with --conllu")
    if args.conllu:
        sentences = trees_of(args.conllu, args.ids, len(names))
        names = [f"tree {sentence.id}" for sentence in sentences]
    else:
        sentences = parsed(embedder, texts)
    check_sentences(embedder, sentences, names)
    return sentences


def _print_json(content: dict) -> None:
    print(json.dumps(content, ensure_ascii=False, indent=1))


# --- bove explain


def register_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="two sentences, as text")
    parser.add_argument("--conllu", metavar="FILE", help="instead: a file with the two sentences' trees")
    parser.add_argument("--ids", nargs=2, metavar="ID", help="which two trees of the file, by sent_id")
    parser.add_argument("--pair", nargs=2, metavar=("DATASET", "ID"),
        help="instead: a pair of the run's data set; of roles, with the exchanged sentence too")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON, with every cosine in full")
    parser.add_argument("--html", metavar="FILE", help="write a page with a heat map of every cosine")
    add_weights(parser)
    add_run_arguments(parser)


def run_explain(args: argparse.Namespace) -> None:
    """Print the alignment of two sentences under each system; of a probe of roles, of both its pairs."""
    if sum(map(bool, (args.sentences, args.conllu, args.pair))) > 1:
        raise BoveError("give two sentences as text, or their trees with --conllu, or --pair, not both")
    if not (args.conllu or args.pair) and len(args.sentences) != 2:
        given = len(args.sentences)
        raise BoveError(f"{given} given, but two sentences are needed; put each in quotation marks")
    run = open_run(args)
    weight, power = weighting(args, run)
    pair, sentences = _pair(args, run) if args.pair else (None, None)
    embedder = open_embedder(args, run)
    encoded = _encoded(run, embedder, args.pair[0], sentences) if pair else {}
    if pair is None:
        sentences = _sentences(args, embedder, args.sentences, ["the first sentence", "the second sentence"])
        texts = args.sentences or [" ".join(sentence.forms) for sentence in sentences]
    else:
        texts = list(pair.sentences.values())
        check_sentences(embedder, sentences, [f"sentence {name}" for name in pair.sentences])
    # the first sentence with the second and, of a probe of roles, with the exchanged one
    shown = [
        _explained(
            embedder,
            [sentences[0], sentences[other]],
            [texts[0], texts[other]],
            weight,
            power,
            {system: [bags[0], bags[other]] for system, bags in encoded.items()},
        )
        for other in range(1, len(sentences))
    ]
    if args.html:
        with atomic_write(args.html) as stream:
            stream.write(explain.as_html(*shown))
        log.info("wrote %s", args.html)
    if args.json:
        found, *exchanged = map(explain.as_json, shown)
        more = {"exchanged": exchanged[0]} if exchanged else {}
        _print_json(found | more | {"model_hash": embedder.model.hash})
    else:
        more = [explain.margins_text(*shown)] if len(shown) > 1 else []
        print("\n".join([*map(explain.as_text, shown), *more]), end="")


def _pair(args, run: Run | None) -> tuple[Pair, list[Sentence]]:
    """A scored pair of the run, and the trees of its sentences."""
    if run is None:
        raise BoveError("--pair names a pair of a run; give --run too")
    if args.ids:
        raise BoveError("--ids names trees of a file, not of a pair; leave it out")
    dataset, name = args.pair
    pairs, trees = run.dataset(dataset)
    (pair,) = named_pairs(pairs, read_pairs(pairs), [name])
    return pair, trees_of(str(trees), list(pair.sentences), len(pair.sentences))


def _encoded(run: Run, embedder, dataset: str, sentences: Sequence[Sentence]) -> dict[str, list[Bag]]:
    """The bags of the sentences' tokens that the run has of encoders, by system."""
    found, punctuation = {}, run.config["scoring"]["punctuation"]
    places = embedder.places(sentences, BOVE, punctuation)
    for system in encoder_systems(run.config):
        path = run.path / "bags" / system / f"{dataset}.safetensors"
        if system.endswith(TOKENS) and path.is_file():
            bags = Bags.open(path)
            found[system] = [
                Bag(own, bags[sentence.id], bags.evidence_of(bags.bag_of(sentence.id)))
                for own, sentence in zip(places, sentences, strict=True)
            ]
    return found


def _explained(
    embedder, sentences: list[Sentence], texts: list[str], weight, power, encoded: dict[str, list[Bag]]
) -> explain.Explanation:
    """Align two sentences, shown as these texts, under every system of the embedder and of those encoded."""
    alignments, bags = {}, {system: embedder.bags(sentences, system) for system in embedder.systems} | encoded
    for system, (first, second) in bags.items():
        both = [token_weights(weight, power, bag.vectors, bag.evidence) for bag in bags[system]]
        weights = None if weight == NONE else tuple(both)
        places = first.places, second.places
        alignments[system] = explain.align(first.vectors, second.vectors, places, weights)
    own = tuple(
        explain.row_cosines(plain.vectors, moved.vectors)
        for plain, moved in zip(bags[PROPERTIES_ONLY], bags[BOVE], strict=True)
    )
    tokens = tuple(
        tuple(map(explain.Token, s.forms, s.tags, s.relations, s.heads, names))
        for s, names in zip(sentences, embedder.known_as(sentences), strict=True)
    )
    return explain.Explanation(tuple(texts), tokens, alignments, own, weight, power)


# --- bove neighbours


def register_neighbours(parser: argparse.ArgumentParser) -> None:
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
    add("--cache", metavar="FILE", help="keeps the training tokens' vectors (default: with the run)")
    add_run_arguments(parser)


def run_neighbours(args: argparse.Namespace) -> None:
    """Print the training tokens and the word types nearest to each place of a word in its sentence."""
    if (args.sentence is None) == (args.conllu is None):
        raise BoveError("give the sentence as text with --in, or its tree with --conllu")
    for name in ("top", "limit"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise BoveError(f"--{name} {value}: must be at least 1")
    run = open_run(args)
    embedder = open_embedder(args, run)
    if run is None and not (args.graphs and args.treebank):
        raise BoveError("without --run, give --graphs and --treebank too, for the training tokens")
    (sentence,) = _sentences(args, embedder, [args.sentence], ["the sentence"])
    places = neighbours.find_places(args.word, sentence.forms)
    if not places:
        raise BoveError(f"{args.word!r} is not in the sentence; its words are: {' '.join(sentence.forms)}")
    graphs, cache = Path(args.graphs or run.file("graphs")), Path(args.cache) if args.cache else None
    if cache is None and run is not None and not (args.model or args.graphs):
        cache = run.path / run.variant.folder / "neighbours" / "train.safetensors"
    corpus = load_graphs(graphs)
    training = _training(args, run, graphs, corpus)
    with training_tokens(embedder, corpus, graphs, cache, args.limit, args.threads) as tokens:
        found = _find(args, embedder, sentence, places, tokens, training)
        distinct = len(np.unique(tokens.sentences))
        searched = f"{len(tokens.vectors):,} tokens of {distinct:,} different training sentences"
    if args.json:
        _print_json({"format": "bove-neighbours", "places": [asdict(one) for one in found]})
    else:
        print("\n\n".join(neighbours.as_text(one, searched) for one in found), end="")


def _training(args, run: Run | None, graphs: Path, corpus: GraphCorpus) -> list[Sentence]:
    """The sentences of the treebank; BoveError unless the graphs are of them."""
    path = args.treebank or run.treebank()
    section = (run.config if run else defaults())["treebank"]
    columns, encoding = args.columns or section["columns"], args.encoding or section["encoding"]
    advice = "give the treebank that the model was trained on"
    return list(sentences_of(corpus, graphs, [path], advice, columns, encoding))


def _find(args, embedder: Embedder, sentence, places, tokens, training) -> list[neighbours.Neighbours]:
    """The neighbours of each place."""
    (bag,) = embedder.bags([sentence], BOVE, punctuation=True)
    allowed = None
    if args.other_words:
        own = {sentence.forms[place].casefold() for place in places}
        pairs = zip(tokens.sentences.tolist(), tokens.places.tolist(), strict=True)
        allowed = np.array([training[s].forms[place].casefold() not in own for s, place in pairs], bool)
    near = nearest(bag.vectors[places], tokens.vectors, args.top, allowed)
    lookup = WordLookup(embedder.vocabulary, embedder.vectors) if embedder.vectors else None
    found = []
    for place, hits in zip(places, near, strict=True):
        form = sentence.forms[place]
        listed = []
        for row, cosine in zip(hits.numbers.tolist(), hits.scores.tolist(), strict=True):
            other, at = training[tokens.sentences[row]], int(tokens.places[row])
            word_cosine, alike = _word_cosine(lookup, form, other.forms[at]), int(tokens.alike[row])
            listed.append(neighbours.TokenNeighbour(cosine, word_cosine, other.id, other.forms, at, alike))
        words = _word_neighbours(embedder, lookup, form, args.top)
        found.append(neighbours.Neighbours(sentence.forms, place, tuple(listed), words))
    return found


def _word_cosine(lookup, *forms: str) -> float | None:
    """The cosine of two words' own vectors; None where one has none."""
    rows = [lookup.row(form) for form in forms] if lookup else [-1]
    if min(rows) < 0:
        return None
    first, second = unit_rows(lookup.vectors.rows(rows))
    return float(np.clip(first @ second, -1, 1))


def _word_neighbours(embedder, lookup, form: str, count: int) -> tuple[neighbours.WordNeighbour, ...] | None:
    """The words of the vocabulary nearest to a form by their own vectors; None where it has none."""
    if lookup is None or lookup.row(form) < 0:
        return None
    own, vectors = lookup.row(form), embedder.vectors
    rows = np.unique(pretrained_rows(embedder.vocabulary, vectors))
    rows = rows[(rows >= 0) & (rows != own)]
    (near,) = nearest(vectors.rows([own]), vectors.rows(rows), count)
    return tuple(
        neighbours.WordNeighbour(vectors.word(rows[row]), float(cosine))
        for row, cosine in zip(near.numbers, near.scores, strict=True)
    )


# --- the vectors of all tokens of a treebank, inferred once and kept in a file


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
    """The `bove` vectors of a treebank's tokens: from the file `cache` if it has them, else inferred.

    With a limit only so many sentences are taken, from the first; what is inferred is then not kept.

    Raises:
        BoveError: graphs of another vocabulary, or a damaged file.
    """
    settings = asdict(embedder.settings.inference)
    del settings["batch_tokens"]  # makes no difference to a vector
    made_from = {"inference": json.dumps(settings, sort_keys=True), "graphs_sha256": sha256(graphs)}
    bags = Bags.open(cache) if cache is not None and cache.is_file() else None
    if bags is not None:
        identity = {**made_from, "model_hash": embedder.model.hash}
        if any(bags.metadata.get(name) != value for name, value in identity.items()):
            log.info("%s: of another model or other settings, so it is made again", cache)
            bags = None
    with tempfile.TemporaryDirectory() as folder:
        if bags is None:
            whole = limit is None and cache is not None
            if whole and not os.access(next(filter(Path.is_dir, cache.absolute().parents)), os.W_OK):
                log.info("%s: cannot be written, so the training tokens are not kept", cache)
                whole = False
            file = cache if whole else Path(folder, "tokens.safetensors")
            some = corpus.select(slice(limit))
            if whole:
                log.info("training tokens: inferring %d sentences once, for %s", some.n_graphs, file)
            _infer(embedder, some, graphs, file, made_from, threads)
            bags = Bags.open(file)
        # bags stand in the order in which their graphs first appear, so the first sentences have the first
        _, first, alike = np.unique(bags.index[:limit], return_index=True, return_counts=True)
        rows, bag = ranges(bags.offsets, np.arange(len(first)))
        places = rows - bags.offsets[:-1][bag]
        yield TrainingTokens(bags.vectors[: len(rows)], first[bag], places, alike[bag])


def _infer(embedder: Embedder, corpus: GraphCorpus, graphs: Path, file: Path, made_from, threads) -> None:
    """Write the bags of all sentences, which are numbered, since a treebank may give an id twice."""
    model, settings = embedder.model, embedder.settings.inference
    infer = Inference(model, settings).solver(corpus, str(graphs))
    first, index = corpus.distinct()
    numbers = [str(s) for s in range(corpus.n_graphs)]
    writer = BagWriter(file, numbers, corpus.lengths[first], index, model.rank, BOVE, model.hash, made_from)
    with writer, Workers(threads) as workers, Progress(len(first), "sentences") as progress:
        batches = make_batches(corpus, settings.batch_tokens, model.properties.dtype, first)
        for batch, got in infer_batches(infer, batches, workers):
            writer.put_many(index[batch.graphs], got.E)
            progress.step(batch.size)
