"""Tangent frames and the connection on one GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geometry.connection import ARC, EDGE_WEIGHT
from ptunfold.geometry.frames import Planes, principal_directions
from ptunfold.geometry.surface import fit_quadratic
from ptunfold.types import FloatArray, Frames, IntArray
from ptunfold.validation.values import SURFACES

# The library solves many small eigenproblems at once up to this size.
MOST_TOGETHER = 32
_LEAST_WIDTH = 1e-2  # of the length of a neighbourhood, where squares keep enough digits


class DeviceGeometry:
    """Neighbourhoods and edges of points that are on the device."""

    most_values = 1 << 23
    edges_together = 1 << 20

    def __init__(self, cupy: Any, points: FloatArray) -> None:
        self.cupy = cupy
        self.points = cupy.asarray(points)
        self.epsilon = float(np.finfo(points.dtype).eps)
        self._vectors: tuple[FloatArray, Any] | None = None

    def fit_neighborhoods(
        self, points: FloatArray, members: IntArray, counts: IntArray, dim: int, tangent: str
    ) -> Planes:
        """Find the tangent planes of neighbourhoods, as `ptunfold.geometry.frames` does."""
        n_neighbors = self.cupy.asarray(counts)
        offsets, rounding = self._offsets(members, n_neighbors)
        bases, values, residual = self._principal(offsets, n_neighbors, dim)
        if tangent not in SURFACES:
            return Planes(*map(self.here, (bases, values, residual, rounding)))
        bases, residual, lift, curvature = fit_quadratic(
            offsets, n_neighbors, bases, is_robust=tangent == "robust"
        )
        found = (bases, values, residual, rounding, lift, curvature)
        return Planes(*map(self.here, found))

    def here(self, array: Any) -> FloatArray:
        """Bring an array back from the device."""
        found: FloatArray = self.cupy.asnumpy(array)
        return found

    def _offsets(self, members: IntArray, counts: Any) -> tuple[Any, Any]:
        """Gather and centre neighbourhoods, as `gather_offsets` does."""
        around = self.points[self.cupy.asarray(members)].astype(np.float64)
        is_member = (self.cupy.arange(members.shape[1]) <= counts[:, None])[:, :, None]
        offsets = np.where(is_member, around - around[:, :1], 0)
        widest = np.abs(offsets).max(axis=1)
        largest = np.where(is_member, np.abs(around), 0).max(axis=1)
        rounding = 4 * self.epsilon * np.where(widest > 0, largest, 0).max(axis=1)
        mean = offsets.sum(axis=1) / (counts + 1)[:, None]
        return np.where(is_member, offsets - mean[:, None], 0), rounding

    def _principal(self, offsets: Any, counts: Any, dim: int) -> tuple[Any, Any, Any]:
        """Find bases, singular values and residuals of principal planes."""
        across = offsets.transpose(0, 2, 1)
        by_features = offsets.shape[2] <= offsets.shape[1]
        products = across @ offsets if by_features else offsets @ across
        squares, vectors = np.linalg.eigh(products)
        values = np.sqrt(np.maximum(squares[:, ::-1][:, :dim], 0))
        bases = vectors[:, :, ::-1][:, :, :dim]
        if not by_features:
            bases = across @ (bases / np.where(values > 0, values, 1)[:, None, :])
            overlaps = bases.transpose(0, 2, 1) @ bases
            bases = bases @ (1.5 * self.cupy.asarray(np.eye(dim)) - 0.5 * overlaps)
        off_plane = offsets - (offsets @ bases) @ bases.transpose(0, 2, 1)
        residual = np.sqrt(np.square(off_plane).sum(axis=(1, 2)) / (counts + 1))
        # The few that are far longer than wide are done with care, by threads.
        narrow = np.flatnonzero(self.here(values[:, -1] < _LEAST_WIDTH * values[:, 0]))
        if len(narrow):
            nodes = self.cupy.asarray(narrow)
            some = principal_directions(
                self.here(offsets[nodes]), self.cupy.asnumpy(counts[nodes]), dim
            )
            bases = bases.copy()
            bases[nodes], values[nodes], residual[nodes] = map(self.cupy.asarray, some)
        return bases, values, residual

    def edges_in_frames(
        self, frames: Frames, tails: IntArray, heads: IntArray
    ) -> tuple[Any, Any, Any, Any]:
        """Write edges in the frames at both ends, and these frames in each other."""
        if self._vectors is None or self._vectors[0] is not frames.vectors:
            self._vectors = (frames.vectors, self.cupy.asarray(frames.vectors))
        tails, heads = self.cupy.asarray(tails), self.cupy.asarray(heads)
        at_tail, at_head = self._vectors[1][tails], self._vectors[1][heads]
        offsets = self.points[heads].astype(np.float64) - self.points[tails].astype(np.float64)
        overlaps = at_tail.transpose(0, 2, 1) @ at_head
        from_tail = (at_tail.transpose(0, 2, 1) @ offsets[:, :, None])[:, :, 0]
        from_head = -(at_head.transpose(0, 2, 1) @ offsets[:, :, None])[:, :, 0]
        return overlaps, from_tail, from_head, np.sqrt(np.square(offsets).sum(axis=1))

    def favor(self, from_tail: Any, from_head: Any, overlaps: Any) -> Any:
        """Let the direction of an edge count, which is carried along to itself."""
        first, second = (
            steps / np.maximum(np.sqrt(np.square(steps).sum(axis=1)), 1e-300)[:, None]
            for steps in (from_tail, -from_head)
        )
        return overlaps + EDGE_WEIGHT * first[:, :, None] * second[:, None, :]

    def bend(self, from_tail: Any, from_head: Any, overlaps: Any, turns: Any) -> tuple[Any, Any]:
        """Find the arcs that belong to edges, and the means of their shadows, as `bend_edges`."""
        mean = 0.5 * (from_tail - (turns @ from_head[:, :, None])[:, :, 0])
        half = overlaps @ turns.transpose(0, 2, 1)
        identity = self.cupy.asarray(np.eye(mean.shape[1]))
        bent = identity - 0.5 * (half + half.transpose(0, 2, 1))
        steps = ARC[-1] * mean
        for weight in ARC[-2::-1]:
            steps = weight * mean + (bent @ steps[:, :, None])[:, :, 0]
        return mean, steps

    def align(self, overlaps: Any) -> Any:
        """Solve the orthogonal Procrustes problem of Proposition 1, (n_edges, d, d)."""
        dim = overlaps.shape[1]
        if dim == 1:
            return np.where(overlaps < 0, -1.0, 1.0)
        if dim > 2:
            first, _, second = np.linalg.svd(overlaps)
            return first @ second
        # A multiple of a rotation and one of a reflection; the larger wins.
        a, b, c, d = (overlaps[:, row, column] for row in (0, 1) for column in (0, 1))
        turn, flip = np.hypot(a + d, c - b), np.hypot(a - d, c + b)
        sign = np.where(turn >= flip, 1.0, -1.0)
        size = np.maximum(turn, flip)
        cosine = np.where(size > 0, a + sign * d, 1.0) / np.where(size > 0, size, 1)
        sine = np.where(size > 0, c - sign * b, 0.0) / np.where(size > 0, size, 1)
        turns = np.empty_like(overlaps)
        turns[:, 0, 0], turns[:, 1, 0] = cosine, sine
        turns[:, 0, 1], turns[:, 1, 1] = -sign * sine, sign * cosine
        return turns
