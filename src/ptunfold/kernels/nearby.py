"""The nodes near on a CSR graph, by Dijkstra's algorithm, which ends when they are found."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled

_UNSEEN = -1
_SETTLED = -2


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
def lengths_within(graph, tails, heads, limits, found):
    """Fill ``found`` (m,) with the lengths of the shortest paths from ``tails`` to ``heads`` (m,).

    Infinite where the path is longer than ``limits`` (m,). Pairs of one tail stand together: the
    tree that grows from it is theirs, and ends when it has come to all of them.
    """
    indptr, indices, lengths = graph
    n_points = len(indptr) - 1
    distance, keys = np.full(n_points, np.inf), np.empty(n_points)
    touched, heap, slot = np.full((3, n_points), _UNSEEN, dtype=np.int32)
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
    of a point would span nothing: for each point ``places`` (n,) has the first one at the same
    place, and only the nearest node of a place counts, and none of the own. The front is short, and
    looking through all of it is faster than a heap.
    """
    indptr, indices, lengths = graph
    n_points, limit = len(places), members.shape[1]
    distance, keys = np.full(n_points, np.inf), np.empty(n_points)
    front, slot, touched = np.empty((3, n_points), dtype=np.int32)
    seen = np.full(n_points, -1, dtype=np.int64)
    for row in range(len(nodes)):
        source = nodes[row]
        seen[places[source]] = source
        distance[source], front[0], keys[0], touched[0] = 0.0, source, 0.0, source
        size, n_touched, count = 1, 1, 0
        while size > 0:
            nearest, reach = 0, keys[0]
            for position in range(1, size):
                if keys[position] < reach:
                    nearest, reach = position, keys[position]
            node = np.uint64(front[nearest])
            size -= 1
            last = front[size]
            front[nearest], keys[nearest], slot[last] = last, keys[size], nearest
            if seen[places[node]] != source:
                seen[places[node]] = source
                members[row, count] = node
                count += 1
                if count == limit:
                    break
            for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + np.uint64(1)])):
                head = np.uint64(indices[edge])
                candidate = reach + lengths[edge]
                before = distance[head]
                if candidate < before:
                    distance[head] = candidate
                    if before == np.inf:
                        touched[n_touched] = head
                        n_touched += 1
                        slot[head] = size
                        front[size] = head
                        size += 1
                    keys[slot[head]] = candidate
        counts[row] = count
        for position in range(n_touched):
            distance[touched[position]] = np.inf
