"""That a metric which is asked sees first what it will be asked for; rounds of denoising."""

from dataclasses import replace

import numpy as np
import pytest

from ptunfold import build_graph, estimate_frames
from ptunfold.geometry import stages
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.measured import Called
from ptunfold.geometry.stages import connected, denoise, proximity_graph
from ptunfold.threads import Run
from tests.geometry.test_seeing import settings


def norm(one, other):
    return np.linalg.norm(one - other)


@pytest.mark.parametrize(("near", "is_frugal"), [(6, True), (15, False)])
def test_few_distances_are_asked_for_where_neighbourhoods_are_small(near, is_frugal):
    points = np.random.default_rng(0).normal(size=(250, 10))
    space = Called(points, norm)
    graph = build_graph(space, 6)
    frames = estimate_frames(space, graph, near)
    before = len(space._kept.keys)
    connected(space, graph, frames, settings(20), None, Run())
    assert space.is_frugal == is_frugal
    assert (len(space._kept.keys) - before < 250 * near) == is_frugal


def test_what_is_known_is_not_planned():
    points = np.random.default_rng(0).normal(size=(60, 3))
    space = Matrix(np.linalg.norm(points[:, None] - points, axis=2))
    graph = build_graph(space, 6)
    frames = estimate_frames(space, graph, 8)
    found = connected(space, graph, frames, settings(20), None, Run())
    assert not space.is_frugal
    assert found.points.shape[0] == 60


@pytest.mark.parametrize(
    ("rounds", "scale", "sizes"),
    [(3, 1, [20, 20, 20]), (3, 4, [20, 40, 80]), (3, 8, [20, 57, 99]), (1, 2, [20]), (0, 2, [])],
)
def test_neighborhoods_grow_from_round_to_round(rounds, scale, sizes, monkeypatch):
    points = np.random.default_rng(0).normal(size=(100, 3))
    wanted = replace(settings(20), denoise=rounds, denoise_scale=scale)
    graph = proximity_graph(points, wanted, None, Run())
    asked = []

    def move_to_surface(points, graph, n_neighbors, dim, tangent, run):
        asked.append(n_neighbors)
        return points

    monkeypatch.setattr(stages, "move_to_surface", move_to_surface)
    denoise(points, graph, wanted, None, None, Run())
    assert asked == sizes
