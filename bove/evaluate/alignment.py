"""Scores of sentence pairs from the best alignment of their bags' vectors.

    SNLI(S1, S2) = mean over j in S2 of max over i in S1 of cos(S1_i, S2_j)
    STS(S1, S2)  = 2 a b / (a + b) with a = SNLI(S1, S2), b = SNLI(S2, S1)

What the formulas leave open: a zero vector has cosine 0 with every vector; an empty bag scores 0; STS is 0
where a + b is not positive. A pair with one direction that is not positive is counted, because the fraction
is not a mean there and may be large.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bove.errors import BoveError

# Scores that differ by rounding alone must tie, whatever the order of summation: average precision jumps
# where a tie breaks. The vectors are single precision, so 12 decimals lose nothing.
DECIMALS = 12
# Beyond these a vector's square is 0 or infinite, though the vector is not.
_SMALL, _LARGE = 1e-150, 1e150


@dataclass(frozen=True)
class Alignments:
    """Scores of n pairs.

    Attributes:
        values: [n] float64 scores.
        empty: [n] bool, a bag of the pair has no vectors, so that the score is 0.
        opposed: [n] bool, a direction of a similarity, with vectors on both sides, is not positive.
    """

    values: np.ndarray
    empty: np.ndarray
    opposed: np.ndarray


def unit_rows(bag: np.ndarray) -> np.ndarray:
    """[n, r] float64, the bag's vectors scaled to length 1; zero vectors stay zero."""
    bag = np.asarray(bag, np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", bag, bag))
    odd = ~((norms > _SMALL) & (norms < _LARGE))
    if odd.any():
        largest = np.abs(bag[odd]).max(axis=1, initial=0)
        bag = bag.copy()
        bag[odd] /= np.where(largest > 0, largest, 1)[:, None]
        norms[odd] = np.sqrt(np.einsum("ij,ij->i", bag[odd], bag[odd]))
    return bag / np.where(norms > 0, norms, 1)[:, None]


def bag_of(bag: Any, rank: int | None = None) -> np.ndarray:
    """A bag [n, r] as an array; of any width where the rank is None.

    Raises:
        BoveError: not a table of finite numbers, or one of another width than the rank.
    """
    try:
        array = np.asarray(bag)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise BoveError(
            "not a bag: give an array of finite numbers with one row per node, as transform returns"
        )
    if rank is not None and array.shape[1] != rank:
        raise BoveError(f"a bag of vectors of {array.shape[1]} dimensions, but the model has rank {rank}")
    return array


def entailment_score(first: Any, second: Any) -> float:
    """SNLI(S1, S2), how well the first bag entails the second; 0 where either is empty.

    The mean over the second bag's vectors of the largest cosine with one of the first's.

    Args:
        first, second: [n, r] and [m, r] bags.

    Raises:
        BoveError: not a bag, or bags of different widths.
    """
    return _rounded(_directions(*_units(first, second))[0])


def similarity_score(first: Any, second: Any) -> float:
    """STS(S1, S2), the harmonic mean of both directions of `entailment_score`, the same in either order.

    It is 0 where a bag is empty or the sum of both directions is not positive.

    Args:
        first, second: [n, r] and [m, r] bags.

    Raises:
        BoveError: not a bag, or bags of different widths.
    """
    return _rounded(_harmonic_mean(*_directions(*_units(first, second))))


def _units(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    bags = bag_of(first), bag_of(second)
    if all(map(len, bags)) and bags[0].shape[1] != bags[1].shape[1]:
        raise BoveError(
            f"bags of vectors of {bags[0].shape[1]} and of {bags[1].shape[1]} dimensions; use one model"
        )
    return unit_rows(bags[0]), unit_rows(bags[1])


def score_pairs(
    first: Sequence[int], second: Sequence[int], bag: Callable[[int], np.ndarray], task: str
) -> Alignments:
    """Score pairs of numbered bags, each read and normalised once and dropped after its last pair.

    Args:
        first, second: [n] bag number of each side.
        bag: gives the [n, r] vectors of a bag number.
        task: "similarity" or "entailment".
    """
    left = Counter(first) + Counter(second)
    held: dict[int, np.ndarray] = {}

    def take(b):
        if b not in held:
            held[b] = unit_rows(bag(b))
        left[b] -= 1
        return held[b] if left[b] else held.pop(b)

    values, empty, opposed = np.zeros(len(first)), np.zeros(len(first), bool), np.zeros(len(first), bool)
    for p, (b, c) in enumerate(zip(first, second, strict=True)):
        sides = take(b), take(c)
        empty[p] = not (len(sides[0]) and len(sides[1]))
        forward, backward = _directions(*sides)
        if task == "similarity":
            values[p] = _rounded(_harmonic_mean(forward, backward))
            opposed[p] = min(forward, backward) <= 0 and not empty[p]
        else:
            values[p] = _rounded(forward)
    return Alignments(values, empty, opposed)


def score_probes(
    first: Sequence[int], second: Sequence[int], exchanged: Sequence[int], bag: Callable[[int], np.ndarray]
) -> Alignments:
    """Margins SNLI(S1, S2) - SNLI(S1, S3) of probes of roles, 0 where both are equal but for rounding.

    Args:
        first, second, exchanged: [n] bag number of each sentence.
        bag: as in `score_pairs`.
    """
    others = np.stack([second, exchanged], axis=1).ravel()
    found = score_pairs(np.repeat(first, 2).tolist(), others.tolist(), bag, "entailment")
    values, empty = found.values.reshape(-1, 2), found.empty.reshape(-1, 2).any(axis=1)
    # scores equal but for rounding may differ in the last of their decimals
    margins = np.round(values[:, 0] - values[:, 1], DECIMALS - 1) + 0.0
    return Alignments(margins, empty, np.zeros(len(empty), bool))


def _directions(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """SNLI(S1, S2) and SNLI(S2, S1) of bags of unit vectors."""
    if not (len(first) and len(second)):
        return 0.0, 0.0
    cosines = first @ second.T
    return float(cosines.max(axis=0).mean()), float(cosines.max(axis=1).mean())


def _harmonic_mean(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def _rounded(score: float) -> float:
    return min(1.0, round(score, DECIMALS)) + 0.0
