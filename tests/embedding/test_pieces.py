"""When landmarks are taken, and how many."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold.embedding.ellipses import ellipses
from ptunfold.embedding.judging import fewer_neighbors, is_truer
from ptunfold.embedding.pieces import _Scaling

FLAT = np.random.default_rng(0).uniform(size=(80, 2))


def scaling(n_components=2):
    return _Scaling(n_components, None, None, "auto", FLAT, 0.05)


def test_landmarks_are_settled_where_half_of_them_show_the_same():
    landmarks = np.arange(12)
    rows = cdist(FLAT[:12], FLAT)
    assert scaling()._is_settled(rows, landmarks, FLAT)
    bent = np.column_stack((FLAT[:, 0], FLAT[:, 1] ** 3))
    assert not scaling()._is_settled(rows, landmarks, bent)
    # Half of five are not enough for two dimensions, those of six are.
    assert not scaling()._is_settled(rows[:5], landmarks[:5], FLAT)
    assert scaling()._is_settled(rows[:6], landmarks[:6], FLAT)


def test_fewer_neighbours_are_tried_of_few_points():
    assert [fewer_neighbors(count) for count in (3, 6, 74, 90, 149, 150, 9999)] == [
        *(2, 5, 5, 6, 9, 5, 5)
    ]


def test_a_picture_must_tell_clearly_more():
    def is_more(more, n_points, by=None):
        one, worse, other = (SimpleNamespace(n_points=n_points) for _ in range(3))
        tell = {id(one): 0.5 + more, id(worse): 0.1, id(other): 0.5}
        return is_truer([worse, one], [other, worse], lambda graph: tell[id(graph)], by)

    assert [is_more(more, 150) for more in (0.0051, 0.0049, -0.1)] == [True, False, False]
    # Of few points chance is larger.
    assert [is_more(more, 149) for more in (0.0126, 0.0124, 0.0051)] == [True, False, False]
    assert [is_more(more, 150, 0.001) for more in (0.0011, 0.0009)] == [True, False]


def test_ellipses_of_places():
    # Four anchors around a point tell its place by two directions each way.
    places = np.array([[0.0, 0], [2, 0], [-1, 0], [0, 3], [0, -4], [np.nan, np.nan]])
    anchors = np.arange(1, 5)
    std = np.array([[0.1], [0.1], [0.3], [0.3]]) * np.ones((4, 6))
    found = ellipses(places, anchors, std)
    # Half of the variance, two directions, of four anchors two are along each.
    expected = np.diag(np.sqrt([0.5 * 2 * 2 * 0.01 / 4, 0.5 * 2 * 2 * 0.09 / 4]))
    np.testing.assert_allclose(found[0], expected, atol=1e-12)
    assert np.isnan(found[5]).all()
    np.testing.assert_allclose(found[:5], np.swapaxes(found[:5], 1, 2))
    std[2:] = np.inf
    only = ellipses(places, anchors, std)
    np.testing.assert_allclose(only[0], np.diag([0.1, 0]), atol=1e-12)


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_ellipses_turn_with_the_picture(angle):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    std = np.random.default_rng(0).uniform(0.1, 1, (5, 80))
    found = ellipses(FLAT @ turn.T, np.arange(5), std)
    np.testing.assert_allclose(found, turn @ ellipses(FLAT, np.arange(5), std) @ turn.T)
