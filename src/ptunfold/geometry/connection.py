"""The discrete Levi-Civita connection: one rotation and one step an edge."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.creases import cross_creases
from ptunfold.geometry.frames import edges_in_frames
from ptunfold.geometry.order import sample
from ptunfold.kernels.bending import (
    Laid,
    bend_edges,
    favor_edges,
    fit_arcs,
    lay_edges,
    nearest_orthogonal,
    note_shadows,
)
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import Connection, FloatArray, Frames, Graph, Points, Space
from ptunfold.validation.points import as_points
from ptunfold.validation.records import check_frames, check_graph, known_good
from ptunfold.validation.values import BENT, STEPS, check_choice

_EDGES_TOGETHER = 4096
# An edge is a geodesic, whose direction is carried along to itself. So much more than the planes it
# counts in their alignment, where steps are arcs.
_EDGE_WEIGHT = 2.0
# θ / sin θ, an arc by its shadow, in powers of 1 - cos θ.
ARC = np.cumprod([1.0, *(k / (2 * k + 1) for k in range(1, 12))])
_LONGEST = np.pi / 2  # of a chord: half a circle
MOST_AXES = 16


def connect(
    points: Points,
    graph: Graph,
    frames: Frames,
    step: str = "chord",
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Connection:
    """Align the frames at the two ends of each edge and write the edge in them (Sec. 3.3, 3.4).

    Parameters
    ----------
    points : (n_points, n_features)
        The points, or what :func:`metric_space` made of their distances.
    graph : Graph
        The proximity graph.
    frames : Frames
        The tangent frames.
    step : {"projection", "chord", "arc"}
        The edge projected on the tangent space it leaves; this projection stretched to the
        Euclidean length of the edge (the paper's length rescaling); or the arc that bends from one
        tangent space into the other, over a crease the broken line. Its length becomes that of the
        edge in the graph. An edge that stands upright on the tangent space has no direction in it:
        its step is 0, with arcs only if it stands upright at both ends.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    connection : Connection
        The ambient dimension is gone from here on.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> points = np.random.default_rng(0).random((50, 3))
    >>> graph = build_graph(points)
    >>> connection = connect(points, graph, estimate_frames(points, graph))
    >>> lengths = np.linalg.norm(connection.steps, axis=1)
    >>> bool(np.allclose(lengths, graph.lengths))
    True
    """
    points = as_points(points)
    graph = check_graph(graph, len(points))
    frames = check_frames(frames, points.shape, graph)
    check_choice("step", step, STEPS)
    return connect_frames(points, graph, frames, step, Run(n_jobs, verbose))


def connect_frames(points: Points, graph: Graph, frames: Frames, step: str, run: Run) -> Connection:
    """Do what `connect` does, with what is known to be good."""
    dim = frames.intrinsic_dim
    rotations = np.empty((graph.n_edges, dim, dim))
    steps = np.empty((graph.n_edges, dim))
    squares = np.empty((graph.n_edges, 2))  # of shadows and edges
    longer = np.ones(graph.n_edges if step in BENT else 0)
    laid = Laid(rotations, steps, squares, longer)
    # One direction of each edge; the other is its transpose and, for the step, the other frame.
    edges = np.flatnonzero(graph.tails < graph.indices)

    def handle(block: slice) -> None:
        forth = edges[block]
        back = graph.reverse[forth]
        tails, heads = graph.tails[forth], graph.indices[forth]
        overlaps, from_tail, from_head, lengths = edges_in_frames(points, frames, tails, heads)
        note_shadows(forth, back, from_tail, from_head, lengths, laid)
        if step == "arc":
            turns = nearest_rotations(_favor(from_tail, from_head, overlaps))
            chords, arcs = _bend(from_tail, from_head, overlaps, turns)
            ends = (from_tail, from_head)
            fit_arcs(forth, back, turns, lengths, _LONGEST, chords, arcs, *ends, laid)
        else:
            turns = nearest_rotations(overlaps)
        if step == "chord":
            _stretch(from_tail, lengths)
            _stretch(from_head, lengths)
        lay_edges(forth, back, turns, from_tail, from_head, laid)

    run_blocks(handle, cut(len(edges), _EDGES_TOGETHER), run, "connection", "edges")
    if step in BENT:
        cross_creases(points, graph, frames, _LONGEST, rotations, steps, longer, n_jobs=run.n_jobs)
        graph = known_good(graph.with_lengths(graph.lengths * longer))
    seen, whole = (
        np.bincount(graph.tails, squares[:, part], minlength=graph.n_points) for part in (0, 1)
    )
    explained = np.divide(seen, whole, out=np.ones(graph.n_points), where=whole > 0)
    return known_good(Connection(graph, rotations, steps, explained=np.minimum(explained, 1)))


def leading_axes(points: Points) -> FloatArray:
    """Return coordinates whose distances bound those of points from below, (n_points, n_axes).

    They are the points themselves or, in more than 16 dimensions, what they are along the 16 axes
    in which they extend farthest.
    """
    if isinstance(points, Space):
        return points.bound
    if points.shape[1] <= MOST_AXES:
        return np.ascontiguousarray(points, dtype=np.float64)
    some = points[sample(points, 1000)].astype(np.float64)
    _, _, axes = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)
    # Rounding must not make a shadow longer than what casts it.
    return points.astype(np.float64) @ (axes[:MOST_AXES].T * (1 - 1e-10))


def nearest_rotations(matrices: FloatArray) -> FloatArray:
    """Find the orthogonal matrices nearest to some, (m, d, d), as in Proposition 1."""
    matrices = matrices.copy()
    is_done = np.zeros(len(matrices), dtype=bool)
    if matrices.shape[1] <= 3:
        nearest_orthogonal(matrices, is_done)
    left = np.flatnonzero(~is_done)
    if len(left):
        first, _, second = np.linalg.svd(matrices[left])
        matrices[left] = first @ second
    return matrices


def _favor(from_tail: FloatArray, from_head: FloatArray, overlaps: FloatArray) -> FloatArray:
    """Let the direction of an edge, which is carried along to itself, count in the alignment."""
    overlaps = overlaps.copy()
    favor_edges(from_tail, from_head, _EDGE_WEIGHT, overlaps)
    return overlaps


def _stretch(steps: FloatArray, lengths: FloatArray) -> None:
    """Stretch steps (n_edges, d) to the lengths of their edges, in place."""
    shadows = np.linalg.norm(steps, axis=1)
    # A shadow as short as rounding points anywhere.
    has_direction = shadows > np.finfo(np.float64).eps * lengths
    stretch = np.where(has_direction, lengths / np.where(has_direction, shadows, 1), 0)
    steps *= stretch[:, None]


def _bend(
    from_tail: FloatArray, from_head: FloatArray, overlaps: FloatArray, turns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Find the arcs that belong to edges, (n_edges, d), and the lengths of their chords.

    ``from_tail`` and ``from_head`` are the shadows of an edge on the tangent spaces there. Along a
    direction in which these meet at the angle θ, an arc is θ / sin θ times as long as the mean of
    its shadows.
    """
    chords, arcs = np.empty(len(from_tail)), np.empty_like(from_tail)
    bend_edges(from_tail, from_head, overlaps, turns, ARC, chords, arcs)
    return chords, arcs
