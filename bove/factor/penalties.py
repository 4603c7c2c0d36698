"""Penalties of P and R: values, proximal operators, and the P- and R-steps under those without a closed form.

    l2               Σ x²; its steps are in `bove.factor.steps`
    l1               Σ |x|; gives exact zeros
    nuclear          sum of the singular values of each slice; gives exact low rank
    nuclear-shrink   counts as nuclear does; its R-step (the paper's) is least squares without a ridge, then
                     every singular value is lowered by lambda_R / (2 alpha), once

nuclear-shrink minimises alpha ‖R − R_ls‖² + lambda_R ‖R‖_*: the nuclear R-step as it would be if A below were
the identity. It can raise L.

The steps under l1 and nuclear are many independent problems of one form,

    F(x) = ½ <x, A x> − <b, x> + strength · penalty(x),

P-step (a row of P):  A = EᵀE,                  b its row of W E,        strength = lambda_P / 2
R-step (one R_k):     A(R) = Σ_s G_s R G_s,     b = Σ_{X_k} e_i e_jᵀ,     strength = lambda_R / (2 alpha)

solved by accelerated proximal gradients. A step goes from an extrapolated point y to
x = prox(y − (A y − b) / c) with c no less than A's largest eigenvalue. Each problem has its own momentum,
dropped when it points uphill; a step that raises F is taken back. A problem is solved when the subgradient

    c (y − x) − A (y − x)  ∈  ∂F(x)

is no longer than `tolerance` · ‖b‖. For a differentiable F it is the gradient, so this is the relative
residual that conjugate gradients report. x always comes from a proximal operator, so its zeros and its rank
are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from scipy.linalg import eigh

from bove.errors import check_finite
from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Batch, Workers
from bove.factor.steps import RStep, apply, r_step, right_hand_side

NUCLEAR = ("nuclear", "nuclear-shrink")
P_TOLERANCE = 1e-4
P_ITERATIONS = 1000
P_BLOCK = 4096
# the bound on A's largest eigenvalue is good enough within this factor
BOUND_SLACK = 1.05
BOUND_ITERATIONS = 30


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


def prox(X: np.ndarray, strength: float, kind: str, workers: Workers | None = None):
    """argmin over Z of ½ ‖Z − X‖² + strength · penalty(Z) for m problems: Z, and the penalty of each Z_i [m].

    Args:
        X: [m, …] for l1, [m, r, r] for nuclear and nuclear-shrink.
        strength: at least 0.
    """
    if kind == "l1":
        bound = X.dtype.type(strength)
        Z = np.maximum(X - bound, 0) + np.minimum(X + bound, 0)
        return Z, np.abs(Z).reshape(len(Z), -1).sum(axis=1, dtype=np.float64)
    Z, charged = np.empty_like(X), np.empty(len(X))
    each = (workers.map if workers else map)(lambda x: shrink_singular_values(x, strength), X)
    for k, result in enumerate(each):
        Z[k], charged[k] = result
    return Z, charged


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


@dataclass
class _Points:
    """Where the unsolved problems stand: x, A x, F(x); the extrapolated y, A y; b, ‖b‖; the momentum."""

    x: np.ndarray
    ax: np.ndarray
    F: np.ndarray
    y: np.ndarray
    ay: np.ndarray
    b: np.ndarray
    size: np.ndarray
    momentum: np.ndarray

    def select(self, on: np.ndarray) -> "_Points":
        return self if on.all() else _Points(*(getattr(self, f.name)[on] for f in fields(self)))


def minimise(
    X0: np.ndarray, B: np.ndarray, image: Callable, bound: float, strength: float, kind: str,
    *, tolerance: float, max_iterations: int, workers: Workers,
) -> tuple[np.ndarray, np.ndarray, int, float]:  # fmt: skip
    """Minimise F (see the module) for m problems at once, none to above F of its start but for rounding.

    Args:
        X0, B: [m, …] start and right-hand side of each. image: A of some of them, stacked; `which` they are.
        bound: at least A's largest eigenvalue, above 0. kind: l1 or nuclear.
        tolerance, max_iterations: when to stop; a problem that is solved takes no further part.
        workers: whose peers solve the same problems, where `image` is a sum over all of them.

    Returns:
        x [m, …] and A x of each problem, the iterations made, the largest relative residual.
    """
    size = np.sqrt(_dot(B, B))
    X = np.where(_each(size > 0, X0), X0, 0)
    AX = image(X, slice(None)) if X.any() else np.zeros_like(X)
    residual = np.where(size > 0, np.inf, 0.0)
    charged = np.array([value(x[None], kind) for x in X])
    F = _dot(X, AX) / 2 - _dot(X, B) + strength * charged
    points = _Points(X, AX, F, X, AX, B, size, np.ones(len(X)))
    active, iterations = np.flatnonzero(size > 0), 0
    points = points.select(size > 0)
    while len(active) and iterations < max_iterations:
        points, moved, got = _advance(points, partial(image, which=active), bound, strength, kind, workers)
        X[active], AX[active] = points.x, points.ax
        residual[active] = np.where(moved, got, residual[active])
        iterations += 1
        # a residual that is not a number ends its problem: the trainer sees it in L
        on = workers.peers.first(residual[active] > tolerance)
        points, active = points.select(on), active[on]
    return X, AX, iterations, float(residual.max())


def _advance(p: _Points, image, bound, strength, kind, workers):
    """One step of each problem; whether it was kept [m], and the relative residual it led to [m]."""
    scale = p.x.dtype.type(bound)
    new, charged = prox(p.y - (p.ay - p.b) / scale, strength / bound, kind, workers)
    image_new = image(new)
    quadratic, linear, charged = _dot(new, image_new) / 2, _dot(new, p.b), strength * charged
    F = quadratic - linear + charged
    rounding = 16 * np.finfo(p.x.dtype).eps * (np.abs(quadratic) + np.abs(linear) + charged)
    subgradient = scale * (p.y - new) - (p.ay - image_new)
    residual = np.sqrt(_dot(subgradient, subgradient)) / p.size
    # a step without momentum cannot raise F, so it is kept whatever rounding says of it
    moved = (p.momentum == 1) | ~(p.F + rounding < F)
    forward = moved & ~(_dot(p.y - new, new - p.x) > 0)
    moved, forward = workers.peers.first(np.stack([moved, forward]))
    after = np.where(forward, (1 + np.sqrt(1 + 4 * p.momentum**2)) / 2, 1.0)
    push = _each(np.where(forward, (p.momentum - 1) / after, 0), new).astype(new.dtype)
    kept = _each(moved, new)
    x, ax = np.where(kept, new, p.x), np.where(kept, image_new, p.ax)
    y, ay = x + push * (x - p.x), ax + push * (ax - p.ax)
    points = _Points(x, ax, np.where(moved, F, p.F), y, ay, p.b, p.size, after)
    return points, moved, residual


def p_step_l1(WE, G, lambda_P, P, frozen, workers: Workers) -> tuple[np.ndarray, int, float]:
    """P with the l1 penalty from the warm start P [c, r]; rows where `frozen` [c] stay.

    Args as those of `steps.p_step`. To a relative residual of P_TOLERANCE in at most P_ITERATIONS, in
    float64 and in blocks of rows.

    Returns:
        P, the most iterations that a block took, the largest residual of a row.
    """
    check_finite(G, "P-step: its matrix", "raise lambda_P")
    G = np.asarray(G, np.float64)
    bound, image = float(np.linalg.eigvalsh(G)[-1]) * (1 + 1e-9), lambda X, which: X @ G
    new = np.where(frozen[:, None], P, 0)
    rows = np.flatnonzero(~frozen)
    if bound <= 0 or not len(rows):
        return new, 0, 0.0

    def solve(block):
        return block, minimise(
            P[block].astype(np.float64), WE[block].astype(np.float64), image, bound, lambda_P / 2,
            "l1", tolerance=P_TOLERANCE, max_iterations=P_ITERATIONS, workers=Workers(),
        )  # fmt: skip

    iterations, worst = 0, 0.0
    for block, got in workers.map(solve, [rows[i : i + P_BLOCK] for i in range(0, len(rows), P_BLOCK)]):
        new[block], _, made, left = got
        iterations, worst = max(iterations, made), max(worst, left)
    return new, iterations, worst


def r_step_proximal(
    E, corpus: GraphCorpus, batches: Sequence[Batch], workers: Workers,
    *, strength, kind, R0, tolerance, max_iterations,
) -> RStep:  # fmt: skip
    """R with the l1 or nuclear penalty from the warm start R0 [d, r, r].

    Args as those of `steps.r_step`, but strength: lambda_R / (2 alpha).
    """
    B = right_hand_side(E, corpus, workers)
    if not B.any():
        return RStep(np.zeros_like(B), B, np.zeros_like(B))
    bound = largest_eigenvalue(E, batches, workers)
    unknown = corpus.unknown_by_relation

    def image(R, which):
        cells = unknown and [unknown[k] for k in np.arange(len(B))[which]]
        return apply(R, E, batches, workers, cells)

    R, AR, iterations, residual = minimise(
        R0.astype(E.dtype), B, image, bound, strength, kind,
        tolerance=tolerance, max_iterations=max_iterations, workers=workers,
    )  # fmt: skip
    return RStep(R, B, AR, iterations, residual)


def r_step_shrink(E, G, corpus, batches, workers, *, strength, R0, tolerance, max_iterations) -> RStep:
    """nuclear-shrink: least squares, then every singular value lowered by `strength` = lambda_R / (2 alpha).

    The iterations and the residual are those of the least squares.
    """
    solved = r_step(
        E, G, corpus, batches, workers,
        ridge=0.0, R0=R0, tolerance=tolerance, max_iterations=max_iterations,
    )  # fmt: skip
    R = workers.peers.first(prox(solved.R, strength, "nuclear", workers)[0])
    AR = apply(R, E, batches, workers, corpus.unknown_by_relation) if R.any() else np.zeros_like(R)
    return RStep(R, solved.B, AR, solved.iterations, solved.residual)


def largest_eigenvalue(E: np.ndarray, batches: Sequence[Batch], workers: Workers) -> float:
    """A number that no eigenvalue of R ↦ Σ_s G_s R G_s exceeds, within BOUND_SLACK of the largest as a rule.

    Unknown cells only lower the eigenvalues.

    The map keeps positive semidefinite matrices so. Hence for any positive definite Y with A(Y) ≤ t Y,
    t bounds its eigenvalues (Collatz and Wielandt); Y comes from power iteration, with a little of the
    identity.
    """
    r = E.shape[1]
    one = np.eye(r, dtype=E.dtype)

    def image(Y):
        Z = apply(Y[None].astype(E.dtype), E, batches, workers)[0].astype(np.float64)
        return (Z + Z.T) / 2

    little = 1e-3
    of_one = image(one)
    check_finite(of_one, "R-step: its matrix", "raise lambda_E or train with dtype float64")
    Y, best = of_one / np.linalg.norm(of_one), np.inf
    for _ in range(BOUND_ITERATIONS):
        AY = image(Y)
        above = eigh(
            AY + little * of_one, Y + little * np.eye(r), eigvals_only=True, subset_by_index=[r - 1, r - 1]
        )
        best = min(best, float(above[0]))
        if workers.peers.first(bool(best <= BOUND_SLACK * np.vdot(Y, AY) / np.vdot(Y, Y))):
            break
        Y = AY / np.linalg.norm(AY)
    # for the rounding of the products
    return best * (1 + 1e-3)


def _dot(A, B):
    m = len(A)
    return np.einsum("mi,mi->m", A.reshape(m, -1), B.reshape(m, -1), dtype=np.float64)


def _each(a, like):
    return a.reshape(-1, *[1] * (like.ndim - 1))
