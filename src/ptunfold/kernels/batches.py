"""Distances from batches of neighbouring sources, which have nearly the same shortest paths.

Every node has a row of lanes, one for each source of the batch, and all of them are relaxed at
once. The graph must be connected and its edges longer than rounding; `arrange` sees to both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.chosen_lanes import (
    VARIANT,
    combine,
    improve,
    improved,
    lowest,
    norm,
    norm_above,
    sharing,
)
from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.curving import curve_lanes
from ptunfold.kernels.lanes import ALL_LANES, LANES
from ptunfold.kernels.queues import N_BUCKETS, Queue, new_queue, put, start_again

_VISITS_KEPT = 4  # a node; more are only slower
_TILE = 16


class Batch(NamedTuple):
    """The sources of a batch, and the room in which their paths are found and unfolded.

    ``labels`` (n, LANES) are lengths, ``parents`` (n, LANES) uint16 the next node on the way to the
    ``sources`` (LANES,), as its place in the list of neighbours; ``visits`` the order in which
    nodes were visited, ``ready`` (n,) the mask of lanes that are unfolded, ``vectors``
    (n * height, LANES) to what, and ``axes`` (n_axes, LANES) the coordinates of the sources;
    ``room`` (4, LANES) is for `curve_lanes`.
    """

    queue: Queue
    sources: Any
    labels: Any
    parents: Any
    visits: Any
    ready: Any
    vectors: Any
    axes: Any
    room: Any


@compiled(VARIANT)
def shortest_paths(graph, back, per_width, batch):
    """Find the shortest path from each node to each source.

    Labels are corrected until nothing improves, so the order of the visits changes the time and not
    the lengths. Returns the number of visits that are recorded.
    """
    indptr, indices, lengths = graph
    queue, sources, labels, parents, visits, _, _, _, _ = batch
    first, after, before, bucket, key = queue
    labels[:] = np.inf
    for lane in range(LANES):
        source = sources[lane]
        labels[source, lane] = 0.0
        key[source] = 0.0
        if bucket[source] < 0:
            put(queue, source, 0)
    n_visits = 0
    origin = 0.0
    current = 0
    while True:
        while current < N_BUCKETS and first[current] < 0:
            current += 1
        if current == N_BUCKETS:
            if first[N_BUCKETS] < 0:
                return n_visits
            origin = start_again(queue, per_width)
            current = 0
            continue
        node = np.int64(first[current])
        follower = after[node]
        first[current] = follower
        if follower >= 0:
            before[follower] = -1
        bucket[node] = -1
        if n_visits < len(visits):
            visits[n_visits] = node
            n_visits += 1
        for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + 1])):
            head = np.int64(indices[edge])
            length = lengths[edge]
            if improved(labels, node, head, length) == 0:
                continue
            least = improve(labels, node, head, length, parents, back[edge])
            place = np.int64(min((least - origin) * per_width, N_BUCKETS))
            # Written out, because a call here would count references to all arrays every time.
            if bucket[head] >= 0:
                if key[head] <= least:
                    continue
                leader, follower = before[head], after[head]
                if leader >= 0:
                    after[leader] = follower
                else:
                    first[bucket[head]] = follower
                if follower >= 0:
                    before[follower] = leader
            key[head] = least
            follower = first[place]
            after[head] = follower
            before[head] = -1
            if follower >= 0:
                before[follower] = head
            first[place] = head
            bucket[head] = place


@compiled(VARIANT)
def develop(laid, batch, n_visits):
    """Unfold the shortest path from each node to each source into the tangent space of the node.

    The vectors become the source as seen from the node. A node can be unfolded once its parent is,
    and a parent was visited before the node that it gave a label to: one pass over the visits is
    enough. ``laid.lost`` is empty where everything is carried over every edge. Else it holds four
    numbers an edge, see `shares_of`, and the vectors (n * (d + 2), LANES) have for each node two
    rows more: its length, and what was lost of the lengths before. With curvature everything is
    carried, and there is one row more, see `curve_lanes`.
    """
    (indptr, indices, _), _, _, steps, rotations, lost, _, curvature = laid
    _, sources, _, parents, visits, ready, vectors, _, room = batch
    dim = steps.shape[1]
    is_whole, is_curved = len(lost) == 0, len(curvature) > 0
    height = dim + is_curved if is_whole else dim + 2
    ready[:] = 0
    for lane in range(LANES):
        source = sources[lane]
        ready[source] |= np.int64(1) << lane
        for row in range(height):
            vectors[source * height + row, lane] = 0.0
    n_unfolded = 0
    for node in range(len(ready)):
        n_unfolded += ready[node] == ALL_LANES
    while n_unfolded < len(ready):
        # The visits, and after them all nodes: a list that was cut short must not end in a loop.
        for position in range(n_visits + len(ready)):
            node = np.int64(visits[position] if position < n_visits else position - n_visits)
            done = ready[node]
            missing = ALL_LANES & ~done
            if missing == 0:
                continue
            while missing != 0:
                parent = parents[node, lowest(missing)]
                edge = np.int64(indptr[node] + parent)
                neighbor = np.int64(indices[edge])
                lanes = sharing(parents, node, parent) & missing
                missing &= ~lanes
                lanes &= ready[neighbor]
                if lanes != 0:
                    for row in range(dim):
                        combine(
                            vectors,
                            node * height + row,
                            steps[edge, row],
                            rotations,
                            (edge * dim + row) * dim,
                            neighbor * height,
                            dim,
                            lanes,
                        )
                    if is_curved:
                        around = 0.5 * (curvature[node] + curvature[neighbor])
                        own, seen = node * height, neighbor * height + dim
                        curve_lanes(
                            vectors, own, seen, steps, edge, around, lanes, room, room.shape[1]
                        )
                    if not is_whole:
                        before, own = neighbor * height + dim, node * height + dim
                        combine(vectors, own + 1, 0.0, lost, 4 * edge, before, 2, lanes)
                        norm(vectors, own, vectors, node * height, dim)
                        combine(vectors, own + 1, 0.0, lost, 4 * edge + 2, own, 2, lanes)
                    done |= lanes
            ready[node] = done
            n_unfolded += done == ALL_LANES


@compiled()
def new_batch(n_points, height, n_axes):
    """Make the room that `batch_rows` works in, for one thread; it leaves it fit for more.

    ``height`` is the number of rows of a node in `develop`, ``n_axes`` that of the coordinates.
    Compiled, because NumPy does not align arrays as vectors want them.
    """
    return Batch(
        new_queue(np.empty(n_points)),
        np.empty(LANES, dtype=np.int64),
        np.empty((n_points, LANES)),
        np.empty((n_points, LANES), dtype=np.uint16),
        np.empty(_VISITS_KEPT * n_points, dtype=np.int32),
        np.empty(n_points, dtype=np.int64),
        np.empty((n_points * height, LANES)),
        np.empty((n_axes, LANES)),
        np.empty((4, LANES)),
    )


@compiled(VARIANT)
def batch_rows(laid, owners, start, stop, batch, rows, first_row):
    """Write the distances from the sources ``start:stop``, estimated towards the source.

    ``rows`` are those of the ``owners``, from ``first_row`` of their matrix on. No distance is
    below that between the points.
    """
    graph, _, _, steps, _, lost, points, curvature = laid
    _, sources, labels, _, _, _, vectors, axes, _ = batch
    position = owners.position
    n_points = len(graph.indptr) - 1
    dim = steps.shape[1]
    n_axes = points.shape[1]
    flat_points = points.ravel()
    is_whole = len(lost) == 0
    for first in range(start, stop, LANES):
        n_sources = min(LANES, stop - first)
        for lane in range(LANES):
            sources[lane] = first + min(lane, n_sources - 1)
            for axis in range(n_axes):
                axes[axis, lane] = points[sources[lane], axis]
        develop(laid, batch, shortest_paths(graph, laid.back, laid.per_width, batch))
        for node in range(n_points):
            own, count = node * (dim + (len(curvature) > 0)), dim
            if not is_whole:
                own, count = node * (dim + 2) + dim, 1
                # The last two numbers of ``lost`` are 1: the length, and what was lost before.
                combine(vectors, own, 0.0, lost, len(lost) - 2, own, 2, ALL_LANES)
            norm_above(labels, node, vectors, own, count, flat_points, node * n_axes, axes, n_axes)
        for tile in range(0, len(position), _TILE):
            end = min(tile + _TILE, len(position))
            for lane in range(n_sources):
                for owner in range(owners.owned[first + lane], owners.owned[first + lane + 1]):
                    row = owners.owners[owner] - first_row
                    for column in range(tile, end):
                        rows[row, column] = labels[position[column], lane]
