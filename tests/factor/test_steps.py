"""Each kernel against the dense oracle, over random corpora, ranks and weights."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from corpora import batches_of, corpora, make_corpus, point, split
from hypothesis import example, given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.factor.objective import objective
from bove.factor.parallel import Batch, Workers, plan_batches
from bove.factor.settings import ModelSettings
from bove.factor.steps import EStep, Preconditioner, _inverse, apply, gram, p_step, r_step, solve_rows


def solve_r(corpus, E, ridge, R0=None, tolerance=1e-10, limit=500):
    r = E.shape[1]
    R0 = np.zeros((corpus.n_relations, r, r), E.dtype) if R0 is None else R0
    with Workers(1) as workers:
        return r_step(
            E, gram(E, workers), corpus, batches_of(corpus, E.dtype), workers,
            ridge=ridge, R0=R0, tolerance=tolerance, max_iterations=limit,
        )  # fmt: skip


@given(corpora, st.integers(1, 6), st.floats(0.01, 30))
def test_r_step_solves_the_literal_normal_equations(made, r, ridge):
    corpus, dense, _, _, E = point(made, r)
    want = reference.r_step(dense, split(E, corpus), ridge)
    np.testing.assert_allclose(solve_r(corpus, E, ridge).R, want, rtol=1e-6, atol=1e-7)


@given(corpora, st.integers(1, 6), st.floats(0, 20), st.floats(0.1, 10))
def test_e_step_equals_the_oracle_short_and_long_graphs(made, r, alpha, lambda_E):
    corpus, dense, P, R, E = point(made, r)
    kernel, got = EStep(P, P.T @ P, R, alpha, lambda_E), np.full_like(E, np.nan)
    for batch in batches_of(corpus):
        got[batch.tokens] = kernel.step(E[batch.tokens], batch)
    for graph, e, new in zip(dense, split(E, corpus), split(got, corpus), strict=True):
        want = reference.e_step(graph, P, R, e, alpha, lambda_E)
        np.testing.assert_allclose(new, want, rtol=1e-7, atol=1e-9)


@given(corpora, st.integers(1, 6), st.floats(0.1, 20))
def test_objective_by_term_adds_up_to_equation_3(made, r, alpha):
    corpus, dense, P, R, E = point(made, r)
    weights = {"alpha": alpha, "lambda_P": 0.3, "lambda_R": 0.7, "lambda_E": 1.1}
    groups = {"words": slice(0, len(P) // 2), "tags": slice(len(P) // 2, len(P))}
    got = objective(corpus, P, R, E, groups, ModelSettings(**weights), batch_tokens=5)
    want = reference.objective(dense, P, R, split(E, corpus), **weights)
    assert got["total"] == pytest.approx(want, rel=1e-9)
    explained = {name: got.pop(name) for name in list(got) if name.startswith("explained:")}
    assert got.pop("total") == pytest.approx(sum(got.values()))
    ones = {name: sum((W[rows] ** 2).sum() for W, _ in dense) for name, rows in groups.items()}
    ones |= {f"relation:{k}": alpha * sum(np.nansum(X[k] ** 2) for _, X in dense) for k in range(len(R))}
    for name, whole in ones.items():
        want = 1 - got[name] / whole if whole else 0
        assert explained[f"explained:{name}"] == pytest.approx(want, rel=1e-9, abs=1e-9)


@given(corpora, st.integers(1, 6), st.floats(0.01, 20))
def test_p_step_equals_the_closed_form_and_leaves_frozen_rows(made, r, lambda_P):
    corpus, dense, P, _, E = point(made, r)
    frozen = np.arange(len(P)) % 3 == 1
    got = p_step(corpus.property_matrix(E.dtype) @ E, E.T @ E, lambda_P, P, frozen)
    want = reference.p_step(dense, split(E, corpus), lambda_P)
    np.testing.assert_allclose(got[~frozen], want[~frozen], rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(got[frozen], P[frozen])


@given(corpora, st.integers(1, 6), st.floats(0.01, 20), st.floats(0.01, 20), st.integers(0, 3))
@example((np.random.default_rng(0), [1], 2, 1, None), 1, 1.0, 1.0, 0)
def test_p_and_r_step_never_raise_the_objective(made, r, alpha, penalty, iterations):
    """Even when conjugate gradients stop early: each of their iterations lowers the quadratic."""
    corpus, dense, P, R, E = point(made, r)
    R[corpus.arc_squares == 0] = 0
    weights, parts = (alpha, penalty, penalty, penalty), split(E, corpus)
    before = reference.objective(dense, P, R, parts, *weights)
    P = p_step(corpus.property_matrix(E.dtype) @ E, E.T @ E, penalty, P, np.zeros(len(P), bool))
    middle = reference.objective(dense, P, R, parts, *weights)
    R = solve_r(corpus, E, penalty / alpha, R0=R, limit=iterations).R
    after = reference.objective(dense, P, R, parts, *weights)
    assert middle <= before * (1 + 1e-9)
    assert after <= middle * (1 + 1e-9)


@pytest.mark.parametrize("n", [4, 30])
def test_a_single_graph_takes_one_iteration(n):
    rng = np.random.default_rng(1)
    corpus, _ = make_corpus(rng, [n], d=3)
    assert solve_r(corpus, rng.standard_normal((n, 8)), 0.5, tolerance=1e-8).iterations == 1


def test_a_relation_without_arcs_is_zero_and_so_is_all_of_r_for_a_zero_e():
    rng = np.random.default_rng(2)
    corpus, _ = make_corpus(rng, [5, 6], d=2)
    corpus = replace(corpus, n_relations=3)
    E, start = rng.standard_normal((11, 4)), rng.standard_normal((3, 4, 4))
    solved = solve_r(corpus, E, 0.5, R0=start)
    assert not solved.R[2].any() and solved.R[0].any()
    zero = solve_r(corpus, np.zeros_like(E), 0.5, R0=start)
    assert not zero.R.any() and zero.iterations == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-16, 1e-8, 1e8])
def test_relations_of_tiny_and_of_large_vectors_are_solved_in_single_precision(size):
    rng = np.random.default_rng(7)
    corpus, _ = make_corpus(rng, [5, 6], d=2)
    E = (size * rng.standard_normal((11, 4))).astype(np.float32)
    solved = solve_r(corpus, E, 0.5, tolerance=1e-3)
    assert solved.residual < 1e-3 and solved.R.any(axis=(1, 2)).all()
    if size < 1:
        np.testing.assert_allclose(solved.R, solved.B / 0.5, rtol=1e-3)


def test_what_is_not_finite_has_no_inverse():
    assert np.isnan(_inverse(np.array([[np.inf, 0], [0, 1]], np.float32))).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_singular_gram_without_ridge_still_solves_the_equations(dtype):
    rng = np.random.default_rng(3)
    corpus, _ = make_corpus(rng, [4, 5, 3], d=2)
    E = (rng.standard_normal((12, 3)) @ rng.standard_normal((3, 9))).astype(dtype)
    solved = solve_r(corpus, E, 0.0, tolerance=1e-4)
    with Workers(1) as workers:
        left = apply(solved.R, E, batches_of(corpus, dtype), workers)
    np.testing.assert_allclose(left, solved.B, atol=2e-3 * np.abs(solved.B).max())


def test_the_operator_is_symmetric_and_its_preconditioner_positive():
    rng = np.random.default_rng(4)
    corpus, _ = make_corpus(rng, [4, 9, 2, 9], d=2)
    E = rng.standard_normal((24, 5))
    A, B = rng.standard_normal((2, 2, 5, 5))
    with Workers(2) as workers:
        G = gram(E, workers)
        AA, AB = (apply(R, E, batches_of(corpus), workers) for R in (A, B))
    assert np.vdot(A, AB) == pytest.approx(np.vdot(AA, B))
    M = Preconditioner(E, G, corpus.token_offsets, 0.1)
    assert np.vdot(A, M(A)) > 0
    assert np.vdot(A, M(B)) == pytest.approx(np.vdot(M(A), B))


def test_float32_that_loses_the_solve_says_what_helps():
    P = np.ones((3, 4), np.float32) * 1e4
    kernel = EStep(P, P.T @ P, np.zeros((0, 4, 4), np.float32), 1.0, -1.0)
    corpus, _ = make_corpus(np.random.default_rng(5), [3], c=3, d=0)
    with pytest.raises(BoveError, match="float64"):
        kernel.step(np.zeros((3, 4), np.float32), Batch(corpus, np.array([0]), np.float32))


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


def test_matrices_that_are_not_positive_definite_or_that_lapack_would_misread_are_refused():
    assert not solve_rows(np.diag([1.0, -1.0, 1.0]), np.ones((2, 3)))
    for B in (np.ones((8, 4))[::2], np.ones((2, 4), np.float32)):
        with pytest.raises(ValueError, match="contiguous"):
            solve_rows(np.eye(4), B)


def test_selected_graphs_are_the_oracle_s_by_slice_and_by_number():
    corpus, dense = make_corpus(np.random.default_rng(6), [3, 0, 5, 2])
    corpus = replace(corpus, ids=tuple("abcd"))
    for graphs, numbers in ((slice(1, 3), [1, 2]), (np.array([3, 0]), [3, 0]), (slice(9), [0, 1, 2, 3])):
        part = corpus.select(graphs)
        assert part.ids == tuple("abcd"[s] for s in numbers)
        W = part.property_matrix().toarray()
        np.testing.assert_array_equal(W, np.concatenate([dense[s][0] for s in numbers], axis=1))
        for s, own in enumerate(numbers):
            assert part.signature(s) == corpus.signature(own)
    parts = [corpus.part(number, 3) for number in range(3)]
    assert sum(part.n_graphs for part in parts) == 4 and sum(part.n_tokens for part in parts) == 10
