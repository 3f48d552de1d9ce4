"""That a metric which is asked sees first what it will be asked for."""

import numpy as np
import pytest

from ptunfold import build_graph, estimate_frames
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.measured import Called
from ptunfold.geometry.stages import connected
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
    before = len(space._keys)
    connected(space, graph, frames, settings(20), None, None, Run())
    assert space.is_frugal == is_frugal
    assert (len(space._keys) - before < 250 * near) == is_frugal


def test_what_is_known_is_not_planned():
    points = np.random.default_rng(0).normal(size=(60, 3))
    space = Matrix(np.linalg.norm(points[:, None] - points, axis=2))
    graph = build_graph(space, 6)
    frames = estimate_frames(space, graph, 8)
    found = connected(space, graph, frames, settings(20), None, None, Run())
    assert not space.is_frugal
    assert found.points.shape[0] == 60
