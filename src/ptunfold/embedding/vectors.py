"""Vectors at the points, between space and embedding: the differential of the embedding."""

from __future__ import annotations

import numpy as np

from ptunfold.embedding.extension import Extension
from ptunfold.threads import cut
from ptunfold.types import BoolArray, FloatArray, IntArray

_NUMBERS_TOGETHER = 1 << 24  # bounds memory


def push(extension: Extension, vectors: FloatArray) -> FloatArray:
    """Carry vectors (n, n_features) or matrices (n, n_features, n_features) to the embedding.

    In the order of the geometry; what is normal to the sheet is left out. NaN at points that are
    left out, or that nothing is known around.
    """
    n_points, n_components = extension.coordinates.shape
    found = np.full((n_points, *(n_components,) * (vectors.ndim - 1)), np.nan)
    is_known = _is_known(extension)
    for block in _blocks(extension, vectors.shape[1]):
        there = extension.places[block]
        tangent = _down(extension, vectors[block], there)
        maps = extension.ways.outer[there]
        found[block] = _carried(maps, tangent)
        found[block][~is_known[there]] = np.nan
    return found


def pull(extension: Extension, vectors: FloatArray) -> FloatArray:
    """Carry vectors of the embedding (n, n_components) to tangent vectors (n, n_features)."""
    span, n_points = extension.span, len(extension.points)
    n_features = extension.points.shape[1] if span is None else len(span.center)
    found = np.empty((n_points, n_features))
    is_known = _is_known(extension)
    for block in _blocks(extension, n_features):
        there = extension.places[block]
        tangent = np.einsum("ncd,nc->nd", extension.ways_back.inner[there], vectors[block])
        ambient = _carried(extension.frames[there], tangent)
        found[block] = ambient if span is None else ambient @ span.basis
        found[block][~is_known[there]] = np.nan
    return found


def _down(extension: Extension, vectors: FloatArray, there: IntArray) -> FloatArray:
    """Write vectors or matrices of the data space in the tangent frames of points."""
    if extension.span is not None:
        basis = extension.span.basis
        vectors = vectors @ basis.T
        if vectors.ndim == 3:
            vectors = basis @ vectors
    return _carried(extension.frames[there].transpose(0, 2, 1), vectors)


def _carried(maps: FloatArray, vectors: FloatArray) -> FloatArray:
    """Apply a linear map to each vector, or to both sides of each matrix."""
    if vectors.ndim == 2:
        carried: FloatArray = np.einsum("nij,nj->ni", maps, vectors)
        return carried
    return maps @ vectors @ maps.transpose(0, 2, 1)


def _is_known(extension: Extension) -> BoolArray:
    """Tell which points have a place in the embedding, and neighbours that tell of it."""
    return extension.is_embedded & (np.diff(extension.indptr) > 0)


def _blocks(extension: Extension, n_features: int) -> list[slice]:
    n_axes = n_features + extension.points.shape[1] * extension.frames.shape[2]
    return cut(len(extension.points), max(_NUMBERS_TOGETHER // n_axes, 1))
