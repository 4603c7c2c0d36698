"""Sentences of your own through a finished run: `load` it, then bags, scores and search of any texts."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing, nullcontext
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from bove.api.corpus import check_pool, pooled, shown
from bove.bags import BOVE
from bove.bags.store import Bags
from bove.config.variants import Run
from bove.embedder import Bag, Embedder
from bove.errors import BoveError, BoveWarning
from bove.evaluate.alignment import DECIMALS, NONE, check_weighting, token_weights
from bove.evaluate.search import BagIndex, Counting, answers, entailments, ranked, search
from bove.factor.graphs import offsets_of
from bove.text.conll import Sentence
from bove.text.pairs import read_pairs
from bove.text.vocabulary import UNKNOWN_WORD

# Cosines that are in memory at once, 8 bytes each.
_CELLS = 1 << 24


class Hit(NamedTuple):
    """A sentence that answers a query: `pandas.DataFrame` of a list of them is a table.

    Attributes:
        rank: from 1. score: how well the sentence entails the query. text: the sentence.
    """

    rank: int
    score: float
    text: str


def load(run: str | PathLike[str], variant: str = "") -> "TextModel":
    """A finished run, ready for sentences of your own. The parser is loaded when it is first needed.

    Args:
        run: its folder, such as "results/demo", or the file that `bove pack` made of it.
        variant: folder of a variant below it, such as "ablations/no-relations".

    Raises:
        BoveError: no run, one that is not finished, or files that do not fit together.
    """
    return TextModel(Embedder.open(Run.open(Path(run), variant)))


class TextModel:
    """A run's parser and model. One text is one bag, also where it holds several sentences or none.

    What was parsed last is kept, so that asking for the tokens, the bags and the scores of the same texts
    takes one parse. Words that neither the treebank nor the word vectors have are counted in a warning
    (`BoveWarning`); their vectors come from their tag and their place in the tree.

    Attributes:
        systems: the systems whose bags it makes.
    """

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self.systems = embedder.systems
        self._trees = lru_cache(4)(self._parsed)
        self._kept = lru_cache(2)(self._bags)

    @overload
    def encode(self, texts: Iterable[str], system: str = ..., pool: None = ...) -> list[np.ndarray]: ...
    @overload
    def encode(
        self, texts: Iterable[str], system: str = ..., *, pool: Literal["mean", "gram", "both"]
    ) -> np.ndarray: ...
    def encode(
        self, texts: Iterable[str], system: str = BOVE, pool: str | None = None
    ) -> list[np.ndarray] | np.ndarray:
        """The bags of texts: those that the run's own stages make of the same texts.

        Args:
            texts: any number of them; one without a word has an empty bag.
            system: one of `systems`.
            pool: None, "mean", "gram" or "both".

        Returns:
            A float32 array [n, r] for each text, its rows the vectors of `tokens`; with `pool` one array
            with a row for each text, as `BoVE` says: [len(texts), r] for their means.

        Raises:
            BoveError: something that is not a text, no parser, or no such system.
        """
        check_pool(pool)
        bags = [bag.vectors for bag in self._bags(_texts(texts), system)]
        return bags if pool is None else pooled(bags, self._rank(system), pool)

    def tokens(self, texts: Iterable[str], system: str = BOVE) -> list[list[str]]:
        """The tokens that the vectors of `encode` are of; a system may have none for some tokens.

        Raises:
            BoveError: as `encode` does.
        """
        trees = self._trees(_texts(texts))
        places = self._embedder.places(trees, system)
        return [[tree.forms[p] for p in own] for tree, own in zip(trees, places, strict=True)]

    @overload
    def similarity(  # type: ignore[overload-overlap]  # a text is an iterable of texts too
        self, first: str, second: str, system: str = ..., *, weight: str = ..., power: float = ...
    ) -> float: ...
    @overload
    def similarity(
        self, first: Iterable[str], second: Iterable[str], system: str = ..., *,
        weight: str = ..., power: float = ...,
    ) -> np.ndarray: ...  # fmt: skip
    def similarity(
        self, first: Iterable[str], second: Iterable[str], system: str = BOVE, *,
        weight: str = NONE, power: float = 1.0,
    ) -> float | np.ndarray:  # fmt: skip
        """STS of each first text with each second one; see `bove.similarity_score`.

        Args:
            first, second: two texts, or two lists of them.
            weight: what each token counts by: "none", all alike; the "length" of its vector; or its
                "evidence".
            power: of these weights, above 0.

        Returns:
            A float for two texts, or else [len(first), len(second)].

        Raises:
            BoveError: as `encode` does; or no such weight or power.
        """
        forward, backward = self._directions(first, second, system, weight, power)
        total = forward + backward
        scores = np.divide(2 * forward * backward, total, out=np.zeros_like(total), where=total > 0)
        return _single(np.minimum(scores.round(DECIMALS), 1) + 0.0, first, second)

    @overload
    def entailment(  # type: ignore[overload-overlap]  # a text is an iterable of texts too
        self, first: str, second: str, system: str = ..., *, weight: str = ..., power: float = ...
    ) -> float: ...
    @overload
    def entailment(
        self, first: Iterable[str], second: Iterable[str], system: str = ..., *,
        weight: str = ..., power: float = ...,
    ) -> np.ndarray: ...  # fmt: skip
    def entailment(
        self, first: Iterable[str], second: Iterable[str], system: str = BOVE, *,
        weight: str = NONE, power: float = 1.0,
    ) -> float | np.ndarray:  # fmt: skip
        """SNLI of each first text with each second one, how well the first entails the second.

        For arguments, result and errors see `similarity`; for the score `bove.entailment_score`.
        """
        return _single(self._directions(first, second, system, weight, power)[0], first, second)

    def search(
        self, query: str, texts: Iterable[str] | str | PathLike[str], top: int = 10, system: str = BOVE, *,
        weight: str = NONE, power: float = 1.0,
    ) -> list[Hit]:  # fmt: skip
        """The texts that answer a query best: those that entail it best, as `bove search` ranks them.

        Args:
            texts: a list of them; or the path of an index, or of a file of bags, whose system counts.
            top: how many to find, where there are so many.
            weight, power: as of `similarity`.

        Raises:
            BoveError: as `similarity` does; or a file of another model, or one without evidence.
        """
        if top < 1:
            raise BoveError(f"top {top}: must be at least 1")
        check_weighting(weight, power)
        if isinstance(texts, str | PathLike):
            return self._search_file(query, Path(texts), top, weight, power)
        given = _texts(texts)
        (asked,), bags = self._bags(_texts([query]), system), self._kept(given, system)
        weights, counts = _weights([asked], weight, power), _counting(bags, weight, power)
        vectors, offsets = joined(bags, self._rank(system))
        (hits,) = search([asked.vectors], vectors, offsets, top, weights=weights, counts=counts)
        order = ranked(hits, np.arange(len(given)), top)
        return [Hit(rank, score, given[s]) for rank, (s, score) in enumerate(order, 1)]

    def _search_file(self, query: str, path: Path, top: int, weight: str, power: float) -> list[Hit]:
        with closing(BagIndex.open(path)) if path.is_dir() else nullcontext() as index:
            bags = index.bags if index else Bags.open(path)
            system = bags.system or BOVE
            bags.check_model(*self._embedder.made_by(system), "the run")
            (asked,) = self._bags(_texts([query]), system)
            (hits,) = answers([(asked.vectors, asked.evidence)], bags, index, top, weight, power)
        texts = texts_of(bags) or dict(zip(bags.ids, bags.ids, strict=True))
        order = enumerate(ranked(hits, bags.index, top), 1)
        return [Hit(rank, score, texts.get(bags.ids[s], bags.ids[s])) for rank, (s, score) in order]

    def _parsed(self, texts: tuple[str, ...]) -> list[Sentence]:
        trees = self._embedder.parse(texts)
        known = self._embedder.known_as(trees)
        unknown = Counter(
            form
            for tree, names in zip(trees, known, strict=True)
            for form, name in zip(tree.forms, names, strict=True)
            if not name or name.startswith(UNKNOWN_WORD)
        )
        if unknown:
            said = f"{unknown.total()} tokens are words that neither treebank nor word vectors have"
            warnings.warn(f"{said}: {shown(unknown)}", BoveWarning, stacklevel=4)
        return trees

    def _bags(self, texts: tuple[str, ...], system: str) -> list[Bag]:
        return self._embedder.bags(self._trees(texts), system)

    def _directions(
        self, first: Any, second: Any, system: str, weight: str, power: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """SNLI of each first text with each second one, and the other way round, both [first, second]."""
        check_weighting(weight, power)
        sides = [_texts([side] if isinstance(side, str) else side) for side in (first, second)]
        bags = [self._kept(side, system) for side in sides]
        how = self._rank(system), weight, power
        return _entailments(bags[0], bags[1], *how), _entailments(bags[1], bags[0], *how).T

    def _rank(self, system: str) -> int:
        return self._embedder.made_by(system)[0]


def _weights(bags: Sequence[Bag], weight: str, power: float) -> list[np.ndarray | None]:
    return [token_weights(weight, power, bag.vectors, bag.evidence) for bag in bags]


def _counting(bags: Sequence[Bag], weight: str, power: float) -> Counting | None:
    """What says which vectors of some bags, one after another, have a weight; None where all do."""
    if weight == NONE:
        return None
    weights = [own for own in _weights(bags, weight, power) if own is not None]
    return (np.concatenate([np.zeros(0), *weights]) > 0).__getitem__


def _entailments(
    first: Sequence[Bag], second: Sequence[Bag], rank: int, weight: str, power: float
) -> np.ndarray:
    """[len(first), len(second)] SNLI of each first bag with each second one."""
    queries = [bag.vectors for bag in second]
    block = max(1, _CELLS // max(1, sum(map(len, queries))))
    weights, counts = _weights(second, weight, power), _counting(first, weight, power)
    vectors, offsets = joined(first, rank)
    parts = entailments(queries, vectors, offsets, block, weights, counts)
    return np.concatenate([np.zeros((0, len(second))), *(scores for _, scores in parts)])


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise BoveError("a single text is given; give a list of texts")
    given = tuple(texts)
    for number, text in enumerate(given, 1):
        if not isinstance(text, str):
            raise BoveError(f"text {number} is {text!r}; give texts alone")
    return tuple(map(str, given))


def _single(scores: np.ndarray, first: Any, second: Any) -> float | np.ndarray:
    """The scores, or the only one of two texts."""
    return float(scores[0, 0]) if isinstance(first, str) and isinstance(second, str) else scores


def joined(bags: Sequence[Bag], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors [N, r] of some bags, and [len(bags) + 1] offsets."""
    vectors = [np.zeros((0, rank), np.float32), *(bag.vectors for bag in bags)]
    return np.concatenate(vectors), offsets_of(np.array([len(bag.vectors) for bag in bags], np.int64))


def texts_of(bags: Bags) -> dict[str, str]:
    """Sentence by id: of the file of bags, or of the pairs of the run that the file lies in; else none."""
    if bags.texts is not None:
        return dict(zip(bags.ids, bags.texts, strict=True))
    run = next((path for path in bags.path.absolute().parents if (path / "config.yaml").is_file()), None)
    if run is None or not (pairs := run / "pairs" / f"{bags.path.stem}.jsonl").is_file():
        return {}
    return {name: text for pair in read_pairs(pairs) for name, text in pair.sentences.items()}
