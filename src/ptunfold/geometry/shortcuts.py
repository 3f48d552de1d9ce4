"""Edges that jump from one part of a sheet to another."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.bundles import (
    far_ends,
    have_least_in_common,
    nearest_edges,
    without_suspects,
)
from ptunfold.geometry.frames import edges_in_frames
from ptunfold.geometry.graph import find_edges, without_edges
from ptunfold.kernels.bending import shortest_shadows
from ptunfold.kernels.detours import count_detours, ways_by_two
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Frames, Graph, IntArray, Points, Space
from ptunfold.validation.records import check_graph

# Measured on clean and noisy sheets with 10 neighbours: good edges have more than three ways around
# in 999 of 1000 cases; edges between two windings of a noisy roll come in twos and threes.
_MOST_WAYS = 3
_LONGEST_OF_MEAN = 6.0
_LONGEST_OF_EDGE = 1.5
_EDGES_TOGETHER = 1024
# Among the ten nearest of many neighbours, for suspicion only: it is judged afterwards.
_LONGEST_OF_NEAREST, _MOST_MORE = 4.0, 2
_MOST_LOST, _MOST_LOST_EVER = 0.2, 0.3  # shares of the edges that both ends of one may lose
# Few ways lead around an edge also where points are few, and there edges are long. Of the median
# length: edges that close a ring of sensors, or join the states of a molecule, have 2 and more;
# most edges between the windings of noisy rolls, between faces or digits, less than 1.75.
_LONGEST_DROPPED = 1.75
# Of an edge's shadow to that which the angle between the planes at its ends lets expect: creases
# have 0.8 and more.
_JUMP = 0.5
# An edge with less of it than this in either plane leaves the sheet. Unless two edges that do not
# lead from end to end, on a way that is not much longer than that over a crease, it is a jump.
_LEAVES, _LONGEST_OF_CREASE = 0.8, 1.3
_ALONG, _ALIKE = 0.95, 0.9


def find_shortcuts(
    graph: Graph, *, n_jobs: int | None = None, verbose: bool = False
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
    them: shortcuts are four times as short. They are none if two and a half times their length
    lead around them once all others are gone, or if they are much of what both ends have.

    Parameters
    ----------
    graph : Graph
        The proximity graph.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
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
    (86, 86)
    """
    graph = check_graph(graph)
    run = Run(n_jobs, verbose)
    thin = nearest_edges(graph, run)
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
        density = int(graph.n_edges / thin.n_edges + 0.25)
        most_ways += min(density - 1, _MOST_MORE)
        longest_of_mean = _LONGEST_OF_NEAREST
        edges = edges[have_least_in_common(graph, thin.tails[edges], thin.indices[edges])]
    around = np.minimum(means[thin.tails[edges]], means[thin.indices[edges]])
    longest: FloatArray = np.maximum(
        _LONGEST_OF_EDGE * thin.lengths[edges], longest_of_mean * around
    )
    few = edges[_have_few_ways(thin, edges, longest, most_ways, run)]
    tails, heads = thin.tails[few].astype(np.int64), thin.indices[few].astype(np.int64)
    if thin is not graph:
        trusted = without_suspects(thin, tails, heads)
        most_lost = min(_MOST_LOST * density, _MOST_LOST_EVER)
        return far_ends(graph, trusted, means, most_lost, run)
    # Without a longer way around there is nothing to cut short.
    if not len(few):
        return tails, heads
    labels = without_edges(graph, tails, heads).component_labels
    is_cut = labels[tails] == labels[heads]
    return tails[is_cut], heads[is_cut]


def _have_few_ways(
    graph: Graph, edges: IntArray, longest: FloatArray, most_ways: int, run: Run
) -> BoolArray:
    """Tell which edges (m,) have at most so many ways around, ``longest`` (m,) at most."""
    counts = np.empty(len(edges), dtype=np.int64)
    # Found once, and not by every thread.
    arrays = graph_arrays(graph), graph.tails, graph.reverse

    def handle(block: slice) -> None:
        count_detours(*arrays, edges[block], longest[block], most_ways + 1, counts[block])

    blocks = cut(len(edges), max(_EDGES_TOGETHER, len(edges) // 64))
    run_blocks(handle, blocks, run, "shortcuts", "edges")
    return counts <= most_ways


def short_ones(graph: Graph, shortcuts: IntArray) -> IntArray:
    """Choose the shortcuts (n_shortcuts, 2) that are no longer than most edges.

    Where data are no sheet, a long edge with few ways around it may just as well join what belongs
    together, where points are few; without it a ring would come open.
    """
    places, _ = find_edges(graph, *shortcuts.T)
    return shortcuts[graph.lengths[places] <= _LONGEST_DROPPED * np.median(graph.lengths)]


def find_jumps(points: Points, graph: Graph, frames: Frames, run: Run = Run()) -> IntArray:
    """Find edges that leave one sheet for another, by the tangent planes of both, (n_jumps, 2).

    Where a sheet is bent, an edge rises above the tangent planes at its ends, by half of the angle
    between them. Where the planes are parallel and the edge rises all the same, it leads to
    another sheet. Over a groove it rises from both of them, and no points lie on the way. Edges
    that alone hold parts of the graph together are none.
    """
    graph = check_graph(graph)
    edges = np.flatnonzero(graph.tails < graph.indices)
    leaves, is_short = np.empty((2, len(edges)), dtype=bool)

    def look(block: slice) -> None:
        ends = graph.tails[edges[block]], graph.indices[edges[block]]
        if isinstance(points, Space):
            _, shadows = _edges_in_planes(points, frames, *ends)
            least, most = shadows.min(axis=1), shadows.max(axis=1)
        else:
            least, most = np.empty((2, len(ends[0])))
            shortest_shadows(points, frames.vectors, *ends, least, most)
        leaves[block], is_short[block] = most < _LEAVES, least < _JUMP

    blocks = [slice(0, len(edges))]  # a metric that is asked is asked once
    if not isinstance(points, Space):
        blocks = cut(len(edges), _EDGES_TOGETHER)
    run_blocks(look, blocks, run)
    some = np.flatnonzero(leaves | is_short)
    if not len(some):
        return np.empty((0, 2), dtype=np.int64)
    ends = graph.tails[edges[some]], graph.indices[edges[some]]
    overlaps, shadows = _edges_in_planes(points, frames, *ends)
    cosines = np.linalg.svd(overlaps, compute_uv=False).min(axis=1, initial=1)
    crease = np.sqrt(0.5 * (1 + np.minimum(cosines, 1)))
    is_jump = shadows.min(axis=1) < _JUMP * np.minimum(crease, 1)
    along = np.ones(graph.n_edges, dtype=bool)
    along[edges[leaves]] = along[edges[some[is_jump]]] = False
    along &= along[graph.reverse]
    some = edges[some]
    tails, heads = (ends[some].astype(np.int64) for ends in (graph.tails, graph.indices))
    ways = np.empty(len(some))
    ways_by_two(graph_arrays(graph), along, tails, heads, ways)
    is_jump |= ~along[some] & (ways > _LONGEST_OF_CREASE * graph.lengths[some] / crease)
    tails, heads = tails[is_jump], heads[is_jump]
    labels = without_edges(graph, tails, heads).component_labels
    is_cut = labels[tails] == labels[heads]
    return np.column_stack((tails[is_cut], heads[is_cut]))


def keep_to_sheet(points: Points, frames: Frames, edges: IntArray) -> BoolArray:
    """Tell which of the edges (n_edges, 2) run along tangent planes that are nearly the same."""
    overlaps, shadows = _edges_in_planes(points, frames, *edges.T)
    cosines = np.linalg.svd(overlaps, compute_uv=False).min(axis=1, initial=1)
    return (shadows.min(axis=1) >= _ALONG) & (cosines >= _ALIKE)


def _edges_in_planes(
    points: Points, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the overlaps of the frames at both ends, and the shadows of unit edges on both."""
    overlaps, from_tail, from_head, lengths = edges_in_frames(points, frames, tails, heads)
    shadows = np.column_stack([np.linalg.norm(steps, axis=1) for steps in (from_tail, from_head)])
    is_long = lengths[:, None] > 0
    return overlaps, np.divide(shadows, lengths[:, None], out=np.ones(shadows.shape), where=is_long)
