"""The discrete Levi-Civita connection: one rotation and one step an edge."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.edges import nearest_orthogonal, write_in_frames
from ptunfold.threads import cut, run_blocks
from ptunfold.types import Connection, FloatArray, Frames, Graph
from ptunfold.validation import STEPS, as_points, check_choice, check_same_size

_EDGES_TOGETHER = 8192


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
        overlaps = np.empty((len(forth), dim, dim))
        there, here = np.empty((len(forth), dim)), np.empty((len(forth), dim))
        lengths = np.empty(len(forth))
        write_in_frames(points, frames.vectors, tails, heads, overlaps, there, here, lengths)
        if step == "chord":
            _stretch(there, lengths)
            _stretch(here, lengths)
        steps[forth], steps[back] = there, here
        rotations[forth] = _align(overlaps)
        rotations[back] = rotations[forth].transpose(0, 2, 1)

    run_blocks(
        handle,
        cut(len(edges), _EDGES_TOGETHER),
        n_jobs=n_jobs,
        description="connection",
        unit="edges",
        progress=progress,
    )
    return Connection(graph, rotations, steps)


def _align(overlaps: FloatArray) -> FloatArray:
    """Solve the orthogonal Procrustes problem of Proposition 1, (n_edges, d, d)."""
    is_done = np.zeros(len(overlaps), dtype=bool)
    if overlaps.shape[1] <= 3:
        nearest_orthogonal(overlaps, is_done)
    left = np.flatnonzero(~is_done)
    if len(left):
        first, _, second = np.linalg.svd(overlaps[left])
        overlaps[left] = first @ second
    return overlaps


def _stretch(steps: FloatArray, lengths: FloatArray) -> None:
    """Stretch steps (n_edges, d) to the lengths of their edges, in place."""
    shadows = np.linalg.norm(steps, axis=1)
    # A shadow as short as rounding points anywhere.
    has_direction = shadows > np.finfo(np.float64).eps * lengths
    stretch = np.divide(lengths, shadows, out=np.zeros_like(lengths), where=has_direction)
    steps *= stretch[:, None]
