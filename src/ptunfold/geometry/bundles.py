"""Bundles of edges that jump, in graphs where points have many neighbours."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from ptunfold.geometry.graph import find_edges, graph_from_edges, has_edges, subgraph, without_edges
from ptunfold.kernels.bending import mark_nearest
from ptunfold.kernels.detours import shares_in_common
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.nearby import lengths_within
from ptunfold.threads import POINTS_TOGETHER, Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Graph, IntArray

# Where there are many edges, those between two windings come in bundles, the wider the more there
# are; among the ten nearest they still are few.
_NEAREST, _NEARLY_ALL, _LOOKED_AT = 10, 0.9, 0.3
# Of the length of an edge and of the mean length: along the nearest, and in the whole graph.
_FAR, _FAR_OF_MEAN, _FAR_IN_ALL = 4.0, 6.0, 2.5
# Of the median length: bundles between windings have up to 2.7.
_LONGEST_BUNDLE = 3.0
_EDGES_TOGETHER = 4096


def nearest_edges(graph: Graph, run: Run = Run()) -> Graph:
    """Keep the ten shortest edges at each point, or all if these are nearly all."""
    is_near = np.empty(graph.n_edges, dtype=bool)

    def mark(block: slice) -> None:
        starts = graph.indptr[block.start : block.stop + 1]
        mark_nearest(starts, graph.lengths, _NEAREST, is_near)

    run_blocks(mark, cut(graph.n_points, POINTS_TOGETHER), run)
    is_near |= is_near[graph.reverse]
    return graph if is_near.sum() >= _NEARLY_ALL * graph.n_edges else subgraph(graph, is_near)


def have_least_in_common(graph: Graph, tails: IntArray, heads: IntArray) -> BoolArray:
    """Tell which edges (m,) are among those whose ends have the fewest neighbours in common."""
    shares = np.empty(len(tails))
    shares_in_common(graph_arrays(graph), tails, heads, shares)
    return shares <= np.quantile(shares, _LOOKED_AT)


def without_suspects(graph: Graph, tails: IntArray, heads: IntArray) -> Graph:
    """Return the graph without suspicious edges, but for those that hold a few points.

    Points between two windings may have no other edges: they go with the one they are nearest to.
    Larger parts stay apart, and nothing is said about the edges between them.
    """
    left = without_edges(graph, tails, heads)
    labels = left.component_labels
    sizes = np.bincount(labels)
    is_between = labels[tails] != labels[heads]
    is_between &= np.minimum(sizes[labels[tails]], sizes[labels[heads]]) <= _NEAREST
    if not is_between.any():
        return left
    places, _ = find_edges(graph, tails[is_between], heads[is_between])
    places = places[np.argsort(graph.lengths[places], kind="stable")]
    held = places[_joining(labels[graph.tails[places]], labels[graph.indices[places]], sizes)]
    return graph_from_edges(
        graph.n_points,
        np.concatenate((left.tails, graph.tails[held])),
        np.concatenate((left.indices, graph.indices[held])),
        np.concatenate((left.lengths, graph.lengths[held])),
    )


def _joining(tails: IntArray, heads: IntArray, sizes: IntArray) -> BoolArray:
    """Tell which edges (m,) between parts join them to a tree, but for two parts that are large."""
    parts = DisjointSet(range(len(sizes)))
    is_large = dict(enumerate(sizes > _NEAREST))
    is_taken = np.zeros(len(tails), dtype=bool)
    for row, ends in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        one, other = (parts[end] for end in ends)
        if one != other and not (is_large[one] and is_large[other]):
            parts.merge(one, other)
            is_large[parts[one]] = is_large[one] or is_large[other]
            is_taken[row] = True
    return is_taken


def far_ends(
    graph: Graph, trusted: Graph, means: FloatArray, most_lost: float, run: Run
) -> tuple[IntArray, IntArray]:
    """Find edges whose ends are far from each other along the edges that are trusted."""
    labels = trusted.component_labels
    once = np.flatnonzero((graph.tails < graph.indices) & (graph.lengths > 0))
    once = once[labels[graph.tails[once]] == labels[graph.indices[once]]]
    once = once[~has_edges(trusted, graph.tails[once], graph.indices[once])]
    around = np.minimum(means[graph.tails[once]], means[graph.indices[once]])
    limits: FloatArray = np.maximum(_FAR * graph.lengths[once], _FAR_OF_MEAN * around)
    far = once[_are_farther(trusted, graph, once, limits, run)]
    # Where a sheet itself is weak, as a ring is where points are few, points on both sides would
    # lose much of what they have; next to another winding only those between the two do.
    ends = np.concatenate((graph.tails[far], graph.indices[far]))
    lost = np.bincount(ends, minlength=graph.n_points) / np.maximum(np.diff(graph.indptr), 1)
    far = far[np.minimum(lost[graph.tails[far]], lost[graph.indices[far]]) < most_lost]
    far = far[_in_short_bundles(graph, far)]
    # What was suspected wrongly, at rims and voids, has ways around it in the whole graph; once
    # it is back, so have the edges next to it.
    while len(far):
        left = without_edges(graph, graph.tails[far], graph.indices[far])
        limits = _FAR_IN_ALL * graph.lengths[far]
        is_far = _are_farther(left, graph, far, limits, run.quiet)
        if is_far.all():
            break
        far = far[is_far]
    return graph.tails[far].astype(np.int64), graph.indices[far].astype(np.int64)


def _in_short_bundles(graph: Graph, edges: IntArray) -> BoolArray:
    """Tell which edges (m,) are in bundles that are not longer than edges are.

    A bundle holds together by its ends. A long one may close a ring where points are few.
    """
    if not len(edges):
        return np.empty(0, dtype=bool)
    ends = graph.tails[edges], graph.indices[edges]
    bundles = graph_from_edges(graph.n_points, *ends, graph.lengths[edges]).component_labels
    bundles = bundles[ends[0]]
    order = np.lexsort((graph.lengths[edges], bundles))
    sizes = np.bincount(bundles)
    middles = np.cumsum(sizes) - (sizes + 1) // 2
    medians = graph.lengths[edges][order][np.minimum(middles, len(edges) - 1)]
    return (medians <= _LONGEST_BUNDLE * np.median(graph.lengths))[bundles]


def _are_farther(
    ways: Graph, graph: Graph, edges: IntArray, limits: FloatArray, run: Run
) -> BoolArray:
    """Tell which of the edges (m,) have ends farther apart along ``ways`` than ``limits`` (m,)."""
    tails, heads = graph.tails[edges], graph.indices[edges]
    found = np.empty(len(edges))
    arrays = graph_arrays(ways)

    def handle(block: slice) -> None:
        lengths_within(arrays, tails[block], heads[block], limits[block], found[block])

    blocks = cut(len(edges), max(_EDGES_TOGETHER, len(edges) // 64))
    run_blocks(handle, blocks, run, "far ends", "edges")
    return np.isinf(found)
