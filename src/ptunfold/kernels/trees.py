"""Shortest-path trees of a CSR graph, by correcting labels in the order of a bucket queue."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.inputs import GraphArrays, graph_arrays
from ptunfold.kernels.queues import N_BUCKETS, Queue, new_queue, put, start_again
from ptunfold.types import FloatArray, Graph

# Of the median edge. Narrower, there are more buckets to pass; wider, more nodes to visit twice.
_WIDTH = 0.3
_SOME_EDGES = 4096


class Tree(NamedTuple):
    """A shortest-path tree, and the room it grows in.

    ``distance`` (n,) from the root and ``parent_edge`` (n,), the edge by which each node is
    reached, -1 at the root and where no path leads; ``order`` (2 n,) begins with the nodes that
    are reached, each after its parent, ``visit`` (n,) is where they are in it. Buckets are
    ``per_width`` to a unit of length.
    """

    distance: Any
    parent_edge: Any
    order: Any
    visit: Any
    queue: Queue
    per_width: float


def new_tree(graph: GraphArrays) -> Tree:
    """Make room for trees of a graph."""
    n_points = len(graph.indptr) - 1
    lengths = graph.lengths[:: len(graph.lengths) // _SOME_EDGES + 1]
    lengths = lengths[lengths > 0]
    width = _WIDTH * float(np.median(lengths)) if len(lengths) else 1.0
    distance = np.full(n_points, np.inf)
    return Tree(
        distance,
        np.full(n_points, -1, dtype=np.int32),
        np.empty(2 * n_points, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        new_queue(distance),
        1 / max(width, np.finfo(np.float64).tiny),
    )


@compiled()
def grow_tree(graph, source, tree):
    """Grow the shortest-path tree of ``source``; returns the number of nodes that are reached."""
    sources = np.empty(1, dtype=np.int64)
    sources[0] = source
    return grow_forest(graph, sources, tree)


@compiled()
def grow_forest(graph, sources, tree):
    """Grow the shortest paths from the nearest of ``sources``; returns how many nodes are reached.

    A node that is found to be nearer after its visit is visited once more, so the order of the
    visits changes the time and not the lengths. With each node at its last visit, parents come
    first: what a node gives to others then is the last word.
    """
    indptr, indices, lengths = graph
    distance, parent_edge, order, visit, queue, per_width = tree
    first, after, before, bucket, _ = queue
    distance[:] = np.inf
    parent_edge[:] = -1
    visit[:] = -1
    for source in sources:
        distance[source] = 0.0
        put(queue, source, 0)
    n_visits, n_again = 0, 0
    origin, current = 0.0, 0
    while True:
        while current < N_BUCKETS and first[current] < 0:
            current += 1
        if current == N_BUCKETS:
            if first[N_BUCKETS] < 0:
                break
            origin, current = start_again(queue, per_width), 0
            continue
        node = np.uint64(first[current])
        follower = after[node]
        first[current] = follower
        if follower >= 0:
            before[follower] = -1
        bucket[node] = -1
        if visit[node] >= 0:
            order[visit[node]] = -1
            n_again += 1
        if n_visits == len(order):
            n_visits, n_again = _without_gaps(order, visit, n_visits), 0
        order[n_visits] = node
        visit[node] = n_visits
        n_visits += 1
        reach = distance[node]
        for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + np.uint64(1)])):
            head = np.uint64(indices[edge])
            candidate = reach + lengths[edge]
            if candidate < distance[head]:
                distance[head] = candidate
                parent_edge[head] = edge
                place = np.int64(min((candidate - origin) * per_width, N_BUCKETS))
                was = bucket[head]
                if was == place:
                    continue
                # Written out: calls, even if inlined, make it half as fast.
                if was >= 0:
                    leader, follower = before[head], after[head]
                    if leader >= 0:
                        after[leader] = follower
                    else:
                        first[was] = follower
                    if follower >= 0:
                        before[follower] = leader
                follower = first[place]
                after[head] = follower
                before[head] = -1
                if follower >= 0:
                    before[follower] = head
                first[place] = head
                bucket[head] = place
    return _without_gaps(order, visit, n_visits) if n_again else n_visits


@compiled()
def _without_gaps(order, visit, n_visits):
    """Close the gaps that nodes visited again have left; returns the number of nodes."""
    n_left = 0
    for position in range(n_visits):
        node = order[position]
        if node >= 0:
            order[n_left] = node
            visit[node] = n_left
            n_left += 1
    return n_left


@compiled()
def least_along(tails, tree, n_reached, least):
    """Turn ``least`` (n,), of the last step to each node, into the least on the way to it."""
    for position in range(1, n_reached):
        node = tree.order[position]
        least[node] = min(least[tails[tree.parent_edge[node]]], least[node])


@compiled()
def mark_ways(tails, tree, nodes, is_met):
    """Mark in ``is_met`` (n,) the nodes on the ways from the root to some of them."""
    for end in nodes:
        node = np.int64(end)
        while not is_met[node]:
            is_met[node] = True
            edge = tree.parent_edge[node]
            if edge >= 0:
                node = np.int64(tails[edge])


def tree_lengths(graph: GraphArrays, sources: Any, rows: FloatArray) -> None:
    """Fill ``rows`` (s, n) with shortest-path lengths, infinite where there is no path."""
    tree = new_tree(graph)
    for row, source in zip(rows, sources, strict=True):
        grow_tree(graph, source, tree)
        row[:] = tree.distance


def lengths_from(graph: Graph, source: int) -> FloatArray:
    """Measure shortest paths from one node to all, (n_points,)."""
    arrays = graph_arrays(graph)
    tree = new_tree(arrays)
    grow_tree(arrays, source, tree)
    distance: FloatArray = tree.distance
    return distance
