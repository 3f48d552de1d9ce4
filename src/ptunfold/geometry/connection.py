"""The discrete Levi-Civita connection: one rotation and one step an edge."""

from __future__ import annotations

import numpy as np

from ptunfold.threads import cut, run_blocks
from ptunfold.types import Connection, FloatArray, Frames, Graph
from ptunfold.validation import STEPS, as_points, check_choice, check_same_size

_CHUNK_VALUES = 1 << 21


def connect(
    points: FloatArray,
    graph: Graph,
    frames: Frames,
    step: str = "chord",
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Connection:
    """Align the frames at the two ends of each edge and write the edge in them (Sec. 3.3, 3.4).

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph.
    frames : Frames
        The tangent frames.
    step : {"projection", "chord"}
        The edge projected on the tangent space it leaves, or this projection stretched to the
        Euclidean length of the edge (the paper's length rescaling). An edge that stands upright
        on the tangent space has no direction in it: its step is 0 in both cases.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
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
    check_same_size(len(points), graph.n_points)
    if frames.vectors.shape[:2] != points.shape:
        raise ValueError(
            f"frames are for points of shape {frames.vectors.shape[:2]}, but the points have shape "
            f"{points.shape}; pass the frames of these points"
        )
    check_choice("step", step, STEPS)
    dim = frames.intrinsic_dim
    rotations = np.empty((graph.n_edges, dim, dim))
    steps = np.empty((graph.n_edges, dim))
    # One direction of each edge; the other is its transpose and, for the step, the other frame.
    edges = np.flatnonzero(graph.tails < graph.indices)

    def handle(block: slice) -> None:
        forth = edges[block]
        back = graph.reverse[forth]
        tails, heads = graph.tails[forth], graph.indices[forth]
        tail_frames, head_frames = frames.vectors[tails], frames.vectors[heads]
        rotations[forth] = _align(tail_frames, head_frames)
        rotations[back] = rotations[forth].transpose(0, 2, 1)
        offsets = points[heads].astype(np.float64) - points[tails]
        steps[forth] = _write_in_frame(offsets, tail_frames, step)
        steps[back] = _write_in_frame(-offsets, head_frames, step)

    n_together = min(max(_CHUNK_VALUES // (points.shape[1] * (dim + 1)), 1), 8192)
    run_blocks(
        handle,
        cut(len(edges), n_together),
        n_jobs=n_jobs,
        description="connection",
        unit="edges",
        progress=progress,
    )
    return Connection(graph, rotations, steps)


def _align(tail_frames: FloatArray, head_frames: FloatArray) -> FloatArray:
    """Solve the orthogonal Procrustes problem of Proposition 1, (n_edges, d, d)."""
    overlaps = tail_frames.transpose(0, 2, 1) @ head_frames
    dim = overlaps.shape[1]
    if dim == 1:
        return np.where(overlaps < 0, -1.0, 1.0)
    if dim == 2:
        return _nearest_orthogonal_2x2(overlaps)
    left, _, right = np.linalg.svd(overlaps)
    return left @ right


def _nearest_orthogonal_2x2(matrices: FloatArray) -> FloatArray:
    """Find the orthogonal matrix nearest to each 2 × 2 matrix.

    A matrix is a rotation times a number plus a reflection times a number; the larger part wins.
    """
    (a, b), (c, d) = matrices.transpose(1, 2, 0)
    turn, flip = np.stack((a + d, c - b)), np.stack((a - d, c + b))
    turn_size, flip_size = np.hypot(*turn), np.hypot(*flip)
    is_turn = turn_size >= flip_size
    size = np.where(is_turn, turn_size, flip_size)
    cosine, sine = np.where(is_turn, turn, flip)
    # Planes at right angles in both directions: any matrix will do.
    is_zero = size == 0
    size[is_zero], cosine[is_zero] = 1.0, 1.0
    cosine, sine = cosine / size, sine / size
    nearest = np.empty_like(matrices)
    nearest[:, 0, 0], nearest[:, 1, 0] = cosine, sine
    nearest[:, 0, 1], nearest[:, 1, 1] = np.where(is_turn, (-sine, cosine), (sine, -cosine))
    return nearest


def _write_in_frame(offsets: FloatArray, frames: FloatArray, step: str) -> FloatArray:
    """Project offsets (n_edges, n_features) on frames, stretched for chord steps, (n_edges, d)."""
    steps = np.einsum("eDi,eD->ei", frames, offsets)
    if step == "chord":
        shadows = np.linalg.norm(steps, axis=1)
        lengths = np.linalg.norm(offsets, axis=1)
        # A shadow as short as rounding points anywhere.
        has_direction = shadows > np.finfo(np.float64).eps * lengths
        stretch = np.divide(lengths, shadows, out=np.zeros_like(lengths), where=has_direction)
        steps *= stretch[:, None]
    return steps
