"""Nodes by priority, in buckets of equal width: the next one is found without comparing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled

N_BUCKETS = 2048


class Queue(NamedTuple):
    """Nodes in buckets, and one bucket for all that comes later.

    Buckets are doubly linked lists: ``first`` (N_BUCKETS + 1,) starts them, ``after`` and
    ``before`` (n,) link them, ``bucket`` (n,) tells where a node is, -1 if nowhere, ``key`` (n,)
    its priority.
    """

    first: Any
    after: Any
    before: Any
    bucket: Any
    key: Any


@compiled()
def new_queue(key):
    """Return an empty queue of nodes with the priorities ``key`` (n,)."""
    n_points = len(key)
    return Queue(
        np.full(N_BUCKETS + 1, -1, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        np.empty(n_points, dtype=np.int32),
        np.full(n_points, -1, dtype=np.int32),
        key,
    )


@compiled()
def put(queue, node, place):
    """Put a node that is in no bucket into one."""
    first, after, before, bucket, _ = queue
    follower = first[place]
    after[node] = follower
    before[node] = -1
    if follower >= 0:
        before[follower] = node
    first[place] = node
    bucket[node] = place


@compiled()
def start_again(queue, per_width):
    """Spread the nodes that were left for later over the buckets; return the new origin."""
    first, after, _, _, key = queue
    origin = np.inf
    node = first[N_BUCKETS]
    while node >= 0:
        origin = min(origin, key[node])
        node = after[node]
    node = first[N_BUCKETS]
    first[N_BUCKETS] = -1
    while node >= 0:
        following = after[node]
        place = min((key[node] - origin) * per_width, N_BUCKETS)
        put(queue, node, np.int64(place))
        node = following
    return origin
