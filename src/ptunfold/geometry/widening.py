"""More edges, for straighter paths, without leaving the sheet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph

from ptunfold.geometry.frames import edges_in_frames, find_members
from ptunfold.geometry.graph import (
    has_edges,
    measure_graph,
    pattern_of,
    with_edges,
    without_bridges,
)
from ptunfold.geometry.intrinsic import shadows
from ptunfold.geometry.neighbors import distinct_places, edge_lengths
from ptunfold.kernels.trees import lengths_from
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Frames, Graph, IntArray, Points, Space
from ptunfold.validation.points import as_points
from ptunfold.validation.records import check_frames, check_graph
from ptunfold.validation.values import check_count

_CANDIDATES = 2  # for each edge
_LEAST_SHADOW = 0.95  # of an edge on a tangent space
_EDGES_TOGETHER = 4096
_VALUES_TOGETHER = 1 << 20
# Between the ends of a ring: in units of L log(n) / n, and of the longest way from one point to the
# next; and how straight the way over it is.
_LARGEST_GAP, _TIMES_THE_NEXT, _TOWARDS = 2.5, 2.25, 0.5
_LEAST_RING = 10  # points
_LAST, _MOST_LAST = 60, 100  # of so many points of a ring one, and no more, tell where an end leads


def widen_graph(
    points: Points,
    graph: Graph,
    frames: Frames,
    n_neighbors: int,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Graph:
    """Join points with neighbours of their neighbours.

    More edges make straighter paths, and these are what limits the accuracy on curved data. But
    the nearest points in space soon belong to another part of a sheet. Of twice ``n_neighbors``
    points that are nearest on the graph, those nearest in space are joined, unless the edge rises
    steeply above the tangent space at one of its ends: no edge leads where no short path led, or
    off the sheet.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, or what :func:`metric_space` made of their distances.
    graph : Graph
        The proximity graph; its bridges lead to no other edges.
    frames : Frames
        The tangent frames.
    n_neighbors : int
        How many neighbours each point is to have, where so many can be reached.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    graph : Graph
        All edges of ``graph``, and more, with their lengths in space.

    Examples
    --------
    >>> from ptunfold import build_graph, estimate_frames, widen_graph
    >>> from ptunfold.datasets import swiss_roll
    >>> points = swiss_roll(1000).points
    >>> graph = build_graph(points)
    >>> wide = widen_graph(points, graph, estimate_frames(points, graph), 24)
    >>> round(graph.n_edges / 1000), round(wide.n_edges / 1000)
    (11, 26)
    """
    points = as_points(points)
    graph = check_graph(graph, len(points))
    frames = check_frames(frames, points.shape, graph)
    check_count("n_neighbors", n_neighbors)
    places, within = distinct_places(points), without_bridges(graph)
    firsts = np.flatnonzero(places == np.arange(len(points)))
    n_candidates = min(_CANDIDATES * n_neighbors, len(points) - 1)
    heads = np.empty((len(points), min(n_neighbors, n_candidates)), dtype=np.int32)
    is_new = np.zeros(heads.shape, dtype=bool)
    n_together = max(_VALUES_TOGETHER // (n_candidates * points.shape[1]), 1)

    def handle(block: slice) -> None:
        nodes = firsts[block]
        members, _ = find_members(within, places, nodes, n_candidates)
        apart = np.empty((len(nodes), n_candidates))
        for some in cut(len(nodes), n_together):
            if isinstance(points, Space):
                apart[some] = points.squares(nodes[some, None], members[some, 1:])[:, 0]
                continue
            offsets = points[members[some, 1:]] - points[nodes[some], None]
            apart[some] = np.einsum("ijk,ijk->ij", offsets, offsets, dtype=np.float64)
        apart[members[:, 1:] == nodes[:, None]] = np.inf
        n_kept = heads.shape[1]
        nearest = np.argpartition(apart, n_kept - 1, axis=1)[:, :n_kept]
        heads[nodes] = np.take_along_axis(members[:, 1:], nearest, axis=1)
        is_new[nodes] = np.isfinite(np.take_along_axis(apart, nearest, axis=1))

    blocks = cut(len(firsts), max(512, len(firsts) // 64))
    run_blocks(handle, blocks, Run(n_jobs, verbose), "edges", "points")
    indptr = np.concatenate(([0], np.cumsum(is_new.sum(axis=1))))
    new = pattern_of(indptr, heads[is_new])
    old = pattern_of(graph.indptr, graph.indices)
    both = new + new.T
    both = both - both.multiply(old)
    tails = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(both.indptr))
    once = tails < both.indices
    ends = tails[once], both.indices[once].astype(np.int32)
    is_kept = _are_along(points, *ends, frames, n_jobs)
    kept = tuple(end[is_kept] for end in ends)
    new = sparse.csr_array((np.ones(len(kept[0]), dtype=np.int8), kept), shape=both.shape)
    wide = measure_graph(points, new + new.T + old, n_jobs)
    return replace(wide, bridges=graph.bridges)


def _are_along(
    points: Points, tails: IntArray, heads: IntArray, frames: Frames, n_jobs: int | None
) -> BoolArray:
    """Tell which edges keep close to the tangent spaces at both their ends."""
    is_kept = np.empty(len(tails), dtype=bool)

    def handle(block: slice) -> None:
        ends = tails[block], heads[block]
        from_tail, from_head, lengths = _shadows(points, frames, *ends)
        shadow = np.minimum(np.linalg.norm(from_tail, axis=1), np.linalg.norm(from_head, axis=1))
        is_kept[block] = shadow >= _LEAST_SHADOW * lengths

    run_blocks(handle, cut(len(tails), _EDGES_TOGETHER), Run(n_jobs))
    return is_kept


def _shadows(
    points: Points, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Write edges in the frames at both ends, (n_edges, d), and measure them, (n_edges,)."""
    if not isinstance(points, Space):
        return edges_in_frames(points, frames, tails, heads)[1:]
    assert frames.members is not None
    members, vectors = frames.members, frames.vectors
    return (
        shadows(points, members[tails], vectors[tails], tails, heads),
        shadows(points, members[heads], vectors[heads], heads, tails),
        points.lengths(tails, heads),
    )


def with_ends_joined(points: Points, graph: Graph, frames: Frames) -> Graph:
    """Join the ends of a curve that go towards each other, with no more than a gap between them.

    Of n points at random on a ring of length L, the largest gap is about L log(n) / n: more than
    ten of them may be, and more than the nearest neighbours reach over. The second largest is not
    much smaller; a gap that is far larger than all others is an opening. Components are curves of
    their own.
    """
    labels, tree = graph.component_labels, csgraph.minimum_spanning_tree(graph.to_sparse()).tocoo()
    longest = np.zeros(labels.max() + 1)
    np.maximum.at(longest, labels[tree.row], tree.data)
    found = [
        _gap_of_a_ring(points, graph, frames, np.flatnonzero(labels == label), longest[label])
        for label in np.flatnonzero(np.bincount(labels) >= _LEAST_RING)
    ]
    edges = [edge for edge in found if edge is not None]
    return with_edges(points, graph, np.concatenate(edges)) if edges else graph


def _gap_of_a_ring(
    points: Points, graph: Graph, frames: Frames, nodes: IntArray, longest: float
) -> IntArray | None:
    """Find the edge (1, 2) that closes a ring; ``longest`` is the longest step along it."""
    places = (points.bound if isinstance(points, Space) else points)[nodes]
    # From the outermost, whichever comes first in the list.
    offsets = places - places.mean(axis=0, dtype=np.float64)
    outermost = nodes[np.square(offsets).sum(axis=1).argmax()]
    end = nodes[lengths_from(graph, outermost)[nodes].argmax()]
    from_end = lengths_from(graph, end)[nodes]
    other, length = nodes[from_end.argmax()], from_end.max()
    # Noise moves single points to the side: the last ones of both ends tell where they lead.
    n_last = 1 if isinstance(points, Space) else min(max(len(nodes) // _LAST, 1), _MOST_LAST)
    inwards = [
        nodes[np.argsort(lengths, kind="stable")[: 3 * n_last]]
        for lengths in (from_end, lengths_from(graph, other)[nodes])
    ]
    ends = [one[:n_last] for one in inwards]
    pairs = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, 2)
    gaps = edge_lengths(points, *pairs.T, n_jobs=1)
    edge, gap = pairs[[gaps.argmin()]], float(gaps.min())
    largest = _LARGEST_GAP * np.log(len(nodes)) / len(nodes) * length
    if not 0 < gap <= min(largest, _TIMES_THE_NEXT * longest) or has_edges(graph, *edge.T).any():
        return None
    if isinstance(points, Space):
        assert frames.members is not None
        at = edge[0]
        along = shadows(points, frames.members[at], frames.vectors[at], at, at[::-1]) / gap
        return edge if np.abs(along).min() >= _TOWARDS else None
    return edge if _lead_on(points, frames, inwards, n_last) else None


def _lead_on(points: FloatArray, frames: Frames, inwards: list[IntArray], n_last: int) -> bool:
    """Tell whether two ends, listed from the last point inwards, lead towards each other."""
    first, last = (points[one[:n_last]].mean(axis=0, dtype=np.float64) for one in inwards)
    over = (last - first) / (np.linalg.norm(last - first) or 1.0)
    for one, middle, way in zip(inwards, (first, last), (over, -over), strict=True):
        along = linalg.svd(frames.vectors[one[:n_last], :, 0], full_matrices=False)[2][0]
        outwards = middle - points[one[n_last:]].mean(axis=0, dtype=np.float64)
        if np.sign(along @ outwards) * (along @ way) < _TOWARDS:
            return False
    return True
