"""Turns around triangles, against products of rotations."""

import numpy as np
import pytest

from ptunfold import Frames, build_graph, connect
from ptunfold.datasets import spherical_cap
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.triangles import turn_around_triangles
from tests.oracle import random_connection


def measured(connection, edges):
    sums = np.full((len(edges), 4), np.nan)
    turn_around_triangles(connection_arrays(connection), edges, sums)
    return sums


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_means_over_the_triangles_of_an_edge(dim):
    *_, connection = random_connection(dim, seed=dim, n_points=30)
    graph, turns, steps = connection.graph, connection.rotations, connection.steps
    edge_of = {ends: i for i, ends in enumerate(zip(graph.tails, graph.indices, strict=True))}
    expected = np.zeros((graph.n_edges, 4))
    for (u, v), uv in edge_of.items():
        rows = []
        for w in range(30):
            if (u, w) not in edge_of or (v, w) not in edge_of:
                continue
            vw, uw = edge_of[v, w], edge_of[u, w]
            turn = turns[uv] @ turns[vw] @ turns[edge_of[w, u]] - np.eye(dim)
            # Two sides, each as both of its ends see it.
            a = (steps[uv] - turns[uv] @ steps[edge_of[v, u]]) / 2
            b = (steps[uw] + turns[uv] @ steps[vw]) / 2
            area = (np.outer(a, b) - np.outer(b, a)) / 2
            rows.append(
                [
                    np.sum(one * other) / dim
                    for one, other in ((turn, turn), (turn, area), (area, area))
                ]
            )
        if rows:
            expected[uv] = *np.mean(rows, axis=0), len(rows)
    # Both ends of an edge say the same, but for the frame that triangles are written in.
    found = measured(connection, np.arange(graph.n_edges))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found, found[graph.reverse], atol=1e-12)
    assert expected[:, 3].max() > 2


def test_the_order_of_edges_does_not_matter():
    *_, connection = random_connection(3, seed=0, n_points=30)
    edges = np.random.default_rng(0).permutation(connection.graph.n_edges)
    expected = measured(connection, np.arange(connection.graph.n_edges))
    np.testing.assert_array_equal(measured(connection, edges), expected[edges])
    np.testing.assert_array_equal(measured(connection, edges[:7]), expected[edges[:7]])


def test_the_curvature_of_a_sphere():
    """A vector carried around a triangle comes back turned by the curvature times its area."""
    points = 2 * spherical_cap(2000).points
    graph = build_graph(points)
    tangents = np.linalg.svd(points[:, None])[2][:, 1:].swapaxes(1, 2).copy()
    frames = Frames(tangents, np.ones((2000, 2)), np.zeros(2000))
    connection = connect(points, graph, frames, "arc")
    _, along, area, _ = measured(connection, np.arange(graph.n_edges)).T
    radius = np.linalg.norm(points, axis=1).mean()
    assert along.sum() / area.sum() == pytest.approx(1 / radius**2, rel=0.01)
