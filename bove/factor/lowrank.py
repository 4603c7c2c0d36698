"""Relation matrices as factors: R_k ≈ U_k V_kᵀ, the singular values split evenly."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LowRank:
    """All relations side by side.

    Attributes:
        U, V: [r, Q] with Q the sum of the ranks; relation k has the columns `columns(k)`.
        ranks: [d] int64.
    """

    U: np.ndarray
    V: np.ndarray
    ranks: np.ndarray

    def columns(self, k: int) -> slice:
        """Columns of relation k in U and V."""
        end = int(self.ranks[: k + 1].sum())
        return slice(end - int(self.ranks[k]), end)

    def dense(self) -> np.ndarray:
        """[d, r, r] the matrices U_k V_kᵀ."""
        r = len(self.U)
        parts = [self.U[:, self.columns(k)] @ self.V[:, self.columns(k)].T for k in range(len(self.ranks))]
        return np.stack(parts) if parts else np.zeros((0, r, r), self.U.dtype)


def compress(R: np.ndarray, energy: float) -> LowRank:
    """Keep of each R_k [r, r] the fewest singular values that hold `energy` of its squared norm.

    At energy 1 all that stand above rounding are kept. A zero matrix keeps none.
    """
    r = R.shape[-1]
    U, V, ranks = [], [], []
    for R_k in R:
        left, s, right = np.linalg.svd(R_k.astype(np.float64))
        share = np.cumsum(s**2) / max(np.sum(s**2), np.finfo(float).tiny)
        above = int(np.sum(s > s[0] * r * np.finfo(R.dtype).eps)) if s[0] > 0 else 0
        q = above if energy >= 1 else min(above, int(np.searchsorted(share, energy) + 1))
        U.append(left[:, :q] * np.sqrt(s[:q]))
        V.append(right[:q].T * np.sqrt(s[:q]))
        ranks.append(q)
    empty = [np.zeros((r, 0))]
    return LowRank(
        np.concatenate(U or empty, axis=1).astype(R.dtype),
        np.concatenate(V or empty, axis=1).astype(R.dtype),
        np.array(ranks, np.int64),
    )
