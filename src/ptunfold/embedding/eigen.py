"""The largest eigenpairs of a centred matrix of squared distances, in few passes over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ptunfold.geodesics.squares import Squares
from ptunfold.types import FloatArray

# Below this size a dense solver is quicker than an iterative one.
_MOST_DENSE = 400
_EXTRA_VECTORS = 6
_MOST_BLOCKS = 12
_MOST_RESTARTS = 8


def gram_product(squares: Squares, vectors: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Multiply vectors (n_points, n_vectors) by the Gram matrix -½ J S J, without forming it.

    S are the squared distances, J = I - 11ᵗ/n. The result does not depend on the number of threads.
    """
    centred = vectors - vectors.mean(axis=0)
    if squares.dtype == np.float64:
        product = squares.multiply(centred, n_jobs)
    else:
        # The rounding of the vectors goes along as vectors of its own: the matrix is read once,
        # and only its own precision counts.
        rounded = centred.astype(np.float32)
        factor = np.hstack((rounded, (centred - rounded).astype(np.float32)))
        product = squares.multiply(factor, n_jobs)
        n_vectors = centred.shape[1]
        product = product[:, :n_vectors] + product[:, n_vectors:]
    return -0.5 * (product - product.mean(axis=0))


def largest_eigenpairs(
    squares: Squares, n_components: int, bar: Any, n_jobs: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Find the largest eigenvalues of the Gram matrix, descending, and the columns of eigenvectors.

    A block Krylov method with Rayleigh-Ritz projection: the largest *algebraic* eigenvalues are
    found, however negative others are. It stops when the residuals of all wanted pairs are at the
    level of rounding, starts again from the best vectors when its space is full, and hands over to
    ARPACK, and at last to a dense solver, if that does not help. ``bar`` advances with every pass
    over the matrix.
    """
    n_points = squares.n_points
    n_block = n_components + _EXTRA_VECTORS
    if n_points <= max(_MOST_DENSE, 4 * n_block):
        return _dense(squares, n_components)

    def multiply(vectors: FloatArray) -> FloatArray:
        bar.update()
        return gram_product(squares, vectors, n_jobs)

    # Vectors stay where the matrix is; NumPy's functions work on arrays of a device too.
    start = squares.near(np.random.default_rng(0).standard_normal((n_points, n_block)))
    tolerance = 1e-11 if squares.dtype == np.float64 else 1e-7
    for _ in range(_MOST_RESTARTS):
        values, vectors, start, residual = _krylov(multiply, start, n_components, tolerance)
        if residual <= tolerance:
            return squares.here(values), squares.here(vectors)
    if residual <= 1e3 * tolerance:
        return squares.here(values), squares.here(vectors)  # as far as rounding lets it come
    try:
        operator = LinearOperator(
            (n_points, n_points),
            lambda vector: squares.here(multiply(squares.near(vector.reshape(-1, 1)))).ravel(),
            dtype=np.float64,
        )
        values, vectors = eigsh(operator, n_components, which="LA", v0=squares.here(start[:, 0]))
        return values[::-1], vectors[:, ::-1]
    except ArpackNoConvergence:
        return _dense(squares, n_components)


def _krylov(
    multiply: Any, start: FloatArray, n_components: int, tolerance: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Build one block Krylov space; return the best pairs, vectors to restart from, the residual.

    The residual is the largest of the wanted pairs', relative to the largest eigenvalue.
    """
    block, _ = np.linalg.qr(start - start.mean(axis=0))
    basis, images = block, block[:, :0]
    while True:
        image = multiply(block)
        images = np.hstack((images, image))
        projected = basis.T @ images
        ritz_values, ritz_vectors = np.linalg.eigh(0.5 * (projected + projected.T))
        best = ritz_vectors[:, ::-1][:, : start.shape[1]]
        values = ritz_values[::-1][:n_components]
        wanted = best[:, :n_components]
        vectors = basis @ wanted
        residuals = np.linalg.norm(images @ wanted - vectors * values, axis=0)
        size = np.abs(ritz_values).max()
        residual = float(residuals.max() / size) if size > 0 else 0.0
        n_blocks = basis.shape[1] // start.shape[1]
        if residual <= tolerance or n_blocks == _MOST_BLOCKS:
            return values, vectors, basis @ best, residual
        for _ in range(2):  # once is not enough for orthogonality to rounding
            image = image - basis @ (basis.T @ image)
        block, _ = np.linalg.qr(image)
        block = block - basis @ (basis.T @ block)
        block, _ = np.linalg.qr(block)
        basis = np.hstack((basis, block))


def _dense(squares: Squares, n_components: int) -> tuple[FloatArray, FloatArray]:
    gram = squares.whole()
    means = gram.mean(axis=0)
    gram = -0.5 * (gram - means - means[:, None] + means.mean())
    last = len(gram) - 1
    values, vectors = linalg.eigh(gram, subset_by_index=(last - n_components + 1, last))
    if len(values) < n_components:  # LAPACK loses some, without a word, where many are equal
        values, vectors = linalg.eigh(gram, driver="ev")
        values, vectors = values[-n_components:], vectors[:, -n_components:]
    return values[::-1], vectors[:, ::-1]
