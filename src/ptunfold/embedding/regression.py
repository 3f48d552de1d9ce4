"""Values between points of an embedding, from those of the points around."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ptunfold.geometry.neighbors import query_tree
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import FloatArray, IntArray

_NUMBERS_TOGETHER = 1 << 22
# Of the spread of the neighbours: directions in which they spread much less are left to the mean.
_RIDGE = 0.1
_SIZES = (10, 20, 40)  # neighbours of a plane
_LEFT_OUT = 300


class LocalRegression:
    """Fit a plane to the values (n_points, n_values) at the nearest points, near ones above all.

    With many neighbours noise is averaged out. Where they do not spread far enough in a direction
    to tell how values change along it, their weighted mean takes the place of the plane. Only
    points with the same label, of one component, are taken together.
    """

    def __init__(self, coordinates: FloatArray, values: FloatArray, labels: IntArray) -> None:
        self.coordinates, self.values, self.labels = coordinates, values, labels
        self.tree = cKDTree(coordinates)
        n_points = len(coordinates)
        # Some that are left out by turns, to tell how well others speak for them.
        self.sample = np.unique(np.linspace(0, n_points - 1, min(_LEFT_OUT, n_points)).astype(int))

    def best_size(self, exact: FloatArray, n_jobs: int | None = None) -> tuple[int, float]:
        """Choose how many points a plane is fitted to: what errs least at the sample; the error."""
        n_points = len(self.coordinates)
        sizes = [size for size in _SIZES if 2 * size < n_points] or [max(n_points // 2, 1)]
        queries = self.coordinates[self.sample]
        errors = [
            np.square(
                self.predict(queries, size, left_out=self.sample, n_jobs=n_jobs) - exact
            ).sum()
            for size in sizes
        ]
        best = int(np.argmin(errors))
        return sizes[best], errors[best]

    def predict(
        self,
        queries: FloatArray,
        n_neighbors: int,
        *,
        left_out: IntArray | None = None,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Tell the values at places (n_queries, n_components): (n_queries, n_values).

        One point for each place may be left out.
        """
        n_asked = n_neighbors + (left_out is not None)
        distances, found = query_tree(self.tree, queries, n_asked, n_jobs)
        if left_out is not None:
            # Itself, or the farthest one where it is not among those found.
            is_it = found == left_out[:, None]
            is_it[~is_it.any(axis=1), -1] = True
            shape = (len(queries), n_neighbors)
            distances, found = distances[~is_it].reshape(shape), found[~is_it].reshape(shape)
        results = np.empty((len(queries), self.values.shape[1]))

        def handle(block: slice) -> None:
            near = found[block]
            shares = self._shares(queries[block], distances[block], near)
            results[block] = (shares[:, None, :] @ self.values[near])[:, 0]

        size = max(_NUMBERS_TOGETHER // (n_neighbors * self.values.shape[1]), 1)
        run_blocks(handle, cut(len(queries), size), Run(n_jobs))
        return results

    def _shares(self, queries: FloatArray, distances: FloatArray, near: IntArray) -> Any:
        """Tell how much each neighbour counts, (n_queries, n_neighbors); the sum is 1."""
        # A little beyond the farthest, so that no weights are all 0.
        reach = np.maximum(1.001 * distances[:, -1:], np.finfo(np.float64).tiny)
        weights = np.square(1 - np.square(distances / reach))
        weights[self.labels[near] != self.labels[near[:, :1]]] = 0
        weights /= weights.sum(axis=1, keepdims=True)
        places = self.coordinates[near]
        middle = weights[:, None, :] @ places
        places = places - middle
        weighted = weights[:, :, None] * places
        spread = places.transpose(0, 2, 1) @ weighted
        n_components = queries.shape[1]
        mean = np.trace(spread, axis1=1, axis2=2) / n_components
        ridge = np.where(mean > 0, _RIDGE * mean, 1)
        bent = spread + ridge[:, None, None] * np.eye(n_components)
        slopes = np.linalg.solve(bent, (queries[:, None, :] - middle).transpose(0, 2, 1))
        return weights + (weighted @ slopes)[:, :, 0]
