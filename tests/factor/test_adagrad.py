"""AdaGrad's proximal steps, and stochastic gradient descent under the penalties that need them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from test_penalties import solve_p, solve_r
from test_sgd import FROZEN, GROUPS, SETTINGS, every_cell, start, train

from bove.factor.objective import objective
from bove.factor.sgd import NUCLEAR_EVERY, Diverged, SgdTrainer, updates

L1 = replace(SETTINGS, penalty_P="l1", lambda_P=3.0, penalty_R="l1", lambda_R=1.0, epochs=12)
NUCLEAR = replace(SETTINGS, penalty_R="nuclear", lambda_R=1.5, learning_rate=0.3, epochs=12)


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
    l1, l2 = (
        next(SgdTrainer(corpus, P, FROZEN, GROUPS, settings, 0).epochs()).P
        for settings in (replace(L1, negatives=0), replace(SETTINGS, negatives=0))
    )
    assert not l1[absent].any() and l2[absent].all() and l1[np.unique(corpus.properties)].any(axis=1).all()


def test_nuclear_leaves_relations_of_exactly_low_rank_at_every_epoch():
    trainer, epochs, _ = train(NUCLEAR)
    ranks = [np.linalg.matrix_rank(epoch.R, tol=1e-12) for epoch in epochs]
    assert all((rank < 4).any() for rank in ranks) and ranks[-1].any()
    assert not train(replace(NUCLEAR, lambda_R=1e4))[1][-1].R.any()
    assert train(replace(NUCLEAR, lambda_R=0.0))[1][-1].R.any(axis=(1, 2)).all()


@pytest.mark.parametrize("settings", [L1, NUCLEAR])
def test_the_log_counts_each_penalty_in_its_own_form(settings):
    trainer, epochs, _ = train(settings)
    last = epochs[-1]
    want = objective(trainer.training, last.P, last.R, trainer.E.numpy(), GROUPS, settings)
    assert {name: last.row[name] for name in want} == want
    size = np.abs(last.R).sum() if settings is L1 else sum(np.linalg.norm(R, "nuc") for R in last.R)
    assert last.row["lambda_R"] == pytest.approx(settings.lambda_R * size)
    assert last.row["total"] < 0.97 * epochs[0].row["total"]


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


@pytest.mark.parametrize(
    "kind, rate, lambda_P, lambda_R, close", [("l1", 0.3, 1, 0.5, 1e-6), ("nuclear", 0.03, 3, 2, 1e-4)]
)
def test_with_fixed_tokens_and_all_cells_it_ends_where_the_solvers_of_als_end(
    kind, rate, lambda_P, lambda_R, close
):
    corpus, dense, P = start([3, 8, 1, 5])
    settings = replace(
        SETTINGS, penalty_P="l1", penalty_R=kind, lambda_P=lambda_P, lambda_R=lambda_R, learning_rate=rate
    )
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


@pytest.mark.parametrize("settings", [L1, NUCLEAR])
def test_the_same_seed_gives_the_same_bytes(settings):
    settings = replace(settings, epochs=3)
    one, two, other = (train(settings, seed, dtype=np.float32)[1][-1] for seed in (5, 5, 6))
    assert one.P.tobytes() == two.P.tobytes() and one.R.tobytes() == two.R.tobytes() and one.row == two.row
    assert one.R.tobytes() != other.R.tobytes()


def test_both_nuclear_penalties_are_one():
    one, two = (
        train(replace(NUCLEAR, epochs=3, penalty_R=kind))[1][-1] for kind in ("nuclear", "nuclear-shrink")
    )
    assert one.R.tobytes() == two.R.tobytes() and one.row == two.row


@pytest.mark.parametrize("settings", [L1, NUCLEAR])
def test_relations_of_no_weight_stay_zero_and_wild_ones_end_training_with_a_sentence(settings):
    assert not train(replace(settings, alpha=0.0))[1][-1].R.any()
    with pytest.raises(Diverged, match="lower learning_rate"):
        train(replace(settings, learning_rate=1e30), dtype=np.float32)
