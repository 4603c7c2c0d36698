"""Random corpora, as GraphCorpus and as the dense cells of the oracle."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from bove.factor.graphs import GraphCorpus, offsets_of
from bove.factor.parallel import Batch, make_batches

# a generator, sentence lengths, c, d and the share of unknown cells, for `make_corpus`
corpora = st.tuples(
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
    st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    st.integers(1, 7),
    st.integers(1, 4),
    st.sampled_from([None, 0.0, 0.3]),
)


def make_corpus(rng, lengths, c=7, d=3, arcs_per_token=1.5, unknown=None):
    """A random corpus and its dense [(W [c, n], X [d, n, n])].

    With `unknown`, that share of the cells of X is, and the others hold numbers.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    properties, property_offsets, arcs, arc_offsets, dense = [], [0], [], [0], []
    for n, first in zip(lengths, offsets, strict=False):
        W, X = np.zeros((c, n)), np.zeros((d, n, n))
        for token in range(n):
            chosen = rng.choice(c, size=rng.integers(0, min(3, c + 1)), replace=False)
            W[chosen, token] = 1 if unknown is None else rng.standard_normal(len(chosen))
            properties += sorted(chosen.tolist())
            property_offsets.append(len(properties))
        if n and d:
            for _ in range(int(arcs_per_token * n)):
                X[rng.integers(d), rng.integers(n), rng.integers(n)] = 1 if unknown is None else rng.normal(2)
        if unknown is not None:
            X[rng.random(X.shape) < unknown] = np.nan
        for k, i, j in np.argwhere(np.nan_to_num(X)):
            arcs.append((k, first + i, first + j))
        arc_offsets.append(len(arcs))
        dense.append((W, X))
    arcs = np.array(arcs, np.int64).reshape(-1, 3)
    owned = np.array(property_offsets), np.array(properties, np.int64)
    corpus = GraphCorpus(offsets, *owned, np.array(arc_offsets), *arcs.T, c, d)
    return (corpus, dense) if unknown is None else (with_numbers(corpus, dense), dense)


def with_numbers(corpus, dense):
    """The corpus with the values, weights and unknown cells of dense cells."""
    cells = [np.argwhere(np.isnan(X)) for _, X in dense]
    k, i, j = np.concatenate(cells).T
    first = np.repeat(corpus.token_offsets[:-1], list(map(len, cells)))
    known = [np.nan_to_num(X) for _, X in dense]
    return replace(
        corpus,
        property_value=np.concatenate([W.T[W.T != 0] for W, _ in dense]),
        arc_weight=np.concatenate([X[X != 0] for X in known]),
        unknown_offsets=offsets_of(list(map(len, cells))),
        unknown_relation=k,
        unknown_head=i + first,
        unknown_dependent=j + first,
    )


def split(E, corpus):
    """Token vectors as one array a graph."""
    return np.split(E, corpus.token_offsets[1:-1])


def batches_of(corpus, dtype=np.float64) -> list[Batch]:
    """Small batches, so that there are several."""
    return list(make_batches(corpus, 12, dtype))


def point(made, r):
    """Of a draw from `corpora`: the corpus, its dense cells, and random P, R and E of rank r."""
    rng, lengths, c, d, unknown = made
    corpus, dense = make_corpus(rng, lengths, c, d, unknown=unknown)
    P, R, E = (rng.standard_normal(shape) for shape in ((c, r), (d, r, r), (corpus.n_tokens, r)))
    return corpus, dense, P, R, E
