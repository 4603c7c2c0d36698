"""From text to bags of vectors in one object: text → tokens → tree → graph → bag.

Each step can be taken by itself, so that trees can come from a file and graphs be looked at. The bags are
those that `bove parse`, `bove encode` and `bove infer` make of the same sentences.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bove.bags import BOVE, SYSTEMS, WORD_VECTORS
from bove.config.load import defaults
from bove.config.variants import Run
from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.model import Model
from bove.factor.settings import InferenceSettings, make
from bove.text.conll import Sentence
from bove.text.encoders import Components, TokenEncoder
from bove.text.graphs import Counts, encode
from bove.text.parser import CUT, NAMES, Parser
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors, word_evidence
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")


@dataclass(frozen=True)
class Bag:
    """The vectors of a sentence.

    Attributes:
        places: [n] int64, the token, from 0, that each vector is of; tokens may have none.
        vectors: [n, r] float32.
        evidence: [n] float64 of each, by which scores may weight them.
    """

    places: np.ndarray
    vectors: np.ndarray
    evidence: np.ndarray


@dataclass(frozen=True)
class Settings:
    """How sentences are embedded.

    Attributes:
        inference: how bags are inferred.
        punctuation: whether bags hold the vectors of punctuation; in inference it takes part anyway.
        pretrained: whether words that the vocabulary lacks may have a pretrained vector.
    """

    inference: InferenceSettings
    punctuation: bool = True
    pretrained: bool = True


class Embedder:
    """Makes trees, graphs and bags of sentences.

    Args:
        vocabulary, model: that fit together.
        vectors: pretrained, or what makes those of each token; without them there are no bags of the system
            `word-vectors`.
        parser: makes the parser when text is first to be parsed.

    Attributes:
        systems: the systems whose bags it can make.

    Raises:
        BoveError: a model of another vocabulary.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        model: Model,
        settings: Settings,
        vectors: WordVectors | TokenEncoder | None = None,
        parser: Callable[[], Parser] | None = None,
    ):
        if model.vocabulary_hash != vocabulary.hash:
            raise BoveError(
                f"the model has vocabulary {model.vocabulary_hash[:12]}, but the one given is "
                f"{vocabulary.hash[:12]}; give the model's own"
            )
        self.vocabulary, self.model, self.settings = vocabulary, model, settings
        self.encoder = vectors if isinstance(vectors, TokenEncoder) else None
        self.vectors = None if isinstance(vectors, TokenEncoder) else vectors
        self.systems = tuple(name for name in SYSTEMS if name != WORD_VECTORS or vectors is not None)
        self._make_parser, self._parser = parser, None
        self._inferences: dict[str, Any] = {}

    @classmethod
    def open(
        cls,
        run: Run | None,
        files: Mapping[str, str | Path] | None = None,
        how: Mapping[str, Any] | None = None,
        shown: Callable[[str], str] = str,
    ) -> "Embedder":
        """The embedder of a finished run, or of files; tagger and parser wait until there is text to parse.

        Args:
            run: without one, `files` has at least the vocabulary and the model.
            files: what goes before the run's: "vocabulary", "model", "vectors", "tagger", "parser", and what
                the last two need.
            how: settings of inference, `punctuation` and `max_tokens` that go before the run's; it may hold
                other names too.
            shown: how a message names a file or a setting.

        Raises:
            BoveError: a file that is missing or does not fit the others, or a setting that is not allowed.
        """
        files, how, config = files or {}, how or {}, run.config if run else defaults()
        vocabulary = Vocabulary.load(files.get("vocabulary") or run.file("vocabulary"))
        model = Model.load(files.get("model") or run.file("model"))
        vectors = files.get("vectors") or (run.file("vectors") if run else None)
        settings = Settings(
            make(InferenceSettings, {**config["inference"], **how}, shown),
            punctuation=how.get("punctuation", config["scoring"]["punctuation"]),
            pretrained=config["model"]["pretrained"] if run else bool(model.frozen.any()),
        )
        if vectors is None:
            log.info("no vectors are given: word vectors are left out of the comparison")
        opened: WordVectors | TokenEncoder | None = None
        if not vocabulary.has_words:
            if run is None:
                raise BoveError(f"a model over an encoder needs the run that it is of; give {shown('run')}")
            opened = TokenEncoder(run.encoder(), Components.load(vectors))
        elif vectors:
            opened = WordVectors.open(vectors)
        limit = how.get("max_tokens", config["parser"]["max_tokens"])
        return cls(vocabulary, model, settings, opened, lambda: _load_parser(run, files, limit, shown))

    def made_by(self, system: str) -> tuple[int, str]:
        """Dimensions of a system's vectors, and the hash of what makes them, as a file of bags records it."""
        if system == WORD_VECTORS and self.vectors is not None:
            return self.vectors.dimensions, self.vectors.source_sha256
        if system == WORD_VECTORS:
            return self.model.rank, ""
        return self.model.rank, self.model.hash

    def parse(self, texts: Sequence[str], each: Callable[[], object] = lambda: None) -> list[Sentence]:
        """One tree per text, named 1, 2, …; `each` is called after each of them.

        Raises:
            BoveError: there is no parser, or a text that it cannot parse.
        """
        if self._make_parser is None:
            raise BoveError("text is to be parsed, but no tagger and parser are given; give both, or trees")
        if self._parser is None:
            self._parser = self._make_parser()
        trees, cut = [], self._parser.counts[CUT]
        for tree in self._parser.parse(texts):
            trees.append(tree)
            each()
        if cut := self._parser.counts[CUT] - cut:
            log.warning("%d %s of %d tokens (parser.max_tokens)", cut, CUT, self._parser.max_tokens)
        return trees

    def graphs(self, sentences: Sequence[Sentence], counts: Counts | None = None) -> GraphCorpus:
        """The sentences' graphs; `counts` gets what became of tokens and arcs."""
        vectors = self.vectors if self.settings.pretrained else None
        own = self.encoder(sentences) if self.encoder else vectors
        return encode(sentences, self.vocabulary, own, counts)

    def known_as(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The name of each token's word property: a word, a replacement such as PUNCT or UNKNOWN_NN, "vector"
        for a word that has a pretrained vector alone, or "" for none."""
        corpus, vocabulary = self.graphs(sentences), self.vocabulary
        names = [""] * corpus.n_tokens
        tokens = np.repeat(np.arange(corpus.n_tokens), np.diff(corpus.property_offsets))
        for token, row in zip(tokens.tolist(), corpus.properties.tolist(), strict=True):
            if row < vocabulary.n_words:
                names[token] = vocabulary.words[row]
            elif row >= vocabulary.n_properties:
                names[token] = "vector"
        return [tuple(names[start:stop]) for start, stop in pairwise(corpus.token_offsets.tolist())]

    def places(
        self, sentences: Sequence[Sentence], system: str, punctuation: bool | None = None
    ) -> list[np.ndarray]:
        """The tokens [n] int64 of each sentence, from 0, that its bag has vectors of; see `bags`."""
        if system not in self.systems:
            raise BoveError(f"no bags of {system} can be made; there are: {', '.join(self.systems)}")
        punctuation = self.settings.punctuation if punctuation is None else punctuation
        words = self.vectors if system == WORD_VECTORS else None
        lookup = WordLookup(self.vocabulary, words) if words else None
        return [
            np.array([p for p in places if punctuation or not is_punctuation(forms[p])], np.int64)
            for forms in (sentence.forms for sentence in sentences)
            for places in [lookup.places(forms) if lookup else range(len(forms))]
        ]

    def bags(self, sentences: Sequence[Sentence], system: str, punctuation: bool | None = None) -> list[Bag]:
        """One bag per sentence.

        Args:
            system: one of `systems`.
            punctuation: whether bags hold its vectors, by default as the settings say.

        Raises:
            BoveError: vectors of other dimensions than the model's, or inference that diverges.
        """
        places = self.places(sentences, system, punctuation)
        if system == WORD_VECTORS:
            if self.encoder:
                _, vectors, offsets, index, _ = self.encoder(sentences)
                found = [vectors[offsets[b] + own] for b, own in zip(index, places, strict=True)]
            else:
                lookup, of = WordLookup(self.vocabulary, self.vectors), zip(sentences, places, strict=True)
                found = [self.vectors.rows([lookup.row(s.forms[p]) for p in own]) for s, own in of]
            return list(map(Bag, places, found, map(word_evidence, found)))
        if system not in self._inferences:
            from bove.factor.inference import Inference  # with SciPy's solvers, which take long to load

            self._inferences[system] = Inference(self.model, self.settings.inference, system == BOVE)
        corpus = self.graphs(sentences)
        first, index = corpus.distinct()
        E, evidence = self._inferences[system].tokens(corpus, "the sentences", graphs=first)
        starts = corpus.token_offsets[first[index]]
        return [
            Bag(own, E[start + own].astype(np.float32, copy=False), evidence[start + own])
            for own, start in zip(places, starts, strict=True)
        ]


def _load_parser(run, files, limit, shown) -> Parser:
    """Tagger and parser of the files or, where these have neither, of the run."""
    given = {name: files[name] for name in ("tagger", "parser") if name in files}
    if len(given) == 1:
        raise BoveError(f"{shown('tagger')} and {shown('parser')} belong together; give both")
    if not given and not run:
        raise BoveError(
            f"text is to be parsed: give {shown('tagger')} and {shown('parser')}, or trees with --conllu"
        )
    found = given or run.parser_files()
    further = {name: path for name, path in {**found, **files}.items() if name in NAMES}
    return Parser(found["tagger"], found["parser"], limit, further)
