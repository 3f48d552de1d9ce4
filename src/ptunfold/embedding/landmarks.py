"""Landmark multidimensional scaling, with landmarks weighted by what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.extmath import svd_flip

from ptunfold.embedding.classical import warn_of_negative
from ptunfold.threads import cut
from ptunfold.types import Embedding, FloatArray, IntArray, aligned, is_of_dask, on_host
from ptunfold.validation import check_count, check_sources, check_squares, refuse_mask

_COLUMNS = 1 << 15
_CHUNK = 1 << 27  # bytes that a worker of a cluster takes in hand


def landmark_mds(distances: FloatArray, landmarks: IntArray, n_components: int = 2) -> Embedding:
    """Embed landmarks by their distances, and every point by its distances to them (Sec. 3.7).

    Each landmark counts as much as the points that are nearest to it. With equal weights, as in
    the paper, landmarks at the rim, which are many, would decide about the middle; with these
    weights the result is up to three times closer to the embedding by all distances.

    Parameters
    ----------
    distances : (n_landmarks, n_points)
        Finite; between two landmarks the mean of both entries is used. An array of NumPy, of CuPy
        or of Dask; the last is worked on where it lies, and the result has the same bits.
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
    with _by_whole_columns(distances) as there:
        return _scale(there, landmarks, n_components)


def _scale(distances: Any, landmarks: IntArray, n_components: int) -> Embedding:
    """Do what `landmark_mds` does, with what was checked."""
    n_points = distances.shape[1]
    nearest = _by_columns(_nearest, distances)
    if nearest.min() < 0:
        raise _not_distances(distances.shape)
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
    coordinates = _by_columns(_coordinates, distances, means, weigh)
    return Embedding(
        along_principal_axes(coordinates).astype(distances.dtype), n_points * eigenvalues
    )


@contextmanager
def _by_whole_columns(distances: Any) -> Iterator[Any]:
    """Have a Dask array in chunks of whole columns for a while; others are there as they are."""
    if not is_of_dask(distances):
        yield distances
        return
    # Whole blocks too: sums have the order that they have elsewhere.
    n_blocks = max(_CHUNK // (distances.dtype.itemsize * len(distances) * _COLUMNS), 1)
    there = distances.rechunk({0: -1, 1: n_blocks * _COLUMNS}, method="tasks").persist()
    try:
        yield there
    finally:
        for chunk in there.dask.values():
            if hasattr(chunk, "release"):  # of a cluster; after an error others may still hold it
                chunk.release()


def _nearest(distances: FloatArray) -> IntArray:
    """Tell which landmark is the nearest to each point; -1 if these are no distances."""
    if not np.isfinite(distances.sum()) or distances.min() < 0:
        return np.full(distances.shape[1], -1)
    nearest: IntArray = on_host(distances.argmin(axis=0))
    return nearest


def _coordinates(distances: FloatArray, means: FloatArray, weigh: FloatArray) -> FloatArray:
    """Place points by their distances to the landmarks."""
    # Where the distances are: in memory, or on a device.
    means, weigh = (np.asarray(array, like=distances) for array in (means, weigh))
    products = distances.astype(np.float64)  # in place: there are many
    np.square(products, out=products)
    np.subtract(means[:, None], products, out=products)
    coordinates: FloatArray = on_host(products.T @ weigh)
    return coordinates


def _by_columns(work: Callable[..., Any], distances: Any, *others: FloatArray) -> Any:
    """Work on some columns at a time, and put the results one after the other.

    The columns of a Dask array are worked on in the same blocks, by whoever has them.
    """
    if not is_of_dask(distances):
        return _in_blocks(work, distances, _COLUMNS, *others)
    import dask

    task = dask.delayed(_in_blocks_there)
    (chunks,) = distances.to_delayed()
    return np.concatenate(dask.compute(*(task(work, chunk, _COLUMNS, *others) for chunk in chunks)))


def _in_blocks_there(work: Callable[..., Any], *arrays: Any) -> Any:
    distances, size, *others = arrays
    return _in_blocks(work, aligned(distances), size, *map(aligned, others))


def _in_blocks(
    work: Callable[..., Any], distances: FloatArray, size: int, *others: FloatArray
) -> Any:
    return np.concatenate(
        [work(distances[:, block], *others) for block in cut(distances.shape[1], size)]
    )


def _not_distances(shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"distances of shape {shape} are not a matrix of finite numbers >= 0; embed "
        "components without a path between them one by one"
    )


def _checked(distances: Any, landmarks: IntArray, n_components: int) -> tuple[FloatArray, IntArray]:
    if not (hasattr(distances, "get") or is_of_dask(distances)):
        refuse_mask(distances, "distances")
        distances = np.asarray(distances)
    if distances.dtype not in (np.float32, np.float64):
        distances = distances.astype(np.float64)
    if distances.ndim != 2:
        raise _not_distances(distances.shape)
    if np.isnan(distances.shape).any():  # chunks of Dask whose sizes nobody knows yet
        distances = distances.copy().compute_chunk_sizes()
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
    if isinstance(distances, np.ndarray):
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
