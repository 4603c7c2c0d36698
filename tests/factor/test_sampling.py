"""Which cells a mini-batch of stochastic gradient descent has."""

import numpy as np
import pytest
from corpora import make_corpus

from bove.factor.graphs import GraphCorpus
from bove.factor.sampling import UNBIASED, Sampler, draw_zeros

LENGTHS = [3, 8, 1, 0, 8, 5, 20]


def test_zeros_are_drawn_uniformly_and_never_an_observed_cell():
    rng = np.random.default_rng(0)
    cells, observed, offsets = np.array([5, 2, 1, 4]), np.array([0, 3, 0, 1, 3]), np.array([0, 2, 4, 4, 5])
    drawn, group = draw_zeros(rng, cells, observed, offsets, np.array([30000, 7, 5, 30000]))
    assert np.bincount(group, minlength=4).tolist() == [30000, 0, 5, 30000]
    for q, zeros in ((0, [1, 2, 4]), (2, [0]), (3, [0, 1, 2])):
        values, counts = np.unique(drawn[group == q], return_counts=True)
        assert values.tolist() == zeros
        expected = counts.sum() / len(zeros)
        assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


@pytest.mark.parametrize("unknown", [None, 0.3])
def test_contrastive_relations_differ_from_their_arc_in_one_place_and_all_such_cells_come(unknown):
    corpus, dense = make_corpus(np.random.default_rng(7), [4, 1, 6], unknown=unknown)
    sampler, rng = Sampler(corpus, 300, 1.0), np.random.default_rng(1)
    sample = sampler.sample(np.array([2, 0]), rng)
    cells = np.stack(sample.relations.index, axis=1)
    target = sample.relations.target
    arcs, drawn = cells[target != 0], cells[target == 0]
    X = np.zeros((3, 10, 10))  # graph 2 is rows 0 to 5, graph 0 rows 6 to 9
    X[:, :6, :6], X[:, 6:, 6:] = dense[2][1], dense[0][1]
    assert sorted(map(tuple, arcs)) == sorted(map(tuple, np.argwhere(np.nan_to_num(X))))
    assert target[target != 0].tolist() == X[tuple(arcs.T)].tolist()
    place = 0
    for arc in arcs:
        graph = range(6) if arc[1] < 6 else range(6, 10)
        near = {(arc[0], i, arc[2]) for i in graph} | {(arc[0], arc[1], j) for j in graph}
        near |= {(k, arc[1], arc[2]) for k in range(3)}
        near = {cell for cell in near if not X[cell]}
        assert {tuple(cell) for cell in drawn[place : place + 300]} == near
        place += 300
    assert place == len(drawn)


def test_properties_come_with_zeros_of_their_own_token():
    corpus, dense = make_corpus(np.random.default_rng(1), LENGTHS)
    sample = Sampler(corpus, 3, 0.5).sample(np.array([4, 1]), np.random.default_rng(1))
    W = np.concatenate([dense[4][0], dense[1][0]], axis=1).T
    token, column = sample.properties.index
    np.testing.assert_array_equal(W[token, column], sample.properties.target)
    had = np.bincount(token[sample.properties.target == 1], minlength=16)
    np.testing.assert_array_equal(had, W.sum(1))
    np.testing.assert_array_equal(np.bincount(token[sample.properties.target == 0], minlength=16), 3 * had)
    assert set(sample.properties.weight) == {0.5, 1.0}
    assert sample.share == pytest.approx(16 / 45)


@pytest.mark.parametrize("weight, name", [(UNBIASED, "sentences"), (1.0, "arcs")])
def test_where_there_is_no_zero_none_is_drawn(weight, name):
    # one token with all properties, and a relation to itself under every label; one plain pair
    corpus = GraphCorpus(
        np.array([0, 1, 3]), np.array([0, 2, 3, 4]), np.array([0, 1, 0, 1]), np.array([0, 1, 2]),
        np.array([0, 0]), np.array([0, 1]), np.array([0, 2]), 2, 1,
    )  # fmt: skip
    sampler = Sampler(corpus, 5, weight)
    assert sampler.exhausted == {"tokens": 1, name: 1}
    sample = sampler.sample(np.array([0]), np.random.default_rng(0))
    assert sample.properties.target.tolist() == [1, 1] and sample.relations.target.tolist() == [1]
