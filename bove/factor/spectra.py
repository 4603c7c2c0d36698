"""How many dimensions the relation matrices use: their singular values, and what sums these up."""

import numpy as np

from bove.factor.lowrank import LowRank


def singular_values(relations: np.ndarray | LowRank) -> list[np.ndarray]:
    """Of each relation its singular values in float64, largest first.

    Args:
        relations: dense [d, r, r], which gives r values each, or factors, which give as many as their rank.
    """
    if not isinstance(relations, LowRank):
        return [np.linalg.svd(R_k.astype(np.float64), compute_uv=False) for R_k in relations]
    found = []
    for k in range(len(relations.ranks)):
        at = relations.columns(k)
        U = np.linalg.qr(relations.U[:, at].astype(np.float64), mode="r")
        V = np.linalg.qr(relations.V[:, at].astype(np.float64), mode="r")
        found.append(np.linalg.svd(U @ V.T, compute_uv=False))
    return found


def effective_rank(values: np.ndarray) -> float:
    """exp of the entropy of the singular values' shares: q for q equal values; 0 where all are 0.

    After Roy and Vetterli (2007), "The effective rank: a measure of effective dimensionality".
    """
    total = values.sum()
    if not total > 0:
        return 0.0
    share = values[values > 0] / total
    return float(np.exp(-np.sum(share * np.log(share))))


def needed(values: np.ndarray, energy: float) -> int:
    """The fewest of the values, largest first, that hold `energy` (above 0, below 1) of the squared norm."""
    squares = np.cumsum(values**2)
    return int(np.searchsorted(squares, energy * squares[-1]) + 1) if len(values) and squares[-1] > 0 else 0
