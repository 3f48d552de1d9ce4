"""Bundles of edges, by themselves."""

import numpy as np

from ptunfold.geometry.bundles import (
    _are_farther,
    _in_short_bundles,
    nearest_edges,
    without_suspects,
)
from ptunfold.geometry.graph import graph_from_edges
from ptunfold.threads import Run


def test_bundles_are_short_by_their_medians():
    # Three bundles that nothing joins, of 1, 2 and 3 edges, and many short edges besides.
    tails = np.array([0, 2, 2, 5, 5, 5, *range(20, 60)])
    heads = np.array([1, 3, 4, 6, 7, 8, *range(21, 61)])
    lengths = np.array([2.9, 1, 3.1, 1, 2.9, 9, *[1.0] * 40])
    graph = graph_from_edges(61, tails, heads, lengths)
    bundled = np.flatnonzero((graph.tails < graph.indices) & (graph.indices < 10))
    found = dict(
        zip(
            graph.indices[bundled].tolist(), _in_short_bundles(graph, bundled).tolist(), strict=True
        )
    )
    assert found == {1: True, 3: False, 4: False, 6: True, 7: True, 8: True}
    assert _in_short_bundles(graph, bundled[:0]).shape == (0,)
    # Of two the longer one counts.
    some = bundled[graph.tails[bundled] == 5][:2]
    assert _in_short_bundles(graph, some).all()


def test_the_ten_shortest_edges_of_each_point():
    rng = np.random.default_rng(0)
    tails, heads = np.triu_indices(30, 1)
    graph = graph_from_edges(30, tails, heads, rng.uniform(size=len(tails)))
    near = nearest_edges(graph).to_sparse().toarray()
    lengths = graph.to_sparse().toarray()
    np.fill_diagonal(lengths, np.inf)
    is_near = lengths <= np.sort(lengths, axis=1)[:, [9]]
    np.testing.assert_array_equal(near > 0, is_near | is_near.T)
    few = graph_from_edges(12, *np.triu_indices(12, 1), rng.uniform(size=66))
    assert nearest_edges(few) is few


def test_ends_are_farther_than_a_limit():
    ring = graph_from_edges(9, np.arange(9), (np.arange(9) + 1) % 9, np.ones(9))
    line = graph_from_edges(9, np.arange(8), np.arange(1, 9), np.ones(8))
    closing = np.flatnonzero((ring.tails == 0) & (ring.indices == 8))
    for limit, is_farther in ((7.5, True), (8.5, False)):
        assert _are_farther(line, ring, closing, np.array([limit]), Run())[0] == is_farther


def test_a_point_between_two_parts_does_not_join_them():
    """It was held by an edge to each of them."""
    one, other = np.triu_indices(15, 1)
    tails, heads = np.concatenate((one, one + 15)), np.concatenate((other, other + 15))
    suspects = np.array([[0, 30], [15, 30], [0, 15]])
    ends = np.concatenate((np.column_stack((tails, heads)), suspects))
    lengths = np.concatenate((np.ones(len(tails)), [1.0, 2.0, 1.5]))
    left = without_suspects(graph_from_edges(31, *ends.T, lengths), *suspects.T)
    labels = left.component_labels
    assert labels[30] == labels[0] != labels[15]
    # Two such points go the same way together.
    suspects = np.array([[0, 30], [30, 31], [15, 31]])
    ends = np.concatenate((np.column_stack((tails, heads)), suspects))
    lengths[-2:] = 1.5, 2.0
    left = without_suspects(graph_from_edges(32, *ends.T, lengths), *suspects.T)
    labels = left.component_labels
    assert labels[30] == labels[31] == labels[0] != labels[15]
