"""The number of dimensions of spheres, tori, rolls and clouds."""

import numpy as np
import pytest

from ptunfold import PTU, estimate_dimension
from ptunfold.datasets import s_uneven, s_with_hole, swiss_roll
from ptunfold.datasets.record import lift


def make(kind, dim, rng, n_points=3000):
    if kind == "sphere":
        points = rng.standard_normal((n_points, dim + 1))
        return points / np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "torus":
        angles = rng.uniform(0, 2 * np.pi, (n_points, dim))
        return np.hstack((np.cos(angles), np.sin(angles)))
    return rng.standard_normal((n_points, dim))


@pytest.mark.parametrize("kind", ["sphere", "torus", "cloud"])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_consensus(kind, dim):
    rng = np.random.default_rng(dim)
    for n_features in (10, 40):
        points = lift(make(kind, dim, rng), n_features, rng)
        assert estimate_dimension(points).consensus == dim


@pytest.mark.parametrize("make", [swiss_roll, s_with_hole, s_uneven])
def test_sheets_have_two(make):
    for seed in range(3):
        found = estimate_dimension(make(1500, seed=seed).points)
        assert found.consensus == 2
        assert 1.7 < found.likelihood < 2.4
        assert 1.7 < found.growth < 2.4
        assert len(found.local) == len(found.sample) == 1500
        assert np.median(found.local) == found.planes


def test_copies_and_small_sets():
    points = np.repeat(s_with_hole(300).points, 5, axis=0)
    assert estimate_dimension(points).consensus == 2
    assert estimate_dimension(np.random.default_rng(0).random((5, 3))).consensus in (1, 2, 3)
    line = np.arange(12.0)[:, None] * [1.0, 2.0, 3.0]
    assert estimate_dimension(line).consensus == 1
    two = estimate_dimension(line[[0, 1, 1]])
    assert (two.consensus, two.planes, two.likelihood, two.growth) == (1, 1, 1, 1)


def in_noise(points, n_features, noise, seed):
    """Add noise, as part of the longest side, in every one of n_features dimensions."""
    rng = np.random.default_rng(seed)
    side = np.ptp(points, axis=0).max()
    points = lift(points, n_features, rng)
    return points + noise * side * rng.standard_normal(points.shape)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_points", [300, 1000, 3000])
@pytest.mark.parametrize("n_features", [3, 20, 200])
def test_noise_is_no_dimension(n_features, n_points, seed):
    points = swiss_roll(n_points, seed=seed).points
    assert estimate_dimension(in_noise(points, n_features, 0.02, seed)).consensus == 2


@pytest.mark.parametrize("kind", ["sphere", "torus", "cloud"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_noise_in_a_few_directions(kind, dim):
    """Too few for the spectrum of all points to show them."""
    points = make(kind, dim, np.random.default_rng(dim))
    assert estimate_dimension(in_noise(points, 8, 0.01, dim)).consensus == dim


@pytest.mark.parametrize("noise", [0.02, 0.05])
@pytest.mark.parametrize("n_points", [1000, 4000])
def test_a_ring_of_rates(n_points, noise):
    """Cells that fire for a direction each, 17 of them: a ring that is curved in all of R¹⁷."""
    rng = np.random.default_rng(0)
    angles, preferred = rng.uniform(0, 2 * np.pi, n_points), np.arange(17) * 2 * np.pi / 17
    rates = np.exp(4 * (np.cos(angles[:, None] - preferred) - 1))
    assert estimate_dimension(in_noise(rates, 17, noise, 1)).consensus == 1


def test_a_model_can_find_it():
    points = s_with_hole(600).points
    model = PTU(intrinsic_dim="auto").fit(points)
    assert model.frames_.intrinsic_dim == 2
    solid = np.random.default_rng(0).random((1000, 3))
    assert PTU(intrinsic_dim="auto").fit(solid).frames_.intrinsic_dim == 3
