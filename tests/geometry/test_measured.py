"""Points under a metric that is asked for distances, against all of them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, estimate_frames
from ptunfold.geometry import measured
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.measured import Called, Evaluated, Measure

N = 80
POINTS = np.random.default_rng(0).uniform(0.1, 1, size=(N, 3))
BLOCKS = cdist(POINTS, POINTS, "cityblock")
PAIRS = np.triu_indices(N, 1)


class Counted:
    """The sum of differences; counts how often it is asked, and between which points."""

    def __init__(self):
        self.n_calls = 0

    def __call__(self, one, other):
        self.n_calls += 1
        return np.abs(one - other).sum()


@pytest.fixture(params=["evaluated", "called"])
def space(request):
    if request.param == "called":
        return Called(POINTS, Counted())
    return Evaluated(POINTS, Measure("cityblock", POINTS))


def test_distances_are_those_of_the_metric(space):
    rng = np.random.default_rng(0)
    for _ in range(3):  # more and more of them are kept
        rows, columns = rng.integers(N, size=(2, 9, 4))
        expected = np.square(BLOCKS[rows[:, :, None], columns[:, None, :3]])
        np.testing.assert_allclose(space.squares(rows, columns[:, :3]), expected)
    np.testing.assert_allclose(space.lengths(*PAIRS[::-1]), BLOCKS[PAIRS])
    np.testing.assert_allclose(space.row(4), BLOCKS[4])
    found = space.find(np.array([1, 1, 5]), np.array([2, 9, 7]))
    np.testing.assert_allclose(found, BLOCKS[[1, 1, 5], [2, 9, 7]])
    np.testing.assert_array_equal(space.view, POINTS)
    assert (space.nbytes, space.dtype) == (POINTS.nbytes, np.float64)


def test_each_pair_is_asked_for_once():
    metric = Counted()
    space = Called(POINTS, metric)
    metric.n_calls = 0
    rows = np.array([[3, 5, 3], [5, 3, 9]])
    space.squares(rows, rows)
    assert metric.n_calls == 3  # not from a point to itself
    space.lengths(np.array([5, 3, 9, 7, 7]), np.array([3, 9, 9, 8, 8]))
    assert metric.n_calls == 4
    assert len(space._kept.keys) == 4


def test_a_callable_has_to_be_a_distance():
    with pytest.raises(ValueError, match="not symmetric"):
        Called(POINTS, lambda one, other: abs(2 * one[0] - other[0]))
    space = Called(POINTS, lambda one, other: np.nan if one[0] == POINTS[3, 0] else 0.0)
    with pytest.raises(ValueError, match="the metric returned nan"):
        space.lengths(np.array([3]), np.array([4]))


def test_neighbours_are_the_nearest(space):
    order = np.argsort(BLOCKS, axis=1)
    for block, count in ((slice(10, 40), 6), (slice(0, N), 12), (slice(70, N), N)):
        found = space.candidates(block, count)
        np.testing.assert_array_equal(np.sort(found), np.sort(order[block, :count]))
    among, queries = np.arange(5, N, 2), np.array([0, 2, 4, 30, 50])
    expected = np.argsort(BLOCKS[np.ix_(queries, among)], axis=1)[:, :4]
    np.testing.assert_array_equal(space.nearest(among, queries, 4), expected)


def test_a_callable_is_asked_as_long_as_nearer_points_may_be_left():
    # On a line the distances to pivots are the distances: the first part tells all.
    line, metric = np.linspace(0, 1, 300)[:, None] ** 1.5, Counted()
    space = Called(line, metric)
    assert len(space.pivots[0]) == 16
    metric.n_calls = 0
    found = space.candidates(slice(100, 110), 5)
    expected = np.argsort(np.abs(line - line.T), axis=1)[100:110, :5]
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))
    assert metric.n_calls <= 10 * 9  # twice as many as neighbours, less itself
    # In many dimensions they tell little, and there is a limit.
    points, metric = np.random.default_rng(0).normal(size=(300, 12)), Counted()
    space = Called(points, metric)
    assert len(space.pivots[0]) == 16
    metric.n_calls = 0
    found = space.candidates(slice(100, 101), 5)
    assert 6 * 5 - 1 - 16 <= metric.n_calls <= 6 * 5 - 1
    least = np.abs(space.pivots[1] - space.pivots[1][100]).max(axis=1)
    asked = np.argsort(least)[:30]
    apart = cdist(points[[100]], points, "cityblock")[0]
    nearest = asked[np.argsort(apart[asked])[:5]]
    np.testing.assert_array_equal(np.sort(found[0]), np.sort(nearest))


def test_all_distances_are_asked_for_where_neighbourhoods_need_as_many(space):
    assert space.movable(6) is None  # 2 * 6 * 6 < 80
    found = space.movable(7)
    assert isinstance(found, Matrix)
    np.testing.assert_allclose(found.matrix, BLOCKS)
    assert found.view is space.view
    copies = Evaluated(np.tile(POINTS[:4], (2, 1)).astype(np.float32), Measure("canberra", POINTS))
    whole = copies.whole()
    assert whole.matrix.dtype == np.float32
    np.testing.assert_array_equal(whole.places, [0, 1, 2, 3, 0, 1, 2, 3])
    np.testing.assert_array_equal(copies.places, whole.places)
    exactly = Called(POINTS[:72], Counted())
    assert exactly.movable(6) is not None


def test_some_of_the_points(space):
    nodes = np.array([5, 3, 40])
    part = space.among(nodes)
    assert type(part) is type(space)
    tails, heads = np.triu_indices(3, 1)
    np.testing.assert_allclose(part.lengths(tails, heads), BLOCKS[nodes[tails], nodes[heads]])


def test_coordinates_are_no_bound(space):
    assert not space._has_true_view
    assert (cdist(space.bound, space.bound) <= BLOCKS * (1 + 1e-12)).all()


@pytest.mark.parametrize("n_features", [1, 2, 12])
def test_a_plan_counts_the_pairs_between_neighbourhoods(n_features):
    points = np.random.default_rng(0).normal(size=(300, n_features))
    space = Called(points, Counted())
    graph = build_graph(Matrix(cdist(points, points, "cityblock")), 6)
    frames = estimate_frames(Matrix(cdist(points, points)), graph, 5, 1)
    members = frames.members
    pairs = {
        (one, other)
        for tail, head in zip(graph.tails, graph.indices, strict=True)
        for one in members[tail].tolist()
        for other in members[head].tolist()
    }
    for n_kept in (0, 300 * 25 - len(pairs) // 2, 300 * 25 - len(pairs) // 2 + 1):
        space._kept = space._kept._replace(keys=np.empty(max(n_kept, 0), dtype=np.int64))
        space.plan(members, graph)
        assert space.is_frugal == (len(pairs) / 2 + len(space._kept.keys) > 300 * 5**2)
    assert (len(pairs) / 2 > 300 * 5**2) == (n_features == 12)


def test_standard_deviations_are_the_unit():
    points = np.column_stack((POINTS * [1, 10, 100], np.full(N, 3.0)))
    space = Evaluated(points, Measure("seuclidean", points))
    expected = cdist(POINTS, POINTS, "seuclidean", V=POINTS.var(axis=0, ddof=1))
    np.testing.assert_allclose(space.lengths(*PAIRS), expected[PAIRS])
    # New points are measured as those that were fitted.
    np.testing.assert_allclose(
        space.among(np.arange(5)).lengths(*np.triu_indices(5, 1)), expected[np.triu_indices(5, 1)]
    )


def test_mahalanobis_leaves_out_directions_without_extent():
    points = np.column_stack((POINTS @ np.diag([1, 10, 100]), POINTS.sum(axis=1)))
    measure = Measure("mahalanobis", points)
    values = measure.values(points)
    assert values.shape == (N, 3)
    np.testing.assert_allclose(np.cov(values.T), np.eye(3), atol=1e-9)
    expected = cdist(POINTS, POINTS, "mahalanobis", VI=np.linalg.inv(np.cov(POINTS.T)))
    np.testing.assert_allclose(measure(values, values), expected, atol=1e-9)
    line = Measure("mahalanobis", POINTS[:, :1]).values(POINTS[:, :1])
    assert line.var(ddof=1) == pytest.approx(1)


def test_arcs_are_angles_between_directions():
    up = np.random.default_rng(0).uniform(-np.pi / 2, np.pi / 2, 30)
    along = np.random.default_rng(1).uniform(-np.pi, np.pi, 30)
    places = np.column_stack((up, along))
    places[:2] = [[0.3, 0.2], [-0.3, 0.2 - np.pi]]  # opposite
    up, along = places.T
    points = np.stack((np.cos(up) * np.cos(along), np.cos(up) * np.sin(along), np.sin(up)), axis=1)
    measure = Measure("haversine", places)
    expected = np.arccos(np.clip(points @ points[:9].T, -1, 1))
    np.testing.assert_allclose(measure(places, places[:9]), expected, atol=1e-7)
    assert measure(places[:1], places[1:2])[0, 0] == pytest.approx(np.pi)
    found = measure.search(places)(places, 3)
    expected = np.argsort(np.arccos(np.clip(points @ points.T, -1, 1)), axis=1)[:, :3]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("together", [1 << 24, 200])
def test_metrics_that_no_tree_knows_are_searched_one_by_one(together, monkeypatch):
    monkeypatch.setattr(measured, "VALUES_TOGETHER", together)
    measure = Measure("jensenshannon", POINTS)
    found = measure.search(POINTS)(POINTS[:20], 4)
    expected = np.argsort(cdist(POINTS[:20], POINTS, "jensenshannon"), axis=1)[:, :4]
    np.testing.assert_array_equal(found, expected)
