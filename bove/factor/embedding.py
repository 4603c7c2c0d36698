"""A model made ready to infer bags: what each system asks of the solvers in `bove.factor.inference`.

`bove` runs a solver on P and R; `properties-only` is its first step, without relations.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bove.errors import BoveError
from bove.factor.batches import Batch, Workers, plan_batches, ranges, take_batch
from bove.factor.inference import FixedPoint, Inferred, infer_averaged
from bove.factor.lowrank import LowRank
from bove.factor.model import Model
from bove.factor.steps import EStep
from bove.graphs import GraphCorpus

SYSTEMS = ("properties-only", "bove")
SOLVERS = ("fixed-point", "averaged")


@dataclass(frozen=True)
class Options:
    """How bags are inferred.

    Attributes:
        solver: one of SOLVERS.
        iterations: the most of them.
        tolerance: a graph is done where no token vector changes by more than this share; 0 never.
        energy: share of each relation's energy that its factors keep (fixed-point).
    """

    solver: str
    iterations: int
    tolerance: float
    energy: float


class Inference:
    """One model's inference under one system.

    Attributes:
        model: the model.
        factors: R's factors, where the solver runs on these; else None.
    """

    def __init__(self, model: Model, system: str, options: Options | None = None):
        """Factorise what depends on the model alone.

        Args:
            system: one of SYSTEMS.
            options: of `bove`; the other system has none.

        Raises:
            BoveError: an energy that is not above 0 and at most 1, or fewer iterations than one,
                or a tolerance that is no number of at least 0.
        """
        self.model, self.system, self.options = model, system, options
        self.factors: LowRank | None = None
        if system != "bove":
            return
        if options.iterations < 1:
            raise BoveError(f"{options.iterations} iterations of inference: must be at least 1")
        if not 0 <= options.tolerance < math.inf:
            raise BoveError(f"tolerance {options.tolerance} of inference: must be a number of at least 0")
        if options.solver == "fixed-point":
            whole = options.energy >= 1 and isinstance(model.relations, LowRank)
            self.factors = model.relations if whole else model.compress(options.energy).relations

    def solver(self, corpus: GraphCorpus, name: str) -> Callable[[Batch], Inferred]:
        """A function from a batch of the corpus (called `name` in messages) to its bags.

        Raises:
            BoveError: graphs of another vocabulary, or with further vectors of another length.
        """
        model, system = self.model, self.system
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
        alpha, lambda_E = model.weight("alpha"), model.weight("lambda_E")
        if system == "properties-only":
            none = LowRank(
                np.zeros((model.rank, 0), P.dtype), np.zeros((model.rank, 0), P.dtype), np.zeros(0, int)
            )
            solver = FixedPoint(P, PtP, none, 0.0, lambda_E)
            return lambda batch: solver.infer(batch, iterations=1, tolerance=0)
        settings = {"iterations": self.options.iterations, "tolerance": self.options.tolerance}
        if self.factors is None:
            kernel = EStep(P, PtP, model.dense_relations(), alpha, lambda_E)
            return lambda batch: infer_averaged(kernel, batch, **settings)
        factors = self.factors
        solver = FixedPoint(
            P, PtP, factors, alpha, lambda_E, lambda: EStep(P, PtP, factors.dense(), alpha, lambda_E)
        )
        return lambda batch: solver.infer(batch, **settings)


def infer_batches(
    infer: Callable[[Batch], Inferred],
    corpus: GraphCorpus,
    graphs: np.ndarray,
    plan: Sequence[np.ndarray],
    dtype: np.dtype,
    workers: Workers,
) -> Iterator[tuple[np.ndarray, Inferred]]:
    """Yield (places in `graphs` [b], their bags) batch by batch.

    Args:
        infer: from `Inference.solver`.
        graphs: [B] graphs of the corpus.
        plan: from `plan_batches` for the lengths of `graphs`, or some of these batches.

    Raises:
        BoveError: a graph has diverged under every solver.
    """
    results = workers.map(lambda places: infer(take_batch(corpus, graphs[places], dtype)), plan)
    for places, got in zip(plan, results, strict=True):
        _check_finite(got.E, corpus, graphs[places])
        yield places, got


def infer_tokens(
    infer: Callable[[Batch], Inferred],
    corpus: GraphCorpus,
    graphs: np.ndarray,
    batch_tokens: int,
    like: np.ndarray,
    threads: int = 1,
) -> np.ndarray:
    """[T, r] the token vectors of some graphs, in memory; those of the others are 0.

    Args:
        infer, graphs: as in `infer_batches`, which also says what is raised.
        batch_tokens: tokens worked on at once.
        like: [c, r] the model's property vectors, which give dimensions and type.
    """
    E = np.zeros((corpus.n_tokens, like.shape[1]), like.dtype)
    plan = plan_batches(corpus.lengths[graphs], batch_tokens)
    with Workers(threads) as workers:
        for places, got in infer_batches(infer, corpus, graphs, plan, like.dtype, workers):
            tokens, _ = ranges(corpus.token_offsets, graphs[places])
            E[tokens] = got.E
    return E


def _check_finite(E, corpus, graphs) -> None:
    """BoveError for a batch [b n, r] of which a graph has diverged under every solver."""
    bad = ~np.isfinite(E).reshape(len(graphs), -1).all(axis=1)
    if bad.any():
        name = corpus.ids[graphs[np.flatnonzero(bad)[0]]]
        raise BoveError(
            f"sentence '{name}': its bag is not finite, since inference diverged; "
            "train with a lower alpha, or a higher lambda_R or lambda_E"
        )
