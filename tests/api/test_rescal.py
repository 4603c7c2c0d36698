"""On one graph without properties the estimator is RESCAL."""

import numpy as np
import pytest
import reference

import bove

WEIGHT, ROUNDS = 0.5, 12


def rescal(X, E):
    """[d, n, n] scores of the dense formulas from node vectors E [n, r]: R, then E and R in turns."""
    graph, none = (np.zeros((0, len(E))), X), np.zeros((0, E.shape[1]))
    R = reference.r_step([graph], [E], WEIGHT)
    for _ in range(ROUNDS - 1):
        E = reference.e_step(graph, none, R, E, 1.0, WEIGHT)
        R = reference.r_step([graph], [E], WEIGHT)
    return E @ R @ E.T


@pytest.mark.parametrize(("n", "rank"), [(12, 5), (4, 6)])
def test_scores_of_edges_are_those_of_the_dense_formulas(n, rank):
    X = (np.random.default_rng(n).random((3, n, n)) < 0.3).astype(float)
    values, vectors = np.linalg.eigh(X.sum(0) + X.sum(0).T)
    E = np.zeros((n, rank))
    E[:, : min(n, rank)] = vectors[:, np.argsort(-np.abs(values), kind="stable")[:rank]]
    graph = bove.Graph([[] for _ in range(n)], [(str(k), i, j) for k, i, j in np.argwhere(X)])
    model = bove.BoVE(
        rank, alpha=1, lambda_R=WEIGHT, lambda_E=WEIGHT, e_step="single", init="eigenvectors",
        dtype="float64", max_rounds=ROUNDS, tolerance=0, r_tolerance=1e-12, r_iterations=500,
    ).fit([graph])  # fmt: skip
    assert model.n_iter_ == ROUNDS
    (bag,) = model.bags_
    for k, scores in enumerate(rescal(X, E)):
        np.testing.assert_allclose(model.score_edges(bag, str(k)), scores, atol=1e-8)
