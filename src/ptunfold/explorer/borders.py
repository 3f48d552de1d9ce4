"""Borders of data that were cut open, so that both sides of a seam can be told to match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ptunfold.types import FloatArray, IntArray, Seam


class Borders(NamedTuple):
    """Points at seams: which, at which seam, and how far along it, from 0 to 1."""

    points: IntArray
    seams: IntArray
    along: FloatArray


def borders_of(seams: Sequence[Seam], embedding: FloatArray) -> Borders:
    """List the points at both sides of each seam; what is joined across it is as far along."""
    found = [_both_sides(seam.edges, embedding) for seam in seams]
    return Borders(
        np.concatenate([points for points, _ in found]),
        np.repeat(np.arange(len(found)), [len(points) for points, _ in found]),
        np.concatenate([along for _, along in found]),
    )


def _both_sides(edges: IntArray, embedding: FloatArray) -> tuple[IntArray, FloatArray]:
    """Measure how far along a seam the points of its edges are: each with those it is joined to."""
    near, far = edges.T
    places = embedding[near].astype(np.float64)
    places -= places.mean(axis=0)
    along = places @ np.linalg.svd(places, full_matrices=False)[2][0]
    along = (along - along.min()) / (np.ptp(along) or 1.0)
    points, of_edge = np.unique(np.concatenate((near, far)), return_inverse=True)
    both = np.concatenate((along, along))
    return points, np.bincount(of_edge, both) / np.bincount(of_edge)
