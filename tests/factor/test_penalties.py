"""Penalties without a closed form: their proximal operators, their solvers and training with them."""

from dataclasses import replace

import numpy as np
import pytest
import reference
import test_als
from corpora import batches_of, corpora, make_corpus, point, split
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.factor.model import compress
from bove.factor.objective import objective
from bove.factor.parallel import Workers
from bove.factor.penalties import (
    largest_eigenvalue,
    p_step_l1,
    prox,
    r_step_proximal,
    r_step_shrink,
    value,
)
from bove.factor.settings import ModelSettings, own_fields

SETTINGS = replace(
    test_als.SETTINGS, max_rounds=5, tolerance=-np.inf, restart_every=3, r_tolerance=1e-6, r_iterations=3000
)
PENALTIES = {X: own_fields(ModelSettings)[f"penalty_{X}"].metadata["rules"]["enum"] for X in "PR"}


def solve_r(corpus, E, strength, kind, R0=None, tolerance=1e-7, limit=20000):
    r = E.shape[1]
    R0 = np.zeros((corpus.n_relations, r, r), E.dtype) if R0 is None else R0
    with Workers(1) as workers:
        return r_step_proximal(
            E, corpus, batches_of(corpus, E.dtype), workers,
            strength=strength, kind=kind, R0=R0, tolerance=tolerance, max_iterations=limit,
        )  # fmt: skip


def solve_p(corpus, E, lambda_P, P, frozen):
    WE = corpus.property_matrix(E.dtype) @ E
    with Workers(1) as workers:
        return WE, p_step_l1(WE, E.T @ E, lambda_P, P, frozen, workers)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0, 3))
def test_a_proximal_operator_minimises_what_it_is_said_to(seed, r, strength):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2, r, r))
    for kind in ("l1", "nuclear"):

        def cost(Z, kind=kind):
            return np.sum((Z - X) ** 2) / 2 + strength * value(Z, kind)

        Z, charged = prox(X, strength, kind)
        assert charged.sum() == pytest.approx(value(Z, kind), abs=1e-9)
        # cost is strongly convex: every Z + D costs at least ||D||² / 2 more
        for size in (1e-3, 0.1, 1):
            D = size * rng.standard_normal(X.shape)
            assert cost(Z + D) >= cost(Z) + np.sum(D**2) / 2 - 1e-9


@given(corpora, st.integers(1, 5), st.floats(0.01, 20))
def test_l1_rows_of_p_meet_the_optimality_conditions_and_frozen_rows_stay(made, r, lambda_P):
    corpus, _, P, _, E = point(made, r)
    frozen = np.arange(len(P)) % 3 == 1
    WE, (got, iterations, residual) = solve_p(corpus, E, lambda_P, P, frozen)
    np.testing.assert_array_equal(got[frozen], P[frozen])
    gradient = 2 * (got @ (E.T @ E) - WE)
    slack = 2 * 1e-4 * np.linalg.norm(WE, axis=1, keepdims=True) + 1e-12
    off = np.where(got == 0, np.maximum(np.abs(gradient) - lambda_P, 0), gradient + lambda_P * np.sign(got))
    assert residual <= 1e-4
    assert (np.abs(off) <= slack)[~frozen].all()


@given(corpora, st.integers(1, 5), st.floats(0.01, 3))
def test_l1_and_nuclear_relations_meet_the_optimality_conditions(made, r, strength):
    corpus, _, _, _, E = point(made, r)
    for kind in ("l1", "nuclear"):
        got = solve_r(corpus, E, strength, kind, tolerance=1e-6)
        assert got.residual <= 1e-6
        for R, B, AR in zip(got.R, got.B, got.AR, strict=True):
            slack = 1e-6 * np.linalg.norm(B) + 1e-10
            pull = (B - AR) / strength  # must be a subgradient of the penalty at R
            if kind == "l1":
                off = np.where(R == 0, np.maximum(np.abs(pull) - 1, 0), pull - np.sign(R))
                assert np.abs(off).max() <= slack / strength
            else:
                q = np.linalg.matrix_rank(R, tol=1e-10)
                U, _, V = np.linalg.svd(R)
                beside = pull - U[:, :q] @ V[:q]
                assert np.linalg.norm(beside, 2) <= 1 + slack / strength
                # what lies in R's own column or row space is U Vᵀ and nothing else
                assert np.linalg.norm(U[:, :q].T @ beside) <= 2 * slack / strength
                assert np.linalg.norm(beside @ V[:q].T) <= 2 * slack / strength


def test_nuclear_relations_of_one_orthonormal_graph_are_the_thresholded_right_hand_side():
    rng = np.random.default_rng(3)
    corpus, _ = make_corpus(rng, [9], d=3)
    E = np.linalg.qr(rng.standard_normal((9, 5)))[0]  # EᵀE = I, so that A is the identity
    got = solve_r(corpus, E, 0.3, "nuclear")
    for R, B in zip(got.R, got.B, strict=True):
        U, s, V = np.linalg.svd(B)
        np.testing.assert_allclose(R, (U * np.maximum(s - 0.3, 0)) @ V, atol=1e-6)
    with Workers(1) as workers:
        shrunk = r_step_shrink(
            E, E.T @ E, corpus, batches_of(corpus), workers,
            strength=0.3, R0=np.zeros_like(got.R), tolerance=1e-10, max_iterations=99,
        )  # fmt: skip
    np.testing.assert_allclose(shrunk.R, got.R, atol=1e-6)
    np.testing.assert_allclose(shrunk.AR, shrunk.R, atol=1e-12)


@given(corpora, st.integers(1, 5), st.floats(0.01, 9), st.integers(1, 12))
def test_no_step_raises_the_objective_however_early_it_stops(made, r, penalty, limit):
    corpus, dense, P, R0, E = point(made, r)
    alpha, parts = 1.7, split(E, corpus)

    def loss(P, R, kind):
        bare = reference.objective(dense, P, R, parts, alpha, 0, 0, 0)
        return bare + penalty * (np.abs(P).sum() + value(R, kind))

    for kind in ("l1", "nuclear"):
        R = solve_r(corpus, E, penalty / (2 * alpha), kind, R0=R0, limit=limit).R
        assert loss(P, R, kind) <= loss(P, R0, kind) * (1 + 1e-9)
    new = solve_p(corpus, E, penalty, P, np.zeros(len(P), bool))[1][0]
    assert loss(new, R0, "l1") <= loss(P, R0, "l1") * (1 + 1e-9)


def test_a_solved_problem_is_left_as_it_is_and_a_relation_without_arcs_is_zero():
    rng = np.random.default_rng(4)
    corpus, _ = make_corpus(rng, [5, 7], d=2)
    corpus = replace(corpus, n_relations=3)
    E = rng.standard_normal((12, 4))
    for kind in ("l1", "nuclear"):
        first = solve_r(corpus, E, 0.4, kind, R0=rng.standard_normal((3, 4, 4)), tolerance=1e-6)
        again = solve_r(corpus, E, 0.4, kind, R0=first.R, tolerance=1e-5)
        assert first.iterations > 3 and again.iterations == 1
        assert not first.R[2].any() and first.R[:2].any()
        assert not solve_r(corpus, np.zeros_like(E), 0.4, kind, R0=first.R).R.any()


@given(corpora, st.integers(1, 6), st.booleans())
def test_the_bound_is_above_the_largest_eigenvalue_and_near_it(made, r, flat):
    corpus, _, _, _, E = point(made, r)
    E = E * np.array([1, *[1e-3] * (r - 1)]) if flat else E
    A = sum(np.kron(e.T @ e, e.T @ e) for e in split(E, corpus))
    largest = np.linalg.eigvalsh(A)[-1]
    with Workers(1) as workers:
        bound = largest_eigenvalue(E, batches_of(corpus), workers)
    assert largest <= bound <= 1.5 * largest


def train(dtype=np.float64, threads=1, **changes):
    """A corpus, its dense cells and where training on it ends."""
    return test_als.train(replace(SETTINGS, **changes), threads, dtype=dtype)


@pytest.mark.parametrize("penalty_P", PENALTIES["P"])
@pytest.mark.parametrize("penalty_R", PENALTIES["R"])
def test_training_logs_the_loss_of_its_penalties_by_term(penalty_P, penalty_R):
    corpus, dense, state = train(penalty_P=penalty_P, penalty_R=penalty_R)
    row, parts, s = state.log[-1], split(state.E, corpus), SETTINGS
    charged = s.lambda_R * value(state.R, penalty_R), s.lambda_P * value(state.P, penalty_P)
    bare = reference.objective(dense, state.P, state.R, parts, s.alpha, 0, 0, s.lambda_E)
    assert row["lambda_R"] == pytest.approx(charged[0]) and row["lambda_P"] == pytest.approx(charged[1])
    assert row["total"] == pytest.approx(bare + sum(charged), rel=1e-6)
    chosen = replace(s, penalty_P=penalty_P, penalty_R=penalty_R)
    again = objective(corpus, state.P, state.R, state.E, test_als.GROUPS, chosen)
    assert again["total"] == pytest.approx(row["total"], rel=1e-9)
    assert row["total"] < state.log[0]["total"]
    assert 0 < row["r_iterations"] < s.r_iterations and row["r_residual"] <= 1e-5
    assert (row["p_iterations"] > 0) == (penalty_P == "l1") and row["p_residual"] <= 1e-4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["nuclear", "nuclear-shrink"])
def test_nuclear_gives_exact_low_rank_which_compressing_at_energy_one_keeps(kind, dtype):
    lambda_R = {"nuclear": 2.0, "nuclear-shrink": 1.0}[kind]
    R = train(dtype, penalty_R=kind, lambda_R=lambda_R, r_tolerance=1e-3)[2].R
    exact = np.linalg.svd(R.astype(np.float64), compute_uv=False)
    ranks = (exact > 1e-5 * exact[:, :1]).sum(axis=1)  # a gap: the rest is rounding
    assert (exact[exact <= 1e-5 * exact.max()] <= 10 * np.finfo(dtype).eps * exact.max()).all()
    assert 0 < ranks.sum() < 0.8 * R.shape[0] * R.shape[1]
    kept = compress(R, 1.0)
    np.testing.assert_array_equal(kept.ranks, ranks)
    np.testing.assert_allclose(kept.dense(), R, atol=20 * np.finfo(dtype).eps * np.abs(R).max())


def test_l1_gives_exact_zeros_in_both_factors():
    state = train(np.float32, penalty_P="l1", penalty_R="l1", lambda_P=1.5, lambda_R=1.0)[2]
    free = state.P[2:]
    assert 0 < np.count_nonzero(free) < 0.9 * free.size
    assert 0 < np.count_nonzero(state.R) < 0.9 * state.R.size


@pytest.mark.parametrize("kind", ["l1", "nuclear", "nuclear-shrink"])
def test_the_number_of_threads_and_a_switched_off_alpha_make_no_difference(kind):
    one, two = (train(np.float32, n, penalty_P="l1", penalty_R=kind, r_tolerance=1e-3)[2] for n in (1, 2))
    assert one.P.tobytes() == two.P.tobytes() and one.R.tobytes() == two.R.tobytes()
    assert not train(alpha=0.0, penalty_R=kind)[2].R.any()


def test_a_loss_that_is_no_number_ends_training_with_a_sentence():
    for kind in PENALTIES["R"]:
        with pytest.raises(BoveError, match="raise lambda_"):
            train(np.float32, penalty_R=kind, penalty_P="l1", alpha=1e38, lambda_R=0.0)
