"""The nodes nearest on a CSR graph, by Dijkstra's algorithm with an indexed four-way heap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled

_UNSEEN = -1
_SETTLED = -2


class Front(NamedTuple):
    """What Dijkstra's algorithm works with, all of length n.

    ``distance`` from the source, ``order`` the settled nodes by distance; ``heap`` and ``keys`` the
    nodes at the front, ``slot`` where they are in it.
    """

    distance: Any
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
def _new_front(n_points):
    """Return one as `_settle` wants to find it."""
    return Front(
        np.full(n_points, np.inf),
        np.empty(n_points, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        np.empty(n_points),
        np.full(n_points, _UNSEEN, dtype=np.int32),
    )


@compiled()
def _settle(graph, source, front, places, limit, seen):
    """Settle nodes by distance from ``source``, until ``limit`` other places have one, or all.

    ``places`` (n,) tells the place of each node and ``seen`` (n,) which source has come to it last.
    Returns the number of settled nodes and of nodes left in the heap.
    """
    indptr, indices, lengths = graph
    distance, order, heap, keys, slot = front
    distance[source] = 0.0
    heap[0] = source
    keys[0] = 0.0
    slot[source] = 0
    size = 1
    n_settled = 0
    n_places = 0
    seen[places[source]] = source
    while size > 0:
        node = _pop(heap, keys, slot, size)
        size -= 1
        order[n_settled] = node
        n_settled += 1
        reach = distance[node]
        if seen[places[node]] != source:
            seen[places[node]] = source
            n_places += 1
            if n_places == limit:
                break
        for edge in range(indptr[node], indptr[node + 1]):
            head = indices[edge]
            candidate = reach + lengths[edge]
            if candidate < distance[head]:
                distance[head] = candidate
                position = slot[head]
                if position == _UNSEEN:
                    position = size
                    size += 1
                _sift_up(heap, keys, slot, position, head, candidate)
    return n_settled, size


@compiled()
def _forget(front, n_settled, size):
    """Make it new again, touching only what was touched."""
    for position in range(n_settled + size):
        node = front.order[position] if position < n_settled else front.heap[position - n_settled]
        front.distance[node] = np.inf
        front.slot[node] = _UNSEEN


@compiled()
def lengths_within(graph, tails, heads, limits, found):
    """Fill ``found`` (m,) with the lengths of the shortest paths from ``tails`` to ``heads`` (m,).

    Infinite where the path is longer than ``limits`` (m,). Pairs of one tail stand together: the
    tree that grows from it is theirs, and ends when it has come to all of them.
    """
    indptr, indices, lengths = graph
    n_points = len(indptr) - 1
    distance, touched, heap, keys, slot = _new_front(n_points)
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
    front = _new_front(n_points)
    seen = np.full(n_points, -1, dtype=np.int64)
    counted = np.full(n_points, -1, dtype=np.int64)
    for row in range(len(nodes)):
        node = nodes[row]
        n_settled, size = _settle(graph, node, front, places, members.shape[1], seen)
        counted[places[node]] = node
        count = 0
        for position in range(n_settled):
            member = front.order[position]
            if counted[places[member]] != node:
                counted[places[member]] = node
                members[row, count] = member
                count += 1
        counts[row] = count
        _forget(front, n_settled, size)
