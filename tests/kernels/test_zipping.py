"""Edges that triangles shut, and groups of those that stay open."""

import numpy as np
import pytest

from ptunfold.geometry.graph import graph_from_edges
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.trees import grow_tree, new_tree
from ptunfold.kernels.zipping import (
    Zipper,
    join_open_edges,
    shut_short_loops,
    triangles_of_open_edges,
    zip_up,
)


def lattice(rows, columns, *, wrap_rows=False, wrap_columns=False, twist=False):
    """Triangles of a lattice, closed on one or both sides."""
    pairs = []
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1)):
                there, over = row + down, column + right
                if (there >= rows and not wrap_rows) or (over >= columns and not wrap_columns):
                    continue
                if twist and over >= columns:
                    there = rows - 1 - there
                pairs.append((row * columns + column, there % rows * columns + over % columns))
    tails, heads = np.array(pairs).T
    return graph_from_edges(rows * columns, tails, heads, np.ones(len(tails)))


def tree_of(graph):
    arrays = graph_arrays(graph)
    tree = new_tree(arrays)
    grow_tree(arrays, 0, tree)
    return tree


def zipper_of(graph, is_shut):
    return Zipper(graph.indptr, graph.indices, graph.reverse, is_shut)


def zipped(graph):
    edges = tree_of(graph).parent_edge
    edges = edges[edges >= 0]
    is_shut = np.zeros(graph.n_edges, dtype=bool)
    is_shut[edges] = is_shut[graph.reverse[edges]] = True
    queue = np.empty(graph.n_edges, dtype=np.int64)
    queue[: len(edges)] = edges
    zip_up(zipper_of(graph, is_shut), queue, len(edges))
    # No edge is left open that closes a triangle with two that are shut.
    shut = np.zeros((graph.n_points, graph.n_points), dtype=int)
    shut[graph.tails[is_shut], graph.indices[is_shut]] = 1
    assert not (shut @ shut)[graph.tails[~is_shut], graph.indices[~is_shut]].any()
    np.testing.assert_array_equal(is_shut, is_shut[graph.reverse])
    return is_shut


def groups_of(graph, is_shut, n_steps=4):
    numbers = np.empty(graph.n_edges, dtype=np.int64)
    join_open_edges(zipper_of(graph, is_shut), n_steps, numbers)
    return numbers


@pytest.mark.parametrize(
    ("graph", "n_loops"),
    [
        (lattice(9, 12), 0),
        (lattice(9, 12, wrap_columns=True), 1),
        (lattice(9, 12, wrap_columns=True, twist=True), 1),
        (lattice(11, 12, wrap_rows=True, wrap_columns=True), 2),
    ],
)
def test_loops_of_lattices(graph, n_loops):
    """As many as the first Betti number, with the relations of triangles taken off."""
    is_shut = zipped(graph)
    assert (~is_shut).any() == (n_loops > 0)
    numbers = groups_of(graph, is_shut)
    pairs = np.minimum(numbers, numbers[graph.reverse])
    names = np.unique(pairs[~is_shut])
    found = np.empty((graph.n_edges, 3), dtype=np.int64)
    count = triangles_of_open_edges(zipper_of(graph, is_shut), pairs, found)
    rows = np.zeros((count, len(names)))
    for row, triangle in zip(rows, np.searchsorted(names, found[:count]), strict=True):
        np.add.at(row, triangle, 1)
    rank = rank_mod_2(rows.astype(int) % 2)
    assert len(names) - rank == n_loops


def rank_mod_2(rows):
    rank, rows = 0, rows.copy()
    for column in range(rows.shape[1]):
        pivots = np.flatnonzero(rows[rank:, column]) + rank
        if not len(pivots):
            continue
        rows[[rank, pivots[0]]] = rows[[pivots[0], rank]]
        others = np.flatnonzero(rows[:, column])
        rows[others[others != rank]] ^= rows[rank]
        rank += 1
    return rank


@pytest.mark.parametrize(("n_steps", "is_filled"), [(4, False), (5, True)])
def test_a_void_is_filled_if_the_way_around_is_short(n_steps, is_filled):
    """A point taken out of a lattice leaves a loop of six edges."""
    whole = lattice(9, 9)
    kept = (whole.tails != 40) & (whole.indices != 40) & (whole.tails < whole.indices)
    place = np.cumsum(np.arange(81) != 40) - 1
    graph = graph_from_edges(
        80, place[whole.tails[kept]], place[whole.indices[kept]], np.ones(kept.sum())
    )
    is_shut = zipped(graph)
    assert not is_shut.all()
    queue = np.empty(graph.n_edges, dtype=np.int64)
    zipper = zipper_of(graph, is_shut)
    count = shut_short_loops(zipper, queue, n_steps)
    assert (count > 0) == is_filled
    if is_filled:
        zip_up(zipper, queue, count)
        assert is_shut.all()


def test_groups_lead_one_way():
    """Around a cylinder: the edges of one group wind around it once, all in the same sense."""
    graph, tree = (made := lattice(9, 14, wrap_columns=True)), tree_of(made)
    is_shut = zipped(graph)
    numbers = groups_of(graph, is_shut)
    steps = (graph.indices % 14 - graph.tails % 14 + 7) % 14 - 7
    lifted = np.zeros(graph.n_points)
    for node in tree.order[1 : graph.n_points]:
        edge = tree.parent_edge[node]
        lifted[node] = lifted[graph.tails[edge]] + steps[edge]
    winding = (lifted[graph.tails] + steps - lifted[graph.indices]) / 14
    np.testing.assert_array_equal(winding != 0, ~is_shut)
    for sense in (1, -1):
        (number,) = np.unique(numbers[winding == sense])
        assert (winding[numbers == number] == sense).all()
