"""Noise that is alike in many directions, told by the spectrum of the points."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_swiss_roll

from ptunfold import PTU, geodesic_distances
from ptunfold.datasets import flat_square, swiss_roll
from ptunfold.datasets.record import lift
from ptunfold.geometry import isotropic
from ptunfold.geometry.isotropic import leading_coordinates, n_above_noise, noise_quantiles


def noisy_roll(n_points, n_features, noise, seed):
    data = swiss_roll(n_points, n_features=n_features, seed=seed)
    rng = np.random.default_rng(seed)
    return data, data.points + noise * rng.standard_normal(data.points.shape)


@pytest.mark.parametrize("n_features", [20, 100, 900])
def test_what_stands_out_is_kept(n_features):
    for seed in range(3):
        data, points = noisy_roll(600, n_features, 0.6, seed)
        found = leading_coordinates(points)
        assert found.shape == (600, 3)
        # Of the noise, the part in three dimensions is left, but for the tilt of the axes.
        clean = data.points - data.points.mean(axis=0)
        left, _, right = np.linalg.svd(found.T @ clean, full_matrices=False)
        off = np.square(found @ left @ right - clean).sum(axis=1).mean()
        assert off < 1.5 * 3 * 0.36


def test_law_of_noise():
    rng = np.random.default_rng(0)
    levels = np.linspace(0.05, 0.95, 7)
    for n_points, n_features in ((1200, 300), (300, 1200)):
        table = rng.standard_normal((n_points, n_features))
        values = np.square(np.linalg.svd(table, compute_uv=False)) / n_points
        expected = noise_quantiles(n_features / n_points, levels)
        np.testing.assert_allclose(np.quantile(values, levels), expected, rtol=0.02)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clean_data_are_left_alone(dtype):
    rng = np.random.default_rng(0)
    for points in (
        swiss_roll(600, n_features=40).points,
        swiss_roll(200, n_features=300).points,
        lift(rng.standard_normal((500, 8)), 60, rng),
        np.zeros((50, 30)),
    ):
        points = points.astype(dtype)
        assert leading_coordinates(points) is points


def test_what_is_not_noise_is_left_alone():
    rng = np.random.default_rng(0)
    decaying = rng.standard_normal((800, 60)) / np.arange(1, 61)
    uneven = swiss_roll(800, n_features=60).points
    uneven += rng.standard_normal(uneven.shape) * rng.uniform(0.2, 1, 60)
    cloud, solid = rng.standard_normal((500, 30)), rng.random((1500, 25))
    tables = load_digits().data, load_breast_cancer().data
    for points in (decaying, uneven, cloud, solid, *tables):
        assert leading_coordinates(points) is points


@pytest.mark.parametrize(("n_points", "n_features"), [(2000, 60), (60, 1200)])
def test_directions_above_noise_are_counted(n_points, n_features):
    table = np.random.default_rng(0).standard_normal((n_points, n_features))
    table[:, :3] *= 8 * (1 + np.sqrt(n_features / n_points))
    values = np.square(np.linalg.svd(table, compute_uv=False))[: n_points - 1]
    assert n_above_noise(values, n_points, n_features) == 3


def test_a_spectrum_with_a_long_tail_is_no_noise():
    values = np.concatenate(([100, 90, 80], np.ones(30), np.linspace(1, 0.3, 30)))
    assert n_above_noise(values, 2000, 63) == 0


def test_as_many_directions_as_dimensions():
    points = lift(flat_square(500).points[:, :2], 30, np.random.default_rng(0))
    points += 0.02 * np.random.default_rng(1).standard_normal(points.shape)
    assert leading_coordinates(points, 2).shape == (500, 2)
    assert leading_coordinates(points, 3) is points


def test_many_points_and_copies(monkeypatch):
    monkeypatch.setattr(isotropic, "_BLOCK", 5000)
    _, points = noisy_roll(1500, 50, 0.3, 0)
    points = np.concatenate((points, points[:100]))
    found = leading_coordinates(points)
    assert found.shape == (1600, 3)
    np.testing.assert_array_equal(found[1500:], found[:100])
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found), np.abs(centred @ axes[:3].T), atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_a_roll_is_unrolled(seed):
    """Noise of 0.6 in each of 100 dimensions; without all this, errors are 90 % and more."""
    roll, along = make_swiss_roll(1000, random_state=seed)
    rng = np.random.default_rng(seed)
    points = lift(roll, 100, rng)
    points += 0.6 * rng.standard_normal(points.shape)
    length = 0.5 * (along * np.hypot(1, along) + np.arcsinh(along))
    flat = np.column_stack((length, roll[:, 1]))
    sources = np.arange(0, 1000, 100)
    exact = np.linalg.norm(flat[sources, None] - flat, axis=2)
    found = geodesic_distances(points, sources=sources, intrinsic_dim=2)
    apart = exact > 0
    assert np.mean(np.abs(found - exact)[apart] / exact[apart]) < 0.07


@pytest.mark.parametrize("n_features", [60, 900])
def test_new_points_and_back(n_features, tmp_path):
    data, points = noisy_roll(800, n_features, 0.4, 0)
    model = PTU(landmarks=60).fit(points[:700])
    assert model.frames_.vectors.shape == (700, 3, 2)
    np.testing.assert_allclose(model.transform(points[:700]), model.embedding_, atol=1e-6)
    places, info = model.transform(points[700:], return_info=True)
    assert not info.is_outside.any()
    exact = data.distances(np.arange(0, 700, 70))[:, 700:]
    ways = np.linalg.norm(model.embedding_[::70, None] - places, axis=2)
    assert np.median(np.abs(ways - exact) / exact) < 0.05
    off = points[700:] + 20 * np.random.default_rng(1).standard_normal((100, n_features))
    assert model.transform(off, return_info=True)[1].is_outside.all()
    # Back into the space that they came from, nearer to the truth than they were.
    back = model.inverse_transform(model.embedding_)
    assert back.shape == (700, n_features)
    truth = data.points[:700]
    assert np.linalg.norm(back - truth) < 0.5 * np.linalg.norm(points[:700] - truth)
    model.save(tmp_path / "model")
    again = PTU.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(points[700:]), places)


def test_only_where_it_is_left_to_the_data():
    _, points = noisy_roll(400, 40, 0.1, 0)
    assert PTU(denoise=0, landmarks=30).fit(points).frames_.vectors.shape[1] == 40
