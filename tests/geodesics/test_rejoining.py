"""Edges beside a hole that look like shortcuts, and come back."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import PTU, build_graph, find_shortcuts
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geodesics import rejoining
from ptunfold.geodesics.rejoining import edges_led_back_to
from ptunfold.geometry.graph import has_edges
from ptunfold.geometry.stages import Pruned, prune


def fit(points, **options):
    with warnings.catch_warnings(action="ignore"):
        return PTU(landmarks=None, seams="leave", **options).fit(points)


def in_noise(data, seed, noise=0.01):
    side = np.ptp(data.points, axis=0).max()
    return data.points + noise * side * np.random.default_rng(seed).normal(size=data.points.shape)


def error_of(model, data):
    exact = data.distances()
    apart = exact > 0
    return np.mean(np.abs(model.distances() - exact)[apart] / exact[apart])


@pytest.mark.parametrize(("n_points", "seed"), [(300, 102), (300, 104), (400, 204), (400, 213)])
def test_strips_beside_a_hole_are_not_cut(n_points, seed, monkeypatch):
    data = s_with_hole(n_points, seed=seed)
    points = in_noise(data, 1000 + seed)
    assert error_of(fit(points), data) < 0.05
    monkeypatch.setattr(rejoining, "_MOST_VALUES", 0)
    torn = fit(points)
    assert error_of(torn, data) > 0.07
    # As they are seen, and not as they are: these edges are true, and all paths around them long.
    back = torn.shortcuts_
    apart = data.distances(back[:, 0])[np.arange(len(back)), back[:, 1]]
    assert np.median(apart / np.linalg.norm(points[back[:, 0]] - points[back[:, 1]], axis=1)) < 2


@pytest.mark.parametrize("hole", [0.0, 0.3])
def test_windings_are_not_joined_again(hole):
    for seed in range(3):
        roll = swiss_roll(400, hole=hole, seed=seed)
        model = fit(roll.points)
        assert len(model.shortcuts_) > 0
        geometry = model._fitted.geometry
        ends = roll.points[geometry.shortcuts]
        back = edges_led_back_to(geometry, np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))
        apart = roll.distances(back[:, 0])[np.arange(len(back)), back[:, 1]]
        lengths = np.linalg.norm(roll.points[back[:, 0]] - roll.points[back[:, 1]], axis=1)
        assert (apart < 2 * lengths).all()


def test_trusted_edges_are_never_dropped():
    graph = build_graph(swiss_roll(300, seed=3).points)
    shortcuts = np.column_stack(find_shortcuts(graph))
    found = Pruned(graph, shortcuts, shortcuts[2:5])
    settings = SimpleNamespace(is_pruned=True)
    pruned = prune(found, settings, None)
    assert has_edges(pruned.graph, *shortcuts[2:5].T).all()
    rest = np.delete(shortcuts, [2, 3, 4], axis=0)
    np.testing.assert_array_equal(pruned.shortcuts, rest)
    assert not has_edges(pruned.graph, *rest.T).any()


def test_the_order_of_points_and_threads_do_not_count():
    points = in_noise(s_with_hole(300, seed=104), 1104)
    model, again = fit(points, n_jobs=1), fit(points[::-1], n_jobs=2)
    ends = np.sort(299 - again.shortcuts_, axis=1)
    assert {tuple(pair) for pair in model.shortcuts_} == {tuple(pair) for pair in ends}
    np.testing.assert_allclose(again.distances([299]), model.distances([0])[:, ::-1], rtol=1e-6)
