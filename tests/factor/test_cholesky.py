"""Solves in place against NumPy's, and what happens to a matrix that is not positive definite."""

import numpy as np
import pytest

from bove.factor.steps import solve_rows


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-12)])
@pytest.mark.parametrize(("r", "n"), [(1, 1), (5, 3), (40, 1), (40, 70)])
def test_rows_are_solved_in_place(r, n, dtype, tolerance):
    rng = np.random.default_rng(r + n)
    S = rng.standard_normal((2 * r, r))
    A, B = (S.T @ S + np.eye(r)).astype(dtype), rng.standard_normal((n, r)).astype(dtype)
    want = np.linalg.solve(A.astype(float), B.astype(float).T).T
    assert solve_rows(A, B)
    np.testing.assert_allclose(B, want, atol=tolerance * np.abs(want).max())


def test_a_matrix_that_is_not_positive_definite_is_told():
    A = np.diag([1.0, -1.0, 1.0])
    assert not solve_rows(A, np.ones((2, 3)))


def test_arrays_that_lapack_would_misread_are_refused():
    A = np.eye(4)
    for B in (np.ones((8, 4))[::2], np.ones((2, 4), np.float32)):
        with pytest.raises(ValueError, match="contiguous"):
            solve_rows(A.copy(), B)
