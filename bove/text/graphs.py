"""Sentences to graphs: the properties W and relations X of every token, as flat arrays, and their file.

A token has its word property and, where the vocabulary has tags, its tag property. Its arc from its head
has the relation's index, unless the vocabulary has no dependencies; the arc from the artificial root is left
out. ADJACENCY, where the vocabulary has it, goes from each token to the next.
A word that the vocabulary lacks but the pretrained vectors have becomes a property of its own, beyond the
vocabulary's; failing that its property is UNKNOWN_<tag>, or UNKNOWN_ where the vocabulary has no tags.
Where each token has a vector of its own, as an encoder gives it, its word property is its own too, beyond the
vocabulary's, which then has no words; sentences of the same forms share theirs.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bove import artefacts
from bove.errors import BoveError
from bove.factor.graphs import OPTIONAL, GraphCorpus
from bove.text.conll import Sentence, read_sentences
from bove.text.vectors import WordVectors
from bove.text.vocabulary import UNKNOWN_WORD, Vocabulary

FORMAT = "bove-graphs"
_OFFSETS = ("token_offsets", "property_offsets", "arc_offsets")
_ENTRIES = ("properties", "arc_relation", "arc_head", "arc_dependent")
_ARRAYS = (*_OFFSETS, *_ENTRIES, "extra")


@dataclass
class Counts:
    """What became of tokens and arcs.

    Attributes:
        words: tokens by the route to their word property: a variant's name, NB, PUNCT, "vectors"
            (a pretrained vector outside the vocabulary), "own vectors", "UNKNOWN_" or "none".
        tags, relations: tokens and arcs by the fate of their tag or label: "kept" (has its own row),
            "rare" (the treebank had it, below the threshold) or "new" (the treebank lacks it); nothing
            where the vocabulary has them switched off.
        new_tags, new_relations: names that the treebank lacks, with their tokens and arcs.
        dropped: tags and arcs left out because the vocabulary has no row for unknown ones, by kind.
    """

    words: Counter = field(default_factory=Counter)
    tags: Counter = field(default_factory=Counter)
    relations: Counter = field(default_factory=Counter)
    new_tags: Counter = field(default_factory=Counter)
    new_relations: Counter = field(default_factory=Counter)
    dropped: Counter = field(default_factory=Counter)

    @property
    def tag_coverage(self) -> float:
        """Share of tokens whose tag the treebank has; 1 where there are none."""
        return 1 - self.tags["new"] / max(self.tags.total(), 1)

    @property
    def relation_coverage(self) -> float:
        """Share of arcs whose label the treebank has; 1 where there are none."""
        return 1 - self.relations["new"] / max(self.relations.total(), 1)


class OwnVectors(NamedTuple):
    """Vectors of the tokens of S sentences, in their order, as a file of bags has them: sentence s has the
    [n, r] rows offsets[b] : offsets[b + 1], b = index[s], of `vectors`, one for each of its tokens. Messages
    call them `name`."""

    ids: tuple[str, ...]
    vectors: np.ndarray
    offsets: np.ndarray
    index: np.ndarray
    name: str


def encode(
    sentences: Iterable[Sentence],
    vocabulary: Vocabulary,
    vectors: WordVectors | OwnVectors | None = None,
    counts: Counts | None = None,
) -> GraphCorpus:
    """Graphs of all sentences, in order; a sentence without tokens is a graph without any.

    Args:
        sentences: read once.
        vectors: pretrained vectors for words that the vocabulary lacks, or those of these sentences' tokens.
        counts: gets what became of tokens and arcs.

    Raises:
        BoveError: vectors of the tokens of other sentences, or beside a vocabulary with words.
    """
    counts = Counts() if counts is None else counts
    own = vectors if isinstance(vectors, OwnVectors) else None
    if (own is None) is not vocabulary.has_words:
        raise BoveError(
            "the vocabulary has words, beside the vectors that tokens have; make it without words"
            if own
            else "the vocabulary has no words; give the vectors of each token, or make it with words"
        )
    resolver = _Resolver(vocabulary, None if own else vectors, counts)
    flat = {name: array("q", [0]) for name in _OFFSETS} | {name: array("q") for name in _ENTRIES}
    adjacency = vocabulary.n_relations - 1 if vocabulary.options["adjacency"] else -1
    ids = []
    for sentence in sentences:
        ids.append(sentence.id)
        first = flat["token_offsets"][-1]
        _add_properties(flat, sentence, resolver, _first_row(own, len(ids) - 1, sentence) if own else -1)
        if vocabulary.has_dependencies:
            _add_arcs(flat, sentence, resolver, first)
        if adjacency >= 0:
            _add_adjacency(flat, len(sentence.forms), adjacency, first)
        flat["token_offsets"].append(first + len(sentence.forms))
        flat["arc_offsets"].append(len(flat["arc_relation"]))
    if own and len(ids) < len(own.ids):
        raise BoveError(f"{own.name}: has {len(own.ids)} sentences, not {len(ids)}; encode the same ones")
    return GraphCorpus(
        **{name: np.array(values, np.int64) for name, values in flat.items()},
        n_properties=vocabulary.n_properties,
        n_relations=vocabulary.n_relations,
        extra=own.vectors if own else resolver.extra_vectors(),
        ids=tuple(ids),
        vocabulary_hash=vocabulary.hash,
    )


def _first_row(own: OwnVectors, s: int, sentence: Sentence) -> int:
    """Row of the vector of the first token of sentence s; BoveError where it has not one for each."""
    start, end = own.offsets[own.index[s] :][:2].tolist() if own.ids[s : s + 1] == (sentence.id,) else (0, -1)
    if end - start != len(sentence.forms):
        raise BoveError(
            f"{own.name}: has not the {len(sentence.forms)} tokens of sentence {sentence.id!r} next; encode "
            "the same sentences, punctuation included"
        )
    return start


def _add_properties(flat, sentence, resolver, own: int) -> None:
    """Add the properties of a sentence's tokens, whose vectors start at row `own`, -1 without any."""
    properties, offsets = flat["properties"], flat["property_offsets"]
    for place, (form, tag) in enumerate(zip(sentence.forms, sentence.tags, strict=True)):
        word = resolver.own(own + place) if own >= 0 else resolver.word(form, tag)
        if word >= 0:
            properties.append(word)
        row = resolver.tag(tag) if resolver.vocabulary.has_tags else -1
        if row >= 0:
            properties.append(row)
        offsets.append(len(properties))


def _add_arcs(flat, sentence, resolver, first) -> None:
    for dependent, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if head > 0:
            relation = resolver.relation(label)
            if relation >= 0:
                flat["arc_relation"].append(relation)
                flat["arc_head"].append(first + head - 1)
                flat["arc_dependent"].append(first + dependent)


def _add_adjacency(flat, size, relation, first) -> None:
    flat["arc_relation"].extend([relation] * (size - 1))
    flat["arc_head"].extend(range(first, first + size - 1))
    flat["arc_dependent"].extend(range(first + 1, first + size))


class _Resolver:
    """Names to rows, each looked up once; every use is counted."""

    def __init__(self, vocabulary: Vocabulary, vectors: WordVectors | None, counts: Counts):
        self.vocabulary, self.vectors, self.counts = vocabulary, vectors, counts
        self.extra: dict[int, int] = {}  # row in the vectors → row in `extra`
        self._word = cache(self._find)
        self._tag = cache(lambda tag: (vocabulary.tag_row(tag), vocabulary.tag_fate(tag)))
        self._relation = cache(lambda name: (vocabulary.relation_row(name), vocabulary.relation_fate(name)))

    def word(self, form: str, tag: str) -> int:
        row, route = self._word(form)
        if row < 0:
            row = self.vocabulary.unknown_row(tag)
            route = UNKNOWN_WORD if row >= 0 else "none"
        self.counts.words[route] += 1
        return row

    def own(self, row: int) -> int:
        self.counts.words["own vectors"] += 1
        return self.vocabulary.n_properties + row

    def _find(self, form: str) -> tuple[int, str]:
        row, route = self.vocabulary.known_row(form)
        if row >= 0 or self.vectors is None or self.vocabulary.word_class(form):
            return row, route
        first = self.vectors.first(self.vocabulary.variants(form))
        if first < 0:
            return -1, route
        return self.vocabulary.n_properties + self.extra.setdefault(first, len(self.extra)), "vectors"

    def tag(self, tag: str) -> int:
        return self._noted(tag, *self._tag(tag), "tags")

    def relation(self, label: str) -> int:
        return self._noted(label, *self._relation(label), "relations")

    def _noted(self, name: str, row: int, fate: str, kind: str) -> int:
        getattr(self.counts, kind)[fate] += 1
        if fate == "new":
            getattr(self.counts, f"new_{kind}")[name] += 1
        if row < 0:
            self.counts.dropped["tags" if kind == "tags" else "arcs"] += 1
        return row

    def extra_vectors(self) -> np.ndarray:
        if self.vectors is None:
            return np.zeros((0, 0), np.float32)
        return self.vectors.rows(np.array(list(self.extra), np.int64))


def save_graphs(corpus: GraphCorpus, path: str | Path) -> None:
    """Write graphs atomically."""
    arrays = {name: getattr(corpus, name) for name in _ARRAYS} | corpus.optional
    arrays["ids"] = artefacts.pack_lines(corpus.ids)
    metadata = {
        "n_properties": str(corpus.n_properties),
        "n_relations": str(corpus.n_relations),
        "vocabulary_hash": corpus.vocabulary_hash,
    }
    artefacts.save(path, FORMAT, arrays, metadata)


def load_graphs(path: str | Path, part: tuple[int, int] = (0, 1)) -> GraphCorpus:
    """Read graphs.

    Args:
        part: which (from 0) of how many parts, as `GraphCorpus.part` divides; no more than that is read.

    Raises:
        BoveError: the file is missing, damaged, or holds something else.
    """
    read = artefacts.load if part == (0, 1) else artefacts.open_mapped
    found, metadata = read(path, FORMAT)
    corpus = GraphCorpus(
        **{name: found[name] for name in _ARRAYS},
        **{name: found[name] for name in OPTIONAL if name in found},
        n_properties=int(metadata["n_properties"]),
        n_relations=int(metadata["n_relations"]),
        ids=artefacts.unpack_lines(found["ids"]) if part == (0, 1) else (),
        vocabulary_hash=metadata["vocabulary_hash"],
    )
    return corpus if part == (0, 1) else corpus.part(*part)


def sentences_of(
    corpus: GraphCorpus, graphs: str | Path, paths: Sequence[str | Path], advice: str, *how: str
) -> Iterator[Sentence]:
    """The sentences of files, read as `how` says; BoveError where ids or lengths are not the graphs'."""
    due = list(zip(corpus.ids or [""] * corpus.n_graphs, corpus.lengths.tolist(), strict=True))
    number = 0
    for path in paths:
        for number, sentence in enumerate(read_sentences(path, *how), number + 1):
            size = len(sentence.forms)
            if due[number - 1 : number] != [(sentence.id if corpus.ids else "", size)]:
                there = " of ".join(map(repr, due[number - 1])) if number <= len(due) else "no more"
                found = f"sentence {sentence.id!r} of {size} tokens where {graphs} has {there}"
                raise BoveError(f"{path}: {found}; {advice}")
            yield sentence
    if number < len(due):
        known = f"{number} sentences for the {len(due)} graphs of {graphs}"
        raise BoveError(f"{', '.join(map(str, paths))}: {known}; {advice}")
