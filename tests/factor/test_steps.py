"""Each kernel against the dense oracle, over random corpora, ranks and weights."""

import numpy as np
import pytest
import reference
from corpora import make_corpus, split
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.factor.objective import objective
from bove.factor.parallel import Batch, Workers, make_batches, plan_batches
from bove.factor.settings import ModelSettings
from bove.factor.steps import EStep, Preconditioner, apply, gram, p_step, r_step, solve_rows

corpora = st.builds(
    lambda seed, lengths, c, d: (np.random.default_rng(seed), lengths, c, d),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    st.integers(1, 7),
    st.integers(1, 4),
)


def batches_of(corpus, dtype=np.float64, budget=12):
    return list(make_batches(corpus, budget, dtype))


def solve_r(corpus, E, ridge, R0=None, tolerance=1e-10, limit=500):
    r = E.shape[1]
    R0 = np.zeros((corpus.n_relations, r, r), E.dtype) if R0 is None else R0
    with Workers(1) as workers:
        return r_step(
            E, gram(E, workers), corpus, batches_of(corpus, E.dtype), workers,
            ridge=ridge, R0=R0, tolerance=tolerance, max_iterations=limit,
        )  # fmt: skip


@given(corpora, st.integers(1, 6), st.floats(0.01, 30))
@settings(max_examples=40, deadline=None)
def test_r_step_solves_the_literal_normal_equations(made, r, ridge):
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    E = rng.standard_normal((corpus.n_tokens, r))
    want = reference.r_step(dense, split(E, corpus), ridge)
    np.testing.assert_allclose(solve_r(corpus, E, ridge).R, want, rtol=1e-6, atol=1e-7)


@given(corpora, st.integers(1, 6), st.floats(0, 20), st.floats(0.1, 10))
@settings(max_examples=40, deadline=None)
def test_e_step_equals_the_oracle_short_and_long_graphs(made, r, alpha, lambda_E):
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    P, R = rng.standard_normal((c, r)), rng.standard_normal((d, r, r))
    E = rng.standard_normal((corpus.n_tokens, r))
    kernel = EStep(P, P.T @ P, R, alpha, lambda_E)
    got = np.full_like(E, np.nan)
    for b in batches_of(corpus):
        got[b.tokens] = kernel.step(E[b.tokens], b)
    for graph, e, new in zip(dense, split(E, corpus), split(got, corpus), strict=True):
        want = reference.e_step(graph, P, R, e, alpha, lambda_E)
        np.testing.assert_allclose(new, want, rtol=1e-7, atol=1e-9)


@given(corpora, st.integers(1, 6), st.floats(0.1, 20))
@settings(max_examples=40, deadline=None)
def test_objective_by_term_adds_up_to_equation_3(made, r, alpha):
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    P, R = rng.standard_normal((c, r)), rng.standard_normal((d, r, r))
    E = rng.standard_normal((corpus.n_tokens, r))
    weights = {"alpha": alpha, "lambda_P": 0.3, "lambda_R": 0.7, "lambda_E": 1.1}
    half = c // 2
    groups = {"words": slice(0, half), "tags": slice(half, c)}
    got = objective(corpus, P, R, E, groups, ModelSettings(**weights), batch_tokens=5)
    assert got["total"] == pytest.approx(
        reference.objective(dense, P, R, split(E, corpus), **weights), rel=1e-9
    )
    assert got["total"] == pytest.approx(sum(v for k, v in got.items() if k != "total"))


@given(corpora, st.integers(1, 6), st.floats(0.01, 20))
@settings(max_examples=30, deadline=None)
def test_p_step_equals_the_closed_form_and_leaves_frozen_rows(made, r, lambda_P):
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    E, P = rng.standard_normal((corpus.n_tokens, r)), rng.standard_normal((c, r))
    frozen = rng.random(c) < 0.4
    got = p_step(corpus.property_matrix(E.dtype) @ E, E.T @ E, lambda_P, P, frozen)
    want = reference.p_step(dense, split(E, corpus), lambda_P)
    np.testing.assert_allclose(got[~frozen], want[~frozen], rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(got[frozen], P[frozen])


@given(corpora, st.integers(1, 6), st.floats(0.01, 20), st.floats(0.01, 20), st.integers(0, 3))
@example((np.random.default_rng(0), [1], 2, 1), 1, 1.0, 1.0, 0)
@settings(max_examples=40, deadline=None)
def test_p_and_r_step_never_raise_the_objective(made, r, alpha, penalty, iterations):
    """Even when conjugate gradients stop early: each of their iterations lowers the quadratic."""
    rng, lengths, c, d = made
    corpus, dense = make_corpus(rng, lengths, c, d)
    E, P = rng.standard_normal((corpus.n_tokens, r)), rng.standard_normal((c, r))
    R = rng.standard_normal((d, r, r))
    R[corpus.arc_counts == 0] = 0
    weights = {"alpha": alpha, "lambda_P": penalty, "lambda_R": penalty, "lambda_E": penalty}
    parts = split(E, corpus)
    before = reference.objective(dense, P, R, parts, **weights)
    P = p_step(corpus.property_matrix(E.dtype) @ E, E.T @ E, penalty, P, np.zeros(c, bool))
    middle = reference.objective(dense, P, R, parts, **weights)
    R = solve_r(corpus, E, penalty / alpha, R0=R, limit=iterations).R
    after = reference.objective(dense, P, R, parts, **weights)
    assert middle <= before * (1 + 1e-9)
    assert after <= middle * (1 + 1e-9)


def test_a_single_graph_takes_one_iteration():
    rng = np.random.default_rng(1)
    for n in (4, 30):
        corpus, _ = make_corpus(rng, [n], d=3)
        E = rng.standard_normal((n, 8))
        assert solve_r(corpus, E, 0.5, tolerance=1e-8).iterations == 1


def test_a_relation_without_arcs_is_zero_and_so_is_all_of_r_for_a_zero_e():
    rng = np.random.default_rng(2)
    corpus, _ = make_corpus(rng, [5, 6], d=3)
    keep = corpus.arc_relation != 1
    from dataclasses import replace

    ends = np.array([0, keep[: corpus.arc_offsets[1]].sum(), keep.sum()])
    corpus = replace(
        corpus, arc_relation=corpus.arc_relation[keep], arc_head=corpus.arc_head[keep],
        arc_dependent=corpus.arc_dependent[keep], arc_offsets=ends,
    )  # fmt: skip
    E = rng.standard_normal((11, 4))
    start = rng.standard_normal((3, 4, 4))
    solved = solve_r(corpus, E, 0.5, R0=start)
    assert not solved.R[1].any() and solved.R[0].any()
    zero = solve_r(corpus, np.zeros_like(E), 0.5, R0=start)
    assert not zero.R.any() and zero.iterations == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_singular_gram_without_ridge_still_solves_the_equations(dtype):
    rng = np.random.default_rng(3)
    corpus, _ = make_corpus(rng, [4, 5, 3], d=2)
    E = (rng.standard_normal((12, 3)) @ rng.standard_normal((3, 9))).astype(dtype)
    solved = solve_r(corpus, E, 0.0, tolerance=1e-4)
    with Workers(1) as workers:
        left = apply(solved.R, E, batches_of(corpus, dtype), workers)
    np.testing.assert_allclose(left, solved.B, atol=2e-3 * np.abs(solved.B).max())
    assert np.isfinite(solved.R).all()


def test_the_operator_is_symmetric_and_its_preconditioner_positive():
    rng = np.random.default_rng(4)
    corpus, _ = make_corpus(rng, [4, 9, 2, 9], d=2)
    E = rng.standard_normal((24, 5))
    A, B = rng.standard_normal((2, 2, 5, 5))
    with Workers(2) as workers:
        G = gram(E, workers)
        batches = batches_of(corpus)
        assert np.vdot(A, apply(B, E, batches, workers)) == pytest.approx(
            np.vdot(apply(A, E, batches, workers), B)
        )
    M = Preconditioner(E, G, corpus.token_offsets, 0.1)
    assert np.vdot(A, M(A)) > 0
    assert np.vdot(A, M(B)) == pytest.approx(np.vdot(M(A), B))


def test_float32_that_loses_the_solve_says_what_helps():
    P = np.ones((3, 4), np.float32) * 1e4
    kernel = EStep(P, P.T @ P, np.zeros((0, 4, 4), np.float32), 1.0, -1.0)
    corpus, _ = make_corpus(np.random.default_rng(5), [3], c=3, d=0)
    batch = Batch(corpus, np.array([0]), np.float32)
    with pytest.raises(BoveError, match="float64"):
        kernel.step(np.zeros((3, 4), np.float32), batch)


def test_batches_cover_every_token_once_within_the_budget():
    lengths = np.array([3, 0, 5, 3, 40, 5, 3, 1])
    plan = plan_batches(lengths, 10)
    assert sorted(np.concatenate(plan).tolist()) == [0, 2, 3, 4, 5, 6, 7]
    for graphs in plan:
        n = lengths[graphs]
        assert len(set(n)) == 1 and (n.sum() <= 10 or len(graphs) == 1)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-12)])
@pytest.mark.parametrize(("r", "n"), [(1, 1), (5, 3), (40, 1), (40, 70)])
def test_rows_are_solved_in_place(r, n, dtype, tolerance):
    rng = np.random.default_rng(r + n)
    S = rng.standard_normal((2 * r, r))
    A, B = (S.T @ S + np.eye(r)).astype(dtype), rng.standard_normal((n, r)).astype(dtype)
    want = np.linalg.solve(A.astype(float), B.astype(float).T).T
    assert solve_rows(A, B)
    np.testing.assert_allclose(B, want, atol=tolerance * np.abs(want).max())


def test_a_matrix_that_is_not_positive_definite_is_reported():
    A = np.diag([1.0, -1.0, 1.0])
    assert not solve_rows(A, np.ones((2, 3)))


def test_arrays_that_lapack_would_misread_are_refused():
    A = np.eye(4)
    for B in (np.ones((8, 4))[::2], np.ones((2, 4), np.float32)):
        with pytest.raises(ValueError, match="contiguous"):
            solve_rows(A.copy(), B)
