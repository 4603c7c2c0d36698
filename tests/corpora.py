"""Random corpora, as GraphCorpus and as the dense cells of the oracle."""

import numpy as np
from hypothesis import strategies as st

from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Batch, make_batches

# a generator, sentence lengths, c and d, for `make_corpus`
corpora = st.tuples(
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
    st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    st.integers(1, 7),
    st.integers(1, 4),
)


def make_corpus(rng, lengths, c=7, d=3, arcs_per_token=1.5):
    """A random corpus and its dense [(W [c, n], X [d, n, n])]."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    properties, property_offsets, arcs, arc_offsets, dense = [], [0], [], [0], []
    for n, first in zip(lengths, offsets, strict=False):
        W, X = np.zeros((c, n)), np.zeros((d, n, n))
        for token in range(n):
            chosen = rng.choice(c, size=rng.integers(0, min(3, c + 1)), replace=False)
            W[chosen, token] = 1
            properties += sorted(chosen.tolist())
            property_offsets.append(len(properties))
        if n and d:
            for _ in range(int(arcs_per_token * n)):
                X[rng.integers(d), rng.integers(n), rng.integers(n)] = 1
        for k, i, j in np.argwhere(X):
            arcs.append((k, first + i, first + j))
        arc_offsets.append(len(arcs))
        dense.append((W, X))
    arcs = np.array(arcs, np.int64).reshape(-1, 3)
    owned = np.array(property_offsets), np.array(properties, np.int64)
    return GraphCorpus(offsets, *owned, np.array(arc_offsets), *arcs.T, c, d), dense


def split(E, corpus):
    """Token vectors as one array a graph."""
    return np.split(E, corpus.token_offsets[1:-1])


def batches_of(corpus, dtype=np.float64) -> list[Batch]:
    """Small batches, so that there are several."""
    return list(make_batches(corpus, 12, dtype))


def point(made, r):
    """Of a draw from `corpora`: the corpus, its dense cells, and random P, R and E of rank r."""
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    P, R, E = (rng.standard_normal(shape) for shape in ((c, r), (d, r, r), (corpus.n_tokens, r)))
    return corpus, dense, P, R, E
