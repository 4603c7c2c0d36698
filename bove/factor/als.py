"""Training by alternating least squares.

P random (frozen rows from vectors), R = 0, E = 0; then rounds of: E by one average of two steps (or by
the fixed-point solver, or by one step as RESCAL does), P, R. Where training starts from an E that is not 0,
the first round makes P and R for it. Every `restart_every` rounds E goes back to 0 and is inferred afresh
first. Ends after `max_rounds`, or when a round lowers L by less than `tolerance`, as a share of L or (`stop:
explained`) of L(0) − L + lambda_P ‖frozen rows‖², where L(0) is that of empty bags: what the model explains.

Several processes (`Peers`) can share the sentences. P, R and L are the same in all of them; E is
of each one's own sentences.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import FixedPoint, infer_averaged, infer_tokens
from bove.factor.model import compress
from bove.factor.objective import Groups, terms
from bove.factor.parallel import Peers, Workers, make_batches
from bove.factor.penalties import p_step_l1, r_step_proximal, r_step_shrink, value
from bove.factor.settings import AlsSettings
from bove.factor.steps import EStep, RStep, gram, p_step, r_step

MIXED = 16  # frozen rows in a random mixture


@dataclass(frozen=True)
class AlsState:
    """Where training stands after a round; each round makes a new one.

    Attributes:
        P, R, E: [c, r], [d, r, r] and [T, r].
        round: rounds done.
        log: one dict per round: round, L by term, iterations and residual of the R-step and of the P-step,
            the gain that the stopping rule looks at, and of one of several processes the bytes that it
            exchanged.
        finished: the stopping rule holds.
        seconds: of training up to the end of each round, by the wall clock; not what is done between rounds.
    """

    P: np.ndarray
    R: np.ndarray
    E: np.ndarray
    round: int = 0
    log: tuple[dict, ...] = ()
    finished: bool = False
    seconds: tuple[float, ...] = ()


def initial_state(
    corpus: GraphCorpus, P: np.ndarray, E: np.ndarray | None = None, R: np.ndarray | None = None
) -> AlsState:
    """R = 0 and E = 0, or the given E [T, r] and R [d, r, r], beside the given property vectors [c, r]."""
    r = P.shape[1]
    R = np.zeros((corpus.n_relations, r, r)) if R is None else R
    E = np.zeros((corpus.n_tokens, r)) if E is None else E
    return AlsState(P.copy(), R.astype(P.dtype), E.astype(P.dtype))


def initial_properties(
    c: int, vectors: np.ndarray, frozen: np.ndarray, seed: int, dtype, mix: float = 0.0
) -> np.ndarray:
    """[c, r] random vectors about as long as the frozen ones; rows where `frozen` [c] are `vectors`.

    With `mix`, and frozen rows, the others are random mixtures of MIXED of these, times `mix`: the same
    mixtures in whatever basis and of whatever length.
    """
    rng = np.random.default_rng(seed)
    r = vectors.shape[1]
    if mix and len(vectors):
        P = np.empty((c, r), dtype)
        chosen = rng.integers(len(vectors), size=(c - len(vectors), MIXED))
        weights = rng.standard_normal(chosen.shape) * mix / MIXED**0.5
        P[~frozen] = np.einsum("im,imr->ir", weights, vectors[chosen].astype(np.float64))
        P[frozen] = vectors
        return P
    scale = np.sqrt(np.mean(np.square(vectors, dtype=np.float64))) if len(vectors) else r**-0.5
    P = (rng.standard_normal((c, r)) * (scale or 1.0)).astype(dtype)
    P[frozen] = vectors
    return P


class AlsTrainer:
    """ALS over one corpus.

    Args:
        corpus: the training graphs.
        frozen: [c] bool, rows of P that stay.
        groups: rows of P that form one term of L each.
        threads: worker threads; the result does not depend on them.
        peers: the processes (Peers) that share the graphs; `corpus` has this one's.
    """

    def __init__(
        self, corpus: GraphCorpus, frozen, groups: Groups, settings: AlsSettings, threads=1, peers=None
    ):
        self.corpus, self.frozen, self.groups, self.settings = corpus, frozen, groups, settings
        self.threads, self.peers = threads, peers or Peers()

    def rounds(self, state: AlsState) -> Iterator[AlsState]:
        """Train on from `state`, yielding the new one after each round.

        Raises:
            BoveError: L is not finite, or below 0; in all processes at once.
        """
        s, dtype, began = self.settings, state.P.dtype, time.monotonic()
        self.batches = list(make_batches(self.corpus, s.batch_tokens, dtype))
        self.W = self.corpus.property_matrix(dtype)
        self.nnz_W = self.peers.sum(self.corpus.property_squares)
        self.nnz_X = self.peers.sum(self.corpus.arc_squares)
        # L of empty bags and R = 0, but for P; and the part of L that cannot change
        self.nothing = float(self.nnz_W.sum() + s.alpha * self.nnz_X.sum())
        self.constant = s.lambda_P * value(state.P[self.frozen], s.penalty_P)
        with Workers(self.threads, self.peers) as workers, np.errstate(over="ignore", invalid="ignore"):
            while state.round < s.max_rounds and not state.finished:
                state = self._round(state, workers)
                passed = (state.seconds or (0.0,))[-1] + time.monotonic() - began
                state = replace(state, seconds=(*state.seconds, passed))
                yield state
                began = time.monotonic()

    def _round(self, state: AlsState, workers: Workers) -> AlsState:
        s, peers, before = self.settings, self.peers, self.peers.bytes
        restart = bool(s.restart_every) and state.round > 0 and state.round % s.restart_every == 0
        started = not state.round and bool(peers.sum(np.array([np.count_nonzero(state.E)]))[0])
        with peers.together():
            E = state.E if started else self._e_step(state, workers, restart)
        G, WE = peers.sum(gram(E, workers)), peers.sum(self.W @ E)
        with peers.together():
            P, p_iterations, p_residual = self._p_step(WE, G, state.P, workers)
        solved = self._r_step(E, G, state, workers)
        row = {"round": state.round + 1, "restart": int(restart)}
        row |= terms(P, solved, WE, G, self.nnz_W, self.nnz_X, self.groups, s)
        row |= {"r_iterations": solved.iterations, "r_residual": solved.residual}
        row |= {"p_iterations": p_iterations, "p_residual": p_residual}
        # rounding may differ from process to process, but not add up
        row, P, R = peers.first(row), peers.first(P), peers.first(solved.R)
        if peers.count > 1:
            row["exchanged_bytes"] = peers.bytes - before
        self._check(row)
        row["gain"] = self._gain(state.log[-1]["total"], row["total"]) if state.log else None
        finished = bool(state.log) and not restart and 0 < s.tolerance > row["gain"]
        return AlsState(P, R, E, state.round + 1, (*state.log, row), finished, state.seconds)

    def _gain(self, last: float, L: float) -> float:
        """A round's improvement as a share of L, or of what of `nothing` the model explained before.

        Node vectors of the start may explain less than nothing, so that only the size of that counts.
        """
        whole = last if self.settings.stop == "loss" else abs(self.nothing - (last - self.constant))
        return (last - L) / whole if whole else 0.0

    def _check(self, row) -> None:
        """Raise where L is not a number, or so far below 0 that rounding has swamped this sum of squares."""
        if not row["total"] >= -1e-3 * self.nothing or not np.isfinite(row["total"]):
            fault = "below 0" if row["total"] < 0 else "not finite"
            raise BoveError(
                f"training: L is {fault} in round {row['round']}; the last good round is kept: "
                "raise lambda_P, lambda_R or lambda_E, or train with dtype float64"
            )

    def _p_step(self, WE, G, P, workers) -> tuple[np.ndarray, int, float]:
        """P with the iterations and the residual it took (none where it has a closed form)."""
        lambda_P = self.settings.lambda_P
        if self.settings.penalty_P == "l1":
            return p_step_l1(WE, G, lambda_P, P, self.frozen, workers)
        return p_step(WE, G, lambda_P, P, self.frozen), 0, 0.0

    def _r_step(self, E, G, state, workers) -> RStep:
        s, R0 = self.settings, state.R
        if not s.alpha:
            return RStep(*np.zeros((3, *R0.shape), R0.dtype))
        ridge = s.lambda_R / s.alpha
        # no more digits of R than the last round's gain gives a use to
        gain = state.log[-1]["gain"] if state.log else None
        tolerance = min(10 * s.r_tolerance, max(s.r_tolerance, 1 if gain is None else gain))
        stop = {"tolerance": tolerance, "max_iterations": s.r_iterations, "R0": R0}
        if s.penalty_R == "l2":
            return r_step(E, G, self.corpus, self.batches, workers, ridge=ridge, **stop)
        if s.penalty_R == "nuclear-shrink":
            return r_step_shrink(E, G, self.corpus, self.batches, workers, strength=ridge / 2, **stop)
        kind = s.penalty_R
        return r_step_proximal(E, self.corpus, self.batches, workers, strength=ridge / 2, kind=kind, **stop)

    def _e_step(self, state: AlsState, workers: Workers, restart: bool) -> np.ndarray:
        """New token vectors [T, r]; where `restart`, inferred from 0 before the usual update."""
        s = self.settings
        PtP = gram(state.P, workers)
        if s.e_step == "fixed-point":
            solver = FixedPoint(
                state.P, PtP, compress(state.R, s.e_energy), s.alpha, s.lambda_E,
                fallback=lambda: EStep(state.P, PtP, state.R, s.alpha, s.lambda_E),
            )  # fmt: skip

            def update(batch):
                start = None if restart or not state.round else state.E[batch.tokens]
                limit = s.restart_iterations
                return solver.infer(batch, iterations=limit, tolerance=s.e_tolerance, E0=start).E
        else:
            kernel = EStep(state.P, PtP, state.R, s.alpha, s.lambda_E)

            def update(batch):
                E = state.E[batch.tokens]
                if restart:
                    E = infer_averaged(kernel, batch, iterations=s.restart_iterations, tolerance=0).E
                first = kernel.step(E, batch)
                return first if s.e_step == "single" else (first + kernel.step(first, batch)) / 2

        return infer_tokens(update, self.batches, np.empty_like(state.E), workers)
