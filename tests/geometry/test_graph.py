"""Which points are joined, and how far apart they are said to be."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from ptunfold import build_graph, graph_from_matrix
from ptunfold.geometry import neighbors
from ptunfold.geometry.graph import find_edges, graph_from_edges, has_edges, joined_by
from ptunfold.geometry.neighbors import distinct_places, pairs_within


def edges_of(graph):
    return set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))


def k_nearest(points, k):
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@pytest.fixture(params=[3, 40], ids=["tree", "brute"])
def points(request, monkeypatch):
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    return np.random.default_rng(0).normal(size=(120, request.param))


def test_knn_joins_if_either_is_among_the_nearest(points):
    expected = set()
    for i, row in enumerate(k_nearest(points, 6)):
        expected |= {(i, j) for j in row.tolist()} | {(j, i) for j in row.tolist()}
    assert edges_of(build_graph(points, 6)) == expected


def test_mutual_joins_if_each_is_among_the_nearest(points):
    near = k_nearest(points, 6)
    expected = {(i, j) for i in range(len(points)) for j in near[i].tolist() if i in near[j]}
    assert edges_of(build_graph(points, 6, graph="mutual")) == expected


def test_radius_joins_all_within(points):
    distances = cdist(points, points)
    radius = np.quantile(distances, 0.05)
    expected = {(i, j) for i, j in np.argwhere(distances <= radius).tolist() if i != j}
    assert edges_of(build_graph(points, graph="radius", radius=radius)) == expected


@pytest.mark.parametrize("graph_kind", ["knn", "mutual"])
def test_radius_bounds_the_other_kinds(points, graph_kind):
    whole = build_graph(points, 6, graph=graph_kind)
    radius = float(np.median(whole.lengths))
    bounded = build_graph(points, 6, graph=graph_kind, radius=radius)
    short = whole.lengths <= radius
    assert 0 < bounded.n_edges < whole.n_edges
    assert edges_of(bounded) == set(
        zip(whole.tails[short].tolist(), whole.indices[short].tolist(), strict=True)
    )


def test_a_point_exactly_on_the_radius_is_inside():
    graph = build_graph([[0.0], [0.1], [0.30000000000000004]], graph="radius", radius=0.1)
    assert edges_of(graph) == {(0, 1), (1, 0)}


def test_lengths_are_euclidean(points):
    graph = build_graph(points, 6)
    expected = np.linalg.norm(points[graph.tails] - points[graph.indices], axis=1)
    np.testing.assert_allclose(graph.lengths, expected, rtol=1e-15)


def test_lengths_keep_their_digits_far_from_the_origin(points):
    near = build_graph(points, 6)
    far = build_graph(points + 2.0**20, 6)
    np.testing.assert_array_equal(far.indices, near.indices)
    np.testing.assert_allclose(far.lengths, near.lengths, rtol=1e-8)


def test_the_graph_is_symmetric_and_knows_its_reverse(points):
    graph = build_graph(points, 6)
    np.testing.assert_array_equal(graph.tails[graph.reverse], graph.indices)
    np.testing.assert_array_equal(graph.indices[graph.reverse], graph.tails)
    np.testing.assert_array_equal(graph.lengths[graph.reverse], graph.lengths)


def test_copies_do_not_crowd_out_neighbours(points):
    """However many copies there are, the distinct places are joined as they would be alone."""
    alone = build_graph(points, 6)
    for n_copies in (2, 4, 20):
        graph = build_graph(np.tile(points, (n_copies, 1)), 6)
        copies = graph.lengths == 0
        assert np.count_nonzero(copies) == 2 * (n_copies - 1) * len(points)
        apart = (graph.tails[~copies], graph.indices[~copies])
        np.testing.assert_array_equal(apart, (alone.tails, alone.indices))
        np.testing.assert_array_equal(
            graph.tails[copies] % len(points), graph.indices[copies] % len(points)
        )


def test_copies_are_found_among_look_alikes():
    points = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(np.float32)
    places = distinct_places(points)
    np.testing.assert_array_equal(points[places], points)
    assert len(set(places.tolist())) == len(np.unique(points, axis=0))
    assert (places <= np.arange(500)).all()


def test_ties_are_all_in():
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    for kind in ("knn", "mutual"):
        degrees = np.diff(build_graph(grid, 3, graph=kind).indptr).reshape(8, 8)
        assert (degrees[2:-2, 2:-2] == 4).all()
    assert len(pairs_within(grid, 1.0)) == 2 * 7 * 8
    order = np.random.default_rng(0).permutation(64)
    shuffled = build_graph(grid[order], 3)
    assert edges_of(build_graph(grid, 3)) == {
        (int(order[i]), int(order[j])) for i, j in edges_of(shuffled)
    }


@pytest.mark.parametrize("far", [1e5, 1e10])
def test_neighbours_survive_an_outlier(far, monkeypatch):
    """Brute force in 20 dimensions: digits must not cancel because something is far away."""
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    points = np.random.default_rng(0).normal(size=(300, 20))
    expected = edges_of(build_graph(points, 6))
    with_outlier = build_graph(np.vstack((points, np.full((1, 20), far))), 6)
    assert {(i, j) for i, j in edges_of(with_outlier) if max(i, j) < 300} == expected


def test_neighbours_in_two_far_clusters(monkeypatch):
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    near = np.random.default_rng(0).normal(size=(100, 20))
    points = np.concatenate((near, near + 1e9))
    graph = build_graph(points, 6)
    for offset in (0, 100):
        inside = {
            (i - offset, j - offset) for i, j in edges_of(graph) if (i >= 100) == bool(offset)
        }
        rounded = points[offset : offset + 100] - points[offset]
        assert inside == edges_of(build_graph(rounded, 6))


def test_brute_force_measures_candidates_again(monkeypatch):
    """What is found in a wrong order is put right, as long as it is found."""
    points = np.random.default_rng(0).normal(size=(60, 20))
    expected = edges_of(build_graph(points, 5))

    def careless(points, queries, n_nearest, n_jobs=None):
        found = np.argsort(cdist(queries, points), axis=1)[:, :n_nearest]
        return found[:, ::-1]

    monkeypatch.setattr(neighbors, "nearest", careless)
    assert edges_of(build_graph(points, 5)) == expected


def test_a_small_set_gives_the_same_graph_either_way(monkeypatch):
    points = np.random.default_rng(0).normal(size=(200, 40))
    by_tree = build_graph(points, 6)
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    np.testing.assert_array_equal(build_graph(points, 6).indices, by_tree.indices)


def test_a_graph_is_taken_as_it_is(points):
    graph = build_graph(points, 6)
    assert graph_from_matrix(graph, len(points)) is graph
    with pytest.raises(ValueError, match="the graph has 120 points, but 50 points"):
        graph_from_matrix(graph, 50)


def test_own_graph_is_symmetrised_by_union():
    matrix = sparse.coo_array(([1.0, 2.0, 5.0, 4.0], ([0, 2, 0, 3], [1, 1, 3, 0])), shape=(4, 4))
    dense = graph_from_matrix(matrix, 4).to_sparse().toarray()
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1
    expected[1, 2] = expected[2, 1] = 2
    expected[0, 3] = expected[3, 0] = 4  # of two lengths the shorter
    np.testing.assert_array_equal(dense, expected)


def test_explicit_zeros_are_edges_and_the_diagonal_is_not():
    matrix = sparse.csr_array(([0.0, 0.0, 3.0], ([0, 1, 1], [1, 1, 2])), shape=(3, 3))
    graph = graph_from_matrix(matrix, 3)
    assert edges_of(graph) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert graph.lengths.tolist() == [0, 0, 3, 3]


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.lil_array])
def test_any_sparse_form_is_taken(points, form):
    matrix = kneighbors_graph(points, 6, mode="distance")
    graph = graph_from_matrix(form(matrix), len(points))
    np.testing.assert_array_equal(graph.indices, build_graph(points, 6).indices)


def test_components_of_one_size_are_in_the_order_of_their_first_points():
    points = np.random.default_rng(0).normal(size=(60, 2))
    points[:, 0] += 100 * (np.arange(60) % 3)
    labels = build_graph(points, 5).component_labels
    np.testing.assert_array_equal(labels, np.arange(60) % 3)


def test_components_are_joined_by_the_shortest_edges_of_another_graph():
    ends = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    graph = graph_from_edges(8, *ends.T, np.ones(4))
    # Between the first two parts there are two edges, between the second and third one; none leads
    # to the last.
    more = np.array([[0, 2], [1, 3], [3, 4], [0, 1]])
    other = graph_from_edges(8, *more.T, np.array([3.0, 2.0, 5.0, 9.0]))
    joined = joined_by(graph, other)
    expected = np.concatenate((ends, more[1:3]))
    assert has_edges(joined, *expected.T).all()
    assert joined.n_edges == 2 * len(expected)
    places, _ = find_edges(joined, *expected.T)
    np.testing.assert_array_equal(joined.lengths[places], [1, 1, 1, 1, 2, 5])
    assert joined_by(joined, other) is joined
