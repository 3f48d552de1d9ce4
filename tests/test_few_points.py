"""Rough surfaces of few points that close upon themselves, or nearly so."""

import warnings

import numpy as np
import pytest
from sklearn.manifold import Isomap

from ptunfold import PTU, attempts

TURN = 2 * np.pi


def turned_into(n_features, points, rng):
    axes = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    return points @ axes[: points.shape[1]]


def apart(coordinates, periods):
    """Measure between all coordinates (n, d) that come back after ``periods``."""
    steps = np.abs(coordinates[:, None] - coordinates)
    return np.linalg.norm(np.minimum(steps, periods - steps), axis=2)


def torus(n_points, rng, radii=(1.0, 0.6), n_features=4):
    angles, radii = rng.uniform(0, TURN, (n_points, 2)), np.array(radii)
    points = np.concatenate((radii * np.cos(angles), radii * np.sin(angles)), axis=1)
    return turned_into(n_features, points, rng), apart(radii * angles, TURN * radii)


def ball(n_points, rng, n_features=6):
    points = rng.normal(size=(n_points, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return turned_into(n_features, points, rng), np.arccos(np.clip(points @ points.T, -1, 1))


def tube(n_points, rng, n_features=8):
    angle, height = rng.uniform(0, TURN, n_points), rng.uniform(0, 3, n_points)
    points = np.column_stack((np.cos(angle), np.sin(angle), height))
    exact = apart(np.column_stack((angle, height)), np.array([TURN, np.inf]))
    return turned_into(n_features, points, rng), exact


def off(found, exact):
    others = ~np.eye(len(exact), dtype=bool)
    return np.mean(np.abs(found - exact)[others] / exact[others])


def errors(make, n_points, noise, seed, **options):
    """Measure PTU's distances, and Isomap's."""
    rng = np.random.default_rng(seed)
    points, exact = make(n_points, rng)
    points += noise * rng.normal(size=points.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PTU(**options).fit(points)
        isomap = Isomap(n_neighbors=10).fit(points)
    return off(model.distances(np.arange(n_points)), exact), off(isomap.dist_matrix_, exact)


def thin_torus(n_points, rng):
    return torus(n_points, rng, radii=(1, 0.3))


KINDS = [
    (torus, 60, 0.0),
    (torus, 150, 0.0),
    (torus, 150, 0.05),
    (thin_torus, 140, 0.0),
    (ball, 100, 0.05),
    (ball, 300, 0.05),
    (tube, 100, 0.05),
    (tube, 150, 0.1),
]


@pytest.mark.parametrize(("make", "n_points", "noise"), KINDS)
def test_distances_are_at_least_as_true_as_those_of_isomap(make, n_points, noise):
    for seed in range(3):
        ours, theirs = errors(make, n_points, noise, seed)
        assert ours < 1.1 * theirs


def test_their_pictures_fold_and_would_choose_fewer_neighbors(monkeypatch):
    monkeypatch.setattr(attempts.Attempts, "must_keep_ten", lambda *_: False)
    for make, n_points, noise in [(torus, 60, 0.0), (ball, 100, 0.05), (tube, 150, 0.1)]:
        worse = [np.divide(*errors(make, n_points, noise, seed)) for seed in range(3)]
        assert max(worse) > 1.2


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_closed_surfaces_is_taken_out_though_they_are_bent(seed):
    ours, theirs = errors(ball, 200, 0.05, seed)
    assert ours < 0.75 * theirs
    ours, theirs = errors(torus, 400, 0.03, seed)
    assert ours < 0.5 * theirs


def test_few_points_that_would_have_to_move_far_are_left_alone():
    """Denoising takes a thin torus of 140 points for a thick ring."""
    smoothed = [np.divide(*errors(thin_torus, 140, 0.0, seed, denoise=3)) for seed in range(3)]
    assert max(smoothed) > 1.3
