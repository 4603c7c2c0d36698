"""Late interaction: the bags of a collection that answer a query best, found exactly, block by block.

    score(bag, query) = mean over the query's vectors of the largest cosine with a vector of the bag

which is SNLI(bag, query) of `bove.evaluate.alignment`: how well the bag entails the query. A file of bags is
the index: its vectors are mapped, and one matrix product a block serves all queries.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bove.evaluate.alignment import DECIMALS, unit_rows
from bove.evaluate.nearest import BLOCK


@dataclass(frozen=True)
class Hits:
    """The best bags of one query, the best first; of bags that tie, the first comes first.

    Attributes:
        bags: [k] int64. scores: [k] float64.
    """

    bags: np.ndarray
    scores: np.ndarray


def search(
    queries: Sequence[np.ndarray], vectors: np.ndarray, offsets: np.ndarray, count: int, block: int = BLOCK
) -> list[Hits]:
    """The best bags of each query; an empty bag, and any bag for an empty query, scores 0.

    Args:
        queries: [m, r] arrays.
        vectors: [N, r], maybe mapped. offsets: [B + 1]; bag b is vectors[offsets[b] : offsets[b + 1]].
        count: how many bags to find, where there are so many.
        block: vectors at a time, unless a bag has more.
    """
    sizes = np.array([len(query) for query in queries], np.int64)
    starts = np.cumsum(sizes) - sizes
    rows = [unit_rows(query) for query in queries if len(query)]
    some = np.flatnonzero(sizes)
    targets = np.concatenate(rows) if rows else np.zeros((0, vectors.shape[1]))
    best = [(np.empty(0), np.empty(0, np.int64)) for _ in queries]
    for first, last in blocks(offsets, block):
        scores = np.zeros((last - first, len(queries)))
        bags = np.arange(first, last)
        full = np.diff(offsets[first : last + 1]) > 0
        if full.any() and len(some):
            cosines = unit_rows(vectors[offsets[first] : offsets[last]]) @ targets.T
            largest = np.maximum.reduceat(cosines, (offsets[first:last] - offsets[first])[full], axis=0)
            means = np.add.reduceat(largest, starts[some], axis=1) / sizes[some]
            scores[np.ix_(full, some)] = np.minimum(means.round(DECIMALS), 1) + 0.0
        for q, (kept, found) in enumerate(best):
            kept, found = np.concatenate([kept, scores[:, q]]), np.concatenate([found, bags])
            order = np.argsort(-kept, kind="stable")[:count]
            best[q] = kept[order], found[order]
    return [Hits(found, kept) for kept, found in best]


def search_among(
    query: np.ndarray, bag: Callable[[int], np.ndarray], candidates: np.ndarray, count: int
) -> Hits:
    """The best bags of one query among some of a collection, with the scores and the order of `search`.

    Args:
        query: [m, r].
        bag: gives the [n, r] vectors of a bag number.
        candidates: [k] bag numbers, in any order.
        count: how many bags to find, where there are so many.
    """
    # bags that tie go by number
    numbers = np.unique(np.asarray(candidates, np.int64))
    bags = [bag(b) for b in numbers.tolist()]
    offsets = np.concatenate([[0], np.cumsum([len(vectors) for vectors in bags])]).astype(np.int64)
    vectors = np.concatenate(bags) if bags else np.zeros((0, query.shape[1]))
    (hits,) = search([query], vectors, offsets, count)
    return Hits(numbers[hits.bags], hits.scores)


def blocks(offsets: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """(first, last) bag of blocks of at most `size` vectors, or of one bag with more."""
    first, bags = 0, len(offsets) - 1
    while first < bags:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = min(max(last, first + 1), bags)
        yield first, last
        first = last
