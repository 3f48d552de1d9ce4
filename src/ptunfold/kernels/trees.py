"""Dijkstra's algorithm on a CSR graph, whole or local, with an indexed four-way heap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.types import FloatArray, Graph

_UNSEEN = -1
_SETTLED = -2


class Tree(NamedTuple):
    """A shortest-path tree and the workspace it grows in, all of length n.

    ``distance`` from the source and the edge by which each node was reached, ``order`` the settled
    nodes by distance; ``heap`` and ``keys`` the nodes at the front, ``slot`` where they are in it.
    """

    distance: Any
    parent_edge: Any
    order: Any
    heap: Any
    keys: Any
    slot: Any


@compiled()
def _sift_up(heap, keys, slot, position, node, key):
    while position > 0:
        parent = (position - 1) >> 2
        if keys[parent] <= key:
            break
        heap[position] = heap[parent]
        keys[position] = keys[parent]
        slot[heap[position]] = position
        position = parent
    heap[position] = node
    keys[position] = key
    slot[node] = position


@compiled()
def _pop(heap, keys, slot, size):
    """Remove the nearest node from a heap of ``size`` nodes."""
    nearest = heap[0]
    slot[nearest] = _SETTLED
    size -= 1
    if size == 0:
        return nearest
    moved = heap[size]
    key = keys[size]
    position = 0
    child = 1
    while child < size:
        best = child
        for candidate in range(child + 1, min(child + 4, size)):
            if keys[candidate] < keys[best]:
                best = candidate
        if keys[best] >= key:
            break
        heap[position] = heap[best]
        keys[position] = keys[best]
        slot[heap[position]] = position
        position = best
        child = 4 * position + 1
    heap[position] = moved
    keys[position] = key
    slot[moved] = position
    return nearest


@compiled()
def new_tree(n_points):
    """Return a tree as `grow_tree` wants to find it."""
    return Tree(
        np.full(n_points, np.inf),
        np.full(n_points, -1, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        np.empty(n_points),
        np.full(n_points, _UNSEEN, dtype=np.int32),
    )


@compiled()
def grow_tree(graph, source, tree, places, limit, seen):
    """Grow the shortest-path tree of ``source``.

    Stops when nodes of ``limit`` places other than the source's are settled, or nothing more can
    be reached. ``places`` (n,) tells the place of each node and ``seen`` (n,) which node has asked
    about it last; both may be empty, and the whole tree is grown. Returns the number of settled
    nodes and of nodes left in the heap.
    """
    indptr, indices, lengths = graph
    distance, parent_edge, order, heap, keys, slot = tree
    distance[source] = 0.0
    heap[0] = source
    keys[0] = 0.0
    slot[source] = 0
    size = 1
    n_settled = 0
    n_places = 0
    is_limited = len(places) > 0
    if is_limited:
        seen[places[source]] = source
    while size > 0:
        node = _pop(heap, keys, slot, size)
        size -= 1
        order[n_settled] = node
        n_settled += 1
        reach = distance[node]
        if is_limited and seen[places[node]] != source:
            seen[places[node]] = source
            n_places += 1
            if n_places == limit:
                break
        for edge in range(indptr[node], indptr[node + 1]):
            head = indices[edge]
            candidate = reach + lengths[edge]
            if candidate < distance[head]:
                distance[head] = candidate
                parent_edge[head] = edge
                position = slot[head]
                if position == _UNSEEN:
                    position = size
                    size += 1
                _sift_up(heap, keys, slot, position, head, candidate)
    return n_settled, size


@compiled()
def forget_tree(tree, n_settled, size):
    """Make the tree new again, touching only what was touched."""
    for position in range(n_settled + size):
        node = tree.order[position] if position < n_settled else tree.heap[position - n_settled]
        tree.distance[node] = np.inf
        tree.parent_edge[node] = -1
        tree.slot[node] = _UNSEEN


@compiled()
def grow_whole_tree(graph, source, tree):
    """Grow the shortest-path tree of ``source`` to its end; returns as `grow_tree` does."""
    nothing = np.empty(0, dtype=np.int64)
    return grow_tree(graph, source, tree, nothing, 0, nothing)


@compiled()
def grow_forest(graph, sources, tree):
    """Grow the shortest paths to all nodes from the nearest of ``sources``, different nodes.

    The tree is new; returns the number of settled nodes.
    """
    indptr, indices, lengths = graph
    distance, parent_edge, order, heap, keys, slot = tree
    size, n_settled = 0, 0
    for source in sources:
        distance[source] = 0.0
        heap[size], keys[size], slot[source] = source, 0.0, size
        size += 1
    while size > 0:
        node = _pop(heap, keys, slot, size)
        size -= 1
        order[n_settled] = node
        n_settled += 1
        for edge in range(indptr[node], indptr[node + 1]):
            head = indices[edge]
            candidate = distance[node] + lengths[edge]
            if candidate < distance[head]:
                distance[head] = candidate
                parent_edge[head] = edge
                position = slot[head]
                if position == _UNSEEN:
                    position = size
                    size += 1
                _sift_up(heap, keys, slot, position, head, candidate)
    return n_settled


@compiled()
def least_along(tails, values, tree, n_settled, least):
    """Fill ``least`` (n,) with the least of ``values`` (E,) on the way from the root."""
    for position in range(1, n_settled):
        node = tree.order[position]
        edge = tree.parent_edge[node]
        least[node] = min(least[tails[edge]], values[edge])


@compiled()
def tree_lengths(graph, sources, rows):
    """Fill ``rows`` (s, n) with shortest-path lengths, infinite where there is no path."""
    tree = new_tree(len(graph.indptr) - 1)
    for row in range(len(sources)):
        n_settled, size = grow_whole_tree(graph, sources[row], tree)
        for node in range(len(tree.distance)):
            rows[row, node] = tree.distance[node]
        forget_tree(tree, n_settled, size)


def lengths_from(graph: Graph, source: int) -> FloatArray:
    """Measure shortest paths from one node to all, (n_points,)."""
    rows = np.empty((1, graph.n_points))
    tree_lengths(graph_arrays(graph), np.array([source]), rows)
    return rows[0]


@compiled()
def lengths_within(graph, tails, heads, limits, found):
    """Fill ``found`` (m,) with the lengths of the shortest paths from ``tails`` to ``heads`` (m,).

    Infinite where the path is longer than ``limits`` (m,). Pairs of one tail stand together: the
    tree that grows from it is theirs, and ends when it has come to all of them.
    """
    indptr, indices, lengths = graph
    n_points = len(indptr) - 1
    distance, _, touched, heap, keys, slot = new_tree(n_points)
    is_wanted = np.zeros(n_points, dtype=np.bool_)
    first = 0
    while first < len(tails):
        source, last, farthest = tails[first], first, 0.0
        while last < len(tails) and tails[last] == source:
            is_wanted[heads[last]] = True
            farthest = max(farthest, limits[last])
            last += 1
        n_wanted = last - first
        distance[source], heap[0], keys[0], slot[source] = 0.0, source, 0.0, 0
        touched[0], n_touched, size = source, 1, 1
        while size > 0 and n_wanted > 0:
            node = _pop(heap, keys, slot, size)
            size -= 1
            n_wanted -= is_wanted[node]
            for edge in range(indptr[node], indptr[node + 1]):
                head = indices[edge]
                candidate = distance[node] + lengths[edge]
                if candidate <= farthest and candidate < distance[head]:
                    distance[head] = candidate
                    position = slot[head]
                    if position == _UNSEEN:
                        touched[n_touched] = head
                        n_touched += 1
                        position = size
                        size += 1
                    _sift_up(heap, keys, slot, position, head, candidate)
        for pair in range(first, last):
            length = distance[heads[pair]]
            found[pair] = length if length <= limits[pair] else np.inf
            is_wanted[heads[pair]] = False
        for position in range(n_touched):
            distance[touched[position]] = np.inf
            slot[touched[position]] = _UNSEEN
        first = last


@compiled()
def graph_neighborhoods(graph, places, nodes, members, counts):
    """List the nodes nearest on the graph to each of ``nodes``, one for each place.

    ``members`` (n_nodes, K) gets up to K nodes by distance, ``counts`` how many they are. Copies
    of a point would span nothing: only the first node of a place counts, and none of the own.
    """
    n_points = len(places)
    tree = new_tree(n_points)
    seen = np.full(n_points, -1, dtype=np.int64)
    counted = np.full(n_points, -1, dtype=np.int64)
    for row in range(len(nodes)):
        node = nodes[row]
        n_settled, size = grow_tree(graph, node, tree, places, members.shape[1], seen)
        counted[places[node]] = node
        count = 0
        for position in range(n_settled):
            member = tree.order[position]
            if counted[places[member]] != node:
                counted[places[member]] = node
                members[row, count] = member
                count += 1
        counts[row] = count
        forget_tree(tree, n_settled, size)
