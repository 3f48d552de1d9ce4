"""Shortest-path trees, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.trees import (
    grow_forest,
    grow_tree,
    least_along,
    lengths_from,
    new_tree,
    tree_lengths,
)
from tests.kernels.graphs import random_graph

GRAPH = random_graph(n_apart=7)
LENGTHS = dijkstra(GRAPH.to_sparse())


def grown(source, graph=GRAPH):
    arrays = graph_arrays(graph)
    tree = new_tree(arrays)
    return tree, grow_tree(arrays, source, tree)


def test_lengths_are_those_of_scipy():
    sources = np.array([59, 3, 3, 0])
    rows = np.empty((4, 60))
    tree_lengths(graph_arrays(GRAPH), sources, rows)
    np.testing.assert_allclose(rows, LENGTHS[sources], rtol=1e-14)
    assert np.isinf(rows).any()


def check_tree(tree, n_reached, graph, source):
    """Parents come first, each node is there once, and edges add up."""
    order = tree.order[:n_reached]
    edges = tree.parent_edge[order[1:]]
    assert order[0] == source
    np.testing.assert_array_equal(np.sort(order), np.flatnonzero(np.isfinite(tree.distance)))
    np.testing.assert_array_equal(tree.visit[order], np.arange(n_reached))
    np.testing.assert_array_equal(graph.indices[edges], order[1:])
    assert (tree.visit[graph.tails[edges]] < np.arange(1, n_reached)).all()
    reached = tree.distance[graph.tails[edges]] + graph.lengths[edges]
    np.testing.assert_array_equal(tree.distance[order[1:]], reached)


def test_a_tree_has_parents_first_and_its_edges_add_up():
    tree, n_reached = grown(5)
    assert n_reached == 53
    check_tree(tree, n_reached, GRAPH, 5)
    assert (tree.parent_edge[[5, *range(53, 60)]] == -1).all()


# All of a width, many buckets apart, beyond all buckets, and all in the first one.
@pytest.mark.parametrize("spread", [0, 1, 4, 40, -40])
def test_lengths_of_any_scales(spread):
    """Some edges are by orders of magnitude longer, or most of them, than that of the median."""
    rng = np.random.default_rng(3)
    graph = random_graph(400, 1500, seed=4)
    scales = 10.0 ** (spread * (rng.random(graph.n_edges) < 0.3))
    scales = np.minimum(scales, scales[graph.reverse])
    graph = graph.with_lengths(graph.lengths * scales)
    expected = dijkstra(graph.to_sparse(), indices=[7])[0]
    tree, n_reached = grown(7, graph)
    np.testing.assert_allclose(tree.distance, expected, rtol=1e-13)
    check_tree(tree, n_reached, graph, 7)


def test_visits_that_are_many_more_than_nodes():
    """Long ways of few edges come first, and are corrected again and again."""
    graph = random_graph(200, 3000, seed=5)
    arrays, tree = graph_arrays(graph), new_tree(graph_arrays(graph))
    expected = dijkstra(graph.to_sparse(), indices=[0])[0]
    wide = tree._replace(per_width=1e-6)  # one bucket: a stack
    n_reached = grow_tree(arrays, 0, wide)
    np.testing.assert_allclose(wide.distance, expected, rtol=1e-13)
    check_tree(wide, n_reached, graph, 0)


def test_a_room_is_used_again():
    tree, _ = grown(5)
    n_reached = grow_tree(graph_arrays(GRAPH), 58, tree)
    assert n_reached == 7
    check_tree(tree, n_reached, GRAPH, 58)
    np.testing.assert_array_equal(tree.distance, lengths_from(GRAPH, 58))


def test_lengths_as_small_as_numbers_can_be():
    graph = GRAPH.with_lengths(GRAPH.lengths * 1e-310)
    tree, n_reached = grown(5, graph)
    check_tree(tree, n_reached, graph, 5)
    np.testing.assert_allclose(tree.distance, LENGTHS[5] * 1e-310, rtol=1e-9)


def test_copies_of_a_point_are_at_no_distance():
    graph = replace(GRAPH, lengths=np.zeros(GRAPH.n_edges))
    tree, n_reached = grown(5, graph)
    check_tree(tree, n_reached, graph, 5)
    assert n_reached == 53
    assert not tree.distance[:53].any()


def test_the_least_on_the_way():
    values = np.random.default_rng(1).random(GRAPH.n_edges)
    tree, n_reached = grown(5)
    least = np.ones(60)
    least[tree.order[1:n_reached]] = values[tree.parent_edge[tree.order[1:n_reached]]]
    least_along(GRAPH.tails, tree, n_reached, least)
    for node in tree.order[1:n_reached]:
        on_the_way, here = [], node
        while here != 5:
            on_the_way.append(tree.parent_edge[here])
            here = GRAPH.tails[on_the_way[-1]]
        assert least[node] == values[on_the_way].min()


def test_a_forest_reaches_each_node_from_the_nearest_root():
    arrays, roots = graph_arrays(GRAPH), np.array([5, 40, 57])
    tree = new_tree(arrays)
    n_reached = grow_forest(arrays, roots, tree)
    np.testing.assert_allclose(tree.distance, LENGTHS[roots].min(axis=0), rtol=1e-14)
    assert (np.flatnonzero(tree.parent_edge < 0) == roots).all()
    order = tree.order[:n_reached]
    parents = GRAPH.tails[tree.parent_edge[order]]
    is_root = np.isin(order, roots)
    assert (tree.visit[parents] < np.arange(n_reached))[~is_root].all()
