"""P-step and E-step.

P-step:  P = W E (EᵀE + lambda_P I)⁻¹                                   (rows that are not frozen)
E-step:  step(E_s) = B_s A_s⁻¹,
         A_s = PᵀP + lambda_E I + alpha Σ_k (R_k G_s R_kᵀ + R_kᵀ G_s R_k),   G_s = E_sᵀE_s
         B_s = W_sᵀP + alpha Σ_k (X_sk E_s R_kᵀ + X_skᵀ E_s R_k)
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bove.errors import BoveError
from bove.factor.batches import Batch, Space
from bove.factor.cholesky import solve_rows

# tokens times relations that are worked on at once where a graph has more tokens than the rank
LONG_TOKENS = 8192


def p_step(WE: np.ndarray, G: np.ndarray, lambda_P: float, P: np.ndarray, frozen: np.ndarray) -> np.ndarray:
    """The property vectors that minimise L for fixed E; rows where `frozen` [c] stay.

    Args:
        WE: [c, r] sum of the token vectors of each property.
        G: [r, r] EᵀE over the whole corpus, float64.
    """
    new = solve_spd(G + lambda_P * np.eye(len(G)), WE.T, "P-step", "lambda_P").T.astype(P.dtype)
    new[frozen] = P[frozen]
    return new


def solve_spd(A: np.ndarray, B: np.ndarray, where: str, advice: str) -> np.ndarray:
    """Solve A X = B for symmetric positive definite A in float64; raises BoveError where A is singular."""
    try:
        if not np.isfinite(A).all():
            raise LinAlgError
        return cho_solve(cho_factor(np.asarray(A, np.float64)), np.asarray(B, np.float64))
    except LinAlgError as e:
        raise BoveError(f"{where}: its matrix is singular or not finite; raise {advice}") from e


class EStep:
    """The averaged step's kernel for fixed P and R, applied to batches of equal length.

    Args:
        P: [c (+ extra), r] property vectors by row of W.
        PtP: [r, r] PᵀP of the training vocabulary.
        R: [d, r, r].
    """

    def __init__(self, P, PtP, R, alpha, lambda_E):
        self.P, self.R, self.alpha = P, R, P.dtype.type(alpha)
        self.C = (PtP + lambda_E * np.eye(len(PtP))).astype(P.dtype)
        d, r, _ = R.shape
        self.related = bool(alpha) and bool(R.any())
        # E @ √alpha [R_1ᵀ, R_1, … R_dᵀ, R_d] in one product: columns (k, side, ·)
        self.root = np.sqrt(self.alpha)
        self.sides = np.stack([R.transpose(2, 0, 1), R.transpose(1, 0, 2)], axis=2).reshape(r, 2 * d * r)
        self.sides *= self.root
        self.space = Space()

    def base(self, batch: Batch) -> np.ndarray:
        """[b n, r] W_sᵀP."""
        return batch.W @ self.P

    def neighbours(self, batch: Batch) -> list:
        """What `step` needs of the batch's arcs: of a long graph a few relations at a time."""
        d, r, _ = self.R.shape
        some = max(1, d if batch.n <= r else LONG_TOKENS // batch.n)
        parts = [range(k, min(k + some, d)) for k in range(0, d, some)]
        return [(part, batch.incidence(part, self.P.dtype)) for part in parts]

    def step(self, E: np.ndarray, n: int, base: np.ndarray, neighbours: list) -> np.ndarray:
        """One step of every graph of a batch: [b n, r] → [b n, r]."""
        out = base.copy()
        if not self.related:
            self._solve(self.C.copy(), out)
            return out
        r = self.R.shape[1]
        for part, incidence in neighbours:
            sides = self.sides[:, 2 * r * part.start : 2 * r * part.stop]
            H = np.matmul(E, sides, out=self.space.array(len(E), sides.shape[1], dtype=E.dtype))
            out += self.root * (incidence @ H.reshape(-1, r))
        for s in range(0, len(E), n):
            if n > r:
                A = self._from_gram(E[s : s + n])
            else:
                sides = H[s : s + n].reshape(-1, r)
                A = sides.T @ sides
            A += self.C
            self._solve(A, out[s : s + n])
        return out

    def _from_gram(self, E):
        """alpha Σ_k R_k G R_kᵀ + R_kᵀ G R_k, cheaper so when the graph has more tokens than the rank."""
        G = self.alpha * (E.T @ E)
        return sum(R_k @ (G @ R_k.T) + R_k.T @ (G @ R_k) for R_k in self.R)

    def _solve(self, A, B):
        if not solve_rows(A, B):
            raise BoveError(
                f"E-step: a sentence's matrix is not positive definite in {A.dtype}; "
                "raise lambda_E or train with dtype float64"
            )
