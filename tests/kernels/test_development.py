"""Development along trees, against one path at a time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import Connection
from ptunfold.kernels.development import (
    develop_both_ways,
    inward_row,
    mean_row,
    new_sight,
    new_unfolding,
    one_way_row,
    ways_agree,
)
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.trees import grow_tree, new_tree
from tests.kernels.graphs import random_graph
from tests.oracle import random_connection

N = 60


def partly_carried(dim=3):
    """A connection that carries a part of everything, and some edges nothing or all."""
    *_, connection = random_connection(dim, seed=dim, n_points=N)
    graph, rng = connection.graph, np.random.default_rng(0)
    kept = np.clip(rng.uniform(-0.2, 1.2, graph.n_edges), 0, 1)
    return replace(
        connection, coherence=np.where(graph.tails < graph.indices, kept, kept[graph.reverse])
    )


def walk(connection, tree, node):
    """List the edges from the root to a node."""
    edges = []
    while tree.parent_edge[node] >= 0:
        edges.append(tree.parent_edge[node])
        node = connection.graph.tails[edges[-1]]
    return edges[::-1]


def halves(connection, edges):
    """What the end sees of the root, what the root sees of the end, the turn, and what is lost.

    The root of the share is carried over either half of an edge, before its step and after it.
    """
    dim = connection.intrinsic_dim
    inward, outward, turn, lost = np.zeros(dim), np.zeros(dim), np.eye(dim), np.zeros(2)
    for edge in edges:
        back, keep = connection.graph.reverse[edge], np.sqrt(connection.coherence[edge])
        lost += (1 - keep) * np.array([np.linalg.norm(inward), np.linalg.norm(outward)])
        inward = connection.steps[back] + connection.rotations[back] @ (keep * inward)
        outward = keep * outward + turn @ connection.steps[edge]
        turn = turn @ connection.rotations[edge]
        lost += (1 - keep) * np.array([np.linalg.norm(inward), np.linalg.norm(outward)])
        inward, outward = keep * inward, keep * outward
    return inward, outward, turn, lost


@pytest.mark.parametrize("dim", [1, 2, 4])
def test_paths_are_unfolded_edge_by_edge(dim):
    connection = partly_carried(dim)
    arrays = connection_arrays(connection)
    unfolding = new_unfolding(arrays)
    develop_both_ways(arrays, grow_tree(arrays.graph, 7, unfolding.tree), unfolding)
    ways = [walk(connection, unfolding.tree, node) for node in range(N)]
    assert max(map(len, ways)) > 3
    for found, expected in zip(
        unfolding[1:5], zip(*(halves(connection, way) for way in ways), strict=True), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_are_lengths_but_no_shorter_than_chords():
    connection = partly_carried(2)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(N, 2)) * rng.choice([0.01, 5], size=(N, 1))
    arrays = connection_arrays(replace(connection, points=points))
    unfolding = new_unfolding(arrays)
    one_way, mean = np.empty(N), np.empty(N)
    chords = cdist(points, points)
    for source in (0, 33):
        tree = new_tree(arrays.graph)
        grow_tree(arrays.graph, source, tree)
        parts = [halves(connection, walk(connection, tree, node)) for node in range(N)]
        there, here = (
            np.array([np.linalg.norm(part[side]) + part[3][side] for part in parts])
            for side in (0, 1)
        )
        least = chords[source]
        assert 0 < np.count_nonzero(least > there) < N - 1
        one_way_row(arrays, source, unfolding, one_way)
        np.testing.assert_allclose(one_way, np.maximum(there, least), atol=1e-12)
        mean_row(arrays, source, unfolding, mean)
        expected = (np.maximum(there, least) + np.maximum(here, least)) / 2
        np.testing.assert_allclose(mean, expected, atol=1e-12)


def test_rows_are_infinite_where_no_path_leads():
    graph = random_graph(n_apart=5)
    turns = np.broadcast_to(np.eye(2), (graph.n_edges, 2, 2)).copy()
    arrays = connection_arrays(Connection(graph, turns, np.ones((graph.n_edges, 2))))
    is_apart = np.arange(N) >= N - 5
    for source in (0, N - 1):
        one_way, mean = np.zeros((2, N))
        one_way_row(arrays, source, new_unfolding(arrays), one_way)
        mean_row(arrays, source, new_unfolding(arrays), mean)
        for row in (one_way, mean):
            np.testing.assert_array_equal(np.isinf(row), is_apart != is_apart[source])


def even(connection):
    """Make steps back of the steps forth."""
    graph = connection.graph
    forth = graph.tails < graph.indices
    turned = -np.einsum("eji,ej->ei", connection.rotations, connection.steps)
    steps = np.where(forth[:, None], connection.steps, turned[graph.reverse])
    return replace(connection, steps=steps)


def test_ways_agree_where_steps_back_are_steps_forth():
    connection = partly_carried(3)
    assert not ways_agree(connection_arrays(connection))
    connection = even(connection)
    assert ways_agree(connection_arrays(connection))
    connection.steps[-1] *= 1 + 1e-9
    assert not ways_agree(connection_arrays(connection))


@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.parametrize("kind", ["whole", "carried", "curved"])
def test_rows_of_agreeing_ways_are_means_of_both(dim, kind):
    connection = even(partly_carried(dim))
    rng = np.random.default_rng(dim)
    points = rng.normal(size=(N, 3)) * rng.choice([0.01, 5], size=(N, 1))
    if kind != "carried":
        connection = replace(connection, coherence=None)
    if kind == "curved":
        connection = replace(connection, curvature=rng.uniform(-0.1, 0.1, N))
    arrays = connection_arrays(replace(connection, points=points))
    row, mean = np.empty((2, N))
    sight, unfolding = new_sight(arrays), new_unfolding(arrays)
    for source in (0, 33, 0):
        assert inward_row(arrays, source, sight, row) == N
        mean_row(arrays, source, unfolding, mean)
        np.testing.assert_allclose(row, mean, rtol=1e-12)


def test_rows_of_agreeing_ways_end_where_no_path_leads():
    graph = random_graph(n_apart=5)
    turns = np.broadcast_to(np.eye(2), (graph.n_edges, 2, 2)).copy()
    steps = np.where(graph.tails < graph.indices, 1.0, -1.0)[:, None] * np.ones(2)
    arrays = connection_arrays(Connection(graph, turns, steps))
    row, sight = np.zeros(N), new_sight(arrays)
    for source, n_reached in ((0, N - 5), (N - 1, 5)):
        assert inward_row(arrays, source, sight, row) == n_reached
        np.testing.assert_array_equal(np.isinf(row), (np.arange(N) >= N - 5) != (source >= N - 5))
