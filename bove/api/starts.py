"""Where the node vectors of a training may start, if not at 0."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from bove.errors import BoveError
from bove.graphs import GraphCorpus

STARTS = ("zero", "random", "eigenvectors")
# up to this many nodes all eigenvectors are made, which is exact
DENSE = 1000


def start_tokens(corpus: GraphCorpus, rank: int, start: str, seed: int) -> np.ndarray | None:
    """[T, r] node vectors to start from; None for 0.

    random: normal, of length about 1. eigenvectors: those of Σ_k X_k + X_kᵀ over the whole corpus with the
    largest eigenvalues in size, as RESCAL starts; columns that there are no eigenvectors for are 0.

    Raises:
        BoveError: an unknown start, or one at 0 where no node has a property, so that all would stay 0.
    """
    if start not in STARTS:
        raise BoveError(f"init {start!r}: must be one of {', '.join(STARTS)}")
    if start == "zero":
        if corpus.n_tokens and not len(corpus.properties):
            raise BoveError(
                "no node has a property, so node vectors that start at 0 stay there; give nodes properties, "
                "such as one of its own each, or set init to 'random' or 'eigenvectors'"
            )
        return None
    n = corpus.n_tokens
    rng = np.random.default_rng(seed)
    if start == "random":
        return rng.standard_normal((n, rank)) / np.sqrt(rank)
    ones = np.ones(len(corpus.arc_head))
    X = sp.csr_array((ones, (corpus.arc_head, corpus.arc_dependent)), shape=(n, n))
    S, E = X + X.T, np.zeros((n, rank))
    most = min(rank, n)
    if n <= max(DENSE, rank + 1):
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        values, vectors = eigsh(S, most, v0=rng.standard_normal(n))
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    E[:, :most] = vectors[:, order]
    return E
