"""The noise that error bars count with."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import swiss_roll
from ptunfold.geodesics.doubts import _noise


def about(points, surface, dim, seen=None):
    frames = SimpleNamespace(intrinsic_dim=dim)
    return SimpleNamespace(
        points=points, surface=surface, frames=frames, seen=seen, texture="rough"
    )


def test_noise_is_what_points_were_moved_by_off_the_sheet():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 5))
    moves = rng.normal(size=(50, 5))
    expected = np.sqrt(np.square(moves).sum() / 50 / 3)
    assert _noise(about(points, points - moves, 2)) == pytest.approx(expected)
    assert _noise(about(points, points, 2)) == 0
    assert _noise(about(points, points - moves, 5)) == 0  # nothing is off
    assert _noise(about(points, points - moves, 4)) > 0
    moved = np.linalg.norm(moves, axis=1)
    seen = SimpleNamespace(moved=moved, n_off=3)
    assert _noise(about(points, points, 2, seen)) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1, 1e-6])
def test_noise_that_was_left_is_counted_with(scale):
    clean = swiss_roll(500, seed=3)
    shift = np.random.default_rng(3).normal(size=clean.points.shape)
    for noise in (0, 0.3):
        model = PTU(denoise=0).fit(scale * (clean.points + noise * shift))
        geometry = model._fitted.geometry
        assert geometry.surface is geometry.points
        assert geometry.texture == "smooth" or noise
        found = _noise(replace(geometry, texture="smooth"))
        assert found == pytest.approx(scale * noise, rel=0.15, abs=0)
        assert _noise(replace(geometry, texture="rough")) == 0


def test_bars_of_few_points_know_of_noise_that_was_not_taken_out():
    """These look smooth in the end; bars were a third of what they had to be."""
    data = swiss_roll(500, seed=1)
    side = np.ptp(data.points, axis=0).max()
    shift = np.random.default_rng(1001).normal(size=data.points.shape)
    model = PTU(seams="leave").fit(data.points + 0.01 * side * shift)
    found, std = model.distances([0, 50, 100], return_std=True)
    exact = data.distances([0, 50, 100])
    is_apart = exact > 0
    off = np.abs(found - exact)[is_apart] / std[is_apart]
    assert 0.5 < np.mean(off <= 1) < 0.9
    assert np.mean(off <= 1.96) > 0.85
