"""The noise that error bars count with."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold.geodesics.doubts import _noise


def about(points, surface, dim, seen=None):
    frames = SimpleNamespace(intrinsic_dim=dim)
    return SimpleNamespace(points=points, surface=surface, frames=frames, seen=seen)


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
