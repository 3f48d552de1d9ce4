"""Nodes near on the graph, against SciPy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold import build_graph
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.nearby import graph_neighborhoods, lengths_within
from tests.kernels.graphs import random_graph

GRAPH = random_graph(n_apart=7)
LENGTHS = dijkstra(GRAPH.to_sparse())


def test_lengths_within_limits():
    rng = np.random.default_rng(2)
    tails, heads = np.sort(rng.integers(0, 60, 90)), rng.integers(0, 60, 90)
    exact, found = LENGTHS[tails, heads], np.empty(90)
    limits = np.minimum(exact, 9) * rng.uniform(0.5, 1.5, 90)
    lengths_within(graph_arrays(GRAPH), tails, heads, limits, found)
    expected = np.where(exact <= limits, exact, np.inf)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert 20 < np.isinf(found).sum() < 70


@pytest.mark.parametrize("n_neighbors", [3, 12, 40])
def test_neighbourhoods_are_nearest_on_the_graph(n_neighbors):
    graph = build_graph(np.random.default_rng(3).normal(size=(80, 4)), 6)
    members = np.empty((80, n_neighbors), dtype=np.int64)
    counts, everyone = np.empty(80, dtype=np.int64), np.arange(80)
    graph_neighborhoods(graph_arrays(graph), everyone, everyone, members, counts)
    lengths = dijkstra(graph.to_sparse())
    np.testing.assert_array_equal(counts, n_neighbors)
    np.testing.assert_array_equal(members, np.argsort(lengths, axis=1)[:, 1 : n_neighbors + 1])


def test_neighbourhoods_have_one_node_of_a_place():
    places = np.arange(60) // 3 * 3
    members, counts = np.empty((60, 8), dtype=np.int64), np.empty(60, dtype=np.int64)
    graph_neighborhoods(graph_arrays(GRAPH), places, np.arange(60), members, counts)
    for node in range(60):
        nearest = [other for other in np.argsort(LENGTHS[node]) if LENGTHS[node, other] < np.inf]
        _, first = np.unique(places[nearest], return_index=True)
        expected = [nearest[at] for at in np.sort(first) if places[nearest[at]] != places[node]]
        np.testing.assert_array_equal(members[node, : counts[node]], expected[:8])
    assert counts.min() < 8
