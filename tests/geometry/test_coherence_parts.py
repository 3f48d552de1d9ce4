"""Turns around triangles, against the product of rotations."""

from dataclasses import replace

import numpy as np
import pytest

from ptunfold.geometry.coherence import _turns, carried_shares, on_both_ways, with_coherence
from ptunfold.geometry.graph import graph_from_edges
from ptunfold.types import Connection


def turned(angles):
    cos, sin = np.cos(angles), np.sin(angles)
    return np.ascontiguousarray(np.moveaxis(np.array([[cos, -sin], [sin, cos]]), -1, 0))


@pytest.fixture
def tailed():
    """Two triangles that share an edge, and a tail of two edges, turned at random."""
    tails, heads = np.array([0, 0, 1, 1, 2, 3, 4]), np.array([1, 2, 2, 3, 3, 4, 5])
    graph = graph_from_edges(6, tails, heads, np.ones(7))
    angles = np.random.default_rng(0).normal(scale=0.3, size=graph.n_edges)
    is_first = graph.tails < graph.indices
    angles[~is_first] = -angles[graph.reverse][~is_first]
    # Without areas no curvature is taken out.
    return Connection(graph, turned(angles), np.zeros((graph.n_edges, 2)))


def test_edges_without_a_triangle_fare_like_those_around(tailed):
    graph = tailed.graph
    found = on_both_ways(graph, lambda edges: _turns(tailed, edges, 1))
    by_ends = dict(
        zip(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True), found, strict=True)
    )
    for (tail, head), value in by_ends.items():
        assert by_ends[head, tail] == pytest.approx(value)
    # Around a triangle each of its edges turns by as much, but for what they have besides.
    assert by_ends[0, 1] == pytest.approx(by_ends[0, 2])
    assert by_ends[1, 3] == pytest.approx(by_ends[2, 3])
    assert by_ends[1, 2] == pytest.approx((by_ends[0, 1] + by_ends[1, 3]) / 2)
    assert by_ends[0, 1] > 0
    assert by_ends[3, 4] == pytest.approx((by_ends[1, 3] + by_ends[2, 3]) / 2)
    assert by_ends[4, 5] == 0  # nobody knows anything there


def test_an_edge_between_two_triangles_has_the_mean_of_both():
    tails, heads = np.array([0, 0, 1, 2, 3, 3, 4, 5, 5]), np.array([1, 2, 2, 3, 4, 5, 5, 6, 7])
    graph = graph_from_edges(8, np.append(tails, 6), np.append(heads, 7), np.ones(10))
    angles = np.random.default_rng(1).normal(scale=0.3, size=graph.n_edges)
    is_first = graph.tails < graph.indices
    angles[~is_first] = -angles[graph.reverse][~is_first]
    laid = Connection(graph, turned(angles), np.zeros((graph.n_edges, 2)))
    found = on_both_ways(graph, lambda edges: _turns(laid, edges, 1))
    at = {
        (tail, head): value
        for tail, head, value in zip(graph.tails, graph.indices, found, strict=True)
    }
    expected = (at[2, 0] + at[2, 1] + at[3, 4] + at[3, 5]) / 4
    assert at[2, 3] == pytest.approx(expected)
    assert at[0, 1] != pytest.approx(at[3, 4], rel=0.1)


def test_planes_that_explain_little_carry_nothing(tailed):
    edges, ones = np.arange(tailed.graph.n_edges), np.ones(6)
    whole = carried_shares(tailed, edges, 1)
    all_of_it = carried_shares(replace(tailed, explained=ones), edges, 1)
    np.testing.assert_allclose(all_of_it, whole)
    nothing = ones.copy()
    nothing[3] = 0.5
    found = carried_shares(replace(tailed, explained=nothing), edges, 1)
    ends = (tailed.graph.tails == 3) | (tailed.graph.indices == 3)
    assert not found[ends].any()
    np.testing.assert_allclose(found[~ends], whole[~ends])


def test_a_share_that_is_given(tailed):
    assert with_coherence(tailed, 1).coherence is None
    np.testing.assert_array_equal(with_coherence(tailed, 0.25).coherence, 0.25)
    assert (with_coherence(tailed).coherence < 1).any()
