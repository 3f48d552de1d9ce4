"""Tangent frames on one GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geometry.frames import Planes, principal_directions
from ptunfold.geometry.surface import fit_quadratic
from ptunfold.types import FloatArray, IntArray
from ptunfold.validation.values import SURFACES

# The library solves many small eigenproblems at once up to this size.
MOST_TOGETHER = 32
_LEAST_WIDTH = 1e-2  # of the length of a neighbourhood, where squares keep enough digits


class DeviceGeometry:
    """Neighbourhoods of points that are on the device."""

    most_values = 1 << 23

    def __init__(self, cupy: Any, points: FloatArray) -> None:
        self.cupy = cupy
        self.points = cupy.asarray(points)
        self.epsilon = float(np.finfo(points.dtype).eps)

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
