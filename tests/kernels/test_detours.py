"""Ways around edges, against plain searches."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from ptunfold import build_graph, graph_from_matrix
from ptunfold.kernels.detours import count_detours, shares_in_common, ways_by_two
from ptunfold.kernels.inputs import graph_arrays
from tests.kernels.graphs import dense, random_graph


def disjoint_ways(lengths, tail, head, longest, most):
    """Take the shortest way out of the graph, again and again."""
    one_stop = np.count_nonzero(lengths[tail] + lengths[head] <= longest)
    if one_stop >= most:
        return most
    lengths, count = lengths.copy(), 0
    lengths[tail, head] = lengths[head, tail] = np.inf
    while count < most:
        reach, before = shortest_path(lengths, indices=tail, return_predecessors=True)
        if not reach[head] <= longest:
            break
        count, node = count + 1, head
        while node != tail:
            lengths[node, before[node]] = lengths[before[node], node] = np.inf
            node = before[node]
    return count


@pytest.mark.parametrize("most", [1, 4])
def test_ways_with_no_edge_in_common(most):
    graph = random_graph(n_points=40, n_edges=100)
    edges = np.flatnonzero(graph.tails < graph.indices)
    longest = np.random.default_rng(0).uniform(0.5, 4, len(edges))
    counts = np.empty(len(edges), dtype=np.int64)
    arrays = graph_arrays(graph), graph.tails, graph.reverse
    count_detours(*arrays, edges, longest, most, counts)
    ends = zip(graph.tails[edges], graph.indices[edges], longest, strict=True)
    lengths = dense(graph)
    np.testing.assert_array_equal(counts, [disjoint_ways(lengths, *end, most) for end in ends])
    assert set(counts) == set(range(most + 1))


def test_a_way_of_very_many_edges():
    """Around the one edge that closes a chain: there is no bound to what is taken out."""
    n_points = 5000
    chain = sparse.coo_array(
        (np.ones(n_points - 1), (np.arange(n_points - 1), np.arange(1, n_points))),
        shape=(n_points, n_points),
    ).tolil()
    chain[0, n_points - 1] = 1.0
    graph = graph_from_matrix(chain.tocsr(), n_points)
    edges = np.flatnonzero((graph.tails == 0) & (graph.indices == n_points - 1))
    counts = np.empty(1, dtype=np.int64)
    arrays = graph_arrays(graph), graph.tails, graph.reverse
    for _ in range(2):  # what was taken out is put back
        count_detours(*arrays, edges, np.array([n_points + 0.5]), 4, counts)
        assert counts == 1


def test_shares_of_neighbours_in_common():
    graph = random_graph(n_points=30, n_edges=120)
    shares = np.empty(graph.n_edges)
    shares_in_common(graph_arrays(graph), graph.tails, graph.indices, shares)
    near = np.isfinite(dense(graph))
    common = (near[graph.tails] & near[graph.indices]).sum(axis=1)
    fewer = np.minimum(near.sum(axis=1)[graph.tails], near.sum(axis=1)[graph.indices])
    np.testing.assert_array_equal(shares, common / fewer)


def test_ways_over_one_node_are_the_shortest():
    rng = np.random.default_rng(0)
    graph = build_graph(rng.normal(size=(60, 2)), 6)
    along = rng.random(graph.n_edges) < 0.7
    along &= along[graph.reverse]
    lengths = dense(graph, along)
    tails, heads = rng.integers(0, 60, (2, 300))
    found = np.empty(300)
    ways_by_two(graph_arrays(graph), along, tails, heads, found)
    expected = (lengths[tails] + lengths[heads]).min(axis=1)
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found).any()
    assert np.isinf(found).any()
