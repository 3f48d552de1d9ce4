"""Classical multidimensional scaling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.utils.extmath import svd_flip

from ptunfold.progress import stage
from ptunfold.types import Embedding, FloatArray
from ptunfold.validation import check_n_components

# Below this size a dense solver is quicker than an iterative one, and always converges.
_MOST_DENSE = 400
_TILE = 512


def classical_mds(
    distances: FloatArray, n_components: int = 2, *, overwrite: bool = False, progress: bool = False
) -> Embedding:
    """Find the coordinates whose distances are closest to the given ones (Sec. 2.2, 3.6).

    Parameters
    ----------
    distances : (n_points, n_points)
        Symmetric and finite.
    n_components : int
        The number of coordinates.
    overwrite : bool
        Use the memory of ``distances`` for the centred matrix.
    progress : bool
        Show a progress bar.

    Returns
    -------
    embedding : Embedding
        Coordinates in the dtype of ``distances``, centred, ordered by eigenvalue, each with its
        largest entry positive. A coordinate whose eigenvalue is not positive is 0; the eigenvalue
        is kept as it is, and a warning says so.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import classical_mds
    >>> side, diagonal = 1.0, 2**0.5
    >>> square = [[0, side, diagonal, side], [side, 0, side, diagonal]]
    >>> square += [[diagonal, side, 0, side], [side, diagonal, side, 0]]
    >>> classical_mds(np.array(square), n_components=2).eigenvalues
    array([1., 1.])
    """
    distances = np.array(distances, copy=not overwrite or None, order="C")
    if distances.dtype not in (np.float32, np.float64):
        distances = distances.astype(np.float64)
    n_points = len(distances)
    if distances.shape != (n_points, n_points) or not np.isfinite(distances.sum()):
        raise ValueError(
            f"distances of shape {distances.shape} are not a square matrix of finite numbers; "
            "embed components without a path between them one by one"
        )
    check_n_components(n_components, n_points)
    gram = _center_squares(distances)
    with stage("embedding", None, "products", progress) as bar:
        eigenvalues, eigenvectors = _largest_eigenpairs(gram, n_components, bar)
    negative = eigenvalues <= 0
    if negative.any():
        warnings.warn(
            f"the distances fit into {n_components - np.count_nonzero(negative)} flat dimensions, "
            f"not {n_components}: the eigenvalues {_numbers(eigenvalues[negative])} (largest "
            f"{eigenvalues[0]:.3g}) are not positive, and these coordinates are 0; "
            "lower n_components",
            stacklevel=2,
        )
    eigenvectors, _ = svd_flip(eigenvectors, None)
    coordinates = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return Embedding(np.ascontiguousarray(coordinates, dtype=distances.dtype), eigenvalues)


def _numbers(values: FloatArray) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _center_squares(matrix: FloatArray) -> FloatArray:
    """Turn distances into the Gram matrix -½ J D² J, in place."""
    n_points = len(matrix)
    blocks = [slice(start, start + _TILE) for start in range(0, n_points, _TILE)]
    means = np.empty(n_points)
    for rows in blocks:
        matrix[rows] *= matrix[rows]
        means[rows] = matrix[rows].mean(axis=1, dtype=np.float64)
    grand_mean = means.mean()
    for rows in blocks:
        centred = matrix[rows] - means[rows, None] - means + grand_mean
        matrix[rows] = -0.5 * centred
    return matrix


def _largest_eigenpairs(
    gram: FloatArray, n_components: int, bar: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues, descending, and their eigenvectors as columns."""
    n_points = len(gram)
    if n_points > _MOST_DENSE and n_components < n_points // 10:

        def multiply(vector: FloatArray) -> FloatArray:
            bar.update()
            return gram @ vector

        operator = LinearOperator(gram.shape, multiply, dtype=gram.dtype)
        start = np.random.default_rng(0).standard_normal(n_points).astype(gram.dtype)
        try:
            values, vectors = eigsh(operator, n_components, which="LA", v0=start)
            return values[::-1].astype(np.float64), vectors[:, ::-1]
        except ArpackNoConvergence:
            pass  # eigenvalues too close to each other: the dense solver does not mind
    last = n_points - 1
    values, vectors = linalg.eigh(gram, subset_by_index=(last - n_components + 1, last))
    return values[::-1].astype(np.float64), vectors[:, ::-1]
