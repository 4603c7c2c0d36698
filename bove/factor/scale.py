"""Relative settings: alpha and the penalties as multiples of what the training graphs weigh.

With D = PᵀP + lambda_E I and E¹ = WᵀP D⁻¹, the bags that properties alone give to the training graphs (P as
it starts), the numbers of equation 3 are, for relative ones rel_E, rel_P, rel_R and rel_alpha,

    lambda_E = rel_E · tr(PᵀP) / r
    lambda_P = rel_P · (mean of ‖(W E¹)_c‖ over trained rows c, by tokens) / (mean length of frozen rows)
    lambda_R = alpha · rel_R · (1/r²) Σ_s ‖E¹_s‖⁴
    alpha such that ‖alpha · pull(E¹) D⁻¹‖ = rel_alpha · ‖E¹‖ after the first R-step,

where pull(E) = Σ_k (F_k E R_kᵀ + F_kᵀ E R_k) with F_k = X_k − E R_k Eᵀ is what relations add to the E-step.
The trained row of a token is about rel_P times shorter than frozen rows. The mean is by tokens, since a
treebank has many rare words without a vector, while it is the frequent tags that grow beyond all bounds
where lambda_P is small. rel_R is the ridge of the R-step as a multiple of its operator's mean diagonal, and
rel_alpha is how far relations first move the bags, as a share of their size. Without frozen rows there is
nothing to be shorter than; P then has the penalty that E has,

    lambda_P = rel_E · tr(E¹ᵀE¹) / r.

Other lengths or another basis of the vectors, or the same graphs twice, give the same bags up to such a
factor or change of basis.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import FixedPoint
from bove.factor.model import compress
from bove.factor.parallel import Peers, Workers, make_batches
from bove.factor.settings import ModelSettings
from bove.factor.steps import gram, r_step, solve_spd

SCALED = ("alpha", "lambda_P", "lambda_R", "lambda_E")
# alpha then is within 0.3 % of that of the exact R-step
BATCH_TOKENS, R_TOLERANCE, R_ITERATIONS = 4096, 0.1, 100
S = TypeVar("S", bound=ModelSettings)


def absolute(
    settings: S,
    corpus: GraphCorpus,
    P: np.ndarray,
    frozen: np.ndarray,
    threads: int = 1,
    peers: Peers | None = None,
) -> tuple[S, np.ndarray | None, np.ndarray | None]:
    """The settings with the numbers of equation 3, and E¹ [T, r] and R [d, r, r] of the first R-step.

    Training can go on from these two. Settings that are absolute already come back as they are, with None.

    Args:
        corpus: the training graphs, of several processes this one's. P: [c, r] as it starts.
        frozen: [c] bool, rows of P that stay.

    Raises:
        BoveError: nodes without properties, which give no scale.
    """
    if settings.scale == "absolute":
        return settings, None, None
    with Workers(threads, peers or Peers()) as workers:
        return _absolute(settings, corpus, P, frozen, workers)


def _absolute(settings, corpus, P, frozen, workers):
    r, peers = P.shape[1], workers.peers
    if not peers.sum(np.array([len(corpus.properties)]))[0]:
        raise BoveError(
            "scale relative: no node has a property, which would give the scale; "
            "give nodes properties, such as one of its own each, or use scale absolute"
        )
    PtP = gram(P, workers)
    lambda_E = settings.lambda_E * float(np.trace(PtP)) / r
    W = corpus.property_matrix(P.dtype)
    E = W.T @ solve_spd(PtP + lambda_E * np.eye(r), P.T, "scale", "lambda_E").T.astype(P.dtype)
    G = peers.sum(gram(E, workers))
    if frozen.any():
        sums = np.linalg.norm(peers.sum(W @ E), axis=1)
        tokens = peers.sum(np.diff(W.indptr).astype(np.int64))
        tokens = tokens * ~frozen if tokens[~frozen].any() else tokens
        size = np.linalg.norm(P[frozen], axis=1).mean()
        lambda_P = settings.lambda_P * float(tokens @ sums / tokens.sum() / size)
    else:
        lambda_P = settings.lambda_E * float(np.trace(G)) / r
    batches = list(make_batches(corpus, BATCH_TOKENS, P.dtype))
    squares = [np.square(E[b.tokens], dtype=np.float64).reshape(b.size, -1).sum(axis=1) for b in batches]
    [fourth] = peers.sum(np.array([sum(float(np.square(one).sum()) for one in squares)]))
    ridge = settings.lambda_R * fourth / r**2
    alpha, R = 0.0, np.zeros((corpus.n_relations, r, r), P.dtype)
    if settings.alpha and corpus.n_relations:
        stop = {"tolerance": R_TOLERANCE, "max_iterations": R_ITERATIONS, "R0": R}
        R = r_step(E, G, corpus, batches, workers, ridge=ridge, **stop).R
        solver = FixedPoint(P, PtP, compress(R, 1), 1.0, lambda_E)
        moves = workers.map(lambda b: np.square(solver.pull(E[b.tokens], b), dtype=np.float64).sum(), batches)
        [moved] = peers.sum(np.array([sum(map(float, moves))]))
        alpha = settings.alpha * float(np.sqrt(np.trace(G) / moved)) if moved else 0.0
    found = {"alpha": alpha, "lambda_P": lambda_P, "lambda_R": alpha * ridge, "lambda_E": lambda_E}
    return replace(settings, scale="absolute", **found), E, R
