"""Training by stochastic gradient descent: mini-batches of sentences, AdaGrad, negative samples.

The loss of a mini-batch with tokens S, of the corpus' T tokens:

    L_S = Σ w_tc (W_ct − p_c · e_t)²  +  alpha Σ w_kij (X_kij − e_i R_k e_jᵀ)²
        + lambda_E Σ ‖e_t‖²  +  |S| / T (lambda_P ‖P‖² + lambda_R ‖R‖²)

The sums run over all observed cells of its sentences, where w = 1, and over `negatives` zeros for each of
them (m below), drawn as `bove.factor.sampling` says. A zero weighs

    w = negative_weight                      by default 1, the contrastive loss

or, where negative_weight is `unbiased`, the number of its zero cells over the number drawn:

    w = (c − n_t) / (m max(n_t, 1))          for a token with n_t of the c properties
    w = (d n² − a) / (m max(a, 1))           for a sentence of n tokens with a arcs, under d relations

so that the expectation of L_S, summed over an epoch, is L without the constant penalty of the frozen rows of
P, which are left out; and so is its gradient's. Penalties other than l2 are left out too: a proximal step
follows the update instead.

AdaGrad's steps are as long as the learning rate whatever the size of a gradient, and P, R and E live on
scales that differ by orders of magnitude. The learning rate is therefore a share of each factor's own
scale: the root mean square of the start of P and of E, and of the first preconditioned step of the R-step
for R, which itself starts at 0. (Under l1 and nuclear it is the step without a penalty, times the share of
‖Σ e_i e_jᵀ‖ that the proximal operator leaves: within three times the size of the solution, where a ridge
of lambda_R is far off.) E starts at the first step of inference, WᵀP (PᵀP + lambda_E I)⁻¹.

Memory: E and P, R with a second array each for AdaGrad (none for R under a nuclear penalty). E's state is
one number per token, so a million tokens of rank 300 take 1.2 GB in float32 and their state 4 MB; all of it
stays in the memory of the device, and an update touches the rows of its own sentences alone.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import infer_averaged, infer_tokens
from bove.factor.objective import Groups, objective
from bove.factor.parallel import Workers, make_batches
from bove.factor.penalties import NUCLEAR, prox
from bove.factor.sampling import Sample, Sampler, split_graphs
from bove.factor.settings import SgdSettings
from bove.factor.steps import EStep, Preconditioner, gram, right_hand_side, solve_spd

EPSILON = 1e-10
# an SVD of every slice costs more than an update, so the nuclear penalty acts once in so many updates
NUCLEAR_EVERY = 10
# a sampled loss above this multiple of the first batch's counts as growing without bound
GROWTH = 10.0
# inference of held-out sentences: enough to rank epochs, not to settle the last token
HELD_OUT_ITERATIONS = 4
BATCH_TOKENS = 4096


class AdaGrad:
    """AdaGrad's updates of one factor: down its gradient g, then to the minimiser of its penalty.

        X ← argmin over Z of  ½ Σ (Z − X + η g)² / η + share · strength · penalty(Z),
        η = rate / (√state + ε),  state = Σ g² so far

    This class is for l2, which is in the gradient, so that nothing follows the step; η is per coordinate. An
    η without a gradient so far (its state is 0) would move Z without bound, so it waits. At the end of an
    epoch no observed cell has asked for it: its minimiser is 0, and it becomes 0.

    Args:
        X: the factor, or one of its shape. rate: the learning rate. strength: lambda of the penalty.
    """

    def __init__(self, X: torch.Tensor, rate: float, strength: float):
        self.rate, self.strength = rate, strength
        self.state = torch.zeros_like(X)

    def step(self, X: torch.Tensor, gradient: torch.Tensor, share: float) -> None:
        """Update X in place; `share` is the batch's of the penalty."""
        self.state += gradient.square()
        X -= self.rate * gradient / (self.state.sqrt() + EPSILON)

    def settle(self, X: torch.Tensor) -> None:
        """What is due at the end of an epoch, in place."""

    def lengths(self) -> torch.Tensor:
        """η in the shape of the state; 0 where there was no gradient yet."""
        return torch.where(self.state > 0, self.rate / (self.state.sqrt() + EPSILON), 0)


class SparseAdaGrad(AdaGrad):
    """The l1 penalty: each |x| is lowered by share · strength · η after each update, which is exact."""

    def step(self, X, gradient, share):
        super().step(X, gradient, share)
        if self.strength:
            bound = share * self.strength * self.lengths()
            X.copy_((X - bound).clamp(min=0) + (X + bound).clamp(max=0))

    def settle(self, X):
        if self.strength:
            X.masked_fill_(self.state == 0, 0)


class LowRankAdaGrad(AdaGrad):
    """Both nuclear penalties of X [d, r, r]: proximal steps now and then, with all that has come due.

    There is no closed form with an η per coordinate. So η is one number per slice, from the mean square of
    its gradient, and each singular value is lowered by share · strength · η.
    """

    def __init__(self, X, rate, strength):
        super().__init__(X[:, 0, 0], rate, strength)
        self.due, self.waiting = torch.zeros_like(self.state), 0

    def step(self, X, gradient, share):
        self.state += gradient.square().mean((1, 2))
        lengths = self.lengths()
        X -= lengths[:, None, None] * gradient
        self.due += share * self.strength * lengths
        self.waiting += 1
        if self.waiting == NUCLEAR_EVERY:
            self.settle(X)

    def settle(self, X):
        # where X is not finite, the loss says so; an SVD would end the run with a message of its own
        on = (self.due > 0) & torch.isfinite(X).all(2).all(1) & (X != 0).any(2).any(1)
        if on.any():
            X[on] = shrink(X[on], self.due[on])
        self.due.zero_()
        self.waiting = 0


def shrink(X: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """U max(Σ − strength, 0) Vᵀ of each slice of X [m, r, r], with its own strength [m]."""
    left, s, right = torch.linalg.svd(X)
    return left * (s - strength[:, None]).clamp(min=0)[:, None, :] @ right


def updates(X: torch.Tensor, rate: float, strength: float, kind: str) -> AdaGrad:
    """The updates of a factor of X's shape under a penalty of `bove.factor.penalties`."""
    if kind in NUCLEAR:
        return LowRankAdaGrad(X, rate, strength)
    return (SparseAdaGrad if kind == "l1" else AdaGrad)(X, rate, strength)


class RowAdaGrad:
    """A step size for each row of X [t, r], for rows that a training visits but a few times.

    A state for each coordinate would then turn every step into its signs.
    """

    def __init__(self, X: torch.Tensor, rate: float):
        self.rate = rate
        self.state = torch.zeros_like(X[:, 0])

    def step(self, X: torch.Tensor, rows: torch.Tensor, gradient: torch.Tensor) -> None:
        """Update the given rows of X in place, none of them named twice."""
        state = self.state[rows] + gradient.square().mean(1)
        self.state[rows] = state
        X[rows] -= self.rate * gradient / (state.sqrt() + EPSILON)[:, None]


def share_left(B: np.ndarray, strength: float, kind: str) -> float:
    """The share of ||B|| that the penalty leaves, 1 where it is nothing: R = 0 is then best at any scale."""
    left = np.linalg.norm(prox(B, strength, kind)[0]) / max(np.linalg.norm(B), np.finfo(B.dtype).tiny)
    return float(left) or 1.0


def scale(array: np.ndarray) -> float:
    """Root mean square; 1 where there is nothing to measure."""
    size = float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 1.0
    return size if 0 < size < math.inf else 1.0


class Diverged(BoveError):
    """The learning rate is too high: the loss grew without bound or stopped being a number."""


@dataclass(frozen=True)
class Epoch:
    """Where training stands after an epoch.

    Attributes:
        P, R: [c, r] and [d, r, r].
        row: round (the epoch), restart (0), L of the training part by term, `sampled` (the sum of the
            epoch's sampled losses, whose gradients the updates go down) and `held_out` (None where nothing is
            held out): L per token of held-out sentences, whose token vectors are inferred, with the
            penalties on P and R per token of the training part.
        criterion: what early stopping watches: `held_out`, or L where nothing is held out.
        best: no epoch before had so low a criterion.
        seconds: of training up to its end, by the wall clock; not those of L and of `held_out`.
    """

    P: np.ndarray
    R: np.ndarray
    row: dict
    criterion: float
    best: bool
    seconds: float


def sampled_loss(P, R, E, free, sample: Sample, settings: SgdSettings) -> torch.Tensor:
    """The sum at the head of this module for P [c, r], R [d, r, r] and the sample's rows E [t, r].

    `free` holds the rows of P that are trained.
    """
    s = settings
    token, column = (_index(part, E) for part in sample.properties.index)
    scores = (E.index_select(0, token) * P.index_select(0, column)).sum(1)
    loss = _squares(sample.properties, scores) + s.lambda_E * E.square().sum()
    if s.penalty_P == "l2":
        loss = loss + sample.share * s.lambda_P * P[free].square().sum()
    if len(sample.relations.target):
        loss = loss + s.alpha * _squares(sample.relations, _relation_scores(R, E, sample.relations.index))
    if s.penalty_R == "l2":
        loss = loss + sample.share * s.lambda_R * R.square().sum()
    return loss


def _squares(cells, scores):
    target, weight = (torch.as_tensor(part, dtype=scores.dtype) for part in (cells.target, cells.weight))
    return ((target.to(scores.device) - scores).square() * weight.to(scores.device)).sum()


def _relation_scores(R, E, index):
    """e_iᵀ R_k e_j of each cell; e_iᵀ R_k is made once for each (k, i), relation by relation."""
    relation, head, dependent = index
    pairs, place = np.unique(relation * len(E) + head, return_inverse=True)
    sizes = np.bincount(pairs // len(E), minlength=len(R)).tolist()
    rows = E.index_select(0, _index(pairs % len(E), E)).split(sizes)
    left = torch.cat([e @ R_k for e, R_k in zip(rows, R.unbind(0), strict=True)])
    return (left.index_select(0, _index(place, E)) * E.index_select(0, _index(dependent, E))).sum(1)


def _index(array, like):
    return torch.as_tensor(array, device=like.device)


class SgdTrainer:
    """SGD over one corpus. The same seed gives the same bytes on the same number of threads.

    Args:
        corpus: the training graphs.
        P: [c, r] where property vectors start. frozen: [c] bool, those rows that stay.
        groups: rows of P that form one term of L each.

    Attributes:
        training, held_out: the two parts of the corpus; empty graphs are in neither.
        sampler: what draws zeros from the training part.

    Raises:
        BoveError: a CUDA device that is not there, no sentence to train on, or properties that P lacks.
    """

    def __init__(
        self, corpus: GraphCorpus, P, frozen, groups: Groups, settings: SgdSettings, seed: int, threads=1
    ):
        s, began = settings, time.monotonic()
        self.settings = s
        self.groups, self.threads = groups, threads
        if len(corpus.properties) and corpus.properties.max() >= corpus.n_properties:
            raise BoveError("training: graphs with words outside the vocabulary; encode them without vectors")
        if s.device == "cuda" and not torch.cuda.is_available():
            raise BoveError("device cuda: PyTorch finds no CUDA device here; set device to cpu")
        self.device = torch.device(s.device)
        splitting, self.rng = np.random.default_rng(seed).spawn(2)
        self.training, self.held_out = split_graphs(corpus, s.held_out, splitting)
        self.sampler = Sampler(self.training, s.negatives, s.negative_weight, relations=s.alpha > 0)
        self._start(P, np.asarray(frozen, bool))
        self.seconds = time.monotonic() - began

    def _start(self, P, frozen):
        corpus, s = self.training, self.settings
        with Workers(self.threads) as workers, np.errstate(over="ignore", invalid="ignore"):
            PtP = gram(P, workers) + s.lambda_E * np.eye(P.shape[1])
            first = solve_spd(PtP, P.T, "training", "lambda_E").T.astype(P.dtype)
            E = corpus.property_matrix(P.dtype).T @ first
            G = gram(E, workers)
            ridge = s.lambda_R / s.alpha if s.alpha else 1.0
            B = right_hand_side(E, corpus, workers)
            smooth = s.penalty_R == "l2"
            step = Preconditioner(E, G, corpus.token_offsets, ridge if smooth else 0.0)(B)
            step *= 1.0 if smooth else share_left(B, ridge / 2, s.penalty_R)
        scales = scale(P[~frozen]), scale(step), scale(E)
        self.rate_P, self.rate_R, self.rate_E = (s.learning_rate * size for size in scales)
        self.free = torch.as_tensor(np.flatnonzero(~frozen), device=self.device)
        self.P, self.R, self.E = (
            torch.tensor(value, device=self.device) for value in (P, np.zeros(step.shape, P.dtype), E)
        )
        self.updates_P = updates(self.P[self.free], self.rate_P, s.lambda_P, s.penalty_P)
        self.updates_R = updates(self.R, self.rate_R, s.lambda_R, s.penalty_R)
        self.updates_E = RowAdaGrad(self.E, self.rate_E)

    def epochs(self) -> Iterator[Epoch]:
        """Train, yielding after each epoch, until `patience` of them brought nothing or all are done.

        Raises:
            Diverged: in an epoch whose loss is not finite or far above where it started.
        """
        start, lowest, waited = None, math.inf, 0
        for number in range(1, self.settings.epochs + 1):
            sampled, began = 0.0, time.monotonic()
            for sample in self._samples():
                loss = self._update(sample)
                start = loss / sample.share if start is None else start
                sampled += loss
                if not math.isfinite(loss):
                    self._diverged(number, "is not finite")
            self._settle()
            self.seconds += time.monotonic() - began
            if sampled > GROWTH * start:
                self._diverged(number, f"grew from {start:.4g} to {sampled:.4g}")
            epoch = self._evaluate(number, sampled, lowest)
            yield epoch
            lowest, waited = min(lowest, epoch.criterion), 0 if epoch.best else waited + 1
            if waited >= self.settings.patience:
                return

    def _samples(self) -> Iterator[Sample]:
        order = self.rng.permutation(self.training.n_graphs)
        for i in range(0, len(order), self.settings.batch_sentences):
            yield self.sampler.sample(order[i : i + self.settings.batch_sentences], self.rng)

    def _update(self, sample: Sample) -> float:
        """One step of AdaGrad, penalties included; the sampled loss before it."""
        tokens = torch.as_tensor(sample.tokens, device=self.device)
        P, R, E = (x.detach().requires_grad_() for x in (self.P, self.R, self.E[tokens]))
        loss = sampled_loss(P, R, E, self.free, sample, self.settings)
        gradients = torch.autograd.grad(loss, (P, R, E), materialize_grads=True)
        # some versions of PyTorch make zeros that ask for a gradient themselves
        of_P, of_R, of_E = (gradient.detach() for gradient in gradients)
        free = self.P[self.free]
        self.updates_P.step(free, of_P[self.free], sample.share)
        self.P.index_copy_(0, self.free, free)
        self.updates_R.step(self.R, of_R, sample.share)
        self.updates_E.step(self.E, tokens, of_E)
        return float(loss.detach())

    def _settle(self) -> None:
        """What the penalties ask for at the end of an epoch."""
        free = self.P[self.free]
        self.updates_P.settle(free)
        self.P.index_copy_(0, self.free, free)
        self.updates_R.settle(self.R)

    def _evaluate(self, number: int, sampled: float, lowest: float) -> Epoch:
        s = self.settings
        P, R, E = (x.cpu().numpy() for x in (self.P, self.R, self.E))
        row = {"round": number, "restart": 0}
        with np.errstate(over="ignore", invalid="ignore"):
            row |= objective(self.training, P, R, E, self.groups, s, BATCH_TOKENS, self.threads)
            if not math.isfinite(row["total"]):
                self._diverged(number, "is not finite")
            held = None
            if self.held_out.n_graphs:
                E, free = self._infer(P, R), replace(s, lambda_P=0.0, lambda_R=0.0)
                of_held = objective(self.held_out, P, R, E, self.groups, free, BATCH_TOKENS, self.threads)
                held = of_held["total"] / self.held_out.n_tokens
                held += (row["lambda_P"] + row["lambda_R"]) / self.training.n_tokens
        row |= {"sampled": sampled, "held_out": held}
        criterion = row["total"] if held is None else held
        return Epoch(P.copy(), R.copy(), row, criterion, criterion < lowest, self.seconds)

    def _infer(self, P, R):
        """[T, r] token vectors of the held-out part after a few averaged steps."""
        s, corpus = self.settings, self.held_out
        with Workers(self.threads) as workers:
            kernel = EStep(P, gram(P, workers), R, s.alpha, s.lambda_E)

            def bags(batch):
                return infer_averaged(kernel, batch, iterations=HELD_OUT_ITERATIONS, tolerance=0).E

            E = np.empty((corpus.n_tokens, P.shape[1]), P.dtype)
            return infer_tokens(bags, make_batches(corpus, BATCH_TOKENS, P.dtype), E, workers)

    def _diverged(self, number: int, what: str):
        raise Diverged(
            f"training: the loss {what} in epoch {number} at learning rate {self.settings.learning_rate:g}; "
            "set a lower learning_rate, a tenth of it to begin with"
        )
