"""The parts of what a point sees, by themselves."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold.geodesics.logarithm import _around, _gradient_weights, _with_lengths


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_gradient_of_a_quadratic_function_is_exact(dim):
    rng = np.random.default_rng(0)
    n_coefficients = dim + dim * (dim + 1) // 2
    steps = 0.01 * rng.normal(size=(2 * n_coefficients, dim))
    gradient, bend = rng.normal(size=dim), rng.normal(size=(dim, dim))
    values = steps @ gradient + np.einsum("ki,ij,kj->k", steps, bend, steps)
    weights = _gradient_weights(steps, dim)
    assert weights.shape == (dim, len(steps))
    np.testing.assert_allclose(weights @ values, gradient, atol=1e-8)
    # With fewer points only what is linear.
    few = steps[:-1]
    weights = _gradient_weights(few, dim)
    np.testing.assert_allclose(weights, np.linalg.pinv(few), atol=1e-8)
    np.testing.assert_allclose(weights @ (few @ gradient), gradient, atol=1e-9)


def test_directions_that_points_leave_open_stay_as_they_are():
    steps = np.column_stack((np.linspace(-1, 1, 20), np.zeros(20)))
    weights = _gradient_weights(steps, 2)
    np.testing.assert_allclose(weights @ steps[:, 0], [1, 0], atol=1e-12)
    for nothing in (np.zeros((0, 2)), np.zeros((3, 2))):
        np.testing.assert_array_equal(_gradient_weights(nothing, 2), np.zeros((2, len(nothing))))


@pytest.mark.parametrize(
    ("n_settled", "dim", "count"),
    [
        (2000, 2, 100),  # twenty for each of five coefficients
        (2000, 1, 40),
        (2000, 3, 100),  # and not more
        (300, 2, 60),  # a fifth of them
        (50, 2, 20),  # enough for the coefficients
        (15, 2, 14),  # all but the root
        (1, 2, 0),
    ],
)
def test_the_nearest_points_are_around(n_settled, dim, count):
    distance = np.full(n_settled + 30, np.inf)
    order = np.random.default_rng(0).permutation(len(distance))[:n_settled]
    distance[order] = np.arange(n_settled)
    found = _around(SimpleNamespace(distance=distance), dim)
    np.testing.assert_array_equal(found, order[1 : count + 1])


def test_vectors_get_their_lengths():
    vectors = np.array([[3.0, 4], [0, 0], [0, -2]])
    found = _with_lengths(vectors, np.array([10.0, 7, 1]))
    np.testing.assert_allclose(found, [[6, 8], [0, 0], [0, -1]])
