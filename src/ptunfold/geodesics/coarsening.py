"""Many points as few cells: a graph whose nodes are neighbourhoods, with the same connection."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptunfold.geometry.order import connection_from_edges
from ptunfold.kernels.cells import grow_cells
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.trees import new_tree
from ptunfold.types import Connection, FloatArray, IntArray, Seam, Topology, pair_keys


@dataclass(frozen=True, eq=False)
class Cells:
    """The nodes of a connected graph by the nearest of some of them, the seeds.

    Two cells are neighbours if an edge joins them. The step between their seeds leads along the
    shortest of these edges, and so does the transport: loops of cells are loops of the graph.

    Attributes
    ----------
    fine : Connection
        That of all nodes.
    coarse : Connection
        That of the cells.
    seeds : (n_cells,) int
        The node in the middle of each.
    cell : (n_points,) int
        The cell of each node.
    where : (n_points, d)
        The place of each node in the frame of the seed.
    parents : (n_points,) int
        The node before on the way from the seed; -1 for seeds.
    gates : (n_coarse_edges, 2) int
        The ends of the edge of the graph that each edge between cells leads over.
    """

    fine: Connection
    coarse: Connection
    seeds: IntArray
    cell: IntArray
    where: FloatArray
    parents: IntArray
    gates: IntArray

    def edges_between(self, pairs: IntArray) -> IntArray:
        """List the edges of the graph, (n_edges, 2), from one to the other of pairs of cells."""
        graph = self.fine.graph
        is_meant = np.zeros(len(self.seeds), dtype=bool)
        is_meant[pairs] = True
        edges = np.flatnonzero(is_meant[self.cell][graph.tails])
        keys = self._keys(self.cell[graph.tails[edges]], self.cell[graph.indices[edges]])
        found = edges[np.isin(keys, self._keys(*pairs.T))]
        return np.column_stack((graph.tails[found], graph.indices[found]))

    def _keys(self, tails: IntArray, heads: IntArray) -> IntArray:
        return pair_keys(len(self.seeds), tails, heads)

    def way(self, cells: IntArray) -> IntArray:
        """List the nodes on the way from seed to seed along cells that are neighbours."""
        graph = self.coarse.graph
        known = self._keys(graph.tails, graph.indices)
        nodes = [int(self.seeds[cells[0]])]
        for place in np.searchsorted(known, self._keys(cells[:-1], cells[1:])):
            leaves, enters = self.gates[place]
            nodes += [*self._from_seed(leaves)[1:], *self._from_seed(enters)[::-1]]
        return np.array(nodes)

    def _from_seed(self, node: int) -> list[int]:
        backwards = [int(node)]
        while self.parents[backwards[-1]] >= 0:
            backwards.append(int(self.parents[backwards[-1]]))
        return backwards[::-1]

    def spread(self, found: Topology, turns: FloatArray) -> Topology:
        """Tell of the nodes what was found of the cells.

        ``turns`` (n_cells, d, d) lead from the frames of cells to that of ``found.where``.
        """
        inside = np.einsum("nij,nj->ni", turns[self.cell], self.where)
        return replace(
            found,
            seams=tuple(self._spread(seam) for seam in found.seams),
            edges=self.edges_between(found.edges),
            where=found.where[self.cell] + inside,
        )

    def _spread(self, seam: Seam) -> Seam:
        return replace(seam, edges=self.edges_between(seam.edges), loop=self.way(seam.loop))


def gather(connection: Connection, n_cells: int) -> Cells:
    """Put the nodes of a connected graph into cells.

    Seeds are taken at equal steps through the nodes, whose order follows the data where they are
    many, so that cells have about as many nodes each.
    """
    graph, dim = connection.graph, connection.intrinsic_dim
    n_points = graph.n_points
    seeds = np.unique(np.linspace(0, n_points - 1, n_cells).astype(np.int64))
    tree, cell = new_tree(graph_arrays(graph)), np.empty(n_points, dtype=np.int64)
    where, turns = np.zeros((n_points, dim)), np.zeros((n_points, dim, dim))
    arrays = (graph_arrays(graph), graph.tails, connection.rotations, connection.steps)
    grow_cells(*arrays, seeds, tree, cell, where, turns)
    parents = np.where(tree.parent_edge < 0, -1, graph.tails[tree.parent_edge])

    edges = np.flatnonzero(cell[graph.tails] < cell[graph.indices])
    tails, heads = graph.tails[edges], graph.indices[edges]
    lengths = tree.distance[tails] + tree.distance[heads] + graph.lengths[edges]
    shortest = _least_of_each(pair_keys(len(seeds), cell[tails], cell[heads]), lengths)
    edges, tails, heads = edges[shortest], tails[shortest], heads[shortest]

    # From seed to seed: out to the tail, over the edge, and back from the head.
    there = np.einsum("eij,ejk->eik", turns[tails], connection.rotations[edges])
    rotations = np.einsum("eij,ekj->eik", there, turns[heads])
    steps = where[tails] + np.einsum("eij,ej->ei", turns[tails], connection.steps[edges])
    steps -= np.einsum("eij,ej->ei", rotations, where[heads])
    back = -np.einsum("eji,ej->ei", rotations, steps)
    both = np.concatenate
    ends = (both((cell[tails], cell[heads])), both((cell[heads], cell[tails])))
    straight = np.linalg.norm(steps, axis=1)
    coarse = connection_from_edges(
        len(seeds),
        *ends,
        both((straight, straight)),
        both((rotations, rotations.transpose(0, 2, 1))),
        both((steps, back)),
        None,
        None,
        None,
    )
    gates = both((np.column_stack((tails, heads)), np.column_stack((heads, tails))))
    gates = gates[np.argsort(pair_keys(len(seeds), *ends), kind="stable")]
    explained = None if connection.explained is None else connection.explained[seeds]
    coarse = replace(coarse, explained=explained)
    return Cells(connection, coarse, seeds, cell, where, parents, gates)


def _least_of_each(keys: IntArray, values: FloatArray) -> IntArray:
    """Find where the least of the values (n,) of each key is, in the order of the keys."""
    # Keys that are nearly in order are sorted at once, with the values it would take ten times.
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=-1) > 0
    number = np.cumsum(is_first) - 1
    least = np.minimum.reduceat(values[order], np.flatnonzero(is_first))
    places = np.flatnonzero(values[order] == least[number])
    _, firsts = np.unique(number[places], return_index=True)
    return order[places[firsts]]
