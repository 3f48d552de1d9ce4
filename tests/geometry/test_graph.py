"""Which points are joined, and how far apart they are said to be."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from ptunfold import build_graph, graph_from_matrix
from ptunfold.geometry.neighbors import nearest_neighbors, pairs_within


def edges_of(graph):
    return set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))


def k_nearest(points, k):
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@pytest.fixture(params=[3, 40], ids=["tree", "brute"])
def points(request):
    return np.random.default_rng(0).normal(size=(120, request.param))


def test_knn_joins_if_either_is_among_the_nearest(points):
    expected = set()
    for i, row in enumerate(k_nearest(points, 6)):
        expected |= {(i, j) for j in row.tolist()} | {(j, i) for j in row.tolist()}
    assert edges_of(build_graph(points, 6)) == expected


def test_mutual_joins_if_each_is_among_the_nearest(points):
    near = k_nearest(points, 6)
    expected = {(i, j) for i in range(len(points)) for j in near[i].tolist() if i in near[j]}
    assert edges_of(build_graph(points, 6, kind="mutual")) == expected


def test_radius_joins_all_within(points):
    distances = cdist(points, points)
    radius = np.quantile(distances, 0.05)
    expected = {(i, j) for i, j in np.argwhere(distances <= radius).tolist() if i != j}
    assert edges_of(build_graph(points, kind="radius", radius=radius)) == expected


@pytest.mark.parametrize("kind", ["knn", "mutual"])
def test_radius_bounds_the_other_kinds(points, kind):
    whole = build_graph(points, 6, kind=kind)
    radius = float(np.median(whole.lengths))
    bounded = build_graph(points, 6, kind=kind, radius=radius)
    short = whole.lengths <= radius
    assert 0 < bounded.n_edges < whole.n_edges
    assert edges_of(bounded) == set(
        zip(whole.tails[short].tolist(), whole.indices[short].tolist(), strict=True)
    )


def test_a_point_exactly_on_the_radius_is_inside():
    graph = build_graph([[0.0], [0.1], [0.30000000000000004]], kind="radius", radius=0.1)
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


def test_every_point_keeps_its_neighbours_among_duplicates(points):
    doubled = np.repeat(points, 4, axis=0)
    neighbors = nearest_neighbors(doubled, 6)
    own = np.arange(len(doubled))[:, None]
    assert (neighbors != own).all()
    assert all(len(set(row)) == 6 for row in neighbors.tolist())
    graph = build_graph(doubled, 6)
    assert (np.diff(graph.indptr) >= 6).all()
    # The other three copies of a point are its nearest neighbours, at distance 0.
    copies = graph.lengths == 0
    assert np.count_nonzero(copies) == len(points) * 4 * 3


def test_more_copies_than_neighbours(points):
    many = np.concatenate((points, np.repeat(points[:1], 30, axis=0)))
    neighbors = nearest_neighbors(many, 6)
    assert (neighbors != np.arange(len(many))[:, None]).all()


def test_ties_leave_nobody_with_fewer_neighbours():
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    assert (np.diff(build_graph(grid, 3).indptr) >= 3).all()
    assert len(pairs_within(grid, 1.0)) == 2 * 7 * 8


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
