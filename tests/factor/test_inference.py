"""Both solvers of inference against the oracle and against each other."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import reference
from corpora import batches_of, make_corpus, split
from hypothesis import given
from hypothesis import strategies as st

from bove.factor.inference import (
    MEMORY,
    Anderson,
    FixedPoint,
    Inference,
    infer_averaged,
    infer_batches,
    relative_change,
)  # fmt: skip
from bove.factor.model import Model, compress
from bove.factor.parallel import Workers
from bove.factor.settings import InferenceSettings
from bove.factor.steps import EStep


class Solvers:
    """Both solvers for random P and R, and bags, iterations and last changes of all graphs by either.

    Args:
        size: of R. At 0.3 P outweighs R, as where scores are good.
    """

    def __init__(self, rng, alpha, lambda_E, size=0.3):
        self.P, self.R = rng.standard_normal((7, 5)), size * rng.standard_normal((3, 5, 5))
        weights = self.weights = (alpha, lambda_E)
        self.kernel = EStep(self.P, self.P.T @ self.P, self.R, *weights)
        factors = compress(self.R, 1)
        self.fast = FixedPoint(self.P, self.P.T @ self.P, factors, *weights, lambda: self.kernel)

    def averaged(self, corpus, iterations, tolerance):
        return self._all(partial(infer_averaged, self.kernel), corpus, iterations, tolerance)

    def fixed_point(self, corpus, iterations, tolerance):
        return self._all(self.fast.infer, corpus, iterations, tolerance)

    def check_fixed(self, dense, E, corpus, rtol, atol):
        for graph, e in zip(dense, split(E, corpus), strict=True):
            step = reference.e_step(graph, self.P, self.R, e, *self.weights)
            np.testing.assert_allclose(step, e, rtol=rtol, atol=atol)

    def _all(self, infer, corpus, iterations, tolerance):
        infer = partial(infer, iterations=iterations, tolerance=tolerance)
        E = np.zeros((corpus.n_tokens, 5))
        used, change = np.zeros(corpus.n_graphs, int), np.zeros(corpus.n_graphs)
        with Workers(2) as workers:
            for batch, got in infer_batches(infer, batches_of(corpus), workers):
                E[batch.tokens], used[batch.graphs], change[batch.graphs] = got.E, got.iterations, got.change
        return E, used, change


@pytest.mark.parametrize("unknown", [None, 0.3])
@pytest.mark.parametrize("iterations", [1, 2, 3, 30])
def test_averaged_inference_equals_the_oracle(iterations, unknown):
    rng = np.random.default_rng(iterations)
    corpus, dense = make_corpus(rng, [3, 8, 1, 8, 5], unknown=unknown)
    solvers = Solvers(rng, 2.0, 1.5)
    E, used, _ = solvers.averaged(corpus, iterations, 0)
    for graph, e in zip(dense, split(E, corpus), strict=True):
        want = reference.infer(graph, solvers.P, solvers.R, 2.0, 1.5, iterations)
        np.testing.assert_allclose(e, want, rtol=1e-8, atol=1e-10)
    assert set(used) == {iterations}


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([[3, 8, 1], [20, 2], [4, 4, 4]]), st.sampled_from([None, 0.3])
)
def test_both_solvers_reach_the_same_bags_where_both_converge(seed, lengths, unknown):
    rng = np.random.default_rng(seed)
    corpus, dense = make_corpus(rng, lengths, unknown=unknown)
    solvers = Solvers(rng, 0.5, 8.0)
    (a, _, moved), (f, _, change) = (
        solve(corpus, 500, 1e-10) for solve in (solvers.averaged, solvers.fixed_point)
    )
    assert max(moved.max(), change.max()) < 1e-10
    np.testing.assert_allclose(f, a, rtol=1e-6, atol=1e-8)
    solvers.check_fixed(dense, f, corpus, 1e-6, 1e-8)


def test_a_long_graph_is_pulled_relation_by_relation_to_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    corpus, _ = make_corpus(rng, [9, 9, 30], unknown=0.2)
    fast = Solvers(rng, 0.5, 8.0).fast
    for batch in batches_of(corpus):
        E = rng.standard_normal((len(batch.tokens), 5))
        want = fast.pull(E, batch).copy()
        with monkeypatch.context() as patch:
            patch.setattr("bove.factor.inference.LONG_TOKENS", 1)
            np.testing.assert_allclose(fast.pull(E, batch), want)


def test_a_model_that_oscillates_is_accelerated_to_the_fixed_point():
    """R of the size of P and a large alpha: the plain iteration diverges on these graphs."""
    rng = np.random.default_rng(11)
    corpus, dense = make_corpus(rng, [6, 9, 4, 12])
    solvers = Solvers(rng, 2.0, 4.0, size=0.5)
    plain = []
    for batch in batches_of(corpus):
        E = first = batch.W @ solvers.fast.PD
        with np.errstate(all="ignore"):
            for _ in range(60):
                E, before = first + 2.0 * solvers.fast.pull(E, batch), E
        plain += relative_change(E, before, batch.n).tolist()
    assert any(not change < 1e-3 for change in plain), "the model does not oscillate"
    E, used, change = solvers.fixed_point(corpus, 400, 1e-8)
    assert change.max() < 1e-8 and used.max() < 60
    solvers.check_fixed(dense, E, corpus, 1e-4, 1e-6)


def test_acceleration_solves_diverging_linear_maps_each_by_itself():
    """x ← M x + c with eigenvalues below -1, of no more unknowns than the memory has differences."""
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.standard_normal((3, MEMORY, MEMORY)))
    M = -Q * rng.uniform(1.2, 4, (3, 1, MEMORY)) @ Q.transpose(0, 2, 1)
    c = rng.standard_normal((3, MEMORY))
    want = np.linalg.solve(np.eye(MEMORY) - M, c[:, :, None])[:, :, 0]
    memory, x, left = Anderson(3, MEMORY, float), c.copy(), np.arange(3)
    for turn in range(12):
        if turn == 2:
            memory.select(left != 1)
            x, left = x[left != 1], left[left != 1]
        x = memory.next(x, np.einsum("bij,bj->bi", M[left], x) + c[left])
    np.testing.assert_allclose(x, want[left], rtol=1e-3)


@pytest.mark.parametrize("iterations", [3, 10, 60])
def test_a_graph_that_diverges_falls_back_with_what_is_left_of_its_iterations(iterations):
    """Nothing is where it still grows when they end; then its bag is E¹. No step is taken beyond them."""
    rng = np.random.default_rng(5)
    corpus, _ = make_corpus(rng, [7, 7])
    solvers = Solvers(rng, 5.0, 1.0, size=30.0)
    steps, pull, step = [], solvers.fast.pull, solvers.kernel.step
    solvers.fast.pull = lambda E, batch: steps.append(batch.size) or pull(E, batch)
    solvers.kernel.step = lambda E, batch: steps.append(batch.size) or step(E, batch)
    E, used, _ = solvers.fixed_point(corpus, iterations, 1e-3)
    # E¹ counts as one of them and needs no step
    assert sum(steps) <= corpus.n_graphs * iterations
    solvers.fast.fallback, solvers.kernel.step = None, step
    grown, spent, _ = solvers.fixed_point(corpus, iterations, 1e-3)
    assert spent.max() <= used.max() <= iterations
    want = solvers.averaged(corpus, max(1, iterations - spent.max()), 1e-3)[0]
    np.testing.assert_allclose(E, want)
    assert np.abs(E).max() < 30 and not np.abs(grown).max() < 1e3


def test_graphs_without_properties_take_averaged_steps_from_their_start_and_others_do_not():
    rng = np.random.default_rng(6)
    corpus, _ = make_corpus(rng, [4, 4, 4])
    keep = np.repeat(np.arange(12), np.diff(corpus.property_offsets)) // 4 != 1
    offsets = np.concatenate([[0], np.cumsum(keep)])[corpus.property_offsets]
    corpus = dataclasses.replace(corpus, property_offsets=offsets, properties=corpus.properties[keep])
    solvers, E0 = Solvers(rng, 2.0, 0.5), rng.standard_normal((12, 5))
    (batch,) = batches_of(corpus)
    E0 = E0[batch.tokens]
    how = {"iterations": 6, "tolerance": 0}
    whole, bare = solvers.fast.infer(batch, **how, E0=E0), batch.graphs == 1
    for some, infer in ((bare, partial(infer_averaged, solvers.kernel)), (~bare, solvers.fast.infer)):
        rows = np.repeat(some, 4)
        alone = infer(batch.select(some), **how, E0=E0[rows])
        np.testing.assert_allclose(whole.E[rows], alone.E, atol=1e-12)
        assert whole.iterations[some].tolist() == alone.iterations.tolist() and alone.E.any()
    assert not solvers.fast.infer(batch, **how).E[np.repeat(bare, 4)].any()


@pytest.mark.parametrize("groups", [{"words": (0, 4), "tags": (4, 7)}, {"tags": (0, 2), "words": (2, 7)}, {}])
@pytest.mark.parametrize("how", ["averaged", "fixed-point", "no relations"])
def test_evidence_is_what_is_reconstructed_of_the_word_or_without_words_of_all_properties(groups, how):
    rng = np.random.default_rng(5)
    corpus, dense = make_corpus(rng, [3, 8, 1, 8], c=9)
    # the last two properties are words beyond the vocabulary, with vectors of their own
    P, R = rng.standard_normal((9, 5)), 0.1 * rng.standard_normal((3, 5, 5))
    corpus = dataclasses.replace(corpus, n_properties=7, extra=P[7:].astype(np.float32))
    model = Model(P[:7], R, np.zeros(7, bool), groups, ("a", "b", "c"), "", {"alpha": 1.0, "lambda_E": 9.0})
    settings = InferenceSettings(how if how in ("averaged", "fixed-point") else "averaged", energy=1)
    E, evidence = Inference(model, settings, how != "no relations").tokens(corpus, "the graphs")
    words = [*range(*groups.get("words", (0, 7))), 7, 8]
    whole = np.concatenate([P[:7], corpus.extra])
    for graph, e, own in zip(dense, split(E, corpus), split(evidence, corpus), strict=True):
        np.testing.assert_allclose(own, reference.evidence(graph, whole, e, words), rtol=1e-9, atol=1e-12)


def test_convergence_is_judged_by_token_and_graphs_leave_one_by_one():
    new = np.array([[100.0, 0], [0.01, 0], [1, 0], [1, 0]])
    old = np.array([[100.0, 0], [0.02, 0], [1, 0], [1, 0]])
    np.testing.assert_allclose(relative_change(new, old, 2), [1.0, 0.0])
    rng = np.random.default_rng(8)
    corpus, _ = make_corpus(rng, [6] * 12, arcs_per_token=0.3)
    solvers = Solvers(rng, 0.5, 5.0)
    for solve in (solvers.averaged, solvers.fixed_point):
        E, used, change = solve(corpus, 50, 1e-4)
        assert len(set(used)) > 1 and (change < 1e-4).all()
        alone, _, _ = solve(corpus.select(slice(1)), 50, 1e-4)
        np.testing.assert_allclose(E[:6], alone, rtol=1e-9)


@pytest.mark.parametrize(("alpha", "size"), [(0.0, 0.3), (3.0, 0.0)])
def test_without_relations_inference_is_its_first_step(alpha, size):
    rng = np.random.default_rng(9)
    corpus, dense = make_corpus(rng, [4, 2])
    solvers = Solvers(rng, alpha, 2.0, size)
    E, used, change = solvers.fixed_point(corpus, 30, 1e-3)
    want = [reference.infer(graph, solvers.P, solvers.R, 0.0, 2.0, 1) for graph in dense]
    np.testing.assert_allclose(E, np.concatenate(want), rtol=1e-9)
    assert set(used) == {1} and not change.any()
