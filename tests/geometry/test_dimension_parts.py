"""The estimates of dimension, by themselves."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import gamma, psi

from ptunfold.geometry import dimension
from ptunfold.geometry.dimension import _growth, _likelihood, _look, _spectra
from ptunfold.geometry.given import Matrix

RANKS = np.arange(1, 11)


@pytest.mark.parametrize("shape", [(4, 9, 3), (4, 3, 9), (2, 5, 5)])
def test_spectra_are_squares_of_singular_values(shape):
    offsets = np.random.default_rng(0).normal(size=shape) + 3
    centred = offsets - offsets.mean(axis=1, keepdims=True)
    expected = np.square(np.linalg.svd(centred, compute_uv=False))
    np.testing.assert_allclose(_spectra(offsets), expected, atol=1e-9)


@pytest.mark.parametrize("dim", [1, 2.5, 7])
def test_distances_that_grow_as_they_have_to(dim):
    growing = gamma(RANKS + 1 / dim) / gamma(RANKS)
    assert _growth(RANKS, np.tile(growing, (3, 1))) == pytest.approx(dim, rel=1e-4)
    logs = np.exp(psi(RANKS) / dim)
    assert _likelihood(RANKS, np.tile(logs, (3, 1))) == pytest.approx(dim)


def test_equal_distances_have_no_dimension():
    assert _likelihood(RANKS, np.ones((2, 10))) == np.inf


@pytest.mark.parametrize("by_distances", [False, True])
def test_what_neighbourhoods_look_like(by_distances):
    rng = np.random.default_rng(0)
    points = np.column_stack((rng.uniform(size=(200, 2)), 1e-4 * rng.normal(size=(200, 3))))
    given = Matrix(cdist(points, points)) if by_distances else points
    sample = np.arange(0, 200, 5)
    view = _look(given, sample, 20, RANKS, 0.35, 1)
    assert 0 < view.drop < 1e-4
    expected = np.sort(cdist(points[sample], points), axis=1)[:, 1:11]
    np.testing.assert_allclose(view.distances, expected, atol=1e-12)
    near = points[np.argsort(cdist(points[sample], points), axis=1)[:, :21]]
    squares = _spectra(near - points[sample, None])
    falls = squares[:, 1:] < 0.35 * squares[:, :-1]
    np.testing.assert_array_equal(view.local, falls.argmax(axis=1) + 1)
    assert np.median(view.local) == 2
    mean = squares.mean(axis=0)
    assert view.drop == pytest.approx(mean[2] / mean[1], rel=1e-6)
    assert view.likelihood == pytest.approx(_likelihood(RANKS, expected))
    # Nothing falls where all directions are alike.
    ball = rng.normal(size=(300, 3))
    assert _look(ball, np.arange(300), 40, RANKS, 0.35, 1).drop == 1


def test_wider_neighbourhoods_are_taken_where_there_is_noise():
    rng = np.random.default_rng(0)
    plane = np.column_stack((rng.uniform(size=(1000, 2)), 0.03 * rng.normal(size=(1000, 2))))
    first, best = dimension._clearest_view(plane, 1)
    assert best.drop < 0.8 * first.drop
    assert len(best.sample) < len(first.sample) == 1000
    np.testing.assert_array_equal(first.ranks, RANKS)
    flat = np.column_stack((plane[:, :2], np.zeros(1000)))
    first, best = dimension._clearest_view(flat, 1)
    assert first is best
    few = dimension._clearest_view(plane[:100], 1)  # eight neighbourhoods of 40 do not fit
    assert few[0] is few[1]
    tiny = dimension._clearest_view(plane[:6], 1)[0]
    np.testing.assert_array_equal(tiny.ranks, [1, 2, 3, 4, 5])
