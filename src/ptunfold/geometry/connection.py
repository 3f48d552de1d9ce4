"""The discrete Levi-Civita connection: one rotation and one step an edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.kernels.edges import nearest_orthogonal, write_in_frames
from ptunfold.threads import cut, run_blocks
from ptunfold.types import Connection, FloatArray, Frames, Graph, IntArray, on_host
from ptunfold.validation import STEPS, as_points, check_choice, check_same_size

_EDGES_TOGETHER = 8192


def connect(
    points: FloatArray,
    graph: Graph,
    frames: Frames,
    step: str = "chord",
    *,
    device: Any = None,
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
    step : {"projection", "chord", "arc"}
        The edge projected on the tangent space it leaves; this projection stretched to the
        Euclidean length of the edge (the paper's length rescaling); or the arc that has the edge
        as its chord and the projections at its two ends as tangents, in their mean direction. An
        edge that stands upright on the tangent space has no direction in it: its step is 0, with
        arcs only if it stands upright at both ends.
    device : optional
        What measures edges elsewhere than here; see ``ptunfold.engines``.
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
        if device is None:
            overlaps, there, here, lengths = _edges_in_frames(points, frames, tails, heads)
            turns = _align(overlaps.copy())
        else:  # what follows works on arrays of a device too
            overlaps, there, here, lengths = device.edges_in_frames(frames, tails, heads)
            turns = device.align(overlaps)
        if step != "projection":
            _stretch(there, lengths)
            _stretch(here, lengths)
        if step == "arc":
            there = _bend(there, here, overlaps, turns, lengths)
            here = -np.einsum("eji,ej->ei", turns, there)
        steps[forth], steps[back], turns = on_host(there), on_host(here), on_host(turns)
        rotations[forth], rotations[back] = turns, turns.transpose(0, 2, 1)

    run_blocks(
        handle,
        cut(len(edges), _EDGES_TOGETHER if device is None else device.edges_together),
        n_jobs=n_jobs if device is None else 1,
        description="connection",
        unit="edges",
        progress=progress,
    )
    return Connection(graph, rotations, steps)


def _edges_in_frames(
    points: FloatArray, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Write edges in the frames at both ends, and these frames in each other.

    Returns overlaps of frames (n_edges, d, d), steps there and back (n_edges, d), and lengths.
    """
    n_edges, dim = len(tails), frames.intrinsic_dim
    overlaps, lengths = np.empty((n_edges, dim, dim)), np.empty(n_edges)
    there, here = np.empty((2, n_edges, dim))
    write_in_frames(points, frames.vectors, tails, heads, overlaps, there, here, lengths)
    return overlaps, there, here, lengths


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
    stretch = np.where(has_direction, lengths / np.where(has_direction, shadows, 1), 0)
    steps *= stretch[:, None]


def _bend(
    there: FloatArray,
    here: FloatArray,
    overlaps: FloatArray,
    turns: FloatArray,
    lengths: FloatArray,
) -> FloatArray:
    """Find the arcs that belong to chords, written in the frames of their tails, (n_edges, d).

    ``there`` and ``here`` are the chord steps from both ends. Two tangents of a circle at the angle
    θ touch it at the ends of an arc that is (θ/2) / sin(θ/2) times as long as its chord.
    """
    arriving = -np.einsum("eij,ej->ei", turns, here)  # the direction at the head, carried back
    squares = np.where(lengths > 0, np.square(lengths), 1)
    cosines = -np.einsum("ei,eij,ej->e", there, overlaps, here) / squares
    half = 0.5 * np.arccos(np.clip(cosines, -1, 1))
    has_both = there.any(axis=1) & here.any(axis=1)
    longer = np.where(has_both, half / np.sin(np.maximum(half, 1e-150)), 1)
    longer[half == 0] = 1
    steps = there + arriving
    # Opposite directions have no mean: the one at the tail is as good as any.
    is_lost = np.linalg.norm(steps, axis=1) <= 1e-6 * lengths
    steps[is_lost] = there[is_lost]
    _stretch(steps, longer * lengths)
    return steps
