"""What to do with a graph that falls into several components."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ptunfold.caller import warn
from ptunfold.geometry.graph import graph_from_edges, subgraph
from ptunfold.geometry.neighbors import edge_lengths, nearest_among
from ptunfold.types import Graph, IntArray, Points, Space
from ptunfold.validation.values import DISCONNECTED, check_choice

_MOST_SEARCHED_TOGETHER = 64
# Components of which every two are joined that touch: so many at most, of so many points at least.
_MOST_IN_PAIRS, _LEAST_IN_PAIRS = 32, 10
_TOUCHING = 3.0  # of the way that either has to the nearest of the others
_PROBES = 100  # points that tell how far apart two components are at most
_REMEDIES = 'raise n_neighbors or radius, add edges, or choose another value of "disconnected"'


def join_components(
    points: Points,
    graph: Graph,
    disconnected: str,
    n_jobs: int | None = None,
    *,
    say: Callable[[str], None] = warn,
) -> tuple[Graph, IntArray]:
    """Make the graph fit to be unfolded, as ``disconnected`` wants it.

    Components are joined where they touch by the shortest possible edges, refused, left out but for
    the largest, or kept apart; ``say`` is told about it. Returns the graph with bridges, or without
    the edges of points that are left out, and the component that each point is embedded with,
    (n_points,), the largest first; -1 if it is left out.
    """
    check_choice("disconnected", disconnected, DISCONNECTED)
    labels = graph.component_labels
    sizes = np.bincount(labels)
    if len(sizes) == 1:
        return graph, labels
    found = f"the neighbour graph has {len(sizes)} components (sizes {_listing(sizes)})"
    if disconnected == "error":
        raise ValueError(f"{found}; {_REMEDIES}")
    if disconnected == "separate":
        return graph, labels
    if disconnected == "largest":
        n_left_out = len(labels) - sizes[0]
        say(
            f"{found}; only the largest is embedded, the other {n_left_out} points get NaN: "
            f"{_REMEDIES}"
        )
        return subgraph(graph, labels[graph.tails] == 0), np.where(labels == 0, 0, -1)
    graph = _bridge(points, graph, labels, n_jobs)
    assert graph.bridges is not None
    lengths = edge_lengths(points, *graph.bridges.T, n_jobs=1)
    kind = "" if isinstance(points, Space) else "Euclidean "
    say(
        f"{found}; they were joined by {len(lengths)} edges of {kind}length up to "
        f"{lengths.max():.3g} (median edge: {np.median(graph.lengths):.3g}), and distances across "
        f"them may be far off: {_REMEDIES}"
    )
    return graph, np.zeros_like(labels)


def _listing(sizes: IntArray, most: int = 8) -> str:
    shown = ", ".join(str(size) for size in sizes[:most])
    return shown if len(sizes) <= most else f"{shown}, and {len(sizes) - most} smaller ones"


def _bridge(points: Points, graph: Graph, labels: IntArray, n_jobs: int | None) -> Graph:
    """Join large components wherever they touch, and all by a minimum spanning tree.

    A tree alone would leave open what runs in a ring. It is found by Borůvka's rounds.
    """
    once = graph.tails < graph.indices
    pairs = _closest_pairs(points, labels, n_jobs)
    n_edges = once.sum()
    tails = np.concatenate((graph.tails[once], pairs[:, 0]))
    heads = np.concatenate((graph.indices[once], pairs[:, 1]))
    lengths = np.concatenate((graph.lengths[once], edge_lengths(points, *pairs.T, n_jobs=n_jobs)))
    graph = graph_from_edges(graph.n_points, tails, heads, lengths)
    labels = graph.component_labels
    while labels.max() > 0:
        ways_out = _shortest_ways_out(points, labels, n_jobs)
        tails = np.concatenate((tails, ways_out[:, 0]))
        heads = np.concatenate((heads, ways_out[:, 1]))
        lengths = np.concatenate((lengths, edge_lengths(points, *ways_out.T, n_jobs=n_jobs)))
        graph = graph_from_edges(graph.n_points, tails, heads, lengths)
        labels = graph.component_labels
    bridges = np.column_stack((tails[n_edges:], heads[n_edges:])).astype(np.int64)
    return replace(graph, bridges=bridges)


def _closest_pairs(points: Points, labels: IntArray, n_jobs: int | None) -> IntArray:
    """Find the closest points of every two large components that touch, (n_pairs, 2).

    Two of them touch if the gap between them is at most three times as wide as that between either
    and the nearest of the others.
    """
    n_large = min(int((np.bincount(labels) >= _LEAST_IN_PAIRS).sum()), _MOST_IN_PAIRS)
    members = [np.flatnonzero(labels == one) for one in range(n_large)]
    # A search for what is far takes long: some points tell first how far it can be.
    probes = [ours[:: -(-len(ours) // _PROBES)] for ours in members]
    bounds = np.full((n_large, n_large), np.inf)
    for other, theirs in enumerate(members):  # the larger ones are searched
        asking = {one: probes[one] for one in range(other + 1, n_large)}
        for one, (_, _, gap) in _closest(points, theirs, asking, n_jobs).items():
            bounds[one, other] = bounds[other, one] = gap
    reach = _TOUCHING * bounds.min(axis=1, initial=np.inf)
    pairs, gaps = [], np.full((n_large, n_large), np.inf)
    for other, theirs in enumerate(members):
        asked: dict[int, IntArray] = {}
        for one in range(other + 1, n_large):
            bound = min(bounds[one, other], max(reach[one], reach[other]))
            asked[one] = _within(points, members[one], theirs, bound)
        for one, (ours, found, gap) in _closest(points, theirs, asked, n_jobs).items():
            pairs.append((one, other, ours, found))
            gaps[one, other] = gaps[other, one] = gap
    to_nearest = gaps.min(axis=1, initial=np.inf)
    touching = [
        ends
        for one, other, *ends in pairs
        if gaps[one, other] <= _TOUCHING * max(to_nearest[one], to_nearest[other])
    ]
    return np.array(touching, dtype=np.int64).reshape(-1, 2)


def _closest(
    points: Points, theirs: IntArray, asked: Mapping[int, IntArray], n_jobs: int | None
) -> dict[int, tuple[int, int, float]]:
    """Find the points closest to each other of several components and another one.

    ``asked`` has points of each component. Returns for each that has some a point, the one of
    ``theirs`` that is nearest, and how far it is.
    """
    asked = {one: ours for one, ours in asked.items() if len(ours)}
    if not asked:
        return {}
    together = np.concatenate(list(asked.values()))
    found = theirs[nearest_among(points, theirs, together, 1, n_jobs)[:, 0]]
    lengths = edge_lengths(points, together, found, n_jobs=n_jobs)
    closest, start = {}, 0
    for one, ours in asked.items():
        best = start + int(lengths[start : start + len(ours)].argmin())
        closest[one] = together[best], found[best], lengths[best]
        start += len(ours)
    return closest


def _within(points: Points, ours: IntArray, theirs: IntArray, reach: float) -> IntArray:
    """Leave out points that are farther than ``reach`` from the box around others."""
    if isinstance(points, Space):
        return ours
    box, places = points[theirs], points[ours].astype(np.float64)
    off = np.maximum(np.maximum(box.min(axis=0) - places, places - box.max(axis=0)), 0)
    return ours[np.linalg.norm(off, axis=1) <= reach * (1 + 1e-9)]


def _shortest_ways_out(points: Points, labels: IntArray, n_jobs: int | None) -> IntArray:
    """Find the closest pair (inside, outside) of each component but the largest, (n_pairs, 2)."""
    sizes = np.bincount(labels)
    # The size + 1 nearest points of a member cannot all be inside: one search for all small ones.
    is_small = sizes <= min(_MOST_SEARCHED_TOGETHER, len(labels) - 1)
    is_small[0] = False
    inside = np.flatnonzero(is_small[labels])
    outside: IntArray = np.empty_like(inside)
    if len(inside):
        everyone, n_near = np.arange(len(points)), int(sizes[is_small].max()) + 1
        found = nearest_among(points, everyone, inside, n_near, n_jobs)
        is_outside = labels[found] != labels[inside, None]
        outside = np.take_along_axis(found, is_outside.argmax(axis=1)[:, None], axis=1)[:, 0]
    pairs = [np.column_stack((inside, outside))]
    for component in np.flatnonzero(~is_small)[1:]:
        is_inside = labels == component
        inside, others = np.flatnonzero(is_inside), np.flatnonzero(~is_inside)
        outside = others[nearest_among(points, others, inside, 1, n_jobs)[:, 0]]
        pairs.append(np.column_stack((inside, outside)))
    candidates = np.concatenate(pairs)
    owner = labels[candidates[:, 0]]
    order = np.lexsort((edge_lengths(points, *candidates.T, n_jobs=n_jobs), owner))
    _, first = np.unique(owner[order], return_index=True)
    ways_out = candidates[order[first]]
    by_length = np.argsort(edge_lengths(points, *ways_out.T, n_jobs=n_jobs), kind="stable")
    return _without_cycles(ways_out[by_length], labels)


def _without_cycles(pairs: IntArray, labels: IntArray) -> IntArray:
    """Keep the pairs that join components which are not joined yet, in their order."""
    joined = np.arange(labels.max() + 1)
    kept = []
    for pair in pairs:
        one, other = joined[labels[pair]]
        if one != other:
            joined[joined == other] = one
            kept.append(pair)
    return np.array(kept)
