"""Lengths of edges."""

import numpy as np
import pytest

from ptunfold.kernels.lengths import squared_lengths, squares_among


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 3, 50])
def test_squares_are_exact_far_from_the_origin(dtype, n_features):
    """Differences first, in float64: products of float32 coordinates would lose all digits."""
    rng = np.random.default_rng(0)
    points = (1000 + rng.random((40, n_features))).astype(dtype)
    tails, heads = rng.integers(0, 40, (2, 200))
    squares = np.empty(200)
    squared_lengths(points, tails, heads, squares)
    exact = points.astype(np.float64)
    expected = np.square(exact[tails] - exact[heads]).sum(axis=1)
    np.testing.assert_allclose(squares, expected, rtol=1e-14)
    assert (squares[tails == heads] == 0).all()


def test_squares_are_those_of_entries(tmp_path):
    rng = np.random.default_rng(0)
    matrix, rows, columns = rng.random((50, 50)), *rng.integers(0, 50, (2, 9, 4))
    np.save(tmp_path / "matrix.npy", matrix.astype(np.float32))
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    for given in (matrix, mapped, np.asfortranarray(matrix)):
        found = np.empty((9, 4, 3))
        squares_among(given, rows, np.ascontiguousarray(columns[:, :3]), found)
        expected = given[rows[:, :, None], columns[:, None, :3]].astype(np.float64) ** 2
        np.testing.assert_array_equal(found, expected)
