"""Medians over neighbours, against sorting."""

import numpy as np

from ptunfold.geometry.graph import graph_from_edges
from ptunfold.kernels.medians import neighbor_medians
from tests.kernels.graphs import random_graph


def test_each_is_the_upper_median_of_the_neighbours():
    graph = random_graph(n_apart=1)  # the last one has no neighbour
    # Some of them are the same.
    values, found = np.round(np.random.default_rng(0).normal(size=60), 1), np.full(60, 9.0)
    neighbor_medians(graph.indptr, graph.indices, values, found)
    counts = np.diff(graph.indptr)
    assert counts[-1] == 0
    for node in range(60):
        near = np.sort(values[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]])
        assert found[node] == (near[len(near) // 2] if len(near) else 9)


def test_some_nodes_of_a_graph():
    graph = random_graph()
    values, found, part = np.random.default_rng(0).normal(size=60), np.empty(60), np.empty(25)
    neighbor_medians(graph.indptr, graph.indices, values, found)
    neighbor_medians(graph.indptr[20:46], graph.indices, values, part)
    np.testing.assert_array_equal(part, found[20:45])


def test_the_median_of_many():
    graph = star(501)
    values, found = np.random.default_rng(1).normal(size=501), np.empty(501)
    neighbor_medians(graph.indptr, graph.indices, values, found)
    assert found[0] == np.sort(values[1:])[250]
    np.testing.assert_array_equal(found[1:], values[0])


def star(n_points):
    around = np.arange(1, n_points)
    return graph_from_edges(n_points, np.zeros_like(around), around, np.ones(n_points - 1))
