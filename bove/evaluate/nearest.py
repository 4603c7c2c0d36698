"""The rows of a large array that are nearest to a few vectors by cosine, found exactly, block by block."""

from dataclasses import dataclass

import numpy as np

from bove.evaluate.alignment import DECIMALS, unit_rows

BLOCK = 16384  # rows at a time, so that a mapped array is never in memory whole


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of one query, the nearest first; of rows that tie, the first comes first.

    Attributes:
        rows: [k] int64.
        cosines: [k] float64.
    """

    rows: np.ndarray
    cosines: np.ndarray


def nearest(
    queries: np.ndarray, vectors: np.ndarray, count: int, allowed: np.ndarray | None = None
) -> list[Nearest]:
    """The nearest rows of each query; a zero vector has cosine 0 with all.

    Args:
        queries: [q, r].
        vectors: [N, r], maybe mapped.
        count: how many rows to find, where there are so many.
        allowed: [N] bool, the rows that count; all by default.
    """
    targets = unit_rows(queries)
    best = [(np.empty(0), np.empty(0, np.int64)) for _ in targets]
    for start in range(0, len(vectors), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(vectors)))
        if allowed is not None:
            rows = rows[allowed[rows]]
        block = unit_rows(vectors[rows]) @ targets.T
        for q, (cosines, found) in enumerate(best):
            cosines = np.concatenate([cosines, np.clip(block[:, q], -1, 1)])
            found = np.concatenate([found, rows])
            order = np.argsort(-cosines.round(DECIMALS), kind="stable")[:count]
            best[q] = cosines[order], found[order]
    return [Nearest(found, cosines) for cosines, found in best]
