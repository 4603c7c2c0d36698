"""Inference with a trained model: E for fixed P and R, from E = 0. `Inference` configures the solver.

`averaged` (the paper's):  E¹ = step(0) = WᵀP (PᵀP + lambda_E I)⁻¹, then E ← (E + step(E)) / 2.

`fixed-point`: the same fixed points by the preconditioned iteration with D = PᵀP + lambda_E I,

    E ← [ WᵀP + alpha Σ_k ( F_k E R_kᵀ + F_kᵀ E R_k ) ] D⁻¹,    F_k = X_k − E R_k Eᵀ,

on the factors R_k = U_k V_kᵀ: with S = E U and T = E V, F_k = X_k − S_k T_kᵀ and the sum is
Σ_k F_k T_k U_kᵀ + F_kᵀ S_k V_kᵀ. Each graph is accelerated by itself (`Anderson`). A graph whose change
does not shrink takes averaged steps from E = 0 for what is left of its iterations. So does a graph that ends
so far from E¹ = WᵀP D⁻¹ that E = 0 explains it better:

    L_s(E) <= L_s(0)  needs  lambda_E ‖E − E¹‖² <= ‖E − E¹‖²_D <= alpha ‖X_s‖² + ‖E¹‖²_D.

The evidence of a token is pᵀe, what the model reconstructs of the cell that says which word it is: p is the
row of its word property, whatever stands for the word. Words are the group `words` of the model's properties
and the corpus' extra ones; where a model has no such group, p is the sum of all of the token's properties.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.model import LowRank, Model, compress
from bove.factor.parallel import Batch, Space, Workers, make_batches
from bove.factor.settings import InferenceSettings
from bove.factor.steps import LONG_TOKENS, EStep, solve_spd

# differences that Anderson acceleration remembers; share of the residual that it adds; growth of the residual
# at which it forgets; iterations without progress after which a graph is given up
MEMORY, MIXING, GROWTH, PATIENCE = 8, 0.5, 2.0, 8

Result = TypeVar("Result")


@dataclass(frozen=True)
class Inferred:
    """Bags of one batch: E [b n, r], and for each graph its iterations and its last relative change.

    `lost` [b] says which graphs the fixed-point solver gave up, and `evidence` [b n] of the tokens is there
    once `Inference.solver` has made the bags.
    """

    E: np.ndarray
    iterations: np.ndarray
    change: np.ndarray
    lost: np.ndarray
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

    def solver(
        self, corpus: GraphCorpus, name: str, start: np.ndarray | None = None
    ) -> Callable[[Batch], Inferred]:
        """A function from a batch of the corpus (called `name` in messages) to its bags, from a start [T, r].

        Raises:
            BoveError: graphs of another vocabulary, or with extra vectors of another length; the function: a
                graph has diverged under every solver.
        """
        model, factors = self.model, self.factors
        model.check(corpus, name)
        P, PtP = model.properties, model.gram()
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

        def begin(batch: Batch) -> np.ndarray | None:
            return None if start is None else start[batch.tokens].astype(P.dtype)

        if factors is None:
            kernel = EStep(P, PtP, model.dense_relations(), **weights)
            infer = partial(infer_averaged, kernel, **stop)
            return lambda batch: _finished(infer(batch, E0=begin(batch)), batch, words)
        solver = FixedPoint(
            P, PtP, factors, **weights, fallback=lambda: EStep(P, PtP, factors.dense(), **weights)
        )
        return lambda batch: _finished(solver.infer(batch, **stop, E0=begin(batch)), batch, words)

    def tokens(
        self,
        corpus: GraphCorpus,
        name: str,
        threads: int = 1,
        graphs: np.ndarray | None = None,
        start: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """[T, r] the token vectors of a corpus, or of some of its graphs, and their evidence [T].

        Those of the other graphs are 0.

        Args:
            name: what messages call the corpus.
            start: [T, r] where the tokens start instead of at 0.

        Raises:
            BoveError: as `solver` does.
        """
        infer, dtype = self.solver(corpus, name, start), self.model.properties.dtype
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
    kernel: EStep,
    batch: Batch,
    *,
    iterations: int | np.ndarray,
    tolerance: float,
    E0: np.ndarray | None = None,
) -> Inferred:
    """At most `iterations` (one number, or [b]) steps, the first from E = 0 whole, the others averaged.

    A graph leaves the batch when its largest relative token change is below `tolerance` (0: never).
    """
    E = np.zeros((len(batch.tokens), len(kernel.C)), kernel.C.dtype) if E0 is None else E0.copy()
    used, change = np.zeros(batch.size, np.int64), np.full(batch.size, np.inf)
    part, active, now = batch, np.arange(batch.size), E
    limit = np.broadcast_to(iterations, batch.size)
    while True:
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging graph shows in its change
            step = kernel.step(now, part)
        new = (now + step) / 2 if used.max() or E0 is not None else step
        used[active] += 1
        change[active] = relative_change(new, now, part.n)
        now = new
        E.reshape(batch.size, part.n, -1)[active] = now.reshape(len(active), part.n, -1)
        keep = (change[active] >= tolerance) & (used[active] < limit[active])
        if not keep.any():
            break
        if not keep.all():
            rows = np.repeat(keep, part.n)
            part, active, now = part.select(keep), active[keep], now[rows]
    return Inferred(E, used, change, np.zeros(batch.size, bool))


class Anderson:
    """Anderson acceleration of x ← g(x) for b vectors x, each with a memory of its own.

    With the residual f = g(x) − x, and ΔF and ΔX the last MEMORY differences of f and of x, the next x is

        x + MIXING f − (ΔX + MIXING ΔF)ᵀγ,    where γ minimises ‖f − ΔFᵀγ‖

    (Walker and Ni 2011, type II). Where ‖f‖ has grown by GROWTH, only the newest difference is kept.
    """

    def __init__(self, b: int, size: int, dtype):
        self.dF, self.dX = np.zeros((2, b, MEMORY, size), dtype)
        self.A = np.zeros((b, MEMORY, MEMORY), dtype)  # ΔF ΔFᵀ
        self.f = self.x = np.zeros((b, size), dtype)
        self.size, self.turn = np.full(b, np.inf), 0

    def select(self, keep: np.ndarray) -> None:
        """Go on with those vectors for which `keep` [b] is true."""
        for name in ("dF", "dX", "A", "f", "x", "size"):
            setattr(self, name, getattr(self, name)[keep])

    def next(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The next x from x and g(x), all of the same shape, in which the vectors follow each other."""
        x = x.reshape(self.x.shape)
        f, slot = g.reshape(x.shape) - x, (self.turn - 1) % MEMORY
        size = np.linalg.norm(f, axis=1)
        grew = size > GROWTH * self.size
        self.dF[grew] = self.A[grew] = 0
        if self.turn:
            np.subtract(f, self.f, out=self.dF[:, slot])
            np.subtract(x, self.x, out=self.dX[:, slot])
        dots = self.dF @ np.stack([self.dF[:, slot], f], axis=1).transpose(0, 2, 1)
        self.A[:, slot] = self.A[:, :, slot] = dots[:, :, 0]
        self.f, self.x, self.size, self.turn = f, x, size, self.turn + 1
        # a small ridge keeps γ small where differences are nearly parallel; an empty slot gets γ = 0
        A = self.A.astype(np.float64)
        diagonal = np.einsum("bmm->bm", A)
        diagonal += np.where(diagonal > 0, 1e-6 * diagonal.max(axis=1, keepdims=True), 1)
        gamma = np.linalg.solve(A, dots[:, :, 1:]).transpose(0, 2, 1).astype(f.dtype)
        step = (f - (gamma @ self.dF)[:, 0]) * f.dtype.type(MIXING)
        return (x + step - (gamma @ self.dX)[:, 0]).reshape(g.shape)


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
        """Iterate until no token of a graph changes by `tolerance` or more, at most `iterations` times.

        The averaged steps of a graph that falls back count among these. With none left its bag is E¹. A graph
        without properties, which D says nothing of, takes averaged steps from E0, where it has one.
        """
        n, r = batch.n, self.PD.shape[1]
        first = batch.W @ self.PD
        bare = ~first.reshape(batch.size, n * r).any(axis=1)
        if E0 is not None and bare.any() and self.fallback:
            return self._apart(batch, bare, E0, iterations=iterations, tolerance=tolerance)
        if not self.alpha or not self.Q:
            none = np.zeros(batch.size)
            return Inferred(first, np.ones(batch.size, np.int64), none, none > 0)
        part, active, now, base = batch, np.arange(batch.size), first if E0 is None else E0, first
        E, memory = now.copy(), Anderson(batch.size, n * r, first.dtype)
        used, change = np.full(batch.size, int(E0 is None)), np.full(batch.size, np.inf)
        lost, waited, best = np.zeros(batch.size, bool), np.zeros(batch.size, np.int64), change.copy()
        half = np.finfo(E.dtype).eps ** 0.5  # of the digits; a graph that has reached it is not given up
        while used[active[0]] < iterations:
            with np.errstate(over="ignore", invalid="ignore"):  # a diverging graph shows in its change
                step = base + self.alpha * self.pull(now, part)
            E.reshape(batch.size, n * r)[active] = step.reshape(-1, n * r)
            moved = change[active] = relative_change(step, now, n)
            used[active] += 1
            waited[active] = np.where(moved < best[active], 0, waited[active] + 1)
            best[active] = np.minimum(best[active], moved)
            waits = (waited[active] >= PATIENCE) & (best[active] > half)
            lost[active] = waits | ~np.isfinite(moved)
            keep = (moved >= tolerance) & ~lost[active]
            if not keep.any():
                break
            if not keep.all():
                rows = np.repeat(keep, n)
                part, active = part.select(keep), active[keep]
                now, base, step = now[rows], base[rows], step[rows]
                memory.select(keep)
            with np.errstate(over="ignore", invalid="ignore"):
                now = memory.next(now, step)
        lost |= self._astray(E, first, batch)
        if lost.any() and self.fallback:
            rows, left = np.repeat(lost, n), lost & (used < iterations)
            E[rows], change[lost] = first[rows], 1
            if left.any():
                how = {"iterations": iterations - used[left], "tolerance": tolerance}
                got = infer_averaged(self.fallback(), batch.select(left), **how)
                E[np.repeat(left, n)], change[left] = got.E, got.change
                used[left] += got.iterations
        return Inferred(E, used, change, lost)

    def _apart(self, batch: Batch, bare: np.ndarray, E0: np.ndarray, **how) -> Inferred:
        """The graphs that are bare [b] by averaged steps from E0, the others as always."""
        E = np.empty_like(E0)
        found = np.empty(batch.size, np.int64), np.empty(batch.size), np.empty(batch.size, bool)
        for some, infer in ((bare, partial(infer_averaged, self.fallback())), (~bare, self.infer)):
            if some.any():
                rows = np.repeat(some, batch.n)
                got = infer(batch.select(some), E0=E0[rows], **how)
                E[rows] = got.E
                for array, part in zip(found, (got.iterations, got.change, got.lost), strict=True):
                    array[some] = part
        return Inferred(E, *found)

    def _astray(self, E, first, batch):
        """[b] bool: the graphs that E = 0 surely explains better, such as one that grows to the last."""
        with np.errstate(over="ignore", invalid="ignore"):
            far = self.lambda_E * np.square(E - first, dtype=np.float64).reshape(batch.size, -1).sum(axis=1)
        near = (first * (batch.W @ self.P)).reshape(batch.size, -1).sum(axis=1, dtype=np.float64)
        _, graph, _, _ = batch.arcs
        arcs = np.bincount(graph, np.square(batch.weights, dtype=np.float64), batch.size)
        return ~(far <= (1 + 1e-3) * (float(self.alpha) * arcs + near))

    def pull(self, E, batch):
        """[b n, r] Σ_k (F_k T_k U_kᵀ + F_kᵀ S_k V_kᵀ) D⁻¹."""
        b, n, Q = batch.size, batch.n, self.Q
        if n > LONG_TOKENS:
            return self._pull_by_relation(E, batch)
        ST, Y = self.space.array(2, b, n, 2 * Q, dtype=E.dtype)
        np.matmul(E, self.UV, out=ST.reshape(b * n, 2 * Q))
        for k, q in enumerate(self.relations.ranks):
            at = self.relations.columns(k)
            behind = slice(Q + at.start, Q + at.stop)
            if q:
                residual_products(ST[:, :, at], ST[:, :, behind], batch, k, Y[:, :, at], Y[:, :, behind])
        return Y.reshape(b * n, 2 * Q) @ self.UVD

    def _pull_by_relation(self, E, batch):
        """The same one relation at a time, so that a long graph takes no [n, 2 Q]."""
        b, n, out = batch.size, batch.n, np.zeros_like(E)
        for k, q in enumerate(self.relations.ranks):
            if q:
                at = self.relations.columns(k)
                behind = slice(self.Q + at.start, self.Q + at.stop)
                S, T = ((E @ self.UV[:, side]).reshape(b, n, q) for side in (at, behind))
                Y = np.empty((2, b, n, q), E.dtype)
                residual_products(S, T, batch, k, *Y)
                for part, side in zip(Y, (at, behind), strict=True):
                    out += part.reshape(b * n, q) @ self.UVD[side]
        return out


def residual_products(S, T, batch: Batch, k: int, left: np.ndarray, right: np.ndarray) -> None:
    """left ← F_k T, right ← F_kᵀ S for S, T [b, n, q], with F_k = X_k − S Tᵀ, and 0 where X_k is unknown.

    Through F_k [b, n, n] where the graph is no longer than the factors are wide, else through the
    [q, q] Grams, so that a long graph never has its dense cells built.
    """
    _, n, q = S.shape
    cells, weights = batch.cells.get(k, (None, None))
    unknown = batch.unknown.get(k)
    if n <= 2 * q:
        F = -(S @ T.transpose(0, 2, 1))
        if cells is not None:
            F.reshape(-1)[cells] += weights
        if unknown is not None:
            F.reshape(-1)[unknown] = 0
        np.matmul(F, T, out=left)
        np.matmul(F.transpose(0, 2, 1), S, out=right)
        return
    np.matmul(S, -(T.transpose(0, 2, 1) @ T), out=left)
    np.matmul(T, -(S.transpose(0, 2, 1) @ S), out=right)
    if cells is not None:
        graph, head, dependent = cells // (n * n), cells // n % n, cells % n
        np.add.at(left, (graph, head), weights[:, None] * T[graph, dependent])
        np.add.at(right, (graph, dependent), weights[:, None] * S[graph, head])
    if unknown is not None:
        graph, head, dependent = unknown // (n * n), unknown // n % n, unknown % n
        heads, ends = S[graph, head], T[graph, dependent]
        scores = np.einsum("ij,ij->i", heads, ends)[:, None]
        np.add.at(left, (graph, head), scores * ends)
        np.add.at(right, (graph, dependent), scores * heads)
