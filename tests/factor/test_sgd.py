"""Stochastic gradient descent: what is drawn, its gradient, and training on small random corpora."""

from dataclasses import replace

import numpy as np
import pytest
import reference
import torch
from corpora import make_corpus, split

from bove.errors import BoveError
from bove.factor.als import initial_properties
from bove.factor.graphs import GraphCorpus
from bove.factor.objective import objective
from bove.factor.sampling import UNBIASED, Cells, Sample, Sampler, draw_zeros
from bove.factor.settings import SgdSettings
from bove.factor.sgd import Diverged, SgdTrainer, sampled_loss

SETTINGS = SgdSettings(
    alpha=2.0, lambda_P=0.5, lambda_R=0.3, lambda_E=0.4, learning_rate=0.1, epochs=4, batch_sentences=2,
    negatives=2, negative_weight=UNBIASED, patience=10, held_out=0.0, device="cpu",
)  # fmt: skip
GROUPS = {"words": slice(0, 4), "tags": slice(4, 7)}
LENGTHS = [3, 8, 1, 0, 8, 5, 20]
FROZEN = np.arange(7) < 2


def start(lengths=LENGTHS, seed=1, r=4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    corpus, dense = make_corpus(rng, lengths)
    P = initial_properties(7, rng.standard_normal((2, r)).astype(dtype), FROZEN, seed, dtype)
    return corpus, dense, P


def train(settings=SETTINGS, seed=5, **options):
    corpus, dense, P = start(**options)
    trainer = SgdTrainer(corpus, P, FROZEN, GROUPS, settings, seed)
    return trainer, list(trainer.epochs()), P


def every_cell(corpus, dense) -> Sample:
    """The sample that leaves nothing out."""
    W, X = [], []
    for (w, x), first in zip(dense, corpus.token_offsets, strict=False):
        W += [(first + t, c, w[c, t]) for c, t in np.ndindex(w.shape)]
        X += [(k, first + i, first + j, x[k, i, j]) for k, i, j in np.ndindex(x.shape)]
    cells = []
    for rows in (W, X):
        *index, target = np.array(rows).T
        cells.append(Cells(tuple(part.astype(np.int64) for part in index), target, np.ones(len(target))))
    return Sample(np.arange(corpus.n_tokens), 1.0, *cells)


def gradient(sample, P, R, E, settings=SETTINGS):
    """The sampled loss and its gradient as one vector over P, R and all rows of E."""
    E_all = torch.tensor(E, requires_grad=True)
    P, R = (torch.tensor(value, requires_grad=True) for value in (P, R))
    loss = sampled_loss(P, R, E_all[sample.tokens], torch.arange(len(P)), sample, settings)
    return loss.item(), torch.cat([g.ravel() for g in torch.autograd.grad(loss, (P, R, E_all))]).numpy()


def point(corpus, r=3, seed=2):
    rng = np.random.default_rng(seed)
    shapes = (corpus.n_properties, r), (corpus.n_relations, r, r), (corpus.n_tokens, r)
    return [rng.standard_normal(shape) / 2 for shape in shapes]


def test_the_gradient_over_all_cells_is_that_of_the_objective():
    corpus, dense, _ = start([3, 1, 0, 4])
    P, R, E = point(corpus)
    weights = SETTINGS.alpha, SETTINGS.lambda_P, SETTINGS.lambda_R, SETTINGS.lambda_E

    def L(flat):
        p, k, e = (
            part.reshape(a.shape)
            for part, a in zip(np.split(flat, [P.size, P.size + R.size]), (P, R, E), strict=True)
        )
        return reference.objective(dense, p, k, split(e, corpus), *weights)

    value, found = gradient(every_cell(corpus, dense), P, R, E)
    flat = np.concatenate([a.ravel() for a in (P, R, E)])
    assert value == pytest.approx(L(flat))
    step = 1e-5 * np.eye(len(flat))
    want = [(L(flat + h) - L(flat - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weight, epochs, unbiased", [(UNBIASED, 400, True), (1.0, 100, False)])
def test_unbiased_draws_average_to_the_full_gradient_and_contrastive_ones_do_not(weight, epochs, unbiased):
    corpus, dense, _ = start([3, 1, 4, 2])
    P, R, E = point(corpus)
    sampler, rng = Sampler(corpus, 2, weight), np.random.default_rng(3)
    _, full = gradient(every_cell(corpus, dense), P, R, E)
    draws = []
    for _ in range(epochs):  # of two batches each
        order = rng.permutation(4)
        parts = [gradient(sampler.sample(graphs, rng), P, R, E)[1] for graphs in (order[:3], order[3:])]
        draws.append(sum(parts))
    mean, error = np.mean(draws, axis=0), np.std(draws, axis=0) / np.sqrt(len(draws))
    distance = np.abs(mean - full) / np.maximum(error, 1e-9)
    assert (distance.max() < 4.5) == unbiased
    if unbiased:  # the distances are those of a standard normal
        assert np.mean(distance**2) == pytest.approx(1, abs=0.5)


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


def test_contrastive_relations_differ_from_their_arc_in_one_place_and_all_such_cells_come():
    corpus, dense, _ = start([4, 1, 6], seed=7)
    sampler, rng = Sampler(corpus, 300, 1.0), np.random.default_rng(1)
    sample = sampler.sample(np.array([2, 0]), rng)
    cells = np.stack(sample.relations.index, axis=1)
    arcs, drawn = cells[sample.relations.target == 1], cells[sample.relations.target == 0]
    X = np.zeros((3, 10, 10))  # graph 2 is rows 0 to 5, graph 0 rows 6 to 9
    X[:, :6, :6], X[:, 6:, 6:] = dense[2][1], dense[0][1]
    assert sorted(map(tuple, arcs)) == sorted(map(tuple, np.argwhere(X)))
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
    corpus, dense, _ = start()
    sample = Sampler(corpus, 3, 0.5).sample(np.array([4, 1]), np.random.default_rng(1))
    W = np.concatenate([dense[4][0], dense[1][0]], axis=1).T
    token, column = sample.properties.index
    np.testing.assert_array_equal(W[token, column], sample.properties.target)
    had = np.bincount(token[sample.properties.target == 1], minlength=16)
    np.testing.assert_array_equal(had, W.sum(1))
    np.testing.assert_array_equal(np.bincount(token[sample.properties.target == 0], minlength=16), 3 * had)
    assert set(sample.properties.weight) == {0.5, 1.0}
    assert sample.share == pytest.approx(16 / 45)


def full_token() -> GraphCorpus:
    """One token with all properties, and a relation to itself under every label; one plain pair."""
    return GraphCorpus(
        np.array([0, 1, 3]), np.array([0, 2, 3, 4]), np.array([0, 1, 0, 1]), np.array([0, 1, 2]),
        np.array([0, 0]), np.array([0, 1]), np.array([0, 2]), 2, 1,
    )  # fmt: skip


@pytest.mark.parametrize("weight, name", [(UNBIASED, "sentences"), (1.0, "arcs")])
def test_where_there_is_no_zero_none_is_drawn(weight, name):
    sampler = Sampler(full_token(), 5, weight)
    assert sampler.exhausted == {"tokens": 1, name: 1}
    sample = sampler.sample(np.array([0]), np.random.default_rng(0))
    assert sample.properties.target.tolist() == [1, 1] and sample.relations.target.tolist() == [1]
    P = np.ones((2, 3)) / 3
    settings = replace(SETTINGS, negative_weight=weight, batch_sentences=1)
    groups = {"words": slice(0, 2)}
    epochs = list(SgdTrainer(full_token(), P, np.zeros(2, bool), groups, settings, 0).epochs())
    assert len(epochs) == 4 and np.isfinite(epochs[-1].row["total"])


def test_the_log_is_the_objective_of_the_state_and_it_falls():
    trainer, epochs, _ = train(replace(SETTINGS, epochs=25))
    last = epochs[-1]
    want = objective(trainer.training, last.P, last.R, trainer.E.numpy(), GROUPS, SETTINGS)
    assert {name: last.row[name] for name in want} == want
    assert [epoch.row["round"] for epoch in epochs] == list(range(1, 26))
    losses = [epoch.row["total"] for epoch in epochs]
    assert losses[-1] < 0.95 * losses[0]
    # unbiased: an epoch's sampled loss lies about the L of its own course
    constant = SETTINGS.lambda_P * np.sum(last.P[FROZEN] ** 2)
    assert last.row["sampled"] + constant == pytest.approx(losses[-1], rel=0.15)


def test_frozen_rows_stay_to_the_bit():
    _, epochs, P = train(dtype=np.float32)
    assert epochs[-1].P[FROZEN].tobytes() == P[FROZEN].tobytes()
    assert np.all(epochs[-1].P[~FROZEN] != P[~FROZEN])


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    settings = replace(SETTINGS, held_out=0.3, negative_weight=1.0)
    one, two, other = (train(settings, seed, dtype=np.float32)[1] for seed in (5, 5, 6))
    assert one[-1].P.tobytes() == two[-1].P.tobytes() and one[-1].R.tobytes() == two[-1].R.tobytes()
    assert [epoch.row for epoch in one] == [epoch.row for epoch in two]
    assert one[-1].P.tobytes() != other[-1].P.tobytes()


def test_held_out_sentences_are_inferred_and_stop_training_that_brings_nothing():
    settings = replace(SETTINGS, held_out=0.34, patience=2, epochs=400, learning_rate=0.3)
    trainer, epochs, _ = train(settings)
    assert trainer.held_out.n_graphs == 2 and trainer.training.n_graphs == 4  # the empty one is in neither
    assert len(epochs) < 400
    assert [epoch.best for epoch in epochs[-3:]] == [True, False, False]
    last = epochs[-1]
    held = [i for i, n in enumerate(LENGTHS) if n and n in trainer.held_out.lengths.tolist()]
    corpus, dense, _ = start()
    held = [i for i in held if matches(corpus.select(np.array([i])), trainer.held_out)]
    graphs = [dense[i] for i in held]
    E = [reference.infer(graph, last.P, last.R, 2.0, 0.4, 4) for graph in graphs]
    L = reference.objective(graphs, last.P, last.R, E, 2.0, 0, 0, 0.4) / trainer.held_out.n_tokens
    penalties = 0.5 * np.sum(last.P**2) + 0.3 * np.sum(last.R**2)
    assert last.criterion == pytest.approx(L + penalties / trainer.training.n_tokens)


def matches(one: GraphCorpus, corpus: GraphCorpus) -> bool:
    return one.signature(0) in {corpus.signature(s) for s in range(corpus.n_graphs)}


def test_without_relations_only_the_penalty_acts_on_them():
    _, epochs, _ = train(replace(SETTINGS, alpha=0.0))
    assert not epochs[-1].R.any()


@pytest.mark.parametrize("rate", [1e3, 1e30])
def test_a_learning_rate_that_is_too_high_ends_with_its_epoch_named(rate):
    with pytest.raises(Diverged, match=r"epoch 1 at learning rate 1[e0].*lower learning_rate"):
        train(replace(SETTINGS, learning_rate=rate), dtype=np.float32)


def test_bad_input_is_refused():
    with pytest.raises(BoveError, match="PyTorch finds no CUDA device"):
        if torch.cuda.is_available():
            pytest.skip("there is a CUDA device")
        train(replace(SETTINGS, device="cuda"))
    with pytest.raises(BoveError, match="1 sentences with tokens, of which 1 are to be held out"):
        train(replace(SETTINGS, held_out=0.2), lengths=[3, 0])
    corpus, _, P = start()
    with pytest.raises(BoveError, match="words outside the vocabulary"):
        outside = replace(corpus, properties=corpus.properties + 1)
        SgdTrainer(outside, P, FROZEN, GROUPS, SETTINGS, 0)
