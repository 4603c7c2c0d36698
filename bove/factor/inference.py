"""Inference with a trained model: E for fixed P and R, from E = 0. `Inference` configures the solver.

`averaged` (the paper's):  E¹ = step(0) = WᵀP (PᵀP + lambda_E I)⁻¹, then E ← (E + step(E)) / 2.

`fixed-point`: the same fixed points by the preconditioned iteration with D = PᵀP + lambda_E I,

    E ← [ WᵀP + alpha Σ_k ( F_k E R_kᵀ + F_kᵀ E R_k ) ] D⁻¹,    F_k = X_k − E R_k Eᵀ,

on the factors R_k = U_k V_kᵀ: with S = E U and T = E V, F_k = X_k − S_k T_kᵀ and the sum is
Σ_k F_k T_k U_kᵀ + F_kᵀ S_k V_kᵀ. A graph whose change does not shrink is damped, and in the end falls
back to the averaged step. So does a graph that ends so far from E¹ = WᵀP D⁻¹ that E = 0 explains it better:

    L_s(E) <= L_s(0)  needs  lambda_E ‖E − E¹‖² <= ‖E − E¹‖²_D <= alpha nnz(X_s) + ‖E¹‖²_D.

The evidence of a token is pᵀe, what the model reconstructs of the cell that says which word it is: p is the
row of its word property, whatever stands for the word. Words are the group `words` of the model's properties
and the corpus' extra ones; where a model has no such group, p is the sum of all of the token's properties.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.model import LowRank, Model, compress
from bove.factor.parallel import Batch, Space, Workers, make_batches
from bove.factor.settings import InferenceSettings
from bove.factor.steps import EStep, solve_spd

# a graph is stuck where a step at damping w shrinks its change by less than this share of w
LEAST_GAIN = 0.1
LEAST_DAMPING = 1 / 16

Result = TypeVar("Result")


@dataclass(frozen=True)
class Inferred:
    """Bags of one batch: E [b n, r], and for each graph its iterations and its last relative change.

    `evidence` [b n] of the tokens is there once `Inference.solver` has made the bags.
    """

    E: np.ndarray
    iterations: np.ndarray
    change: np.ndarray
    evidence: np.ndarray | None = None


class Inference:
    """One model's inference; what depends on the model alone is factorised once.

    Args:
        relations: whether they take part; without them, bags are E¹, and of the settings only `batch_tokens`
            counts.

    Attributes:
        factors: R's factors, where the solver runs on these; else None.
    """

    def __init__(self, model: Model, settings: InferenceSettings, relations: bool = True):
        self.model, self.settings = model, settings
        self.factors: LowRank | None = None
        self._stop = {"iterations": settings.iterations, "tolerance": settings.tolerance}
        if not relations:
            self.factors = compress(np.zeros((0, model.rank, model.rank), model.properties.dtype), 1)
            self._stop = {"iterations": 1, "tolerance": 0.0}
        elif settings.solver == "fixed-point":
            whole = settings.energy >= 1 and isinstance(model.relations, LowRank)
            self.factors = model.relations if whole else model.compress(settings.energy).relations

    def solver(self, corpus: GraphCorpus, name: str) -> Callable[[Batch], Inferred]:
        """A function from a batch of the corpus (called `name` in messages) to its bags.

        Raises:
            BoveError: graphs of another vocabulary, or with extra vectors of another length; the function: a
                graph has diverged under every solver.
        """
        model, factors = self.model, self.factors
        model.check(corpus, name)
        P = model.properties
        PtP = P.T @ P
        if len(corpus.extra):
            if corpus.extra.shape[1] != model.rank:
                raise BoveError(
                    f"{name}: words with vectors of {corpus.extra.shape[1]} dimensions, but the model has "
                    f"rank {model.rank}; encode the sentences with the model's vectors"
                )
            P = np.concatenate([P, corpus.extra.astype(P.dtype)])
        weights = {"alpha": model.weight("alpha"), "lambda_E": model.weight("lambda_E")}
        stop = self._stop
        words = word_vectors(P, model.groups, corpus.n_properties)
        if factors is None:
            kernel = EStep(P, PtP, model.dense_relations(), **weights)
            return lambda batch: _finished(infer_averaged(kernel, batch, **stop), batch, words)
        solver = FixedPoint(
            P, PtP, factors, **weights, fallback=lambda: EStep(P, PtP, factors.dense(), **weights)
        )
        return lambda batch: _finished(solver.infer(batch, **stop), batch, words)

    def tokens(
        self, corpus: GraphCorpus, name: str, threads: int = 1, graphs: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """[T, r] the token vectors of a corpus, or of some of its graphs, and their evidence [T].

        Those of the other graphs are 0.

        Args:
            name: what messages call the corpus.

        Raises:
            BoveError: as `solver` does.
        """
        infer, dtype = self.solver(corpus, name), self.model.properties.dtype
        E, evidence = np.zeros((corpus.n_tokens, self.model.rank), dtype), np.zeros(corpus.n_tokens)
        with Workers(threads) as workers:
            batches = make_batches(corpus, self.settings.batch_tokens, dtype, graphs)
            for batch, got in infer_batches(infer, batches, workers):
                E[batch.tokens], evidence[batch.tokens] = got.E, got.evidence
        return E, evidence


def infer_batches(
    infer: Callable[[Batch], Result], batches: Iterable[Batch], workers: Workers
) -> Iterator[tuple[Batch, Result]]:
    """Yield each batch with what `infer` makes of it, in order: the one loop of inference over batches."""
    return workers.map(lambda batch: (batch, infer(batch)), batches)


def infer_tokens(
    infer: Callable[[Batch], np.ndarray], batches: Iterable[Batch], E: np.ndarray, workers: Workers
) -> np.ndarray:
    """E [T, r], in place, with the rows of each batch's tokens as `infer` makes them [b n, r]."""
    for batch, vectors in infer_batches(infer, batches, workers):
        E[batch.tokens] = vectors
    return E


def word_vectors(P: np.ndarray, groups: Mapping[str, tuple[int, int]], n_properties: int) -> np.ndarray:
    """[c (+ extra), r] P with the rows of words alone, the others 0; all of P without a group of words."""
    if "words" not in groups:
        return P
    first, last = groups["words"]
    words = P.copy()
    words[:first], words[last:n_properties] = 0, 0
    return words


def _finished(got: Inferred, batch: Batch, words: np.ndarray) -> Inferred:
    """The bags of a batch with their evidence; BoveError where a graph has diverged under every solver."""
    bad = ~np.isfinite(got.E).reshape(batch.size, -1).all(axis=1)
    if bad.any():
        name = batch.corpus.ids[batch.graphs[np.flatnonzero(bad)[0]]]
        raise BoveError(
            f"sentence '{name}': its bag is not finite, since inference diverged; "
            "train with a lower alpha, or a higher lambda_R or lambda_E"
        )
    own = (batch.W @ words).astype(np.float64, copy=False)
    return replace(got, evidence=np.einsum("ij,ij->i", own, got.E.astype(np.float64, copy=False)))


def relative_change(new: np.ndarray, old: np.ndarray, n: int) -> np.ndarray:
    """[b] for each graph the largest ‖new_i − old_i‖ / ‖new_i‖ over its tokens i (0 where both are 0).

    Infinite for a graph that diverges, which its caller handles.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.linalg.norm(new - old, axis=1)
        size = np.linalg.norm(new, axis=1)
        ratio = np.divide(moved, size, out=np.where(moved > 0, np.inf, 0).astype(moved.dtype), where=size > 0)
    return np.where(np.isfinite(moved), ratio, np.inf).reshape(-1, n).max(axis=1)


def infer_averaged(
    kernel: EStep, batch: Batch, *, iterations: int, tolerance: float, E0: np.ndarray | None = None
) -> Inferred:
    """At most `iterations` steps for each graph, the first from E = 0 whole, the others averaged.

    A graph leaves the batch when its largest relative token change is below `tolerance` (0: never).
    """
    E = np.zeros((len(batch.tokens), len(kernel.C)), kernel.C.dtype) if E0 is None else E0.copy()
    used, change = np.zeros(batch.size, np.int64), np.full(batch.size, np.inf)
    part, active, now = batch, np.arange(batch.size), E
    while len(active) and used.max() < iterations:
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging graph shows in its change
            step = kernel.step(now, part)
        new = (now + step) / 2 if used.max() or E0 is not None else step
        used[active] += 1
        change[active] = relative_change(new, now, part.n)
        now = new
        E.reshape(batch.size, part.n, -1)[active] = now.reshape(len(active), part.n, -1)
        keep = (change[active] >= tolerance) | (tolerance == 0)
        if not keep.any():
            break
        if not keep.all():
            part, active, now = part.select(keep), active[keep], now[np.repeat(keep, part.n)]
    return Inferred(E, used, change)


class FixedPoint:
    """The preconditioned iteration for fixed P and low-rank R.

    Args:
        P: [c (+ extra), r] property vectors by row of W. PtP: [r, r] of the training vocabulary.
        relations: the factors of R.
        fallback: the averaged kernel, made only when a graph needs it.
    """

    def __init__(
        self, P, PtP, relations: LowRank, alpha, lambda_E, fallback: Callable[[], EStep] | None = None
    ):
        self.relations, self.alpha, self.fallback = relations, P.dtype.type(alpha), fallback
        D = np.asarray(PtP, np.float64) + lambda_E * np.eye(len(PtP))
        first = np.concatenate([P.T, relations.U, relations.V], axis=1)
        solved = solve_spd(D, first, "inference", "lambda_E").astype(P.dtype)
        c, Q = len(P), relations.U.shape[1]
        self.P, self.lambda_E = P, lambda_E
        self.PD = solved[:, :c].T.copy()
        self.UV = np.concatenate([relations.U, relations.V], axis=1)
        self.UVD = solved[:, c : c + 2 * Q].T.copy()
        self.Q, self.space = Q, Space()

    def infer(
        self, batch: Batch, *, iterations: int, tolerance: float, E0: np.ndarray | None = None
    ) -> Inferred:
        """Iterate until no token of a graph changes by `tolerance` or more, or `iterations` times."""
        n, r = batch.n, self.PD.shape[1]
        first = batch.W @ self.PD
        if not self.alpha or not self.Q:
            return Inferred(first, np.ones(batch.size, np.int64), np.zeros(batch.size))
        E = first.copy() if E0 is None else E0.copy()
        used = np.full(batch.size, 1 if E0 is None else 0)
        change = np.full(batch.size, np.inf)
        damping = np.ones(batch.size, E.dtype)
        part, active = batch, np.arange(batch.size if iterations > used.max() else 0)
        now, base, lost = E, first, np.zeros(batch.size, bool)
        while len(active):
            with np.errstate(over="ignore", invalid="ignore"):  # a diverging graph shows in its change
                step = base + self.alpha * self.pull(now, part)
            new_change = relative_change(step, now, n)
            stuck = new_change > (1 - LEAST_GAIN * damping[active]) * change[active]
            damping[active[stuck]] /= 2
            change[active] = new_change
            used[active] += 1
            # a graph that is done takes the whole step; the others go as far as their damping lets them
            done = (new_change < tolerance) if tolerance else np.zeros(len(active), bool)
            weight = np.where(done, 1, damping[active]).astype(E.dtype)
            now = now + np.repeat(weight, n)[:, None] * (step - now)
            E.reshape(batch.size, n, r)[active] = now.reshape(-1, n, r)
            failed = ~done & ((damping[active] < LEAST_DAMPING) | ~np.isfinite(new_change))
            lost[active[failed]] = True
            keep = ~done & ~failed & (used[active] < iterations)
            if not keep.any():
                break
            if not keep.all():
                rows = np.repeat(keep, n)
                part, active, now, base = part.select(keep), active[keep], now[rows], base[rows]
        lost |= self._astray(E, first, batch)
        if lost.any() and self.fallback:
            part = batch.select(lost)
            got = infer_averaged(self.fallback(), part, iterations=iterations, tolerance=tolerance)
            E[np.repeat(lost, n)], change[lost] = got.E, got.change
            used[lost] += got.iterations
        return Inferred(E, used, change)

    def _astray(self, E, first, batch):
        """[b] bool: the graphs that E = 0 surely explains better, such as one that grows to the last."""
        with np.errstate(over="ignore", invalid="ignore"):
            far = self.lambda_E * np.square(E - first, dtype=np.float64).reshape(batch.size, -1).sum(axis=1)
        near = (first * (batch.W @ self.P)).reshape(batch.size, -1).sum(axis=1, dtype=np.float64)
        _, graph, _, _ = batch.arcs
        arcs = np.bincount(graph, minlength=batch.size)
        return ~(far <= (1 + 1e-3) * (float(self.alpha) * arcs + near))

    def pull(self, E, batch):
        """[b n, r] Σ_k (F_k T_k U_kᵀ + F_kᵀ S_k V_kᵀ) D⁻¹."""
        b, n, Q = batch.size, batch.n, self.Q
        ST, Y = self.space.array(2, b, n, 2 * Q, dtype=E.dtype)
        np.matmul(E, self.UV, out=ST.reshape(b * n, 2 * Q))
        for k, q in enumerate(self.relations.ranks):
            at = self.relations.columns(k)
            behind = slice(Q + at.start, Q + at.stop)
            if q:
                residual_products(ST[:, :, at], ST[:, :, behind], batch, k, Y[:, :, at], Y[:, :, behind])
        return Y.reshape(b * n, 2 * Q) @ self.UVD


def residual_products(S, T, batch: Batch, k: int, left: np.ndarray, right: np.ndarray) -> None:
    """left ← F_k T, right ← F_kᵀ S for S, T [b, n, q], with F_k = X_k − S Tᵀ.

    Through F_k [b, n, n] where the graph is no longer than the factors are wide, else through the
    [q, q] Grams, so that a long graph never has its dense cells built.
    """
    _, n, q = S.shape
    cells = batch.cells.get(k)
    if n <= 2 * q:
        F = -(S @ T.transpose(0, 2, 1))
        if cells is not None:
            F.reshape(-1)[cells] += 1
        np.matmul(F, T, out=left)
        np.matmul(F.transpose(0, 2, 1), S, out=right)
        return
    np.matmul(S, -(T.transpose(0, 2, 1) @ T), out=left)
    np.matmul(T, -(S.transpose(0, 2, 1) @ S), out=right)
    if cells is not None:
        graph, head, dependent = cells // (n * n), cells // n % n, cells % n
        np.add.at(left, (graph, head), T[graph, dependent])
        np.add.at(right, (graph, dependent), S[graph, head])
