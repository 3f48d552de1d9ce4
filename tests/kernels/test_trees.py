"""Shortest-path trees, against SciPy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold import build_graph
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.trees import (
    forget_tree,
    graph_neighborhoods,
    grow_whole_tree,
    least_along,
    lengths_within,
    new_tree,
    tree_lengths,
)
from tests.kernels.graphs import random_graph

GRAPH = random_graph(n_apart=7)
LENGTHS = dijkstra(GRAPH.to_sparse())


def grown(source):
    tree = new_tree(GRAPH.n_points)
    return tree, *grow_whole_tree(graph_arrays(GRAPH), source, tree)


def test_lengths_are_those_of_scipy():
    sources = np.array([59, 3, 3, 0])
    rows = np.empty((4, 60))
    tree_lengths(graph_arrays(GRAPH), sources, rows)
    np.testing.assert_allclose(rows, LENGTHS[sources], rtol=1e-14)
    assert np.isinf(rows).any()


def test_a_tree_is_in_order_and_its_edges_add_up():
    tree, n_settled, size = grown(5)
    order, edges = tree.order[:n_settled], tree.parent_edge[tree.order[1:n_settled]]
    assert (n_settled, size) == (53, 0)
    assert (np.diff(tree.distance[order]) > 0).all()
    np.testing.assert_array_equal(GRAPH.indices[edges], order[1:])
    reached = tree.distance[GRAPH.tails[edges]] + GRAPH.lengths[edges]
    np.testing.assert_array_equal(tree.distance[order[1:]], reached)
    assert (tree.parent_edge[[5, *range(53, 60)]] == -1).all()


def test_a_tree_that_is_forgotten_is_new():
    tree, n_settled, size = grown(5)
    forget_tree(tree, n_settled, size)
    for name in ("distance", "parent_edge", "slot"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(new_tree(60), name))


def test_the_least_on_the_way():
    values = np.random.default_rng(1).random(GRAPH.n_edges)
    tree, n_settled, _ = grown(5)
    least = np.ones(60)
    least_along(GRAPH.tails, values, tree, n_settled, least)
    for node in tree.order[1:n_settled]:
        on_the_way, here = [], node
        while here != 5:
            on_the_way.append(tree.parent_edge[here])
            here = GRAPH.tails[on_the_way[-1]]
        assert least[node] == values[on_the_way].min()


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
