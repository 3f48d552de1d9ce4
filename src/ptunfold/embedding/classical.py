"""Classical multidimensional scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import svd_flip

from ptunfold.caller import warn
from ptunfold.embedding.eigen import largest_eigenpairs
from ptunfold.geodesics.distances import symmetrize
from ptunfold.geodesics.squares import BandSquares, Squares, bands_of
from ptunfold.progress import stage
from ptunfold.threads import single_threaded_blas
from ptunfold.types import Embedding, FloatArray
from ptunfold.validation.points import refuse_mask
from ptunfold.validation.settings import check_n_components
from ptunfold.validation.shapes import check_squares


def classical_mds(
    distances: FloatArray,
    n_components: int = 2,
    *,
    overwrite: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Embedding:
    """Find the coordinates whose distances are closest to the given ones (Sec. 2.2, 3.6).

    Parameters
    ----------
    distances : (n_points, n_points)
        Finite. Of two one-way distances the mean is used.
    n_components : int
        The number of coordinates.
    overwrite : bool
        Use the memory of ``distances`` for their squares.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
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
    refuse_mask(distances, "distances")
    taken = np.asarray(distances) if overwrite else np.array(distances)
    distances = as_distances(taken, n_components)
    symmetrize(distances, squared=True, n_jobs=n_jobs)
    return scale_squares(
        BandSquares(bands_of(distances)), n_components, n_jobs=n_jobs, verbose=verbose
    )


def as_distances(distances: Any, n_components: int) -> FloatArray:
    """Check a matrix of distances and how many coordinates are wanted from it."""
    refuse_mask(distances, "distances")
    distances = np.asarray(distances, order="C")
    shape = distances.shape
    wrong = f"distances of shape {shape} are not a square matrix of finite numbers; "
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(wrong + "pass a dense array with a row and a column for each point")
    check_n_components(n_components, shape[0])
    if distances.dtype.kind not in "fiub":
        raise ValueError(
            f"distances holds values of type {distances.dtype}, not distances; pass real numbers"
        )
    if distances.dtype not in (np.float32, np.float64):
        distances = distances.astype(np.float64)
    if not np.isfinite(distances.sum()):
        raise ValueError(wrong + "embed components without a path between them one by one")
    if distances.min() < 0:
        raise ValueError("distances has negative entries; pass distances, not similarities")
    check_squares(distances)
    return distances


def scale_squares(
    squares: Squares, n_components: int, *, n_jobs: int | None = None, verbose: bool = False
) -> Embedding:
    """Do what `classical_mds` does for squared distances, wherever they lie."""
    with stage("embedding", None, "passes", verbose) as bar, single_threaded_blas():
        eigenvalues, eigenvectors = largest_eigenpairs(squares, n_components, bar, n_jobs)
    warn_of_negative(eigenvalues)
    eigenvectors, _ = svd_flip(eigenvectors, None)
    coordinates = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return Embedding(np.ascontiguousarray(coordinates, dtype=squares.dtype), eigenvalues)


def warn_of_negative(eigenvalues: FloatArray) -> None:
    """Say so where distances do not fit into as many flat dimensions as were asked for."""
    negative = eigenvalues <= 0
    if negative.any():
        listed = ", ".join(f"{value:.3g}" for value in eigenvalues[negative])
        n_components = len(eigenvalues)
        warn(
            f"the distances fit into {n_components - np.count_nonzero(negative)} flat dimensions, "
            f"not {n_components}: the eigenvalues {listed} (largest {eigenvalues[0]:.3g}) are not "
            "positive, and these coordinates are 0; lower n_components"
        )
