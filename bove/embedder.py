"""From text to bags of vectors in one object: text → tokens → tree → graph → bag.

Each step is also there by itself, so that trees can come from a file and graphs be looked at. The bags are
those of the stages: what `bove parse`, `bove encode` and `bove infer` make of the same sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import Inference
from bove.factor.model import Model
from bove.factor.settings import InferenceSettings
from bove.text.conll import Sentence
from bove.text.graphs import Counts, encode
from bove.text.parser import Parser
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors
from bove.text.vocabulary import Vocabulary

WORD_VECTORS = "word-vectors"


@dataclass(frozen=True)
class Bag:
    """The vectors of a sentence.

    Attributes:
        places: [n] int64, the token, from 0, that each vector is of; tokens may have none.
        vectors: [n, r] float32.
    """

    places: np.ndarray
    vectors: np.ndarray


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

    Attributes:
        vocabulary, model, vectors: what it was given.
        settings: how it embeds.
        systems: the systems whose bags it can make.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        model: Model,
        settings: Settings,
        vectors: WordVectors | None = None,
        parser: Callable[[], Parser] | None = None,
    ):
        """Put the parts together.

        Args:
            vocabulary, model: that fit together.
            vectors: pretrained; without them there are no bags of the system `word-vectors`.
            parser: makes the parser, when text is first to be parsed.

        Raises:
            BoveError: a model of another vocabulary.
        """
        if model.vocabulary_hash != vocabulary.hash:
            raise BoveError(
                f"the model has vocabulary {model.vocabulary_hash[:12]}, but the one given is "
                f"{vocabulary.hash[:12]}; give the model's own"
            )
        self.vocabulary, self.model, self.vectors, self.settings = vocabulary, model, vectors, settings
        self.systems = (*([WORD_VECTORS] if vectors is not None else []), "properties-only", "bove")
        self._make_parser, self._parser = parser, None
        self._inferences: dict[str, Inference] = {}

    def parse(self, texts: Sequence[str]) -> list[Sentence]:
        """One tree a text, named 1, 2, …

        Raises:
            BoveError: there is no parser; or a text that it can not parse.
        """
        if self._make_parser is None:
            raise BoveError("text is to be parsed, but no tagger and parser are given; give both, or trees")
        if self._parser is None:
            self._parser = self._make_parser()
        return list(self._parser.parse(texts))

    def graphs(self, sentences: Sequence[Sentence], counts: Counts | None = None) -> GraphCorpus:
        """The sentences' graphs; `counts` gets what became of tokens and arcs."""
        vectors = self.vectors if self.settings.pretrained else None
        return encode(sentences, self.vocabulary, vectors, counts)

    def known_as(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The name of each token's word property: a word, a replacement such as PUNCT or UNKNOWN_NN, "vector"
        for a word that has a pretrained vector alone, or "" for none."""
        corpus, vocabulary = self.graphs(sentences), self.vocabulary
        names = []
        for token in range(corpus.n_tokens):
            rows = corpus.properties[corpus.property_offsets[token] : corpus.property_offsets[token + 1]]
            words = [vocabulary.words[row] for row in rows if row < vocabulary.n_words]
            extra = ["vector" for row in rows if row >= vocabulary.n_properties]
            names.append((*words, *extra, "")[0])
        offsets = corpus.token_offsets.tolist()
        return [tuple(names[start:stop]) for start, stop in pairwise(offsets)]

    def bags(self, sentences: Sequence[Sentence], system: str, punctuation: bool | None = None) -> list[Bag]:
        """One bag a sentence.

        Args:
            system: one of `systems`.
            punctuation: whether bags hold its vectors, by default as the settings say.

        Raises:
            BoveError: vectors of other dimensions than the model's, or inference that diverges.
        """
        if system not in self.systems:
            raise BoveError(f"no bags of {system} can be made; there are: {', '.join(self.systems)}")
        punctuation = self.settings.punctuation if punctuation is None else punctuation
        if system == WORD_VECTORS:
            return self._looked_up(sentences, punctuation)
        corpus = self.graphs(sentences)
        first, index = corpus.distinct()
        bags = self._inference(system).tokens(corpus, "the sentences", graphs=first)
        bags = bags.astype(np.float32, copy=False)
        whole = [bags[corpus.token_offsets[s] : corpus.token_offsets[s + 1]] for s in first[index]]
        kept = [_kept(s.forms, range(len(s.forms)), punctuation) for s in sentences]
        return [Bag(places, bag[places]) for places, bag in zip(kept, whole, strict=True)]

    def _inference(self, system: str) -> Inference:
        if system not in self._inferences:
            self._inferences[system] = Inference(self.model, system, self.settings.inference)
        return self._inferences[system]

    def _looked_up(self, sentences, punctuation) -> list[Bag]:
        lookup = WordLookup(self.vocabulary, self.vectors)
        kept = [_kept(s.forms, lookup.places(s.forms), punctuation) for s in sentences]
        return [
            Bag(places, self.vectors.rows([lookup.row(sentence.forms[place]) for place in places]))
            for sentence, places in zip(sentences, kept, strict=True)
        ]


def _kept(forms, places, punctuation: bool) -> np.ndarray:
    """Those of the places whose vectors bags hold."""
    return np.array([p for p in places if punctuation or not is_punctuation(forms[p])], np.int64)
