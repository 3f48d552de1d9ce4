"""Points known by all distances, against their coordinates."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold.geometry import given
from ptunfold.geometry.given import Given, Matrix, smallest

POINTS = np.random.default_rng(0).normal(size=(60, 3))
APART = cdist(POINTS, POINTS)


def arcs(n_points, seed=0):
    points = np.random.default_rng(seed).normal(size=(n_points, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return 2 * np.arcsin(np.clip(cdist(points, points) / 2, 0, 1))


@pytest.fixture(params=[1 << 24, 150], ids=["whole", "in blocks"])
def space(request, monkeypatch):
    monkeypatch.setattr(given, "VALUES_TOGETHER", request.param)
    return Matrix(APART)


def test_tangent_spaces_are_bounded():
    assert Matrix(np.zeros((5, 5))).shape == (5, 4)
    assert Matrix(np.zeros((66, 66))).shape == (66, 64)
    assert len(Matrix(np.zeros((66, 66)))) == 66
    assert not Matrix(APART).moves.any()


def test_pivots_are_far_from_each_other(space):
    chosen, table = space.pivots
    assert len(chosen) == 16
    assert chosen[0] == 0
    for count in range(1, 16):
        assert chosen[count] == APART[chosen[:count]].min(axis=0).argmax()
    np.testing.assert_array_equal(table, APART[:, chosen])


def test_no_more_pivots_than_places():
    points = np.repeat(POINTS[:3], 5, axis=0)
    chosen, _ = Matrix(cdist(points, points)).pivots
    assert sorted(chosen // 5) == [0, 1, 2]
    assert len(Matrix(APART[:9, :9]).pivots[0]) == 9


def test_pivots_of_parts_that_nothing_joins():
    apart = np.full((20, 20), np.inf)
    apart[:10, :10], apart[10:, 10:] = APART[:10, :10], 3 * APART[10:20, 10:20]
    chosen, table = Matrix(apart).pivots
    assert chosen[1] == 10  # the first that is infinitely far
    is_there = np.isfinite(apart[:, chosen])
    np.testing.assert_array_equal(table[is_there], apart[:, chosen][is_there])
    assert (table[~is_there] == 2 * table[is_there].max()).all()


def test_the_view_of_euclidean_distances_has_them(space):
    assert space.view.shape == (60, 3)
    np.testing.assert_allclose(cdist(space.view, space.view), APART, atol=1e-10)
    np.testing.assert_allclose(space.view[space.pivots[0]].mean(axis=0), 0, atol=1e-10)
    np.testing.assert_array_equal(space.bound, space.view * (1 - 1e-10))


def test_the_view_is_of_few_axes():
    points = np.random.default_rng(1).normal(size=(60, 30)) * np.linspace(2, 1, 30)
    view = Matrix(cdist(points, points)).view
    assert view.shape == (60, 10)
    sizes = np.square(view).sum(axis=0)
    assert sizes[0] > sizes[-1]
    assert (cdist(view, view) <= cdist(points, points) * (1 + 1e-9)).all()


def test_in_single_precision():
    space = Matrix(APART.astype(np.float32))
    assert space.view.dtype == np.float32
    assert space.bound.dtype == np.float64
    assert space.view.shape == (60, 3)
    np.testing.assert_array_equal(space.bound, space.view.astype(np.float64) * (1 - 1e-6))
    assert space.row(3).dtype == np.float64
    assert space.lengths(np.array([3]), np.array([4])).dtype == np.float64


@pytest.mark.parametrize("apart", [arcs(60), cdist(POINTS, POINTS, "cityblock"), APART**0.3])
def test_no_bound_is_longer_than_the_distance(apart):
    space = Matrix(apart)
    assert (cdist(space.bound, space.bound) <= apart * (1 + 1e-9)).all()


def test_where_the_view_is_too_long_pivots_bound():
    # Blobs around three points of a metric that is no Euclidean one: the view overshoots.
    apart = cdist(POINTS, POINTS, "chebyshev")
    space = Matrix(apart)
    assert (cdist(space.view, space.view) > 1.01 * apart).any()
    chosen, table = space.pivots
    np.testing.assert_allclose(space.bound, table / 4)
    assert len(chosen) == 16


def test_distances_are_looked_up(space):
    rows, columns = np.random.default_rng(0).integers(60, size=(2, 7, 4))
    squares = space.squares(rows, columns[:, :3])
    assert squares.shape == (7, 4, 3)
    expected = np.square(APART[rows[:, :, None], columns[:, None, :3]])
    np.testing.assert_array_equal(squares, expected)
    np.testing.assert_array_equal(space.row(7), APART[7])
    np.testing.assert_array_equal(space.lengths(rows[0], columns[0]), APART[rows[0], columns[0]])


def test_rounding_of_one_direction_is_not_seen():
    upper = np.triu(APART) + np.tril(APART) * (1 + 1e-9)
    space, (tails, heads) = Matrix(upper), np.array([[3, 9], [9, 3]])
    np.testing.assert_array_equal(space.lengths(tails, heads), upper[[3, 3], [9, 9]])


def test_neighbours_are_the_nearest(space):
    order = np.argsort(APART, axis=1)
    found = space.candidates(slice(10, 40), 6)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(order[10:40, :6], axis=1))
    among, queries = np.arange(5, 60, 2), np.array([0, 2, 4, 30, 50, 8, 1])
    expected = np.argsort(APART[np.ix_(queries, among)], axis=1)
    for find in (space.nearest, lambda *given: Given.nearest(space, *given)):
        np.testing.assert_array_equal(find(among, queries, 3), expected[:, :3])
    # Fewer than would be looked at.
    found = Given.nearest(space, among[:5], queries, 4)
    np.testing.assert_array_equal(found, np.argsort(APART[np.ix_(queries, among[:5])])[:, :4])
    one = Given.nearest(space, among[:1], queries, 1)
    np.testing.assert_array_equal(one, np.zeros((7, 1)))


def test_pairs_within_a_radius(space):
    radius = APART[4, 17]  # itself a distance
    expected = np.argwhere(np.triu(radius >= APART, 1))
    for found in (space.within(radius), Given.within(space, radius)):
        assert found.shape[1] == 2
        np.testing.assert_array_equal(found[np.lexsort(found.T[::-1])], expected)
    assert Given.within(space, 0.0).shape == (0, 2)


def test_some_of_the_points(space):
    nodes = np.array([5, 3, 40])
    np.testing.assert_array_equal(space.among(nodes).matrix, APART[np.ix_(nodes, nodes)])


def test_copies_are_at_the_place_of_the_first(space):
    points = np.concatenate((POINTS[:50], POINTS[[7, 3, 7]]))
    places = Matrix(cdist(points, points)).places
    np.testing.assert_array_equal(places, [*range(50), 7, 3, 7])


def test_the_extent_is_that_of_the_points(space):
    expected = np.sqrt(np.square(POINTS - POINTS.mean(axis=0)).sum(axis=1).mean())
    assert space.extent == pytest.approx(expected)
    assert space.movable(3) is space
    assert space.nbytes == APART.nbytes


def test_moved_points_are_where_coordinates_say():
    rng = np.random.default_rng(0)
    points = np.concatenate((POINTS[:20], POINTS[[4]]))  # one of them twice
    members = np.argsort(cdist(points, points), axis=1, kind="stable")[:, :6]
    weights = rng.normal(size=(21, 6))
    weights -= weights.mean(axis=1, keepdims=True)
    space, places = Matrix(cdist(points, points)), points
    for _ in range(2):  # the second time from where they were moved to
        places = places + np.einsum("nm,nmf->nf", weights, places[members])
        places[20] = places[4]
        space = space.moved(members, weights)
        np.testing.assert_allclose(space.matrix, cdist(places, places), atol=1e-6)
        np.testing.assert_array_equal(np.diagonal(space.matrix), 0)
        np.testing.assert_array_equal(space.matrix, space.matrix.T)
        np.testing.assert_allclose(space.moves, np.linalg.norm(places - points, axis=1), atol=1e-6)
    single = Matrix(APART[:20, :20].astype(np.float32)).moved(members[:20, :1], weights[:20, :1])
    assert single.matrix.dtype == np.float32


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_smallest_of_rows_in_their_order(count):
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(8.0), (5, 1)), axis=1)
    np.testing.assert_array_equal(smallest(rows, count), np.argsort(rows, axis=1)[:, :count])
