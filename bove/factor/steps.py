"""The steps of training in the paper's order, each for the other two factors fixed; G_s = E_sᵀE_s.

P-step:  P = W E (EᵀE + lambda_P I)⁻¹                                   (rows that are not frozen)
R-step:  Σ_s G_s R_k G_s + (lambda_R / alpha) R_k = Σ_{(i,j) in X_k} x_ij e_i e_jᵀ
E-step:  step(E_s) = B_s A_s⁻¹,
         A_s = PᵀP + lambda_E I + alpha Σ_k (R_k G_s R_kᵀ + R_kᵀ G_s R_k)
         B_s = W_sᵀP + alpha Σ_k (X_sk E_s R_kᵀ + X_skᵀ E_s R_k)

where x_ij is 1, or the weight of an arc, and W_s may hold values. Cells (i,j) in M_k that are unknown are not
in L. Without them the R-step has Σ_{M_k} e_i (e_iᵀ R_k e_j) e_jᵀ less on its left-hand side, and in the
E-step each node i has an A of its own, A_s − alpha Σ_k Σ_j h hᵀ, with h = R_k e_j for each (i,j) in M_k and
h = R_kᵀ e_j for each (j,i).

Under the l2 penalty P- and R-step minimise L (see `bove.factor.objective`); a fixed point of the E-step is a
stationary point of L in E.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cython_lapack

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus, some
from bove.factor.parallel import Batch, Peers, Space, Workers, grouped

# heads and dependents of some cells, by relation
Cells = Sequence[tuple[np.ndarray, np.ndarray]]
# relations that the R-step's operator is applied to at once
RELATIONS = 8
# arcs, or unknown cells, whose vectors are gathered at once
ARCS = 8192
# tokens times relations that the E-step works on at once where a graph has more tokens than the rank
LONG_TOKENS = 8192


def gram(E: np.ndarray, workers: Workers) -> np.ndarray:
    """[r, r] EᵀE in float64, summed in blocks of fixed size."""
    blocks = [E[i : i + 8192] for i in range(0, len(E), 8192)]
    out = np.zeros((E.shape[1], E.shape[1]))
    for part in workers.map(lambda e: e.T @ e, blocks):
        out += part
    return out


def solve_spd(A: np.ndarray, B: np.ndarray, where: str, advice: str) -> np.ndarray:
    """Solve A X = B for symmetric positive definite A in float64; raises BoveError where A is singular."""
    try:
        if not np.isfinite(A).all():
            raise LinAlgError
        return cho_solve(cho_factor(np.asarray(A, np.float64)), np.asarray(B, np.float64))
    except LinAlgError as e:
        raise BoveError(f"{where}: its matrix is singular or not finite; raise {advice}") from e


# --- P-step ---


def p_step(WE: np.ndarray, G: np.ndarray, lambda_P: float, P: np.ndarray, frozen: np.ndarray) -> np.ndarray:
    """The property vectors that minimise L for fixed E: P = W E (EᵀE + lambda_P I)⁻¹.

    Args:
        WE: [c, r] sum of the token vectors of each property.
        G: [r, r] EᵀE over the whole corpus, float64.
        P: [c, r], whose rows where `frozen` [c] stay.
    """
    new = solve_spd(G + lambda_P * np.eye(len(G)), WE.T, "P-step", "lambda_P").T.astype(P.dtype)
    new[frozen] = P[frozen]
    return new


# --- R-step ---


@dataclass(frozen=True)
class RStep:
    """What a round's R-step gives.

    Attributes:
        R: [d, r, r] the relation matrices.
        B: [d, r, r] right-hand sides Σ e_i e_jᵀ.
        AR: [d, r, r] Σ_s G_s R_k G_s (without the ridge), for the objective.
        iterations: of the solver.
        residual: largest ‖B_k − A(R_k)‖ / ‖B_k‖ over the relations.
    """

    R: np.ndarray
    B: np.ndarray
    AR: np.ndarray
    iterations: int = 0
    residual: float = 0.0


def right_hand_side(E: np.ndarray, corpus: GraphCorpus, workers: Workers) -> np.ndarray:
    """[d, r, r] Σ_{(i,j) in X_k} x_ij e_i e_jᵀ over the graphs of all processes, for vectors E [T, r]."""

    def product(chunk):
        k, head, dependent, weight = chunk
        ends = E.take(dependent, 0)
        if weight is not None:
            ends *= weight[:, None].astype(E.dtype)
        return k, E.take(head, 0).T @ ends

    chunks = [
        (k, *(some(array, slice(i, i + ARCS)) for array in arcs))
        for k, arcs in enumerate(corpus.arcs_by_relation)
        for i in range(0, len(arcs[0]), ARCS)
    ]
    out = np.zeros((corpus.n_relations, E.shape[1], E.shape[1]), E.dtype)
    for k, part in workers.map(product, chunks):
        out[k] += part
    return workers.peers.sum(out)


def apply(
    R: np.ndarray, E: np.ndarray, batches: Sequence[Batch], workers: Workers, unknown: Cells | None = None
) -> np.ndarray:
    """[d, r, r] Σ_s G_s R_k G_s for the token vectors E [T, r], over the graphs of all processes.

    A few relations at a time, so that what the workers hold is small beside R. Of `unknown` cells, heads and
    dependents of each of the d relations, Σ e_i (e_iᵀ R_k e_j) e_jᵀ is left out.
    """
    d, r, _ = R.shape
    out, space = np.empty((r, d, r), R.dtype), Space()
    for k in range(0, d, RELATIONS):
        few = R[k : k + RELATIONS]
        side = few.transpose(1, 0, 2).reshape(r, len(few) * r)
        total = np.zeros_like(side)
        for part in workers.map(partial(_apply_in_batch, side, E, space), batches):
            total += part
        out[:, k : k + RELATIONS] = total.reshape(r, len(few), r)
    for k, part in workers.map(partial(_of_cells, R, E), _chunks(unknown or ())):
        out[:, k] -= part
    return workers.peers.sum(out).transpose(1, 0, 2)


def _chunks(cells):
    return (
        (k, head[i : i + ARCS], dependent[i : i + ARCS])
        for k, (head, dependent) in enumerate(cells)
        for i in range(0, len(head), ARCS)
    )


def _of_cells(R, E, chunk):
    """k and Σ e_i (e_iᵀ R_k e_j) e_jᵀ over some cells of one relation."""
    k, head, dependent = chunk
    heads, ends = E.take(head, 0), E.take(dependent, 0)
    return k, (heads * np.einsum("ij,ij->i", heads @ R[k], ends)[:, None]).T @ ends


def _apply_in_batch(side, tokens, space, batch):
    """Σ over the batch of E_sᵀ (E_s R_k E_sᵀ) E_s, or of G_s R_k G_s where n > r; columns (k, ·)."""
    E, n = tokens[batch.tokens], batch.n
    r = E.shape[1]
    d = side.shape[1] // r
    graphs = E.reshape(-1, n, r)
    if n > r:
        G = graphs.transpose(0, 2, 1) @ graphs
        return sum((g @ side).reshape(r * d, r).dot(g).reshape(r, d * r) for g in G)
    H = np.matmul(E, side, out=space.array(len(E), d * r, dtype=E.dtype)).reshape(-1, n * d, r)
    Y = H @ graphs.transpose(0, 2, 1)
    np.matmul(Y, graphs, out=H)
    return E.T @ H.reshape(-1, d * r)


class Preconditioner:
    """M⁻¹(Z) = Q [(QᵀZQ) / (D + ridge)] Qᵀ, for one graph the exact inverse of R ↦ G R G + ridge R.

    Q has the eigenvectors of Σ_s G_s, and D_ab = Σ_s (q_aᵀG_s q_a)(q_bᵀG_s q_b).

    Args:
        E: [T, r] token vectors. offsets: [S + 1] first token of each graph.
        G: [r, r] EᵀE over the graphs of all processes; E and the offsets are this one's.
    """

    def __init__(
        self, E: np.ndarray, G: np.ndarray, offsets: np.ndarray, ridge: float, peers: Peers | None = None
    ):
        _, Q = np.linalg.eigh(np.asarray(G, np.float64))
        self.Q = Q.astype(E.dtype)
        D = np.zeros_like(G, dtype=np.float64)
        bounds = offsets[:-1][np.diff(offsets) > 0]
        block = 4096
        for i in range(0, len(bounds), block):
            first = bounds[i]
            last = bounds[i + block] if i + block < len(bounds) else offsets[-1]
            squares = np.square(E[first:last] @ self.Q)
            g = np.add.reduceat(squares, bounds[i : i + block] - first, axis=0, dtype=np.float64)
            D += g.T @ g
        D = (peers or Peers()).sum(D)
        D += ridge
        # a direction that no token has: leave it alone instead of dividing by zero
        self.D = np.maximum(D, np.finfo(E.dtype).eps * max(D.max(), np.finfo(E.dtype).tiny)).astype(E.dtype)

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        inner = self.Q.T @ Z @ self.Q
        inner /= self.D
        return self.Q @ inner @ self.Q.T


def r_step(
    E: np.ndarray, G: np.ndarray, corpus: GraphCorpus, batches: Sequence[Batch], workers: Workers,
    *, ridge: float, R0: np.ndarray, tolerance: float, max_iterations: int,
) -> RStep:  # fmt: skip
    """The relation matrices that minimise L for fixed E: Σ_s G_s R_k G_s + ridge R_k = Σ e_i e_jᵀ.

    Preconditioned block conjugate gradients (O'Leary 1980) from the warm start R0 [d, r, r]: the operator is
    the same for all relations, so that each of them is minimised over the directions of all. Those that have
    converged give no further directions. The operator is applied, never formed. A relation without arcs is
    exactly 0, as is every relation where E is 0. Unknown cells give each relation an operator of its own, and
    then each has its own directions.

    Args:
        E: [T, r] token vectors of this process' corpus, whose graphs the batches hold.
        G: [r, r] EᵀE over the graphs of all processes.
        ridge: lambda_R / alpha.
        tolerance: stop when every relation's relative residual is below it.
    """
    peers = workers.peers
    B = right_hand_side(E, corpus, workers)
    size = np.sqrt(_dot(B, B))
    live = size > 0
    # for a single graph the preconditioner is the inverse, so that a start from 0 is done in one iteration
    [graphs] = peers.sum(np.array([np.count_nonzero(corpus.lengths)]))
    start = np.zeros_like(R0) if graphs == 1 and max_iterations > 0 else R0
    R = np.where(live[:, None, None], start, 0).astype(E.dtype, copy=False)
    if not live.any():
        return RStep(R, B, np.zeros_like(R))
    precondition = Preconditioner(E, G, corpus.token_offsets, ridge, peers)
    residual, unknown = B.copy(), corpus.unknown_by_relation
    if unknown is not None and not peers.sum(np.array([len(corpus.unknown_head)]))[0]:
        unknown = None
    if R.any():
        residual -= apply(R, E, batches, workers, unknown)
        residual -= ridge * R
    rest, found = residual.reshape(len(B), -1), R.reshape(len(B), -1)  # the same arrays, one row per relation
    block = image = inverse = None
    iterations, alone = 0, _Alone() if unknown is not None else None
    while True:
        left = peers.first(_relative(residual, size))
        if not left.max() > tolerance or iterations == max_iterations:
            break
        if alone:
            D = alone.directions(precondition(residual), residual, left > tolerance)
            AD = apply(D, E, batches, workers, unknown)
            AD += ridge * D
            step = alone.step(D, AD)
            R += step * D
            residual -= step * AD
            iterations += 1
            continue
        Z = precondition(residual[left > tolerance]).reshape(-1, rest.shape[1])
        if block is not None:
            Z -= (inverse @ (image @ Z.T)).T @ block
        block = _units(Z)
        image = apply(block.reshape(-1, *G.shape), E, batches, workers).reshape(block.shape)
        image += ridge * block
        inverse = _inverse(block @ image.T)
        step = (inverse @ (block @ rest.T)).T
        found += step @ block
        rest -= step @ image
        iterations += 1
    np.subtract(B, residual, out=residual)
    residual -= ridge * R
    return RStep(R, B, residual, iterations, float(left.max()))


class _Alone:
    """Conjugate gradients of each relation by itself."""

    def __init__(self):
        self.D, self.size = None, None

    def directions(self, Z, residual, on):
        """[d, r, r] the next ones from the preconditioned residuals; 0 where a relation has converged."""
        size = np.where(on, _dot(Z, residual), 0)
        if self.D is not None:
            again = np.divide(size, self.size, out=np.zeros_like(size), where=self.size > 0)
            Z += again[:, None, None].astype(Z.dtype) * self.D
        self.D, self.size = np.where(on[:, None, None], Z, 0), size
        return self.D

    def step(self, D, AD):
        """[d, 1, 1] how far to go."""
        curve = _dot(D, AD)
        length = np.divide(self.size, curve, out=np.zeros_like(curve), where=curve > 0)
        return length[:, None, None].astype(D.dtype)


def _dot(A, B):
    return np.einsum("kij,kij->k", A, B, dtype=np.float64)


def _relative(residual, size):
    """[d] ‖residual_k‖ / size_k, 0 for a relation without arcs."""
    return np.sqrt(_dot(residual, residual)) / np.where(size > 0, size, 1)


def _units(Z):
    """The rows of Z at length 1, also where their squares would be 0 or infinite; rows of zeros stay."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(Z, axis=1, keepdims=True)
    odd = ~((length > 1e-15) & (length < 1e15))[:, 0]
    if odd.any():
        largest = np.abs(Z[odd]).max(axis=1, keepdims=True)
        Z[odd] /= np.where(largest > 0, largest, 1)
        length[odd] = np.linalg.norm(Z[odd], axis=1, keepdims=True)
    return Z / np.where(length > 0, length, 1)


def _inverse(A):
    """The inverse of a symmetric A over the directions that its digits tell from 0."""
    if not np.isfinite(A).all():  # of a training that diverges, as L will show
        return np.full_like(A, np.nan)
    values, vectors = np.linalg.eigh((A + A.T).astype(np.float64) / 2)
    kept = values > 8 * len(A) * np.finfo(A.dtype).eps * values[-1]
    vectors = vectors[:, kept]
    return (vectors / values[kept] @ vectors.T).astype(A.dtype)


# --- E-step ---


class EStep:
    """step(E_s) = B_s A_s⁻¹ for fixed P and R, applied to whole batches.

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

    def step(self, E: np.ndarray, batch: Batch) -> np.ndarray:
        """One step of every graph of a batch: [b n, r] → [b n, r].

        Raises:
            BoveError: an A_s that is not positive definite.
        """
        # B_s = W_sᵀP + alpha Σ_k (X_sk E_s R_kᵀ + X_skᵀ E_s R_k)
        out = batch.W @ self.P
        if not self.related:
            self._solve(self.C.copy(), out)
            return out
        n, (d, r, _) = batch.n, self.R.shape
        # of a long graph a few relations at a time
        few = max(1, d if n <= r else LONG_TOKENS // n)
        for k in range(0, d, few):
            part = range(k, min(k + few, d))
            sides = self.sides[:, 2 * r * part.start : 2 * r * part.stop]
            H = np.matmul(E, sides, out=self.space.array(len(E), sides.shape[1], dtype=E.dtype))
            out += self.root * (batch.incidence(part) @ H.reshape(-1, r))
        # A_s = PᵀP + lambda_E I + alpha Σ_k (R_k G_s R_kᵀ + R_kᵀ G_s R_k)
        for s in range(0, len(E), n):
            if n > r:
                A = self._from_gram(E[s : s + n])
            else:
                sides = H[s : s + n].reshape(-1, r)
                A = sides.T @ sides
            A += self.C
            if batch.around is None:
                self._solve(A, out[s : s + n])
            else:
                self._solve_known(A, out, E, batch, s)
        return out

    def _solve_known(self, A, out, E, batch, s):
        """The solve of the graph that starts at row s: rows with unknown cells each have their own A."""
        (offsets, other, side), r = batch.around, len(A)
        rows = s + np.flatnonzero(np.diff(offsets[s : s + batch.n + 1]))
        own = out[rows]
        self._solve(A.copy() if len(rows) else A, out[s : s + batch.n])
        # a row's cells are gathered together, and some rows' at once
        cuts = np.flatnonzero(np.diff(offsets[rows] // ARCS)) + 1
        for few, B in zip(np.split(rows, cuts), np.split(own, cuts), strict=True):
            if not len(few):
                continue
            start, end = offsets[few[0]], offsets[few[-1] + 1]
            H = np.empty((end - start, r), A.dtype)
            for k, at in grouped(side[start:end]):
                H[at] = E[other[start:end][at]] @ self.sides[:, k * r : (k + 1) * r]
            for row, b in zip(few, B, strict=True):
                h = H[offsets[row] - start : offsets[row + 1] - start]
                self._solve(A - h.T @ h, b[None])
            out[few] = B

    def _from_gram(self, E):
        """alpha Σ_k (R_k G R_kᵀ + R_kᵀ G R_k), cheaper so when the graph has more tokens than the rank."""
        G = self.alpha * (E.T @ E)
        return sum(R_k @ (G @ R_k.T) + R_k.T @ (G @ R_k) for R_k in self.R)

    def _solve(self, A, B):
        if not solve_rows(A, B):
            raise BoveError(
                f"E-step: a sentence's matrix is not positive definite in {A.dtype}; "
                "raise lambda_E or train with dtype float64"
            )


# SciPy's Python functions keep the interpreter's lock during a solve, so that threads would wait for each
# other. The same LAPACK routine, taken from SciPy's interface for compiled code, does not.
_get_name = ctypes.pythonapi.PyCapsule_GetName
_get_name.restype, _get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _routine(name: str):
    """A routine of type void (char *uplo, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, int *info)."""
    capsule = cython_lapack.__pyx_capi__[name]
    address = _get_pointer(capsule, _get_name(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8)(address)


_POSV = {np.dtype(np.float32): _routine("sposv"), np.dtype(np.float64): _routine("dposv")}


def solve_rows(A: np.ndarray, B: np.ndarray) -> bool:
    """B ← B A⁻¹ in place; whether A was positive definite to its precision (if not, B means nothing).

    Args:
        A: [r, r] symmetric, float32 or float64; overwritten.
        B: [n, r] of the same type. Both contiguous, row by row.
    """
    if not (A.flags.c_contiguous and B.flags.c_contiguous and A.dtype == B.dtype):
        raise ValueError("solve_rows takes contiguous arrays of one type")
    # row by row is column by column of the transposes, and A is its own
    r, n, info = ctypes.c_int(len(A)), ctypes.c_int(len(B)), ctypes.c_int()
    size, count, status = ctypes.byref(r), ctypes.byref(n), ctypes.byref(info)
    _POSV[A.dtype](b"L", size, count, A.ctypes.data, size, B.ctypes.data, size, status)
    return info.value == 0
