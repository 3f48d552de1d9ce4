"""Loops of a graph that can be drawn together over triangles, and those that cannot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled


class Zipper(NamedTuple):
    """A graph with edges that are shut, ``is_shut`` (E,) in both directions, and others open."""

    indptr: Any
    indices: Any
    reverse: Any
    is_shut: Any


@compiled()
def zip_up(zipper, pile, n_piled):
    """Shut the edges whose loops through a tree can be drawn together over triangles.

    The edges of the tree are shut at first; ``pile`` (E / 2,) holds them, one direction of each,
    ``n_piled`` of them. An edge is shut that closes a triangle with two that are.
    """
    indptr, indices, reverse, is_shut = zipper
    way = np.full(len(indptr) - 1, -1, dtype=np.int64)  # the edge to each neighbour of the node
    n_open = np.zeros(len(indptr) - 1, dtype=np.int64)
    for node in range(len(n_open)):
        for edge in range(indptr[node], indptr[node + 1]):
            n_open[node] += not is_shut[edge]
    # The last one first: what is around it is soon shut, and the others there have nothing to do.
    while n_piled > 0:
        n_piled -= 1
        edge = pile[n_piled]
        node, other = indices[reverse[edge]], indices[edge]
        if n_open[node] == 0 and n_open[other] == 0:
            continue
        for near in range(indptr[node], indptr[node + 1]):
            way[indices[near]] = near
        for far in range(indptr[other], indptr[other + 1]):
            near = way[indices[far]]
            if near < 0 or is_shut[near] == is_shut[far]:
                continue
            closing = far if is_shut[near] else near
            is_shut[closing] = True
            is_shut[reverse[closing]] = True
            n_open[indices[closing]] -= 1
            n_open[indices[reverse[closing]]] -= 1
            pile[n_piled] = closing
            n_piled += 1
        for near in range(indptr[node], indptr[node + 1]):
            way[indices[near]] = -1


@compiled()
def shut_short_loops(zipper, queue, n_steps):
    """Shut the edges that close a loop with up to ``n_steps`` edges that are shut.

    Points at random leave small voids, which are no holes. ``queue`` (E / 2,) lists the edges that
    were shut; returns their number.
    """
    indptr, indices, reverse, is_shut = zipper
    n_points = len(indptr) - 1
    hops, back = np.full((2, n_points), -1, dtype=np.int32)
    front, behind = np.empty((2, n_points), dtype=np.int32)
    is_tested = is_shut.copy()
    n_queued, longest = 0, n_steps + 2
    for node in range(n_points):
        size = 0
        for edge in range(indptr[node], indptr[node + 1]):
            if is_tested[edge]:
                continue
            if size == 0:  # reach out from this node, once
                size = _reach(zipper, node, longest - longest // 2, hops, front)
            n_back = _reach(zipper, indices[edge], longest // 2, back, behind)
            way = longest + 1
            for place in range(n_back):
                met = behind[place]
                if hops[met] >= 0:
                    way = min(way, hops[met] + back[met])
                back[met] = -1
            if way <= n_steps:
                is_shut[edge] = is_shut[reverse[edge]] = True
                is_tested[edge] = is_tested[reverse[edge]] = True
                queue[n_queued] = edge
                n_queued += 1
            elif way > longest:  # from the neighbours of its ends the way is two steps shorter
                _mark_beside(zipper, edge, is_tested)
        for place in range(size):
            hops[front[place]] = -1
    return n_queued


@compiled()
def _reach(zipper, node, n_steps, hops, front):
    """Count in ``hops`` (n,) the steps along edges that are shut; list in ``front`` who is met."""
    indptr, indices, _, is_shut = zipper
    hops[node], front[0], size, first = 0, node, 1, 0
    while first < size and hops[front[first]] < n_steps:
        near = front[first]
        first += 1
        for way in range(indptr[near], indptr[near + 1]):
            if is_shut[way] and hops[indices[way]] < 0:
                hops[indices[way]] = hops[near] + 1
                front[size] = indices[way]
                size += 1
    return size


@compiled()
def _mark_beside(zipper, edge, is_marked):
    """Mark the open edges, in both directions, whose ends are those of ``edge`` or next to them."""
    indptr, indices, reverse, is_shut = zipper
    node, head = indices[reverse[edge]], indices[edge]
    for step in range(indptr[node] - 1, indptr[node + 1]):
        if step >= indptr[node] and not is_shut[step]:
            continue
        tail = node if step < indptr[node] else indices[step]
        for other in range(indptr[tail], indptr[tail + 1]):
            if is_marked[other]:
                continue
            is_beside = indices[other] == head
            for way in range(indptr[head], indptr[head + 1]):
                if is_beside:
                    break
                is_beside = is_shut[way] and indices[way] == indices[other]
            if is_beside:
                is_marked[other] = is_marked[reverse[other]] = True


@compiled()
def join_open_edges(zipper, n_steps, group):
    """Give the same number to open edges that lead from one side to the same other.

    Two of them do if edges that are shut lead from tail to tail and from head to head in few
    steps, ``n_steps`` in all. ``group`` (E,) becomes the smallest of the edges that each directed
    edge goes with.
    """
    indptr, indices, reverse, is_shut = zipper
    n_points = len(indptr) - 1
    for edge in range(len(indices)):
        group[edge] = edge
    hops, back = np.full((2, n_points), -1, dtype=np.int32)
    front, behind = np.empty((2, n_points), dtype=np.int32)
    is_done = is_shut.copy()
    for node in range(n_points):
        size = 0
        for edge in range(indptr[node], indptr[node + 1]):
            if is_done[edge]:
                continue
            if size == 0:
                size = _reach(zipper, node, n_steps // 2 + 1, hops, front)
            n_back = _reach(zipper, indices[edge], n_steps // 2 + 1, back, behind)
            for place in range(size):
                tail = front[place]
                for other in range(indptr[tail], indptr[tail + 1]):
                    step = back[indices[other]]
                    if is_shut[other] or step < 0 or hops[tail] + step > n_steps:
                        continue
                    _unite(group, edge, other)
                    _unite(group, reverse[edge], reverse[other])
                    if hops[tail] <= 1 and step <= 1:
                        is_done[other] = is_done[reverse[other]] = True
            for place in range(n_back):
                back[behind[place]] = -1
        for place in range(size):
            hops[front[place]] = -1
    for edge in range(len(indices)):
        group[edge] = _root(group, edge)


@compiled()
def _unite(group, one, other):
    one, other = _root(group, one), _root(group, other)
    group[max(one, other)] = min(one, other)


@compiled()
def _root(group, edge):
    while group[edge] != edge:
        group[edge] = group[group[edge]]
        edge = group[edge]
    return edge


@compiled()
def triangles_of_open_edges(zipper, group, found):
    """List in ``found`` (m, 3) the groups of triangles all of whose edges are open.

    Each triangle once, as far as there is room; returns their number.
    """
    indptr, indices, reverse, is_shut = zipper
    way = np.full(len(indptr) - 1, -1, dtype=np.int64)
    count = 0
    for node in range(len(indptr) - 1):
        for edge in range(indptr[node], indptr[node + 1]):
            way[indices[edge]] = edge
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if is_shut[edge] or other < node:
                continue
            for second in range(indptr[other], indptr[other + 1]):
                third = way[indices[second]]
                if third < 0 or indices[second] < other or is_shut[second] or is_shut[third]:
                    continue
                if count < len(found):
                    found[count, 0], found[count, 1] = group[edge], group[second]
                    found[count, 2] = group[reverse[third]]
                count += 1
        for edge in range(indptr[node], indptr[node + 1]):
            way[indices[edge]] = -1
    return count
