"""Ways to find neighbours agree, and those of other libraries are taken."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from ptunfold import PTU, build_graph
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geometry import neighbors
from ptunfold.geometry.neighbors import exact_search, nearest, neighbor_lists


def textbook(points, k):
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.sort(np.argsort(distances, axis=1)[:, :k], axis=1)


@pytest.mark.parametrize("way", ["_tree_search", "_brute_force_search", "by products"])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_all_exact_ways_give_the_same_lists(monkeypatch, way, offset):
    points = swiss_roll(700, n_features=30).points + offset
    if way == "by products":
        search = neighbors._brute_force_search(points, 2, is_plain=True)
    else:
        search = getattr(neighbors, way)(points, 1)
    monkeypatch.setattr(neighbors, "exact_search", lambda *_: search)
    monkeypatch.setattr(neighbors, "_ROWS_TOGETHER", 97)
    indptr, indices = neighbor_lists(points, 6)
    np.testing.assert_array_equal(np.diff(indptr), 6)
    np.testing.assert_array_equal(np.sort(indices.reshape(-1, 6), axis=1), textbook(points, 6))


def test_the_quicker_way_is_taken(monkeypatch):
    points = swiss_roll(300, n_features=30).points
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    delays = {"_tree_search": 0.0, "_brute_force_search": 0.2}
    asked = []
    for name, delay in delays.items():

        def make(points, n_jobs, name=name, delay=delay):
            def search(queries, n_nearest):
                neighbors.time.sleep(delay)
                asked.append(name)
                return np.zeros((len(queries), n_nearest), dtype=int)

            return search

        monkeypatch.setattr(neighbors, name, make)
    search = exact_search(points, 300, 3, 1)
    asked.clear()
    search(points, 3)
    assert asked == ["_tree_search"]


def test_few_wide_points_go_by_products(monkeypatch):
    monkeypatch.setattr(neighbors, "_tree_search", None)
    points, queries = np.random.default_rng(0).random((2, 200, 40))
    distances = np.linalg.norm(queries[:, None] - points[None], axis=2)
    for n_nearest in (1, 5, 200):
        found = nearest(points, queries, n_nearest)
        np.testing.assert_array_equal(found, np.argsort(distances, axis=1)[:, :n_nearest])


def test_nearest_of_other_points():
    points, queries = np.random.default_rng(0).random((2, 200, 4))
    found = nearest(points, queries, 3)
    distances = np.linalg.norm(queries[:, None] - points[None], axis=2)
    np.testing.assert_array_equal(found, np.argsort(distances, axis=1)[:, :3])


@pytest.mark.parametrize("order", [("indices", "distances"), ("distances", "indices")])
@pytest.mark.parametrize("has_self", [True, False])
def test_neighbours_of_another_library(order, has_self):
    points = s_with_hole(400).points
    engine = NearestNeighbors(n_neighbors=9 if has_self else 8).fit(points)
    distances, indices = engine.kneighbors(points if has_self else None)
    lists = {"indices": indices, "distances": distances}
    given = PTU().fit(points, graph=tuple(lists[name] for name in order))
    own = PTU(n_neighbors=8, prune=None).fit(points)
    np.testing.assert_array_equal(given.graph_.indices, own.graph_.indices)
    np.testing.assert_allclose(given.embedding_, own.embedding_, atol=1e-9)


def test_repeated_neighbours_of_another_library():
    points = s_with_hole(300).points
    distances, indices = NearestNeighbors(n_neighbors=8).fit(points).kneighbors()
    twice = (np.c_[indices, indices[:, :3]], np.c_[distances, 2 * distances[:, :3]])
    given = PTU().fit(points, graph=twice)
    np.testing.assert_allclose(given.graph_.lengths, build_graph(points, 8).lengths)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_radius_far_from_the_origin(dtype):
    rng = np.random.default_rng(0)
    for apart in (0, 1e4, 1e6):
        points = 0.01 * rng.standard_normal((200, 20)) + apart * rng.integers(2, size=(200, 1))
        points = points.astype(dtype)
        offsets = points[:, None].astype(float) - points[None]
        near = np.linalg.norm(offsets, axis=2) <= 0.06
        graph = build_graph(points, graph="radius", radius=0.06)
        assert graph.n_edges == near.sum() - 200


def test_missing_neighbours_of_another_library():
    points = s_with_hole(400).points
    distances, indices = NearestNeighbors(n_neighbors=9).fit(points).kneighbors()
    indices[:, -1], distances[:, -1] = -1, np.inf
    given = PTU().fit(points, graph=(indices, distances))
    np.testing.assert_array_equal(given.graph_.indices, build_graph(points, 8).indices)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ((np.zeros((4, 2)), np.zeros((4, 2))), "pass .indices, distances., both of shape .50, k."),
        ((np.zeros((50, 2), dtype=int),), "tuple of 1 arrays"),
        ((np.zeros((50, 2), dtype=int), np.zeros((50, 3))), "both of shape"),
        ((np.full((50, 2), 50), np.ones((50, 2))), "names neighbour 50, but X has 50 points"),
        ((np.full((50, 2), -2), np.ones((50, 2))), "names neighbour -2"),
        (([[1, 2], [0]], [[1.0, 1.0], [1.0]]), "have different lengths"),
        ((np.ones((50, 2), dtype=int), -np.ones((50, 2))), "negative edge length"),
    ],
)
def test_wrong_neighbours(lists, message):
    with pytest.raises(ValueError, match=message):
        PTU().fit(np.random.default_rng(0).random((50, 3)), graph=lists)


@pytest.mark.long
@pytest.mark.timeout(1800)  # pynndescent compiles, which takes minutes on a busy machine
def test_approximate_neighbours_are_nearly_exact():
    points = swiss_roll(3000, n_features=20).points
    few = points[:60]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = build_graph(points, 8, search="approximate")
        found_few = build_graph(few, 5, search="approximate", n_jobs=64)  # more than cores
    exact = build_graph(points, 8)
    assert np.diff(found.indptr).min() >= 8
    n_common = found.to_sparse().multiply(exact.to_sparse()).nnz
    assert n_common > 0.999 * exact.n_edges
    np.testing.assert_array_equal(found_few.indices, build_graph(few, 5).indices)


class Scattered:
    """Stands for pynndescent and finds nearly nothing."""

    def __init__(self, points, n_neighbors, **_):
        rng = np.random.default_rng(0)
        found = rng.integers(len(points), size=(len(points), n_neighbors)).astype(np.int32)
        found[5] = -1
        self.neighbor_graph = found, None


def test_bad_recall_is_said_and_no_point_is_lost(monkeypatch):
    module = type(sys)("pynndescent")
    module.NNDescent = Scattered
    monkeypatch.setitem(sys.modules, "pynndescent", module)
    points = swiss_roll(500, n_features=20).points
    with pytest.warns(UserWarning, match=r"found only \d+\.\d% of the nearest neighbours of 256"):
        indptr, indices = neighbor_lists(points, 5, search="approximate")
    assert np.diff(indptr).min() >= 1
    np.testing.assert_array_equal(np.sort(indices[indptr[5] : indptr[6]]), textbook(points, 5)[5])


def test_approximate_search_asks_for_no_more_threads_than_numba_began_with(monkeypatch):
    # A process that is given more cores while it lives.
    asked = []

    class Descent(Scattered):
        def __init__(self, points, n_neighbors, *, n_jobs, **how):
            asked.append(n_jobs)
            super().__init__(points, n_neighbors, **how)

    module = type(sys)("pynndescent")
    module.NNDescent = Descent
    monkeypatch.setitem(sys.modules, "pynndescent", module)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 1)
    monkeypatch.setattr(neighbors, "cpu_count", lambda: 2)
    with pytest.warns(UserWarning, match="found only"):
        neighbor_lists(swiss_roll(500).points, 5, search="approximate", n_jobs=2)
    assert asked == [1]


def test_auto_turns_to_approximate_and_says_so(monkeypatch):
    points = swiss_roll(500, n_features=20).points
    calls = []

    def approximate(points, n_candidates, *_):
        calls.append(n_candidates)
        return nearest(points, points, n_candidates)

    monkeypatch.setattr(neighbors, "_approximate_neighbors", approximate)
    monkeypatch.setattr(neighbors, "_MOST_PRODUCTS", 1e6)
    build_graph(points, 6)  # of two dimensions: a tree is quick
    assert not calls
    points = np.random.default_rng(0).normal(size=(500, 20))
    with pytest.warns(UserWarning, match="of 500 points in 20 dimensions take long, so they are a"):
        build_graph(points, 6)
    assert calls
    calls.clear()
    build_graph(points, 6, search="exact")
    assert not calls


def test_without_pynndescent(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    points = swiss_roll(500, n_features=20).points
    with pytest.raises(ImportError, match=r"pip install 'ptunfold\[approximate\]'"):
        PTU(search="approximate").fit(points)
    monkeypatch.setattr(neighbors, "_MOST_PRODUCTS", 1e6)
    points = np.random.default_rng(0).normal(size=(500, 20))
    with pytest.warns(UserWarning, match="take long; for approximate ones install pynndescent"):
        found = build_graph(points, 6)
    assert found.n_points == 500
    with pytest.raises(ValueError, match="search='fast' is not known; choose one of \"auto\""):
        PTU(search="fast").fit(points)
