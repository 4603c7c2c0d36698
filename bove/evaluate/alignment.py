"""Scores of sentence pairs from the best alignment of their bags' vectors.

    SNLI(S1, S2) = mean over j in S2 of max over i in S1 of cos(S1_i, S2_j)
    STS(S1, S2)  = 2 a b / (a + b) with a = SNLI(S1, S2), b = SNLI(S2, S1)

What the formulas leave open: a zero vector has cosine 0 with every vector; an empty bag scores 0; STS is 0
where a + b is not positive. A pair with one direction that is not positive is counted, because the fraction
is not a mean there and may be large.

With weights w of the tokens the mean is a weighted one,

    SNLI_w(S1, S2) = sum over j in S2 of w_j max over i in S1 of cos(S1_i, S2_j), over the sum of all w_j,

and STS_w the harmonic mean of both directions as before. Equal weights give the paper's scores. A token of
weight 0 changes nothing: it is nobody's partner either, and a bag of such tokens alone is empty.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bove.errors import BoveError, finite

# Scores that differ by rounding alone must tie, whatever the order of summation: average precision jumps
# where a tie breaks. The vectors are single precision, so 12 decimals lose nothing.
DECIMALS = 12
WEIGHTS = NONE, LENGTH, EVIDENCE = ("none", "length", "evidence")
# Beyond these a vector's square is 0 or infinite, though the vector is not.
_SMALL, _LARGE = 1e-150, 1e150


@dataclass(frozen=True)
class Alignments:
    """Scores of n pairs.

    Attributes:
        values: [n] float64 scores.
        empty: [n] bool, a bag of the pair has no vectors, so that the score is 0.
        opposed: [n] bool, a direction of a similarity, with vectors on both sides, is not positive.
        weightless: tokens without weight in the bags of these pairs, which take no part.
    """

    values: np.ndarray
    empty: np.ndarray
    opposed: np.ndarray
    weightless: int = 0


class Side(NamedTuple):
    """A bag ready to be aligned: unit vectors [n, r], and weights [n] of sum 1, or None for equal ones."""

    units: np.ndarray
    weights: np.ndarray | None = None


def unit_rows(bag: np.ndarray) -> np.ndarray:
    """[n, r] float64, the bag's vectors scaled to length 1; zero vectors stay zero."""
    bag = np.array(bag, np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", bag, bag))
    odd = ~((norms > _SMALL) & (norms < _LARGE))
    if odd.any():
        largest = np.abs(bag[odd]).max(axis=1, initial=0)
        bag[odd] /= np.where(largest > 0, largest, 1)[:, None]
        norms[odd] = np.sqrt(np.einsum("ij,ij->i", bag[odd], bag[odd]))
    bag /= np.where(norms > 0, norms, 1)[:, None]  # in place, since a second array of its size is slow to get
    return bag


def _harmonic_mean(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def _less_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n, m], the Euclidean distances with a minus."""
    from scipy.spatial.distance import cdist

    return -cdist(first, second)


def _unit_ends(bag: np.ndarray) -> np.ndarray:
    """[n, 2 r + 1] float64, the rows of `arcs` with both vectors of length 1."""
    r = bag.shape[1] // 2
    return np.hstack([unit_rows(bag[:, :r]), unit_rows(bag[:, r:-1]), np.asarray(bag[:, -1:], np.float64)])


def _near_arcs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n, m], at least 0: words by cosine, arcs by both ends and label; 0 for a word and an arc."""
    r = first.shape[1] // 2
    heads, dependents = first[:, :r] @ second[:, :r].T, first[:, r:-1] @ second[:, r:-1].T
    labels, others = first[:, -1:], second[:, -1:].T
    words = (labels < 0) & (others < 0)
    return np.maximum(heads * np.where(words, 1, dependents * np.where(labels == others, 1, 0.5)), 0)


@dataclass(frozen=True)
class Comparison:
    """How two bags are compared: each token with the nearest of the other bag, then the mean over tokens.

    The default is the paper's.

    Attributes:
        rows: makes of a bag [n, r] what tokens are compared by.
        near: [n, m] how near each row of one is to each of the other.
        direction: makes a score of the mean over the tokens of a bag.
        joined: makes the score of similarity of both directions.
        weight: the weight that tokens always have; None where any may be chosen.
    """

    rows: Callable[[np.ndarray], np.ndarray] = unit_rows
    near: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda first, second: first @ second.T
    direction: Callable[[float], float] = lambda mean: mean
    joined: Callable[[float, float], float] = _harmonic_mean
    weight: str | None = None


ALIGNMENT = Comparison()
# The other ways, by the `comparison` that a file of bags names; bove/bags/baselines.py has the formulas.
COMPARISONS = {
    "cosine": Comparison(joined=min, weight=NONE),
    "rwmd": Comparison(
        rows=lambda bag: np.asarray(bag, np.float64),
        near=_less_distances,
        direction=lambda mean: 1 / (1 - mean),
        joined=min,
        weight=NONE,
    ),
    "overlap": Comparison(
        rows=lambda bag: np.asarray(bag, np.float64),
        near=lambda first, second: (first == second.T).astype(np.float64),
        weight=NONE,
    ),
    "arcs": Comparison(rows=_unit_ends, near=_near_arcs, weight=EVIDENCE),
}


def token_weights(
    weight: str, power: float, bag: np.ndarray, evidence: np.ndarray | None = None
) -> np.ndarray | None:
    """[n] float64 weights of a bag's tokens, the largest of them 1, or None where all count alike.

    Args:
        weight: "none"; "length", of the vectors; or "evidence", of which what is not positive counts as 0.
        power: of these, above 0.
        bag: [n, r] vectors.
        evidence: [n], for that weight.
    """
    if weight == NONE:
        return None
    raw = np.linalg.norm(np.asarray(bag, np.float64), axis=1) if weight == LENGTH else evidence
    raw = np.maximum(np.asarray(raw, np.float64), 0)
    return (raw / (raw.max(initial=0) or 1)) ** power


def check_weighting(weight: str, power: float, shown: str = "power") -> None:
    """BoveError for another weight than those above, or a power (called `shown`) that is not above 0."""
    if weight not in WEIGHTS:
        raise BoveError(f"weight {weight!r}: must be one of {', '.join(WEIGHTS)}")
    number = finite(power)
    if number is None or number <= 0:
        found = repr(power) if number is None and not isinstance(power, float) else f"{power:g}"
        raise BoveError(f"{shown} {found}: must be a number above 0, such as 1 or 2")


def side_of(
    bag: np.ndarray,
    weights: np.ndarray | None = None,
    rows: Callable[[np.ndarray], np.ndarray] = unit_rows,
) -> Side:
    """A bag [n, r] made ready, without its tokens of weight 0."""
    if weights is None:
        return Side(rows(bag))
    some = weights > 0
    shares = weights[some] / weights.max(initial=0)
    return Side(rows(bag[some]), shares / shares.sum())


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


def entailment_score(first: Any, second: Any, weights: tuple[Any, Any] | None = None) -> float:
    """SNLI(S1, S2), how well the first bag entails the second; 0 where either is empty.

    The mean over the second bag's vectors of the largest cosine with one of the first's.

    Args:
        first, second: [n, r] and [m, r] bags.
        weights: [n] and [m] of their tokens, at least 0; equal ones by default.

    Raises:
        BoveError: not a bag, bags of different widths, or other weights than one number per token.
    """
    return _rounded(_directions(*_sides(first, second, weights))[0])


def similarity_score(first: Any, second: Any, weights: tuple[Any, Any] | None = None) -> float:
    """STS(S1, S2), the harmonic mean of both directions of `entailment_score`, the same in either order.

    It is 0 where a bag is empty or the sum of both directions is not positive. Arguments and errors are those
    of `entailment_score`.
    """
    return _rounded(_harmonic_mean(*_directions(*_sides(first, second, weights))))


def _sides(first: Any, second: Any, weights: tuple[Any, Any] | None) -> tuple[Side, Side]:
    bags = bag_of(first), bag_of(second)
    if all(map(len, bags)) and bags[0].shape[1] != bags[1].shape[1]:
        raise BoveError(
            f"bags of vectors of {bags[0].shape[1]} and of {bags[1].shape[1]} dimensions; use one model"
        )
    if weights is None:
        return side_of(bags[0]), side_of(bags[1])
    return tuple(side_of(bag, _weights_of(w, len(bag))) for bag, w in zip(bags, weights, strict=True))


def _weights_of(weights: Any, count: int) -> np.ndarray:
    found = np.asarray(weights, np.float64)
    if found.shape != (count,) or not np.isfinite(found).all() or (found < 0).any():
        raise BoveError(
            f"weights of shape {found.shape} for a bag of {count} vectors; give one finite number of at "
            "least 0 for each"
        )
    return found


def score_pairs(
    first: Sequence[int],
    second: Sequence[int],
    bag: Callable[[int], np.ndarray],
    task: str,
    weights: Callable[[int, np.ndarray], np.ndarray | None] = lambda b, vectors: None,
    how: Comparison = ALIGNMENT,
) -> Alignments:
    """Score pairs of numbered bags, each read and normalised once and dropped after its last pair.

    Args:
        first, second: [n] bag number of each side.
        bag: gives the [n, r] vectors of a bag number.
        task: "similarity" or "entailment".
        weights: gives the [n] weights of a bag's tokens from its number and its vectors.
        how: what two bags are compared by.
    """
    left = Counter(first) + Counter(second)
    held: dict[int, Side] = {}
    weightless = 0

    def take(b):
        nonlocal weightless
        if b not in held:
            vectors = bag(b)
            held[b] = side_of(vectors, weights(b, vectors), how.rows)
            weightless += len(vectors) - len(held[b].units)
        left[b] -= 1
        return held[b] if left[b] else held.pop(b)

    values, empty, opposed = np.zeros(len(first)), np.zeros(len(first), bool), np.zeros(len(first), bool)
    for p, (b, c) in enumerate(zip(first, second, strict=True)):
        sides = take(b), take(c)
        empty[p] = not all(len(side.units) for side in sides)
        forward, backward = _directions(*sides, how)
        if task == "similarity":
            values[p] = _rounded(how.joined(forward, backward))
            opposed[p] = min(forward, backward) <= 0 and not empty[p]
        else:
            values[p] = _rounded(forward)
    return Alignments(values, empty, opposed, weightless)


def score_probes(
    first: Sequence[int],
    second: Sequence[int],
    exchanged: Sequence[int],
    bag: Callable[[int], np.ndarray],
    weights: Callable[[int, np.ndarray], np.ndarray | None] = lambda b, vectors: None,
    how: Comparison = ALIGNMENT,
) -> Alignments:
    """Margins SNLI(S1, S2) - SNLI(S1, S3) of probes of roles, 0 where both are equal but for rounding.

    Args:
        first, second, exchanged: [n] bag number of each sentence.
        bag, weights, how: as in `score_pairs`.
    """
    others = np.stack([second, exchanged], axis=1).ravel()
    found = score_pairs(np.repeat(first, 2), others, bag, "entailment", weights, how)
    values, empty = found.values.reshape(-1, 2), found.empty.reshape(-1, 2).any(axis=1)
    # scores equal but for rounding may differ in the last of their decimals
    margins = np.round(values[:, 0] - values[:, 1], DECIMALS - 1) + 0.0
    return Alignments(margins, empty, np.zeros(len(empty), bool), found.weightless)


def _directions(first: Side, second: Side, how: Comparison = ALIGNMENT) -> tuple[float, float]:
    """SNLI(S1, S2) and SNLI(S2, S1), 0 where a side is empty."""
    if not (len(first.units) and len(second.units)):
        return 0.0, 0.0
    near = how.near(first.units, second.units)
    forward, backward = _mean(near.max(axis=0), second.weights), _mean(near.max(axis=1), first.weights)
    return how.direction(forward), how.direction(backward)


def _mean(best: np.ndarray, weights: np.ndarray | None) -> float:
    return float(best.mean() if weights is None else (best * weights).sum())


def _rounded(score: float) -> float:
    return min(1.0, round(score, DECIMALS)) + 0.0
