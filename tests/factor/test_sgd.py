"""Stochastic gradient descent: its gradient, its updates, and training on small random corpora."""

from dataclasses import replace

import numpy as np
import pytest
import reference
import torch
from corpora import make_corpus, split
from test_penalties import solve_p, solve_r

from bove.errors import BoveError
from bove.factor.als import initial_properties
from bove.factor.objective import objective
from bove.factor.sampling import UNBIASED, Cells, Sample, Sampler
from bove.factor.settings import SgdSettings
from bove.factor.sgd import NUCLEAR_EVERY, Diverged, SgdTrainer, sampled_loss, updates

SETTINGS = SgdSettings(
    alpha=2.0, lambda_P=0.5, lambda_R=0.3, lambda_E=0.4, learning_rate=0.1, epochs=4, batch_sentences=2,
    negatives=2, negative_weight=UNBIASED, patience=10, held_out=0.0, device="cpu",
)  # fmt: skip
L1 = replace(SETTINGS, penalty_P="l1", lambda_P=3.0, penalty_R="l1", lambda_R=1.0, epochs=12)
NUCLEAR = replace(SETTINGS, penalty_R="nuclear", lambda_R=1.5, learning_rate=0.3, epochs=12)
GROUPS = {"words": slice(0, 4), "tags": slice(4, 7)}
LENGTHS = [3, 8, 1, 0, 8, 5, 20]
FROZEN = np.arange(7) < 2


def start(lengths=LENGTHS, seed=1, r=4, dtype=np.float64, unknown=None):
    rng = np.random.default_rng(seed)
    corpus, dense = make_corpus(rng, lengths, unknown=unknown)
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
        *index, target = np.array([row for row in rows if not np.isnan(row[-1])]).T
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


@pytest.mark.parametrize("unknown", [None, 0.3])
def test_the_gradient_over_all_cells_is_that_of_the_objective(unknown):
    corpus, dense, _ = start([3, 1, 0, 4], unknown=unknown)
    P, R, E = point(corpus)
    weights = SETTINGS.alpha, SETTINGS.lambda_P, SETTINGS.lambda_R, SETTINGS.lambda_E

    def L(flat):
        parts = zip(np.split(flat, [P.size, P.size + R.size]), (P, R, E), strict=True)
        p, k, e = (part.reshape(a.shape) for part, a in parts)
        return reference.objective(dense, p, k, split(e, corpus), *weights)

    value, found = gradient(every_cell(corpus, dense), P, R, E)
    flat = np.concatenate([a.ravel() for a in (P, R, E)])
    assert value == pytest.approx(L(flat))
    step = 1e-5 * np.eye(len(flat))
    want = [(L(flat + h) - L(flat - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "weight, epochs, unbiased, unknown",
    [(UNBIASED, 400, True, None), (UNBIASED, 400, True, 0.3), (1.0, 100, False, None)],
)
def test_unbiased_draws_average_to_the_full_gradient_and_contrastive_ones_do_not(
    weight, epochs, unbiased, unknown
):
    corpus, dense, _ = start([3, 1, 4, 2], unknown=unknown)
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


@pytest.mark.parametrize("settings", [replace(SETTINGS, epochs=25), L1, NUCLEAR])
def test_the_log_is_the_objective_of_the_state_and_it_falls(settings):
    trainer, epochs, _ = train(settings)
    last = epochs[-1]
    want = objective(trainer.training, last.P, last.R, trainer.E.numpy(), GROUPS, settings)
    assert {name: last.row[name] for name in want} == want
    assert [epoch.row["round"] for epoch in epochs] == list(range(1, settings.epochs + 1))
    assert last.row["total"] < 0.97 * epochs[0].row["total"]
    if settings.penalty_R == "l2":  # unbiased: an epoch's sampled loss lies about the L of its own course
        constant = settings.lambda_P * np.sum(last.P[FROZEN] ** 2)
        assert last.row["sampled"] + constant == pytest.approx(last.row["total"], rel=0.15)


def test_frozen_rows_stay_to_the_bit():
    _, epochs, P = train(dtype=np.float32)
    assert epochs[-1].P[FROZEN].tobytes() == P[FROZEN].tobytes()
    assert np.all(epochs[-1].P[~FROZEN] != P[~FROZEN])


@pytest.mark.parametrize("settings", [replace(SETTINGS, held_out=0.3, negative_weight=1.0), L1, NUCLEAR])
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(settings):
    settings = replace(settings, epochs=3)
    one, two, other = (train(settings, seed, dtype=np.float32)[1] for seed in (5, 5, 6))
    assert one[-1].P.tobytes() == two[-1].P.tobytes() and one[-1].R.tobytes() == two[-1].R.tobytes()
    assert [epoch.row for epoch in one] == [epoch.row for epoch in two]
    assert one[-1].P.tobytes() != other[-1].P.tobytes() and one[-1].R.tobytes() != other[-1].R.tobytes()


def test_held_out_sentences_are_inferred_and_stop_training_that_brings_nothing():
    settings = replace(SETTINGS, held_out=0.34, patience=2, epochs=400, learning_rate=0.3)
    trainer, epochs, _ = train(settings)
    assert trainer.held_out.n_graphs == 2 and trainer.training.n_graphs == 4  # the empty one is in neither
    assert len(epochs) < 400
    assert [epoch.best for epoch in epochs[-3:]] == [True, False, False]
    last, (corpus, dense, _) = epochs[-1], start()
    held = {trainer.held_out.signature(s) for s in range(2)}
    graphs = [graph for s, graph in enumerate(dense) if corpus.signature(s) in held]
    E = [reference.infer(graph, last.P, last.R, 2.0, 0.4, 4) for graph in graphs]
    L = reference.objective(graphs, last.P, last.R, E, 2.0, 0, 0, 0.4) / trainer.held_out.n_tokens
    penalties = 0.5 * np.sum(last.P**2) + 0.3 * np.sum(last.R**2)
    assert last.criterion == pytest.approx(L + penalties / trainer.training.n_tokens)


# AdaGrad's proximal steps, and training under the penalties that need them


def gradients(shape, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape), [rng.standard_normal(shape) * 3.0**i for i in rng.normal(size=count)]


def test_an_l1_step_meets_the_optimality_conditions_in_the_metric_of_the_step():
    X, all_g = gradients((5, 4), 6)
    rate, strength, share = 0.2, 0.9, 0.3
    factor, after, state, seen = updates(torch.tensor(X), rate, strength, "l1"), torch.tensor(X), 0.0, set()
    for g in all_g:
        before = after.numpy().copy()
        factor.step(after, torch.tensor(g), share)
        state = state + g**2
        got, eta = after.numpy(), rate / np.sqrt(state)
        # what is left of the model's gradient is minus a subgradient of share · strength · |x|
        left = -((got - before) / eta + g) / (share * strength)
        np.testing.assert_allclose(left[got != 0], np.sign(got[got != 0]), rtol=1e-6)
        assert (np.abs(left[got == 0]) <= 1 + 1e-6).all()
        seen |= set((got == 0).ravel().tolist())
    assert seen == {True, False}


@pytest.mark.parametrize("kind", ["nuclear", "nuclear-shrink"])
def test_the_nuclear_step_comes_late_with_all_that_is_due_and_is_optimal(kind):
    X, all_g = gradients((3, 4, 4), NUCLEAR_EVERY + 3, seed=2)
    rate, strength, share = 0.1, 0.8, 0.9
    factor, got = updates(torch.tensor(X), rate, strength, kind), torch.tensor(X)
    state, due = np.zeros(3), np.zeros(3)
    for number, g in enumerate(all_g, 1):
        factor.step(got, torch.tensor(g), share)
        state += np.mean(g**2, axis=(1, 2))
        eta = rate / np.sqrt(state)
        X, due = X - eta[:, None, None] * g, due + share * strength * eta
        if number == len(all_g):  # the epoch ends
            np.testing.assert_allclose(got.numpy(), X)
            factor.settle(got)
        if number in (NUCLEAR_EVERY, len(all_g)):
            optimal_for_the_nuclear_norm(got.numpy(), X, due)
            X, due = got.numpy().copy(), np.zeros(3)
        np.testing.assert_allclose(got.numpy(), X, rtol=1e-7)
    assert 0 < np.linalg.matrix_rank(X).sum() < 12


def optimal_for_the_nuclear_norm(Z, X, strength):
    """(X − Z) / strength is a subgradient at Z: no longer than 1, and as long as that along Z."""
    for z, x, s in zip(Z, X, strength, strict=True):
        left = (x - z) / s
        assert np.linalg.norm(left, 2) <= 1 + 1e-7
        assert np.vdot(left, z) == pytest.approx(np.linalg.norm(z, "nuc"), rel=1e-7, abs=1e-7)


def test_what_had_no_gradient_waits_until_the_epoch_ends():
    one = torch.ones(2, 3, dtype=torch.float64)
    l1 = updates(one, 0.1, 0.5, "l1")
    l1.step(one, torch.tensor([[0.0, 0, 0], [1, 1, 1]]), 1.0)
    assert one[0].tolist() == [1, 1, 1]
    np.testing.assert_allclose(one[1].numpy(), 1 - 0.1 - 0.05)
    l1.settle(one)
    assert one[0].tolist() == [0, 0, 0] and (one[1] > 0.8).all()
    slices = torch.zeros(2, 3, 3, dtype=torch.float64)
    nuclear = updates(slices, 0.1, 0.01, "nuclear")
    ones = torch.ones(3, 3, dtype=torch.float64)
    nuclear.step(slices, torch.stack([ones, 0 * ones]), 1.0)
    nuclear.step(slices, torch.stack([ones, ones]), 1.0)  # no debt from the step before
    nuclear.settle(slices)
    np.testing.assert_allclose(slices[1].numpy(), -0.1 + 0.1 * 0.01 / 3)


def test_l1_leaves_zeros_in_p_and_r_and_frozen_rows_as_they_are():
    _, epochs, P = train(L1, dtype=np.float32)
    last = epochs[-1]
    assert last.P[FROZEN].tobytes() == P[FROZEN].tobytes()
    for X in (last.P[~FROZEN], last.R):
        assert 0.05 < np.mean(X == 0) < 0.95
    _, strong, P = train(replace(L1, lambda_P=1e4, lambda_R=1e4), dtype=np.float32)
    assert not strong[-1].P[~FROZEN].any() and not strong[-1].R.any()
    assert strong[-1].P[FROZEN].tobytes() == P[FROZEN].tobytes()


def test_l1_takes_away_the_rows_that_no_sentence_has():
    corpus, _, P = start([1, 1, 2])
    absent = np.setdiff1d(np.arange(2, 7), corpus.properties)
    assert len(absent)
    both = (replace(settings, negatives=0) for settings in (L1, SETTINGS))
    l1, l2 = (next(SgdTrainer(corpus, P, FROZEN, GROUPS, one, 0).epochs()).P for one in both)
    assert not l1[absent].any() and l2[absent].all() and l1[np.unique(corpus.properties)].any(axis=1).all()


def test_nuclear_leaves_relations_of_exactly_low_rank_at_every_epoch():
    trainer, epochs, _ = train(NUCLEAR)
    ranks = [np.linalg.matrix_rank(epoch.R, tol=1e-12) for epoch in epochs]
    assert all((rank < 4).any() for rank in ranks) and ranks[-1].any()
    assert not train(replace(NUCLEAR, lambda_R=1e4))[1][-1].R.any()
    other = train(replace(NUCLEAR, penalty_R="nuclear-shrink"))[1][-1]  # both penalties are one
    assert other.R.tobytes() == epochs[-1].R.tobytes() and other.row == epochs[-1].row
    assert train(replace(NUCLEAR, lambda_R=0.0))[1][-1].R.any(axis=(1, 2)).all()


def test_without_strength_a_penalty_makes_no_difference():
    free = replace(SETTINGS, lambda_P=0.0, lambda_R=0.0)
    l1 = replace(free, penalty_P="l1", penalty_R="l1")
    none, zero = (train(settings)[1][-1] for settings in (free, l1))
    assert none.P.tobytes() == zero.P.tobytes() and none.R.tobytes() == zero.R.tobytes()
    little = train(replace(l1, lambda_P=1e-9, lambda_R=1e-9))[1][-1]
    np.testing.assert_allclose(little.P, none.P, atol=1e-6)
    np.testing.assert_allclose(little.R, none.R, atol=1e-6)
    zero, little = (train(replace(NUCLEAR, lambda_R=strength))[1][-1] for strength in (0.0, 1e-9))
    np.testing.assert_allclose(little.R, zero.R, atol=1e-6)


@pytest.mark.parametrize("kind, rate, weights, close", [
    ("l1", 0.3, (1, 0.5), 1e-6), ("nuclear", 0.03, (3, 2), 1e-4),
])  # fmt: skip
def test_with_fixed_tokens_and_all_cells_it_ends_where_the_solvers_of_als_end(kind, rate, weights, close):
    corpus, dense, P = start([3, 8, 1, 5])
    lambda_P, lambda_R = weights
    settings = replace(SETTINGS, penalty_P="l1", penalty_R=kind, learning_rate=rate)
    settings = replace(settings, lambda_P=lambda_P, lambda_R=lambda_R)
    trainer = SgdTrainer(corpus, P, FROZEN, GROUPS, settings, 0)
    trainer.updates_E.rate = 0.0
    E, sample = trainer.E.numpy().copy(), every_cell(corpus, dense)
    for _ in range(600):
        trainer._update(sample)
    trainer._settle()
    best_P, best_R = solve_p(corpus, E, lambda_P, P, FROZEN)[1][0], solve_r(corpus, E, lambda_R / 4, kind).R
    want = objective(corpus, best_P, best_R, E, GROUPS, settings)["total"]
    got = objective(corpus, trainer.P.numpy(), trainer.R.numpy(), E, GROUPS, settings)["total"]
    assert trainer.E.numpy().tobytes() == E.tobytes()
    assert got == pytest.approx(want, rel=close)
    np.testing.assert_array_equal(trainer.P.numpy() == 0, best_P == 0)
    assert np.count_nonzero(best_R) > 0 and (best_P[~FROZEN] == 0).any()
    if kind == "nuclear":
        ranks = [np.linalg.matrix_rank(R, tol=1e-9).tolist() for R in (trainer.R.numpy(), best_R)]
        assert ranks[0] == ranks[1] and min(ranks[1]) < 4


@pytest.mark.parametrize("settings", [SETTINGS, L1, NUCLEAR])
def test_relations_of_no_weight_stay_zero_and_a_wild_learning_rate_ends_with_its_epoch_named(settings):
    assert not train(replace(settings, alpha=0.0))[1][-1].R.any()
    for rate in (1e3, 1e30):
        with pytest.raises(Diverged, match=r"epoch 1 at learning rate 1[e0].*lower learning_rate"):
            train(replace(settings, learning_rate=rate), dtype=np.float32)


def test_bad_input_is_refused():
    with pytest.raises(BoveError, match="PyTorch finds no CUDA device"):
        if torch.cuda.is_available():
            pytest.skip("there is a CUDA device")
        train(replace(SETTINGS, device="cuda"))
    with pytest.raises(BoveError, match=r"held_out 0\.2 takes 1 of 1 graphs with nodes.*set held_out to 0"):
        train(replace(SETTINGS, held_out=0.2), lengths=[3, 0])
    corpus, _, P = start()
    with pytest.raises(BoveError, match="words outside the vocabulary"):
        outside = replace(corpus, properties=corpus.properties + 1)
        SgdTrainer(outside, P, FROZEN, GROUPS, SETTINGS, 0)
