"""Edges that jump from one part of a sheet to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph

from ptunfold.geometry.components import component_labels
from ptunfold.geometry.graph import (
    find_edges,
    graph_from_edges,
    has_edges,
    subgraph,
    without_edges,
)
from ptunfold.kernels.detours import count_detours, shares_in_common
from ptunfold.kernels.edges import mark_nearest, write_in_frames
from ptunfold.kernels.paths import lengths_within
from ptunfold.threads import cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Frames, Graph, IntArray

# Measured on clean and noisy sheets with 10 neighbours: good edges have more than three ways around
# in 999 of 1000 cases; edges between two windings of a noisy roll come in twos and threes.
_MOST_WAYS = 3
_LONGEST_OF_MEAN = 6.0
_LONGEST_OF_EDGE = 1.5
_EDGES_TOGETHER = 4096
# Where there are more edges, those between two windings come in bundles, the wider the more there
# are; among the ten nearest they still are few. Good edges are 2.5 times as short as paths along
# the nearest in one case of 1000.
_NEAREST, _NEARLY_ALL, _LOOKED_AT = 10, 0.9, 0.3
_LONGEST_OF_NEAREST, _MOST_MORE = 4.0, 2
_FAR, _FAR_IN_ALL = 4.0, 2.5
# Few ways lead around an edge also where points are few, and there edges are long. Of the median
# length: edges that close a ring of sensors, or join the states of a molecule, have 2 and more;
# most edges between the windings of noisy rolls, between faces or digits, less than 1.75.
_LONGEST_DROPPED = 1.75
# Of an edge's shadow to that which the angle between the planes at its ends lets expect: creases
# have 0.8 and more.
_JUMP = 0.5
_ALONG, _ALIKE = 0.95, 0.9


def find_shortcuts(
    graph: Graph, *, n_jobs: int | None = None, progress: bool = False
) -> tuple[IntArray, IntArray]:
    """Find edges that have few ways around them.

    The neighbours of a point on a sheet are neighbours of each other, so that many short paths
    lead from one end of an edge to the other. An edge between two parts of a sheet that only come
    close in space has none, or as many as there are other such edges next to it. An edge is taken
    for a shortcut if at most three paths (fewer in a graph with few edges) lead around it, no two
    with an edge in common, each at most half as long again as the edge, or as six edges of the mean
    length there. Edges that alone hold parts of the graph together are none.

    Where points have more than about ten neighbours, such edges come in bundles, and each has many
    ways around it over the others. There the ten shortest edges at each point are looked at in this
    way, and the other edges are compared with the paths along those that have many ways around
    them: shortcuts are four times as short. They are no shortcuts if two and a half times their
    length lead around them once all others are gone.

    Parameters
    ----------
    graph : Graph
        The proximity graph.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar.

    Returns
    -------
    tails, heads : (n_shortcuts,) int
        The ends of the edges.

    Examples
    --------
    A swiss roll with so much noise that its windings touch:

    >>> import numpy as np
    >>> from ptunfold import build_graph, find_shortcuts
    >>> from ptunfold.datasets import swiss_roll
    >>> data = swiss_roll(2000, noise=0.032, seed=2)
    >>> def count_jumps(tails, heads):
    ...     apart = data.coordinates[tails] - data.coordinates[heads]
    ...     return int((np.linalg.norm(apart, axis=1) > 8).sum())
    >>> graph = build_graph(data.points)
    >>> count_jumps(graph.tails, graph.indices) // 2, count_jumps(*find_shortcuts(graph))
    (7, 7)
    >>> graph = build_graph(data.points, 25)
    >>> count_jumps(graph.tails, graph.indices) // 2, count_jumps(*find_shortcuts(graph))
    (86, 77)
    """
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    thin = _nearest_edges(graph)
    # Copies of a point, joined to it by edges of length 0, do not count.
    degrees = np.bincount(thin.tails[thin.lengths > 0], minlength=graph.n_points)
    means = np.bincount(thin.tails, thin.lengths, graph.n_points) / np.maximum(degrees, 1)
    # With fewer neighbours good edges have fewer ways around them too.
    mean_degree = degrees.sum() / max(np.count_nonzero(degrees), 1)
    most_ways = int(np.clip((mean_degree - 5.5) // 2, 0, _MOST_WAYS))
    longest_of_mean = _LONGEST_OF_MEAN
    edges = np.flatnonzero(thin.tails < thin.indices)
    if thin is not graph:
        # The more edges there are beside the nearest, the surer a wrong suspicion is taken back.
        most_ways += min(round(graph.n_edges / thin.n_edges) - 1, _MOST_MORE)
        longest_of_mean = _LONGEST_OF_NEAREST
        edges = edges[_have_least_in_common(graph, thin.tails[edges], thin.indices[edges])]
    around = np.minimum(means[thin.tails[edges]], means[thin.indices[edges]])
    longest: FloatArray = np.maximum(
        _LONGEST_OF_EDGE * thin.lengths[edges], longest_of_mean * around
    )
    few = edges[_have_few_ways(thin, edges, longest, most_ways, **how)]
    tails, heads = thin.tails[few].astype(np.int64), thin.indices[few].astype(np.int64)
    if thin is not graph:
        return _far_ends(graph, _without_suspects(thin, tails, heads), means, **how)
    # Without a longer way around there is nothing to cut short.
    labels = component_labels(without_edges(graph, tails, heads))
    is_cut = labels[tails] == labels[heads]
    return tails[is_cut], heads[is_cut]


def _nearest_edges(graph: Graph) -> Graph:
    """Keep the ten shortest edges at each point, or all if these are nearly all."""
    is_near = np.empty(graph.n_edges, dtype=bool)
    mark_nearest(graph.indptr, graph.lengths, _NEAREST, is_near)
    is_near |= is_near[graph.reverse]
    return graph if is_near.sum() >= _NEARLY_ALL * graph.n_edges else subgraph(graph, is_near)


def _have_least_in_common(graph: Graph, tails: IntArray, heads: IntArray) -> BoolArray:
    """Tell which edges (m,) are among those whose ends have the fewest neighbours in common."""
    shares = np.empty(len(tails))
    shares_in_common(graph.indptr, graph.indices, graph.lengths, tails, heads, shares)
    return shares <= np.quantile(shares, _LOOKED_AT)


def _have_few_ways(
    graph: Graph,
    edges: IntArray,
    longest: FloatArray,
    most_ways: int,
    *,
    n_jobs: int | None,
    progress: bool,
) -> BoolArray:
    """Tell which edges (m,) have at most so many ways around, ``longest`` (m,) at most."""
    counts = np.empty(len(edges), dtype=np.int64)
    reverse = graph.reverse  # found once, and not by every thread

    def handle(block: slice) -> None:
        count_detours(
            graph.indptr,
            graph.indices,
            graph.lengths,
            graph.tails,
            reverse,
            edges[block],
            longest[block],
            most_ways + 1,
            counts[block],
        )

    run_blocks(
        handle,
        cut(len(edges), max(_EDGES_TOGETHER, len(edges) // 64)),
        n_jobs=n_jobs,
        description="shortcuts",
        unit="edges",
        progress=progress,
    )
    return counts <= most_ways


def _without_suspects(graph: Graph, tails: IntArray, heads: IntArray) -> Graph:
    """Return the graph without suspicious edges, but for those that hold single points.

    A point between two windings may have no other edges: it goes with the one it is nearest to.
    Larger parts stay apart, and nothing is said about the edges between them.
    """
    left = without_edges(graph, tails, heads)
    labels = component_labels(left)
    sizes = np.bincount(labels)
    is_between = labels[tails] != labels[heads]
    is_between &= np.minimum(sizes[labels[tails]], sizes[labels[heads]]) <= _NEAREST
    if not is_between.any():
        return left
    ends = labels[tails[is_between]], labels[heads[is_between]]
    places, _ = find_edges(graph, tails[is_between], heads[is_between])
    # A tree over the parts; SciPy knows no edges of length 0, and adds up those given twice.
    order = np.argsort(graph.lengths[places], kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    parts = graph_from_edges(len(sizes), *ends, ranks)
    tree = csgraph.minimum_spanning_tree(parts.to_sparse())
    held = places[order[tree.data.astype(np.int64) - 1]]
    return graph_from_edges(
        graph.n_points,
        np.concatenate((left.tails, graph.tails[held])),
        np.concatenate((left.indices, graph.indices[held])),
        np.concatenate((left.lengths, graph.lengths[held])),
    )


def _far_ends(
    graph: Graph, trusted: Graph, means: FloatArray, *, n_jobs: int | None, progress: bool
) -> tuple[IntArray, IntArray]:
    """Find edges whose ends are far from each other along the edges that are trusted."""
    labels = component_labels(trusted)
    once = np.flatnonzero((graph.tails < graph.indices) & (graph.lengths > 0))
    once = once[labels[graph.tails[once]] == labels[graph.indices[once]]]
    once = once[~has_edges(trusted, graph.tails[once], graph.indices[once])]
    around = np.minimum(means[graph.tails[once]], means[graph.indices[once]])
    limits: FloatArray = np.maximum(_FAR * graph.lengths[once], _LONGEST_OF_MEAN * around)
    far = once[_are_farther(trusted, graph, once, limits, n_jobs=n_jobs, progress=progress)]
    # What was suspected wrongly, at rims and voids, has ways around it in the whole graph; once
    # it is back, so have the edges next to it.
    while len(far):
        left = without_edges(graph, graph.tails[far], graph.indices[far])
        limits = _FAR_IN_ALL * graph.lengths[far]
        is_far = _are_farther(left, graph, far, limits, n_jobs=n_jobs, progress=False)
        if is_far.all():
            break
        far = far[is_far]
    return graph.tails[far].astype(np.int64), graph.indices[far].astype(np.int64)


def _are_farther(
    ways: Graph,
    graph: Graph,
    edges: IntArray,
    limits: FloatArray,
    *,
    n_jobs: int | None,
    progress: bool,
) -> BoolArray:
    """Tell which of the edges (m,) have ends farther apart along ``ways`` than ``limits`` (m,)."""
    tails, heads = graph.tails[edges], graph.indices[edges]
    found = np.empty(len(edges))

    def handle(block: slice) -> None:
        lengths_within(
            ways.indptr,
            ways.indices,
            ways.lengths,
            tails[block],
            heads[block],
            limits[block],
            found[block],
        )

    run_blocks(
        handle,
        cut(len(edges), max(_EDGES_TOGETHER, len(edges) // 64)),
        n_jobs=n_jobs,
        description="far ends",
        unit="edges",
        progress=progress,
    )
    return np.isinf(found)


def short_ones(graph: Graph, shortcuts: IntArray) -> IntArray:
    """Choose the shortcuts (n_shortcuts, 2) that are no longer than most edges.

    Where data are no sheet, a long edge with few ways around it may just as well join what belongs
    together, where points are few; without it a ring would come open.
    """
    places, _ = find_edges(graph, *shortcuts.T)
    return shortcuts[graph.lengths[places] <= _LONGEST_DROPPED * np.median(graph.lengths)]


def find_jumps(points: FloatArray, graph: Graph, frames: Frames) -> IntArray:
    """Find edges that leave one sheet for another, by the tangent planes of both, (n_jumps, 2).

    Where a sheet is bent, an edge rises above the tangent planes at its ends, by half of the angle
    between them. Where the planes are parallel and the edge rises all the same, it leads to
    another sheet. Edges that alone hold parts of the graph together are none.
    """
    edges = np.flatnonzero(graph.tails < graph.indices)
    overlaps, shadows = _edges_in_planes(points, frames, graph.tails[edges], graph.indices[edges])
    is_steep = shadows < _JUMP
    edges, shadows = edges[is_steep], shadows[is_steep]
    cosines = np.linalg.svd(overlaps[is_steep], compute_uv=False).min(axis=1, initial=1)
    is_jump = shadows < _JUMP * np.sqrt(0.5 * (1 + np.minimum(cosines, 1)))
    tails, heads = (ends[edges[is_jump]].astype(np.int64) for ends in (graph.tails, graph.indices))
    labels = component_labels(without_edges(graph, tails, heads))
    is_cut = labels[tails] == labels[heads]
    return np.column_stack((tails[is_cut], heads[is_cut]))


def keep_to_sheet(points: FloatArray, frames: Frames, edges: IntArray) -> BoolArray:
    """Tell which of the edges (n_edges, 2) run along tangent planes that are nearly the same."""
    overlaps, shadows = _edges_in_planes(points, frames, *edges.T)
    cosines = np.linalg.svd(overlaps, compute_uv=False).min(axis=1, initial=1)
    return (shadows >= _ALONG) & (cosines >= _ALIKE)


def _edges_in_planes(
    points: FloatArray, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the overlaps of the frames at both ends, and the smaller shadow of unit edges."""
    n_edges, dim = len(tails), frames.intrinsic_dim
    overlaps, lengths = np.empty((n_edges, dim, dim)), np.empty(n_edges)
    there, here = np.empty((2, n_edges, dim))
    write_in_frames(points, frames.vectors, tails, heads, overlaps, there, here, lengths)
    shadow = np.minimum(np.linalg.norm(there, axis=1), np.linalg.norm(here, axis=1))
    return overlaps, np.divide(shadow, lengths, out=np.ones(n_edges), where=lengths > 0)
