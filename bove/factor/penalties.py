"""What is charged for the size of P and R: the penalty's value and its proximal operator.

    l2               Σ x²
    l1               Σ |x|
    nuclear          sum of the singular values of each slice
    nuclear-shrink   counts as nuclear does; its R-step is least squares with the singular values
                     soft-thresholded afterwards (see `bove.factor.proximal`)

l1 gives exact zeros, nuclear exact low rank.
"""

import numpy as np

from bove.errors import BoveError

PENALTIES = {"P": ("l2", "l1"), "R": ("l2", "l1", "nuclear", "nuclear-shrink")}
NUCLEAR = ("nuclear", "nuclear-shrink")


def check_penalty(factor: str, kind: str, name: str) -> None:
    """Raise BoveError where `kind` is no penalty for the factor ("P" or "R"); `name` is who set it."""
    allowed = PENALTIES[factor]
    if kind not in allowed:
        listed = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise BoveError(f"{name} {kind}: no penalty for {factor}; choose {listed}")


def value(X: np.ndarray, kind: str) -> float:
    """The penalty of P [c, r] or R [d, r, r], in float64; not a number where X is not finite."""
    flat = X.reshape(-1)
    if kind == "l2":
        return float(np.einsum("i,i->", flat, flat, dtype=np.float64))
    if kind == "l1":
        return float(np.sum(np.abs(flat), dtype=np.float64))
    if not np.isfinite(flat).all():
        return float("nan")
    return float(sum(np.linalg.svd(slice_, compute_uv=False).sum(dtype=np.float64) for slice_ in X))


def prox(X: np.ndarray, strength: float | np.ndarray, kind: str) -> np.ndarray:
    """argmin over Z of ½ ||Z − X||² + strength · penalty(Z), in the dtype of X.

    Args:
        X: any shape for l2 and l1; [r, r] or [m, r, r] for nuclear and nuclear-shrink.
        strength: at least 0. A number, or an array that broadcasts against X; for nuclear a number, or one
            for each of the m slices.

    A step of (stochastic) gradient descent of length η on the rest of L takes strength = η · lambda.
    """
    strength = np.asarray(strength, X.dtype)
    if kind == "l2":
        return X / (1 + 2 * strength)
    if kind == "l1":
        return np.maximum(X - strength, 0) + np.minimum(X + strength, 0)
    if X.ndim == 2:
        return shrink_singular_values(X, float(strength))[0]
    out, each = np.empty_like(X), np.broadcast_to(strength.reshape(-1), len(X))
    for k in range(len(X)):
        out[k] = shrink_singular_values(X[k], float(each[k]))[0]
    return out


def shrink_singular_values(X: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """U max(Σ − strength, 0) Vᵀ of X [r, r], and its nuclear norm.

    Made from those singular vectors alone that are left, so its rank is exact. Where X is not finite, neither
    is the outcome.
    """
    if not np.isfinite(X).all():
        return np.full_like(X, np.nan), float("nan")
    if X.dtype == np.float64:
        left, s, right = np.linalg.svd(X)
        q = int(np.sum(s > strength))
        return (left[:, :q] * (s[:q] - strength)) @ right[:q], float(np.sum(s[:q] - strength))
    # the eigenvalues of XᵀX in float64 are exact enough for float32, in half the time
    Y = X.astype(np.float64)
    squares, V = np.linalg.eigh(Y.T @ Y)
    kept = squares > strength**2
    s, V = np.sqrt(squares[kept]), V[:, kept]
    return ((Y @ (V * (1 - strength / s))) @ V.T).astype(X.dtype), float(np.sum(s - strength))
