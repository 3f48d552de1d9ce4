"""Which landmarks are chosen, and the distances from them."""

import numpy as np
import pytest

from ptunfold import PTU, build_graph, connect, estimate_frames, geodesics, transport_distances
from ptunfold.datasets import petals, s_with_hole, spherical_cap
from ptunfold.geodesics.landmarks import farthest_landmarks, landmark_distances
from ptunfold.threads import Run
from tests.oracle import algorithm_2, random_connection


@pytest.fixture(scope="module")
def connection():
    points = s_with_hole(1500).points
    graph = build_graph(points)
    return connect(points, graph, estimate_frames(points, graph))


def test_rows_are_the_means_of_both_directions():
    points, graph, frames, connection = random_connection(2, seed=1)
    exact, one_way, _ = algorithm_2(points, graph, frames)
    rows = landmark_distances(connection, np.array([5, 0, 17]))
    np.testing.assert_allclose(rows, exact[[5, 0, 17]], rtol=1e-10)
    assert np.abs(one_way - one_way.T).max() > 0.1  # one direction alone would not do


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_belong_to_the_landmarks(connection, dtype):
    landmarks, rows = farthest_landmarks(connection, 30, dtype)
    assert rows.dtype == dtype
    assert len(np.unique(landmarks)) == 30
    np.testing.assert_array_equal(rows, transport_distances(connection, landmarks, dtype=dtype))


def test_threads_change_nothing(connection):
    one = farthest_landmarks(connection, 60, run=Run(1))
    three = farthest_landmarks(connection, 60, run=Run(3))
    for first, second in zip(one, three, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("n_landmarks", [10, 40, 100])
def test_landmarks_cover_the_data_as_well_as_one_by_one(connection, n_landmarks):
    landmarks, rows = farthest_landmarks(connection, n_landmarks)
    distances = transport_distances(connection)
    one_by_one = [landmarks[0]]
    while len(one_by_one) < n_landmarks:
        one_by_one.append(int(distances[one_by_one].min(axis=0).argmax()))
    gap = rows.min(axis=0).max()
    assert gap < 1.2 * distances[one_by_one].min(axis=0).max()
    # Far from each other too: nothing is chosen twice in the same corner.
    among = rows[:, landmarks] + np.diag(np.full(n_landmarks, np.inf))
    assert among.min() > 0.5 * gap


def test_no_more_landmarks_than_places():
    points = np.repeat(petals(20).points, 4, axis=0)
    graph = build_graph(points, 6)
    connection = connect(points, graph, estimate_frames(points, graph, 10, 2))
    landmarks, rows = farthest_landmarks(connection, 50)
    assert len(landmarks) == 20
    np.testing.assert_array_equal(rows, transport_distances(connection, landmarks))
    assert len(np.unique(points[landmarks], axis=0)) == 20


@pytest.mark.parametrize("n_landmarks", [10, 40])
def test_few_candidates_cover_the_data_too(connection, n_landmarks, monkeypatch):
    """As with more than a million points, of which not all can be chosen."""
    _, rows = farthest_landmarks(connection, n_landmarks)
    monkeypatch.setattr(geodesics.landmarks, "_MOST_CANDIDATES", 400)
    landmarks, fewer = farthest_landmarks(connection, n_landmarks)
    assert set(landmarks[1:] % 4) == {0}  # every fourth of 1500
    np.testing.assert_array_equal(fewer, transport_distances(connection, landmarks))
    assert fewer.min(axis=0).max() < 1.2 * rows.min(axis=0).max()


def test_landmarks_do_not_depend_on_the_order_of_the_points():
    points = spherical_cap(400, angle=60).points
    first = PTU(landmarks=20).fit(points)
    order = np.random.default_rng(0).permutation(len(points))
    second = PTU(landmarks=20).fit(points[order])
    assert set(order[second.landmarks_]) == set(first.landmarks_)
