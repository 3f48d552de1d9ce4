"""Geodesic distances against a textbook, against SciPy, and against what must not matter."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold import (
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    graph_distances,
    transport_distances,
)
from ptunfold.datasets import s_with_hole
from ptunfold.geodesics.distances import symmetrize
from tests.oracle import algorithm_2, random_connection


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize("step", ["projection", "chord"])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_to_algorithm_2(dim, step, seed):
    points, graph, frames, connection = random_connection(dim, seed, step=step)
    expected, one_way, lengths = algorithm_2(points, graph, frames, step)
    np.testing.assert_allclose(transport_distances(connection), expected, rtol=1e-10, atol=1e-14)
    some = [5, 0, 17]
    np.testing.assert_allclose(
        transport_distances(connection, some), expected[some], rtol=1e-10, atol=1e-14
    )
    np.testing.assert_allclose(graph_distances(graph), lengths, rtol=1e-12)
    # The two directions really differ, or averaging them would prove nothing.
    assert np.abs(one_way - one_way.T).max() > 1e-3 * one_way.max()


def test_equal_to_algorithm_2_on_a_sheet():
    data = s_with_hole(300, seed=4)
    graph = build_graph(data.points, 8)
    frames = estimate_frames(data.points, graph, 12, 2)
    expected, _, _ = algorithm_2(data.points, graph, frames)
    distances = transport_distances(connect(data.points, graph, frames, "projection"))
    np.testing.assert_allclose(distances, expected, rtol=1e-10, atol=1e-14)


def test_path_lengths_equal_scipy():
    graph = build_graph(s_with_hole(600).points)
    expected = dijkstra(graph.to_sparse())
    np.testing.assert_allclose(graph_distances(graph), expected, rtol=1e-13)
    np.testing.assert_array_equal(graph_distances(graph, [3, 1]), graph_distances(graph)[[3, 1]])


def test_path_lengths_equal_scipy_with_copies_and_ties():
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    graph = build_graph(np.concatenate((grid, grid[:7])), 6)
    expected = dijkstra(graph.to_sparse())
    np.testing.assert_allclose(graph_distances(graph), expected, rtol=1e-13)


def sheet(seed=0, n_points=300):
    return s_with_hole(n_points, seed=seed).points


@pytest.fixture(scope="module")
def reference():
    points = sheet()
    return points, geodesic_distances(points)


def test_rotation_and_translation_do_not_matter(reference):
    points, expected = reference
    rng = np.random.default_rng(1)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = geodesic_distances(points @ turn + rng.normal(size=3) * 10)
    np.testing.assert_allclose(moved, expected, atol=1e-9 * expected.max())


def test_permutation_does_not_matter(reference):
    points, expected = reference
    order = np.random.default_rng(2).permutation(len(points))
    shuffled = geodesic_distances(points[order])
    np.testing.assert_allclose(shuffled, expected[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 3.7, 1e6])
def test_scaling_scales(reference, factor):
    points, expected = reference
    scaled = geodesic_distances(points * factor)
    np.testing.assert_allclose(scaled, expected * factor, atol=1e-9 * factor * expected.max())


def test_a_random_lift_does_not_matter(reference):
    points, expected = reference
    basis, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(40, 3)))
    np.testing.assert_allclose(geodesic_distances(points @ basis.T), expected, atol=1e-9)


def test_the_same_bits_again_and_with_any_number_of_threads(reference):
    points, expected = reference
    for n_jobs in (1, 2, 3, -1):
        np.testing.assert_array_equal(geodesic_distances(points, n_jobs=n_jobs), expected)


def test_distances_are_a_symmetric_matrix_with_a_zero_diagonal(reference):
    _, distances = reference
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(np.diag(distances), 0)


def test_sources_are_rows_of_the_whole(reference):
    points, expected = reference
    # What is not carried on depends on where a path begins; the whole has the mean of both ends.
    rows = geodesic_distances(points, sources=[5, 5, -1])
    np.testing.assert_allclose(rows, expected[[5, 5, -1]], rtol=2e-2)
    rows = geodesic_distances(points, sources=[5, 5, -1], coherence=1)
    whole = geodesic_distances(points, coherence=1)
    np.testing.assert_allclose(rows, whole[[5, 5, -1]], rtol=1e-9, atol=1e-12)
    assert geodesic_distances(points, sources=[]).shape == (0, len(points))


def test_symmetrize_across_tiles():
    matrix = np.random.default_rng(0).random((1100, 1100))
    expected = (matrix + matrix.T) / 2
    symmetrize(matrix)
    np.testing.assert_array_equal(matrix, expected)
