"""Singular values and what sums them up."""

import numpy as np
import pytest

from bove.factor.model import LowRank, compress, effective_rank, needed, singular_values


def test_factors_have_the_singular_values_of_their_product():
    rng = np.random.default_rng(1)
    R = np.stack([rng.normal(size=(6, q)) @ rng.normal(size=(q, 6)) for q in (2, 4)] + [np.zeros((6, 6))])
    factors = compress(R, 1.0)
    assert factors.ranks.tolist() == [2, 4, 0]
    for of_dense, of_factors in zip(singular_values(R), singular_values(factors), strict=True):
        assert len(of_dense) == 6
        np.testing.assert_allclose(of_factors, of_dense[: len(of_factors)], atol=1e-12)
        np.testing.assert_allclose(of_dense[len(of_factors) :], 0, atol=1e-12)


def test_no_relations_have_no_values():
    assert singular_values(LowRank(np.zeros((3, 0)), np.zeros((3, 0)), np.zeros(0, np.int64))) == []


@pytest.mark.parametrize("q", [1, 3, 10])
def test_the_effective_rank_of_equal_values_is_their_number_whatever_their_size(q):
    values = np.concatenate([np.full(q, 1e-7), np.zeros(4)])
    assert effective_rank(values) == pytest.approx(q)


def test_the_effective_rank_lies_between_one_and_the_rank_and_is_zero_for_zero():
    assert 1 < effective_rank(np.array([1.0, 0.1, 0.01])) < 2
    assert effective_rank(np.zeros(3)) == effective_rank(np.zeros(0)) == 0


def test_as_many_values_are_needed_as_hold_the_energy():
    values = np.array([3.0, 1.0, 0.5])  # squares 9, 1, 0.25
    assert [needed(values, energy) for energy in (0.5, 0.87, 0.9, 0.99)] == [1, 1, 2, 3]
    assert needed(np.zeros(3), 0.9) == needed(np.zeros(0), 0.9) == 0
