"""AdaGrad's updates of one factor, and the proximal steps that follow them where its penalty has a kink.

A step goes from X down the gradient g of the sampled loss, and from there to the minimiser of the penalty
in the metric of the step:

    X ← argmin over Z of  ½ Σ (Z − X + η g)² / η + share · strength · penalty(Z),     η = rate / (√state + ε)

where state sums up the squares of the gradients so far.

    l2        lies in the sampled loss, so nothing follows the step. η is of each coordinate.
    l1        η is of each coordinate; the minimiser lowers each |x| by share · strength · η, and is exact.
    nuclear   with an η for each coordinate there is no closed form. So η is one number for each slice, from
              the mean square of its gradient, and the minimiser lowers each singular value by
              share · strength · η. Since that takes an SVD of every slice, it is done once in
              `NUCLEAR_EVERY` updates and at the end of an epoch, with all that has come due in between.
    nuclear-shrink   as nuclear: it is that operator which both apply.

What an η belongs to that has had no gradient yet (its state is 0) would move without bound, and waits. At the
end of an epoch no observed cell has asked for it, so that its minimiser is 0 and it becomes 0.
"""

import math

import numpy as np
import torch

from bove.factor.penalties import NUCLEAR, prox

EPSILON = 1e-10
# an SVD of every slice costs more than an update; its strength is summed up until it is due
NUCLEAR_EVERY = 10


class AdaGrad:
    """A step size for each coordinate; what is penalised is in the gradient.

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
    """The l1 penalty: a proximal step after each update."""

    def step(self, X, gradient, share):
        super().step(X, gradient, share)
        if self.strength:
            bound = share * self.strength * self.lengths()
            X.copy_((X - bound).clamp(min=0) + (X + bound).clamp(max=0))

    def settle(self, X):
        if self.strength:
            X.masked_fill_(self.state == 0, 0)


class LowRankAdaGrad(AdaGrad):
    """The nuclear penalty of X [d, r, r]: a step size for each slice, proximal steps now and then."""

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
        # where X is no number, the loss says so; an SVD would end the run with a message of its own
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
    left = np.linalg.norm(prox(B, strength, kind)) / max(np.linalg.norm(B), np.finfo(B.dtype).tiny)
    return float(left) or 1.0


def scale(array: np.ndarray) -> float:
    """Root mean square; 1 where there is nothing to measure."""
    size = float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 1.0
    return size if 0 < size < math.inf else 1.0
