"""Relative settings are what the formulas say, and depend on no unit, basis or size of the treebank."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import make_corpus

from bove.errors import BoveError
from bove.factor.als import AlsTrainer, initial_state
from bove.factor.objective import objective
from bove.factor.scale import SCALED, absolute
from bove.factor.settings import AlsSettings
from bove.factor.training import TrainingData, start

RANK, FROZEN = 4, np.arange(7) < 5
RELATIVE = AlsSettings(
    rank=RANK, scale="relative", alpha=0.2, lambda_P=3, lambda_R=0.1, lambda_E=2, dtype="float64",
    stop="explained", e_step="fixed-point", e_energy=1.0, e_tolerance=1e-10, restart_iterations=200,
    r_tolerance=1e-10, r_iterations=200, max_rounds=3, tolerance=0,
)  # fmt: skip


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    corpus, _ = make_corpus(rng, [5, 3, 8, 6], d=2)
    vectors = 2 * rng.standard_normal((5, RANK))
    return TrainingData(corpus, vectors, FROZEN, {"words": slice(0, 5), "tags": slice(5, 7)}, ("a", "b"))


def cosines(data, settings=RELATIVE):
    """[T, T] cosines between all token vectors after three rounds, and the objective's share that is left."""
    begun = start(data, settings, 1)
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, begun.settings)
    *_, state = trainer.rounds(initial_state(data.corpus, begun.P))
    unit = state.E / np.maximum(np.linalg.norm(state.E, axis=1, keepdims=True), 1e-300)
    return unit @ unit.T, (state.log[-1]["total"] - trainer.constant) / trainer.nothing


def test_the_numbers_are_those_of_the_formulas():
    rng = np.random.default_rng(7)
    corpus, dense = make_corpus(rng, [4, 7, 5], d=2)
    P = rng.standard_normal((7, RANK))
    got, *_ = absolute(RELATIVE, corpus, P, FROZEN)
    lambda_E = 2 * np.trace(P.T @ P) / RANK
    D = P.T @ P + lambda_E * np.eye(RANK)
    bags = [W.T @ P @ np.linalg.inv(D) for W, _ in dense]
    sums = sum(W @ E for (W, _), E in zip(dense, bags, strict=True))
    tokens = sum(W.sum(axis=1) for W, _ in dense)[5:]
    mean = np.average(np.linalg.norm(sums[5:], axis=1), weights=tokens)
    lambda_P = 3 * mean / np.linalg.norm(P[:5], axis=1).mean()
    A = sum(np.kron(E.T @ E, E.T @ E) for E in bags)
    ridge = 0.1 * np.trace(A) / RANK**2
    moved = [np.zeros_like(E) for E in bags]
    for k in range(2):
        B = sum(E.T @ X[k] @ E for (_, X), E in zip(dense, bags, strict=True))
        R = np.linalg.solve(A + ridge * np.eye(RANK**2), B.ravel()).reshape(RANK, RANK)
        for (_, X), E, pull in zip(dense, bags, moved, strict=True):
            F = X[k] - E @ R @ E.T
            pull += (F @ E @ R.T + F.T @ E @ R) @ np.linalg.inv(D)
    alpha = 0.2 * np.linalg.norm(np.concatenate(bags)) / np.linalg.norm(np.concatenate(moved))
    want = (alpha, lambda_P, alpha * ridge, lambda_E)
    np.testing.assert_allclose([getattr(got, name) for name in SCALED], want, rtol=1e-2)
    assert got.scale == "absolute" and absolute(got, corpus, P, FROZEN)[0] is got


@pytest.mark.parametrize("change", ["length", "basis", "twice"])
def test_units_basis_and_size_make_no_difference(data, change):
    want, share = cosines(data)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((RANK, RANK)))[0]
    vectors = data.vectors * 10 if change == "length" else data.vectors @ basis
    corpus = data.corpus
    if change == "twice":
        vectors, corpus = data.vectors, corpus.select(np.tile(np.arange(corpus.n_graphs), 2))
    got, other = cosines(replace(data, vectors=vectors, corpus=corpus))
    T = data.corpus.n_tokens
    np.testing.assert_allclose(got[:T, :T], want, atol=1e-5)
    assert other == pytest.approx(share, rel=1e-5)
    absolute_settings = replace(
        RELATIVE, scale="absolute", alpha=1.0, lambda_P=1.0, lambda_R=1.0, lambda_E=1.0
    )
    if change != "basis":
        fixed = cosines(replace(data, vectors=vectors, corpus=corpus), absolute_settings)[0][:T, :T]
        assert not np.allclose(fixed, cosines(data, absolute_settings)[0], atol=1e-3)


def test_the_order_of_nodes_makes_no_difference(data):
    corpus, order = data.corpus, np.arange(data.corpus.n_tokens)
    for first, last in zip(corpus.token_offsets[:-1], corpus.token_offsets[1:], strict=True):
        order[first:last] = order[first:last][::-1]
    owned = [
        corpus.properties[a:b]
        for a, b in zip(corpus.property_offsets, corpus.property_offsets[1:], strict=False)
    ]
    turned = replace(
        corpus,
        property_offsets=np.concatenate([[0], np.cumsum([len(owned[token]) for token in order])]),
        properties=np.concatenate([owned[token] for token in order]),
        arc_head=order[corpus.arc_head],
        arc_dependent=order[corpus.arc_dependent],
    )
    got, _ = cosines(replace(data, corpus=turned))
    np.testing.assert_allclose(got[np.ix_(order, order)], cosines(data)[0], atol=1e-5)


def test_without_frozen_rows_all_rows_give_the_length_and_without_relations_alpha_is_0():
    corpus, _ = make_corpus(np.random.default_rng(3), [5, 4], d=1)
    P = np.random.default_rng(5).standard_normal((7, RANK))
    none, *_ = absolute(RELATIVE, corpus, P, np.zeros(7, bool))
    longer, *_ = absolute(RELATIVE, corpus, 10 * P, np.zeros(7, bool))
    assert longer.lambda_E == pytest.approx(100 * none.lambda_E)
    assert longer.lambda_P == pytest.approx(none.lambda_P / 100)
    assert absolute(replace(RELATIVE, alpha=0.0), corpus, P, FROZEN)[0].alpha == 0


def test_nodes_without_properties_give_no_scale():
    corpus, _ = make_corpus(np.random.default_rng(3), [5, 4], c=0)
    with pytest.raises(BoveError, match="no node has a property"):
        absolute(RELATIVE, corpus, np.zeros((0, RANK)), np.zeros(0, bool))


def test_training_stops_by_what_the_model_explains(data):
    """The penalty of frozen rows, which cannot change, does not count."""
    begun = start(data, replace(RELATIVE, tolerance=0.01, max_rounds=30), 1)
    s = begun.settings
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, s)
    *_, before, last = trainer.rounds(initial_state(data.corpus, begun.P))
    empty = objective(
        data.corpus, np.zeros_like(last.P), np.zeros_like(last.R), np.zeros_like(last.E), data.groups, s
    )["total"]
    constant = s.lambda_P * np.square(data.vectors).sum()
    explained = empty - (before.log[-1]["total"] - constant)
    gains = -np.diff([row["total"] for row in last.log])
    assert last.finished and gains[-1] < 0.01 * explained and (gains[:-1] > 0.01 * explained / 2).any()
