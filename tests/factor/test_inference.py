"""Both solvers of inference against the oracle and against each other."""

import numpy as np
import pytest
import reference
from corpora import make_corpus, split
from hypothesis import given, settings
from hypothesis import strategies as st

from bove.factor.inference import FixedPoint, infer_averaged, infer_batches, relative_change
from bove.factor.model import compress
from bove.factor.parallel import Workers, make_batches
from bove.factor.steps import EStep


def model(rng, c=7, d=3, r=5, size=0.3):
    """P outweighs R, as where scores are good."""
    return rng.standard_normal((c, r)), size * rng.standard_normal((d, r, r))


def infer_all(solve, corpus, r, dtype=np.float64):
    """Bags, iterations and last changes of all graphs."""
    E = np.zeros((corpus.n_tokens, r), dtype)
    used, change = np.zeros(corpus.n_graphs, int), np.zeros(corpus.n_graphs)
    with Workers(2) as workers:
        for batch, got in infer_batches(solve, make_batches(corpus, 12, dtype), workers):
            E[batch.tokens], used[batch.graphs], change[batch.graphs] = got.E, got.iterations, got.change
    return E, used, change


@pytest.mark.parametrize("iterations", [1, 2, 3, 30])
def test_averaged_inference_equals_the_oracle(iterations):
    rng = np.random.default_rng(iterations)
    corpus, dense = make_corpus(rng, [3, 8, 1, 8, 5])
    P, R = model(rng)
    kernel = EStep(P, P.T @ P, R, 2.0, 1.5)
    E, used, _ = infer_all(lambda b: infer_averaged(kernel, b, iterations=iterations, tolerance=0), corpus, 5)
    for graph, e in zip(dense, split(E, corpus), strict=True):
        np.testing.assert_allclose(
            e, reference.infer(graph, P, R, 2.0, 1.5, iterations), rtol=1e-8, atol=1e-10
        )
    assert set(used) == {iterations}


@given(st.integers(0, 2**32 - 1), st.sampled_from([[3, 8, 1], [20, 2], [4, 4, 4]]))
@settings(max_examples=25, deadline=None)
def test_both_solvers_reach_the_same_bags_where_both_converge(seed, lengths):
    rng = np.random.default_rng(seed)
    corpus, dense = make_corpus(rng, lengths)
    P, R = model(rng)
    PtP = P.T @ P
    kernel = EStep(P, PtP, R, 0.5, 8.0)
    fast = FixedPoint(P, PtP, compress(R, 1), 0.5, 8.0, lambda: kernel)
    a, _, moved = infer_all(lambda b: infer_averaged(kernel, b, iterations=500, tolerance=1e-10), corpus, 5)
    f, _, change = infer_all(lambda b: fast.infer(b, iterations=500, tolerance=1e-10), corpus, 5)
    assert max(moved.max(), change.max()) < 1e-10
    np.testing.assert_allclose(f, a, rtol=1e-6, atol=1e-8)
    for graph, e in zip(dense, split(f, corpus), strict=True):
        np.testing.assert_allclose(reference.e_step(graph, P, R, e, 0.5, 8.0), e, rtol=1e-6, atol=1e-8)


def test_a_model_that_oscillates_is_damped_to_the_fixed_point():
    """R of the size of P and a large alpha: the plain iteration diverges on these graphs."""
    rng = np.random.default_rng(11)
    corpus, dense = make_corpus(rng, [6, 9, 4, 12])
    P, R = model(rng, size=0.5)
    alpha, lambda_E = 2.0, 4.0
    kernel = EStep(P, P.T @ P, R, alpha, lambda_E)
    fast = FixedPoint(P, P.T @ P, compress(R, 1), alpha, lambda_E, lambda: kernel)
    plain = {}
    for batch in make_batches(corpus, 12, float):
        first = batch.W @ fast.PD
        E, changes = first, []
        with np.errstate(all="ignore"):
            for _ in range(60):
                new = first + alpha * fast._pull(E, batch)
                changes.append(relative_change(new, E, batch.n))
                E = new
        plain |= dict(zip(batch.graphs.tolist(), changes[-1], strict=True))
    assert any(not change < 1e-3 for change in plain.values()), "the model does not oscillate"
    E, used, change = infer_all(lambda b: fast.infer(b, iterations=400, tolerance=1e-8), corpus, 5)
    assert change.max() < 1e-8
    for graph, e in zip(dense, split(E, corpus), strict=True):
        np.testing.assert_allclose(reference.e_step(graph, P, R, e, alpha, lambda_E), e, rtol=1e-4, atol=1e-6)
    assert used.max() > 10


def test_a_graph_that_damping_can_not_save_falls_back_to_the_averaged_step():
    rng = np.random.default_rng(5)
    corpus, _ = make_corpus(rng, [7, 7])
    P, R = model(rng, size=30.0)
    calls = []

    def fallback():
        calls.append(1)
        return EStep(P, P.T @ P, R, 5.0, 1.0)

    fast = FixedPoint(P, P.T @ P, compress(R, 1), 5.0, 1.0, fallback)
    E, used, change = infer_all(lambda b: fast.infer(b, iterations=30, tolerance=1e-3), corpus, 5)
    want, _, _ = infer_all(lambda b: infer_averaged(fallback(), b, iterations=30, tolerance=1e-3), corpus, 5)
    assert calls
    np.testing.assert_allclose(E, want)


def test_a_graph_that_still_grows_when_its_iterations_end_falls_back_too():
    rng = np.random.default_rng(5)
    corpus, _ = make_corpus(rng, [7, 7])
    P, R = model(rng, size=30.0)
    kernel = EStep(P, P.T @ P, R, 5.0, 1.0)
    grown, _, _ = infer_all(
        lambda b: FixedPoint(P, P.T @ P, compress(R, 1), 5.0, 1.0).infer(b, iterations=3, tolerance=1e-3),
        corpus, 5,
    )  # fmt: skip
    assert np.square(grown).sum() > 1e6
    fast = FixedPoint(P, P.T @ P, compress(R, 1), 5.0, 1.0, lambda: kernel)
    E, _, _ = infer_all(lambda b: fast.infer(b, iterations=3, tolerance=1e-3), corpus, 5)
    want, _, _ = infer_all(lambda b: infer_averaged(kernel, b, iterations=3, tolerance=1e-3), corpus, 5)
    np.testing.assert_allclose(E, want)
    assert np.square(E).sum() < 1e3


def test_convergence_is_judged_by_token_and_graphs_leave_one_by_one():
    new = np.array([[100.0, 0], [0.01, 0], [1, 0], [1, 0]])
    old = np.array([[100.0, 0], [0.02, 0], [1, 0], [1, 0]])
    np.testing.assert_allclose(relative_change(new, old, 2), [1.0, 0.0])
    rng = np.random.default_rng(8)
    corpus, _ = make_corpus(rng, [6] * 12, arcs_per_token=0.3)
    P, R = model(rng)
    kernel = EStep(P, P.T @ P, R, 0.5, 5.0)
    E, used, change = infer_all(lambda b: infer_averaged(kernel, b, iterations=50, tolerance=1e-4), corpus, 5)
    assert len(set(used)) > 1 and (change < 1e-4).all()
    alone = infer_all(
        lambda b: infer_averaged(kernel, b.select(np.arange(b.size) == 0), iterations=50, tolerance=1e-4),
        make_corpus(np.random.default_rng(8), [6], arcs_per_token=0.3)[0], 5,
    )[0]  # fmt: skip
    np.testing.assert_allclose(E[:6], alone, rtol=1e-9)


def test_without_relations_inference_is_its_first_step():
    rng = np.random.default_rng(9)
    corpus, dense = make_corpus(rng, [4, 2])
    P, R = model(rng)
    for relations, alpha in ((R, 0.0), (np.zeros_like(R), 3.0)):
        fast = FixedPoint(P, P.T @ P, compress(relations, 1), alpha, 2.0)
        E, used, change = infer_all(
            lambda b, fast=fast: fast.infer(b, iterations=30, tolerance=1e-3), corpus, 5
        )
        want = np.concatenate([reference.infer(g, P, R, 0.0, 2.0, 1) for g in dense])
        np.testing.assert_allclose(E, want, rtol=1e-9)
        assert set(used) == {1} and not change.any()
