"""Frames that all turn the same way where that is possible, and a loop where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ptunfold.threads import cut
from ptunfold.types import FloatArray, Frames, Graph, IntArray, Orientation
from ptunfold.validation.records import check_frames, check_graph

_EDGES_TOGETHER = 1 << 14
# Two planes at more than this angle do not tell which way the one turns in the other.
_LEAST_OVERLAP = 0.5


def orient(
    graph: Graph, frames: Frames, rotations: FloatArray | None = None
) -> tuple[Frames, Orientation]:
    """Turn the frames of a connected sheet all the same way around.

    A frame found by principal components may be a mirror image of its neighbour. Along the edges of
    a spanning tree every second one is mirrored back, so that the rotations between neighbours are
    proper ones. On a Möbius band or a Klein bottle some edges will not agree: with the tree each of
    them closes a loop that turns left into right.

    Parameters
    ----------
    graph : Graph
        The proximity graph.
    frames : Frames
        The tangent frames.
    rotations : (n_edges, d, d), optional
        Those of the connection, needed where points are known by their distances alone.

    Returns
    -------
    frames : Frames
        The same planes, some with their last vector reversed.
    orientation : Orientation
        Whether they agree, and a loop if they do not.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, estimate_frames, orient
    >>> around, across = np.random.default_rng(0).uniform(-1, 1, (2, 1500)) * [[np.pi], [0.3]]
    >>> for n_twists in (0, 1):
    ...     radius = 1 + across * np.cos(n_twists * around / 2)
    ...     height = across * (np.sin(n_twists * around / 2) if n_twists else 1)
    ...     band = np.column_stack((radius * np.cos(around), radius * np.sin(around), height))
    ...     graph = build_graph(band)
    ...     print(orient(graph, estimate_frames(band, graph))[1].is_orientable)
    True
    False
    """
    graph = check_graph(graph)
    frames = check_frames(frames, (graph.n_points, None), graph)
    edges = np.flatnonzero(graph.tails < graph.indices)
    tails, heads = graph.tails[edges], graph.indices[edges]
    if frames.members is None:
        overlaps = _overlaps(frames, tails, heads)
    elif rotations is None:
        raise ValueError(
            "frames of points that are known by their distances do not tell how they overlap; pass "
            "rotations=connection.rotations"
        )
    else:
        overlaps = np.linalg.det(rotations[edges])
    is_sure = np.abs(overlaps) > _LEAST_OVERLAP
    tails, heads, overlaps = tails[is_sure], heads[is_sure], overlaps[is_sure]

    signs, parents = _signs_along_trees(graph.n_points, tails, heads, np.sign(overlaps))
    is_conflict = signs[tails] * signs[heads] * overlaps < 0
    vectors = frames.vectors.copy()
    vectors[signs < 0, :, -1] *= -1
    loop = None
    if is_conflict.any():
        surest = int(np.flatnonzero(is_conflict)[np.abs(overlaps[is_conflict]).argmax()])
        loop = _loop(parents, int(tails[surest]), int(heads[surest]))
    orientation = Orientation(loop is None, int(is_conflict.sum()), loop)
    return replace(frames, vectors=vectors), orientation


def _overlaps(frames: Frames, tails: IntArray, heads: IntArray) -> FloatArray:
    """Find how much of one tangent plane lies in the other, negative if mirrored, (n_edges,)."""
    vectors = frames.vectors
    found = [
        np.linalg.det(vectors[tails[block]].transpose(0, 2, 1) @ vectors[heads[block]])
        for block in cut(len(tails), _EDGES_TOGETHER)
    ]
    return np.nan_to_num(np.concatenate(found)) if found else np.empty(0)


def _signs_along_trees(
    n_points: int, tails: IntArray, heads: IntArray, flips: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Multiply the signs of the edges along a tree in each component, (n_points,), with parents.

    The root of a component, which may be a point without edges, has the parent -1.
    """
    shape = (n_points + 1, n_points + 1)
    # Every edge twice, to know the sign of each direction.
    rows, columns = np.r_[tails, heads], np.r_[heads, tails]
    _, labels = csgraph.connected_components(
        sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape), directed=False
    )
    _, roots = np.unique(labels[:-1], return_index=True)
    # One tree more, above all others, and a single search however many components there are.
    top = np.full(len(roots), n_points)
    values = np.r_[np.tile(flips, 2), np.ones(len(roots))]
    matrix = sparse.csr_array((values, (np.r_[rows, top], np.r_[columns, roots])), shape=shape)
    order, parents = csgraph.breadth_first_order(matrix, n_points)
    children = order[1:]
    steps = np.asarray(matrix[parents[children], children]).ravel()
    signs = np.ones(n_points + 1)
    for child, parent, step in zip(
        children.tolist(), parents[children].tolist(), steps.tolist(), strict=True
    ):
        signs[child] = signs[parent] * step
    return signs[:-1], np.where(parents == n_points, -1, parents)[:-1]


def _loop(parents: IntArray, start: int, end: int) -> IntArray:
    """Close an edge through the tree; the loop begins and ends with ``start``."""
    ways = []
    for node in (start, end):
        way = [node]
        while parents[way[-1]] >= 0:
            way.append(int(parents[way[-1]]))
        ways.append(way)
    seen = set(ways[0])
    meeting = next(node for node in ways[1] if node in seen)
    there = ways[0][: ways[0].index(meeting) + 1]
    back = ways[1][: ways[1].index(meeting)]
    return np.array([*there, *back[::-1], start])
