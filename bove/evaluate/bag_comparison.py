"""How far two bags of the same tokens agree, such as from gold trees and from predicted ones."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bove.bags import Bags
from bove.errors import BoveError

# Numbers of tokens of a sentence, by class; the last class has no end.
LENGTHS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, None))
QUANTILES = (0, 0.01, 0.05, 0.25, 0.5, 0.75, 1)
BELOW = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class TokenCosines:
    """Token by token, how alike the vectors of two files are.

    Attributes:
        lengths: [S] tokens of each sentence, in the first file's order.
        cosines: [T] one sentence's after another's; NaN where one vector or both are zero.
        zeros: number of zero vectors in the "first" file, in the "second", and of tokens where "both" are.
    """

    lengths: np.ndarray
    cosines: np.ndarray
    zeros: dict[str, int]


def compare(first: Bags, second: Bags) -> TokenCosines:
    """Cosines of corresponding vectors; sentences are found by id and may stand in any order.

    Raises:
        BoveError: the files differ in their sentences, a sentence's number of vectors, or the vectors'
            dimensions; or a vector is not finite.
    """
    if first.rank != second.rank:
        raise BoveError(
            f"{second.path}: vectors of {second.rank} dimensions, but {first.path} has {first.rank}; "
            f"compare bags of models of one rank"
        )
    for one, other in ((first, second), (second, first)):
        missing = [name for name in one if name not in other]
        if missing:
            raise BoveError(
                f"{other.path}: has no bag for sentence '{missing[0]}', which {one.path} has (the first of "
                f"{len(missing)} such); compare bags of the same sentences"
            )
    lengths = _lengths(first, second)
    total = int(lengths.sum())
    cosines, zero = np.empty(total), np.empty((2, total), bool)
    start = 0
    for found, empty in _sentences(first, second):
        stop = start + len(found)
        cosines[start:stop], zero[:, start:stop] = found, empty
        start = stop
    counts = {"first": zero[0], "second": zero[1], "both": zero.all(axis=0)}
    return TokenCosines(lengths, cosines, {name: int(values.sum()) for name, values in counts.items()})


def _lengths(first: Bags, second: Bags) -> np.ndarray:
    """[S] number of vectors of each sentence, the same in both files."""
    sizes = np.diff(first.offsets)[first.index]
    others = np.diff(second.offsets)[[second.bag_of(name) for name in first]] if len(first) else sizes
    differ = np.flatnonzero(sizes != others)
    if len(differ):
        s = differ[0]
        raise BoveError(
            f"{second.path}: sentence '{first.ids[s]}' has {others[s]} vectors, but {sizes[s]} in "
            f"{first.path} (the first of {len(differ)} such sentences); compare bags of the same tokens"
        )
    return sizes


def _sentences(first: Bags, second: Bags) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Cosines [n] of each sentence, and [2, n] whether a vector is zero."""
    for name in first:
        vectors = []
        for bags in (first, second):
            bag = bags[name].astype(np.float64)
            if not np.isfinite(bag).all():
                raise BoveError(
                    f"{bags.path}: the bag of sentence '{name}' holds a value that is not finite; "
                    f"look at the model and infer the bags again"
                )
            vectors.append(bag)
        a, b = vectors
        norms = np.stack([np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)])
        zero = norms == 0
        with np.errstate(invalid="ignore"):
            cosines = np.einsum("nr,nr->n", a, b) / norms[0] / norms[1]
        yield np.where(zero.any(axis=0), np.nan, np.clip(cosines, -1, 1)), zero


def summarise(cosines: np.ndarray) -> dict:
    """Mean, quantiles, and tokens below some values, of cosines without the NaN; None where none is left."""
    known = cosines[~np.isnan(cosines)]
    some = len(known) > 0
    below = {str(limit): int((known < limit).sum()) for limit in BELOW}
    return {
        "tokens": len(known),
        "mean": float(known.mean()) if some else None,
        "quantiles": {
            str(q): float(value) if some else None
            for q, value in zip(QUANTILES, np.quantile(known, QUANTILES) if some else QUANTILES, strict=True)
        },
        "tokens_below": below,
        "share_below": {limit: count / len(known) if some else None for limit, count in below.items()},
    }


def by_length(found: TokenCosines) -> list[dict]:
    """The same for each class of sentence lengths that occurs."""
    out = []
    of_token = np.repeat(found.lengths, found.lengths)
    for low, high in LENGTHS:
        top = np.inf if high is None else high
        sentences = int(((found.lengths >= low) & (found.lengths <= top)).sum())
        if sentences:
            chosen = found.cosines[(of_token >= low) & (of_token <= top)]
            name = f"{low} or more" if high is None else f"{low} to {high}"
            out.append({"length": name, "sentences": sentences, **summarise(chosen)})
    return out
