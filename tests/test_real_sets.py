"""The sets of the benchmark on real data: what is said to be true of them is."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import real
import real_carried
import real_made
import real_sets
import real_surfaces


def dihedral(a, b, c, d):
    back, axis, on = a - b, c - b, d - c
    axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    first = back - (back * axis).sum(axis=1, keepdims=True) * axis
    second = on - (on * axis).sum(axis=1, keepdims=True) * axis
    return np.arctan2((np.cross(axis, first) * second).sum(axis=1), (first * second).sum(axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_angles_of_a_molecule_are_those_of_its_atoms(seed):
    data = real_made.molecule(seed, n_frames=50)
    atoms = data.X.reshape(50, -1, 3)
    first = (atoms.shape[1] - 5) // 2
    for i, angle in enumerate(data.angles.values()):
        four = (atoms[:, first + i + j] for j in range(4))
        np.testing.assert_allclose(np.cos(dihedral(*four) - angle), 1, atol=1e-9)


SMALL = {
    "turntables": {"n_things": 2, "n_views": 12},
    "face": {"n_images": 12},
    "cells": {"n_cells": 90},
}


@pytest.mark.parametrize("make", real_made.MAKERS, ids=lambda make: make.__name__)
def test_made_sets_have_a_truth_for_every_point_and_repeat(make):
    size = SMALL.get(make.__name__, {})
    data, again, other = (make(seed, **size) for seed in (3, 3, 4))
    np.testing.assert_array_equal(data.X, again.X)
    assert data.X.shape != other.X.shape or (data.X != other.X).any()
    assert np.isfinite(data.X).all()
    targets = [*data.values.values(), *data.angles.values()]
    targets += [] if data.labels is None else [data.labels]
    assert targets
    assert all(len(target) == len(data.X) for target in targets)
    assert all(np.ptp(target) > 0 for target in targets)


def test_views_of_a_thing_close_to_a_loop():
    X = real_made.turntable(0).X
    steps = np.linalg.norm(X - np.roll(X, 1, axis=0), axis=1)
    assert steps[0] < 2 * np.median(steps)


def test_slant_is_the_shear_of_a_picture():
    y, x = np.mgrid[:28, :28] - 13.5
    sheared = [np.exp(-((x - s * y) ** 2) / 8 - y**2 / 40).ravel() for s in (-0.3, 0.0, 0.4)]
    slant, slimness = real_carried._moments(np.array(sheared))
    np.testing.assert_allclose(slant, [-0.3, 0, 0.4], atol=0.01)
    np.testing.assert_allclose(slimness, np.log(5) / 2, atol=0.02)


def area(points, faces):
    a, b, c = (points[faces[:, i]] for i in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2


@pytest.mark.parametrize(
    ("shape", "characteristic"), [("bumps", 2), ("steps", 2), ("bracket", 0), ("knot", 0)]
)
def test_meshes_are_closed(shape, characteristic):
    points, faces = getattr(real_surfaces, shape)(1500)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    found, times = np.unique(edges, axis=0, return_counts=True)
    assert (times == 2).all()
    assert len(points) - len(found) + len(faces) == characteristic
    assert 0.85 < len(points) / 1500 < 1.15


def test_a_block_has_its_area():
    square = np.array([[0, 0], [2, 0], [2, 1], [0, 1]])
    hole = np.array([[0.5, 0.25], [0.5, 0.75], [1, 0.75], [1, 0.25]])
    points, faces = real_surfaces.extrude([square, hole], 0.5, 2000, seed=0)
    np.testing.assert_allclose(area(points, faces), 2 * (2 - 0.25) + 0.5 * (6 + 2))


def test_farthest_points_spread():
    points = np.random.default_rng(0).standard_normal((500, 3))
    chosen = real_surfaces.farthest(points, 50)
    assert len(np.unique(chosen)) == 50
    apart = np.linalg.norm(points[chosen][:, None] - points[chosen], axis=2)
    left = np.linalg.norm(points[:, None] - points[chosen], axis=2).min(axis=1)
    assert left.max() <= apart[~np.eye(50, dtype=bool)].min()


def test_scores_are_one_for_the_truth_and_low_for_noise():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 600)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    data = real_made.PointSet(
        "ring",
        circle,
        values={"x": circle[:, 0]},
        angles={"turn": angle},
        labels=(angle > np.pi).astype(int),
    )
    assert real.knn_score(circle, data) > 0.98
    assert real.rank_score(circle, data) > 0.9
    noise = rng.standard_normal((600, 2))
    assert real.knn_score(noise, data) < 0.3
    assert abs(real.rank_score(noise, data)) < 0.05


def test_files_name_their_targets(tmp_path):
    data = real_made.PointSet(
        "some", np.eye(4), values={"x": np.arange(4.0)}, labels=np.array([0, 0, 1, 1])
    )
    real_sets.write(data, tmp_path)
    with np.load(tmp_path / "some.npz") as file:
        assert set(file.files) == {"X", "value_x", "label"}
    surface = real_surfaces.Surface("flat", np.eye(3), np.array([0]), np.ones((1, 3)))
    real_sets.write(surface, tmp_path)
    with np.load(tmp_path / "flat.npz") as file:
        assert set(file.files) == {"X", "sources", "distances"}
