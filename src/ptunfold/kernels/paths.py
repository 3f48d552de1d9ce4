"""Dijkstra's algorithm on a CSR graph, whole or local, with an indexed four-way heap."""

from __future__ import annotations

import numpy as np
from numba import njit

_UNSEEN = -1
_SETTLED = -2


@njit(nogil=True, cache=True)
def _sift_up(heap, slot, distance, position, node):
    key = distance[node]
    while position > 0:
        parent = (position - 1) >> 2
        other = heap[parent]
        if distance[other] <= key:
            break
        heap[position] = other
        slot[other] = position
        position = parent
    heap[position] = node
    slot[node] = position


@njit(nogil=True, cache=True)
def _pop(heap, slot, distance, size):
    """Remove the nearest node from a heap of ``size`` nodes."""
    nearest = heap[0]
    size -= 1
    moved = heap[size]
    key = distance[moved]
    position = 0
    while True:
        child = 4 * position + 1
        if child >= size:
            break
        best = child
        for candidate in range(child + 1, min(child + 4, size)):
            if distance[heap[candidate]] < distance[heap[best]]:
                best = candidate
        if distance[heap[best]] >= key:
            break
        heap[position] = heap[best]
        slot[heap[position]] = position
        position = best
    heap[position] = moved
    slot[moved] = position
    slot[nearest] = _SETTLED
    return nearest


@njit(nogil=True, cache=True)
def new_workspace(n_points):
    """Return (distance, parent_edge, order, heap, slot) as `grow_tree` wants to find them."""
    distance = np.full(n_points, np.inf)
    parent_edge = np.full(n_points, -1, dtype=np.int64)
    order = np.empty(n_points, dtype=np.int64)
    heap = np.empty(n_points, dtype=np.int64)
    slot = np.full(n_points, _UNSEEN, dtype=np.int64)
    return distance, parent_edge, order, heap, slot


@njit(nogil=True, cache=True)
def grow_tree(
    indptr, indices, lengths, source, limit, distance, parent_edge, order, heap, slot
):
    """Grow the shortest-path tree of ``source`` in a fresh workspace.

    Stops when ``limit`` nodes at a positive distance are settled, or nothing more can be reached.
    ``order`` lists the settled nodes by distance, ``parent_edge`` the edge each was reached by.
    Returns the number of settled nodes and of nodes left in the heap.
    """
    distance[source] = 0.0
    heap[0] = source
    slot[source] = 0
    size = 1
    n_settled = 0
    n_apart = 0
    while size > 0:
        node = _pop(heap, slot, distance, size)
        size -= 1
        order[n_settled] = node
        n_settled += 1
        reach = distance[node]
        if reach > 0.0:
            n_apart += 1
            if n_apart == limit:
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
                _sift_up(heap, slot, distance, position, head)
    return n_settled, size


@njit(nogil=True, cache=True)
def forget_tree(n_settled, size, distance, parent_edge, order, heap, slot):
    """Make the workspace fresh again, touching only what the last tree touched."""
    for position in range(n_settled):
        node = order[position]
        distance[node] = np.inf
        parent_edge[node] = -1
        slot[node] = _UNSEEN
    for position in range(size):
        node = heap[position]
        distance[node] = np.inf
        parent_edge[node] = -1
        slot[node] = _UNSEEN


@njit(nogil=True, cache=True)
def tree_lengths(indptr, indices, lengths, sources, rows):
    """Fill ``rows`` (s, n) with shortest-path lengths, infinite where there is no path."""
    n_points = len(indptr) - 1
    distance, parent_edge, order, heap, slot = new_workspace(n_points)
    for row in range(len(sources)):
        n_settled, size = grow_tree(
            indptr, indices, lengths, sources[row], n_points, distance, parent_edge, order, heap, slot
        )
        rows[row, :] = distance
        forget_tree(n_settled, size, distance, parent_edge, order, heap, slot)


@njit(nogil=True, cache=True)
def graph_neighborhoods(indptr, indices, lengths, start, stop, members, counts):
    """List the nearest nodes on the graph of each node in ``start:stop``.

    ``members`` (stop - start, K) gets up to K nodes by distance, ``counts`` how many they are.
    Nodes at distance 0 are copies of the point and would span nothing, so they do not count.
    """
    n_neighbors = members.shape[1]
    distance, parent_edge, order, heap, slot = new_workspace(len(indptr) - 1)
    for node in range(start, stop):
        n_settled, size = grow_tree(
            indptr, indices, lengths, node, n_neighbors, distance, parent_edge, order, heap, slot
        )
        count = 0
        for position in range(n_settled):
            if distance[order[position]] > 0.0:
                members[node - start, count] = order[position]
                count += 1
        counts[node - start] = count
        forget_tree(n_settled, size, distance, parent_edge, order, heap, slot)
