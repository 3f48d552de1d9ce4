"""Edges as they look from the tangent spaces at their ends."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.bending import write_in_frames
from ptunfold.types import FloatArray, Frames, IntArray


def edges_in_frames(
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
