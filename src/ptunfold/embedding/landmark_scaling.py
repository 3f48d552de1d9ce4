"""Landmark multidimensional scaling, with landmarks weighted by what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.extmath import svd_flip

from ptunfold.embedding.classical import warn_of_negative
from ptunfold.threads import cut
from ptunfold.types import Embedding, FloatArray, IntArray
from ptunfold.validation.points import refuse_mask
from ptunfold.validation.shapes import check_squares
from ptunfold.validation.values import check_count, check_sources

_COLUMNS = 1 << 15


def landmark_mds(distances: FloatArray, landmarks: IntArray, n_components: int = 2) -> Embedding:
    """Embed landmarks by their distances, and every point by its distances to them (Sec. 3.7).

    Each landmark counts as much as the points that are nearest to it. With equal weights, as in
    the paper, landmarks at the rim, which are many, would decide about the middle; with these
    weights the result is up to three times closer to the embedding by all distances.

    Parameters
    ----------
    distances : (n_landmarks, n_points)
        Finite; between two landmarks the mean of both entries is used.
    landmarks : (n_landmarks,) int
        The points that the rows belong to.
    n_components : int
        The number of coordinates, below ``n_landmarks``.

    Returns
    -------
    embedding : Embedding
        Coordinates of all points in the dtype of ``distances``, centred, along their principal
        axes. The eigenvalues are those of the weighted Gram matrix of the landmarks, scaled to
        the number of points.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import landmark_mds
    >>> points = np.random.default_rng(0).random((1000, 2))
    >>> landmarks = np.arange(5)
    >>> distances = np.linalg.norm(points[landmarks, None] - points, axis=2)
    >>> found = landmark_mds(distances, landmarks).coordinates
    >>> sides = np.linalg.norm(found[:-1] - found[1:], axis=1)
    >>> bool(np.allclose(sides, np.linalg.norm(points[:-1] - points[1:], axis=1)))
    True
    """
    distances, landmarks = _checked(distances, landmarks, n_components)
    n_points = distances.shape[1]
    nearest = _by_columns(_nearest, distances)
    if nearest.min() < 0:
        raise _not_distances(distances.shape)
    # A copy of a landmark stands for nobody, but must not be lost.
    weights = np.maximum(np.bincount(nearest, minlength=len(landmarks)), 0.5)
    weights /= weights.sum()

    among = distances[:, landmarks].astype(np.float64) ** 2
    among = 0.5 * (among + among.T)
    means = among @ weights  # the weighted mean of the squared distances to each landmark
    gram = -0.5 * (among - means - means[:, None] + weights @ means)
    roots = np.sqrt(weights)
    eigenvalues, vectors = np.linalg.eigh(roots[:, None] * gram * roots)
    eigenvalues, vectors = eigenvalues[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    # What is only rounding must not be divided by.
    eigenvalues = np.where(np.abs(eigenvalues) < 1e-13 * eigenvalues[0], 0, eigenvalues)
    warn_of_negative(eigenvalues)
    is_positive = eigenvalues > 0
    scale = np.where(is_positive, 1 / np.sqrt(np.where(is_positive, eigenvalues, 1)), 0)
    # The rows of the pseudoinverse, times the ½ that the paper's formula lacks.
    weigh = 0.5 * roots[:, None] * vectors * scale
    coordinates = _by_columns(_coordinates, distances, means, weigh)
    return Embedding(
        along_principal_axes(coordinates).astype(distances.dtype), n_points * eigenvalues
    )


def _nearest(distances: FloatArray) -> IntArray:
    """Tell which landmark is the nearest to each point; -1 if these are no distances."""
    if not np.isfinite(distances.sum()) or distances.min() < 0:
        return np.full(distances.shape[1], -1)
    return distances.argmin(axis=0)


def _coordinates(distances: FloatArray, means: FloatArray, weigh: FloatArray) -> FloatArray:
    """Place points by their distances to the landmarks."""
    products = distances.astype(np.float64)  # in place: there are many
    np.square(products, out=products)
    np.subtract(means[:, None], products, out=products)
    return products.T @ weigh


def _by_columns(work: Callable[..., Any], distances: FloatArray, *others: FloatArray) -> Any:
    """Work on some columns at a time, and put the results one after the other."""
    return np.concatenate(
        [work(distances[:, block], *others) for block in cut(distances.shape[1], _COLUMNS)]
    )


def _not_distances(shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"distances of shape {shape} are not a matrix of finite numbers >= 0; embed "
        "components without a path between them one by one"
    )


def _checked(distances: Any, landmarks: IntArray, n_components: int) -> tuple[FloatArray, IntArray]:
    refuse_mask(distances, "distances")
    distances = np.asarray(distances)
    if distances.dtype not in (np.float32, np.float64):
        distances = distances.astype(np.float64)
    if distances.ndim != 2:
        raise _not_distances(distances.shape)
    landmarks = check_sources(landmarks, distances.shape[1], "landmarks")
    if len(landmarks) != len(distances):
        raise ValueError(
            f"distances has {len(distances)} rows for {len(landmarks)} landmarks; pass one row for "
            "each landmark"
        )
    check_count("n_components", n_components)
    if n_components >= len(landmarks):
        raise ValueError(
            f"n_components={n_components} needs more than {n_components} landmarks, but there are "
            f"{len(landmarks)}; lower n_components or take more landmarks"
        )
    if not np.isfinite(distances.sum(dtype=np.float64)):
        raise _not_distances(distances.shape)
    check_squares(distances)
    return distances, landmarks


def along_principal_axes(coordinates: FloatArray) -> FloatArray:
    """Centre coordinates, and turn them so that the first axis is the longest."""
    coordinates = coordinates - coordinates.mean(axis=0)
    _, axes = np.linalg.eigh(coordinates.T @ coordinates)
    turned, _ = svd_flip(coordinates @ axes[:, ::-1], None)
    return turned
