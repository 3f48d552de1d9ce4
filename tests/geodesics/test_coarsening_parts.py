"""Ways and edges between cells, against the graph."""

from itertools import pairwise

import numpy as np
import pytest

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import flat_square
from ptunfold.geodesics.coarsening import _least_of_each, gather
from ptunfold.geodesics.loops import unroll
from ptunfold.types import Seam, Topology

POINTS = flat_square(300).points
GRAPH = build_graph(POINTS, 8)
CELLS = gather(connect(POINTS, GRAPH, estimate_frames(POINTS, GRAPH)), 25)


def neighbors(node):
    return GRAPH.indices[GRAPH.indptr[node] : GRAPH.indptr[node + 1]]


def test_ways_lead_from_seed_to_seed_along_edges():
    coarse = CELLS.coarse.graph
    for tail, head in zip(coarse.tails, coarse.indices, strict=True):
        way = CELLS.way(np.array([tail, head])).tolist()
        assert (way[0], way[-1]) == (CELLS.seeds[tail], CELLS.seeds[head])
        for one, other in pairwise(way):
            assert other in neighbors(one)
        # First all of the one cell, then all of the other.
        cells = CELLS.cell[way]
        assert cells.tolist() == sorted(cells, key=lambda cell: cell == head)
        assert {*cells.tolist()} == {tail, head}
    there = CELLS.way(np.array([tail, head, tail])).tolist()
    assert there == way + way[-2::-1]


def test_gates_are_the_shortest_ways_over():
    coarse = CELLS.coarse.graph
    lengths = np.zeros(300)
    for node in range(300):
        way = CELLS._from_seed(node)
        assert way[0] == CELLS.seeds[CELLS.cell[node]]
        lengths[node] = np.linalg.norm(np.diff(POINTS[way], axis=0), axis=1).sum()
    over = lengths[GRAPH.tails] + lengths[GRAPH.indices] + GRAPH.lengths
    pairs = CELLS.cell[GRAPH.tails], CELLS.cell[GRAPH.indices]
    expected = {*zip(*(array.tolist() for array in pairs), strict=True)}
    found = {*zip(coarse.tails.tolist(), coarse.indices.tolist(), strict=True)}
    assert found == {(one, other) for one, other in expected if one != other}
    for (leaves, enters), tail, head in zip(CELLS.gates, coarse.tails, coarse.indices, strict=True):
        meant = (pairs[0] == tail) & (pairs[1] == head)
        gate = (GRAPH.tails == leaves) & (GRAPH.indices == enters)
        assert (gate & meant).sum() == 1
        assert over[gate][0] == pytest.approx(over[meant].min())


def test_edges_between_cells_are_those_of_the_graph():
    coarse = CELLS.coarse.graph
    pairs = np.column_stack((coarse.tails, coarse.indices))[[0, 5, 17]]
    expected = [
        (tail, head)
        for tail, head in zip(GRAPH.tails.tolist(), GRAPH.indices.tolist(), strict=True)
        if [CELLS.cell[tail], CELLS.cell[head]] in pairs.tolist()
    ]
    assert CELLS.edges_between(pairs).tolist() == [list(edge) for edge in expected]


def test_what_cells_tell_of_their_nodes():
    coarse = CELLS.coarse.graph
    unrolled = unroll(CELLS.coarse, 0)
    edges = np.column_stack((coarse.tails, coarse.indices))[:2]
    loop = np.array([coarse.tails[0], coarse.indices[0]])
    seam = Seam("period", edges, np.eye(2), np.ones(2), 1.0, 0.0, loop, 1.0, 1.0, 1.0)
    about = {"dim": 2, "has_rim": True, "is_orientable": True, "n_holes": 0, "is_sure": True}
    found = Topology((seam,), edges=edges, where=unrolled.outward, **about)
    spread = CELLS.spread(found, unrolled.turns)
    np.testing.assert_array_equal(spread.edges, CELLS.edges_between(edges))
    np.testing.assert_array_equal(spread.seams[0].edges, spread.edges)
    np.testing.assert_array_equal(spread.seams[0].loop, CELLS.way(loop))
    exact = np.linalg.norm(POINTS - POINTS[CELLS.seeds[0]], axis=1)
    np.testing.assert_allclose(np.linalg.norm(spread.where, axis=1), exact, atol=1e-9)


def test_the_least_of_each_key():
    keys = np.array([3, 0, 3, 7, 0, 0])
    values = np.array([2.0, 5, 1, 9, 4, 4])
    assert _least_of_each(keys, values).tolist() == [4, 2, 3]
