"""Creases: where a surface is bent too sharply for one plane, and the way over them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.geometry.frames import edges_in_frames, find_members, fit_frames
from ptunfold.geometry.graph import without_edges
from ptunfold.geometry.intrinsic import shadows, sizes
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Frames, Graph, IntArray, Points, Space

# Off its surface by this much of its width, a neighbourhood is no piece of a smooth surface; one
# nearby has to fit this many times better.
_MISFIT = 0.05
_TIMES_BETTER = 3.0
_BETTER = 0.5  # of the misfit: the neighbourhood on one side is taken
_CHUNK_VALUES = 1 << 20
# Planes that meet at a smaller angle than this cosine tells have no line in common that could be
# found; an arc is as good there.
_SHARP = 0.8
_LEAST_SPAN = 1e-9  # the width of a neighbourhood, relative to its length
_EDGES_TOGETHER = 8192


def take_one_side(
    points: Points,
    graph: Graph,
    frames: Frames,
    n_neighbors: int,
    *,
    tangent: str = "quadratic",
    run: Run = Run(),
) -> Frames:
    """Give points next to a crease the tangent plane of the side that they lie on.

    A neighbourhood that reaches over a crease has a plane halfway between those of the two sides,
    and a surface that fits neither. Among its points some are farther from the crease, with a
    surface that fits well; if the point lies on the tangent plane of one of them, it is on that
    side. Then its neighbourhood is taken once more, without edges that cross the crease.

    Returns the frames as they were, or with other bases at the points that ``is_one_sided`` marks.
    """
    n_members = min(n_neighbors, graph.n_points - 1) + 1
    widths = frames.singular_values[:, -1] / np.sqrt(n_members)
    own = _misfits(points, frames)
    nodes = np.flatnonzero((own > _MISFIT * widths) & (np.diff(graph.indptr) > 0))
    places = distinct_places(points)
    chosen = nodes.copy()

    def handle(block: slice) -> None:
        some = nodes[block]
        members, _ = find_members(graph, places, some, n_members - 1)
        off = _off_planes(points, frames, some, members)
        misfits = np.sqrt(np.maximum(off, 0) + np.square(frames.residual[members]))
        best = misfits.argmin(axis=1)
        rows = np.arange(len(some))
        is_better = _TIMES_BETTER * misfits[rows, best] < own[some]
        chosen[block] = np.where(is_better, members[rows, best], some)

    n_together = max(_CHUNK_VALUES // (n_members * frames.vectors[0].size), 1)
    run_blocks(handle, cut(len(nodes), n_together), run, "creases", "points")
    is_one_sided: BoolArray = np.zeros(len(points), dtype=bool)
    is_one_sided[nodes] = chosen != nodes
    if not is_one_sided.any():
        return frames
    vectors = frames.vectors.copy()
    vectors[nodes] = frames.vectors[chosen]
    by_members, lift = frames.members, frames.lift
    if by_members is not None:
        by_members = by_members.copy()
        by_members[nodes] = by_members[chosen]
        if lift is not None:  # the shares of other members
            lift = np.where(is_one_sided[:, None], 0, lift)
    taken = replace(
        frames, vectors=vectors, is_one_sided=is_one_sided, members=by_members, lift=lift
    )
    edges = _edges_at(graph, is_one_sided)
    overlaps, *_ = edges_in_frames(points, taken, graph.tails[edges], graph.indices[edges])
    crossing = edges[np.linalg.svd(overlaps, compute_uv=False)[:, -1] < _SHARP]
    ends = (array[crossing].astype(np.int64) for array in (graph.tails, graph.indices))
    cut_open = without_edges(graph, *ends)
    nodes = np.flatnonzero(is_one_sided & (np.diff(cut_open.indptr) > 0))
    how = (n_neighbors, frames.intrinsic_dim, tangent, run.quiet)
    own_side = fit_frames(nodes, points, cut_open, *how, must_span=False)
    # Too few points beyond the crease fit any plane that holds them all.
    values = own_side.singular_values
    spans = values[:, -1] > _LEAST_SPAN * values[:, 0]
    is_better = spans & (_misfits(points, own_side) < _BETTER * own[nodes])
    vectors[nodes[is_better]] = own_side.vectors[is_better]
    if by_members is not None and own_side.members is not None:
        by_members[nodes[is_better]] = own_side.members[is_better]
        if lift is not None and own_side.lift is not None:
            lift[nodes[is_better]] = own_side.lift[is_better]
    return taken


def _off_planes(points: Points, frames: Frames, nodes: IntArray, members: IntArray) -> FloatArray:
    """Square the distances of nodes from the tangent planes of members, (n_nodes, n_members)."""
    if isinstance(points, Space):
        assert frames.members is not None
        at, ends = members.ravel(), nodes.repeat(members.shape[1])
        along = shadows(points, frames.members[at], frames.vectors[at], at, ends)
        off = np.square(points.lengths(at, ends)) - np.square(along).sum(axis=1)
        return off.reshape(members.shape)
    offsets = points[nodes, None].astype(np.float64) - points[members]
    along = np.einsum("imfd,imf->imd", frames.vectors[members], offsets)
    return np.square(offsets).sum(axis=2) - np.square(along).sum(axis=2)


def _misfits(points: Points, frames: Frames) -> FloatArray:
    """Tell how far neighbourhoods are from their surfaces, and points from these, (n_points,)."""
    if frames.lift is None:
        return frames.residual
    if isinstance(points, Space):
        assert frames.members is not None
        return np.hypot(frames.residual, sizes(points, frames.members, frames.lift))
    return np.hypot(frames.residual, np.linalg.norm(frames.lift, axis=1))


def _edges_at(graph: Graph, is_marked: BoolArray) -> IntArray:
    """List edges that lead to a point that is marked, each once."""
    is_near = is_marked[graph.tails] | is_marked[graph.indices]
    return np.flatnonzero(is_near & (graph.tails < graph.indices) & (graph.lengths > 0))


def cross_creases(
    points: Points,
    graph: Graph,
    frames: Frames,
    longest: float,
    rotations: FloatArray,
    steps: FloatArray,
    longer: FloatArray,
    *,
    n_jobs: int | None = None,
) -> None:
    """Lead edges over creases: in one plane to the line where both meet, and on in the other.

    Of the directions of two planes, those that meet at the largest angle, with cosine σ, lead
    across the crease. Along them the edge has the shadows a and b, and is the sum of t and u times
    these directions, where a = t + σu and b = u + σt. The way across is |t| + |u| long. Where t and
    u have different signs, the crease is sharper than a right angle, as in a groove, and transport
    turns by more than that.

    Rotations, steps and by how much these are longer than edges, at most ``longest`` times, are
    changed where edges at points that ``is_one_sided`` marks cross a crease.
    """
    if frames.is_one_sided is None:
        return
    edges = _edges_at(graph, frames.is_one_sided)
    reverse = graph.reverse

    def handle(block: slice) -> None:
        forth = edges[block]
        tails, heads = graph.tails[forth], graph.indices[forth]
        overlaps, from_tail, from_head, lengths = edges_in_frames(points, frames, tails, heads)
        left, cosines, right = np.linalg.svd(overlaps)
        # Copies of a point may have an edge with a length in a graph of one's own.
        some = np.flatnonzero((cosines[:, -1] < _SHARP) & (lengths > 0))
        forth, lengths, cosine = forth[some], lengths[some], cosines[some, -1]
        from_tail, from_head = from_tail[some], from_head[some]
        left, right = left[some], right[some]
        across, beyond = left[:, :, -1], right[:, -1]
        first = (from_tail * across).sum(axis=1)
        second = -(from_head * beyond).sum(axis=1)
        ways = np.stack((first - cosine * second, second - cosine * first)) / (1 - cosine**2)
        is_acute = ways[0] * ways[1] < 0
        turns = left @ right
        turns[is_acute] -= 2 * across[is_acute, :, None] * beyond[is_acute, None, :]
        mean = 0.5 * (from_tail - np.einsum("eij,ej->ei", turns, from_head))
        # Towards the crease; right at it the way beyond tells.
        signs = np.where(is_acute, -1, 1) * np.sign(ways[1])
        signs = np.where(np.abs(ways[0]) > np.abs(ways[1]), np.sign(ways[0]), signs)
        long = signs * np.abs(ways).sum(axis=0)
        found = mean + (long - (mean * across).sum(axis=1))[:, None] * across
        size = np.linalg.norm(found, axis=1)
        allowed = np.clip(size, lengths, longest * lengths)
        found *= (allowed / np.where(size > 0, size, 1))[:, None]
        back = reverse[forth]
        rotations[forth], rotations[back] = turns, turns.transpose(0, 2, 1)
        steps[forth], steps[back] = found, -np.einsum("eji,ej->ei", turns, found)
        longer[forth] = longer[back] = allowed / lengths

    run_blocks(handle, cut(len(edges), _EDGES_TOGETHER), Run(n_jobs))
