"""Landmark multidimensional scaling, with landmarks weighted by what they stand for."""

from __future__ import annotations

import numpy as np
from sklearn.utils.extmath import svd_flip

from ptunfold.embedding.classical import warn_of_negative
from ptunfold.threads import cut
from ptunfold.types import Embedding, FloatArray, IntArray, on_host
from ptunfold.validation import check_count, check_sources

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
    columns = cut(n_points, _COLUMNS)
    nearest = np.concatenate([on_host(distances[:, block].argmin(axis=0)) for block in columns])
    # A copy of a landmark stands for nobody, but must not be lost.
    weights = np.maximum(np.bincount(nearest, minlength=len(landmarks)), 0.5)
    weights /= weights.sum()

    among = on_host(distances[:, landmarks]).astype(np.float64) ** 2
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
    coordinates = np.empty((n_points, n_components))
    # Where the distances are: in memory, or on a device.
    means, weigh = (np.asarray(array, like=distances) for array in (means, weigh))
    for block in columns:
        squares = distances[:, block].astype(np.float64) ** 2
        coordinates[block] = on_host((means[:, None] - squares).T @ weigh)
    return Embedding(
        _along_principal_axes(coordinates).astype(distances.dtype), n_points * eigenvalues
    )


def _checked(
    distances: FloatArray, landmarks: IntArray, n_components: int
) -> tuple[FloatArray, IntArray]:
    if not hasattr(distances, "get"):
        distances = np.asarray(distances)
    if distances.dtype not in (np.float32, np.float64):
        distances = distances.astype(np.float64)
    if distances.ndim != 2 or not np.isfinite(distances.sum()) or distances.min() < 0:
        raise ValueError(
            f"distances of shape {distances.shape} are not a matrix of finite numbers >= 0; embed "
            "components without a path between them one by one"
        )
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
    return distances, landmarks


def _along_principal_axes(coordinates: FloatArray) -> FloatArray:
    coordinates = coordinates - coordinates.mean(axis=0)
    _, axes = np.linalg.eigh(coordinates.T @ coordinates)
    turned, _ = svd_flip(coordinates @ axes[:, ::-1], None)
    return turned
