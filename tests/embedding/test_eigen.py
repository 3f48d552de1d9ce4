"""The eigensolver against a dense one, on spectra kind and unkind."""

import numpy as np
import pytest
from scipy import linalg
from scipy.spatial.distance import cdist

from ptunfold.embedding import eigen
from ptunfold.embedding.eigen import gram_product, largest_eigenpairs
from ptunfold.geodesics.squares import BandSquares, bands_of


class Bar:
    def __init__(self):
        self.passes = 0

    def update(self):
        self.passes += 1


def banded(matrix):
    return BandSquares(bands_of(matrix))


def squares_with(spectrum, n_points, seed=0):
    """A symmetric matrix whose Gram matrix has the given eigenvalues, and many small ones."""
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(np.column_stack((np.ones(n_points), rng.normal(size=(n_points, 40)))))
    values = np.concatenate((spectrum, 0.001 * rng.normal(size=40 - len(spectrum))))
    gram = (vectors[:, 1:] * values) @ vectors[:, 1:].T
    lengths = np.diag(gram)
    return lengths + lengths[:, None] - 2 * gram


def dense(squares):
    n = len(squares)
    center = np.eye(n) - 1 / n
    values, vectors = linalg.eigh(-0.5 * center @ squares.astype(np.float64) @ center)
    return values[::-1], vectors[:, ::-1]


SPECTRA = {
    "two large": [100, 40],
    "close": [10, 9.999, 9.998, 3],
    "equal": [5, 5, 1],
    "negative ones dominate": [3, 2, -50, -40, -30, -20, -10],
    "slow decay": list(30 * 0.9 ** np.arange(30)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_agrees_with_a_dense_solver(name, dtype, n_components):
    squares = squares_with(SPECTRA[name], 500).astype(dtype)
    expected, expected_vectors = dense(squares)
    values, vectors = largest_eigenpairs(banded(squares), n_components, Bar())
    # In single precision the matrix itself is only known relative to its largest eigenvalue.
    scale = np.abs(expected).max() if dtype == np.float32 else expected[:n_components]
    assert (np.abs(values - expected[:n_components]) <= 1e-6 * scale).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_components), atol=1e-7)
    gap = (expected[n_components - 1] - expected[n_components]) / np.abs(expected).max()
    if gap > 1e-3:
        angles = linalg.subspace_angles(vectors, expected_vectors[:, :n_components])
        assert angles.max() < (1e-6 if dtype == np.float64 else 1e-6 / gap)


def test_few_passes_over_the_matrix_of_a_sheet():
    points = np.random.default_rng(0).normal(size=(1000, 2)) * [3, 1]
    noise = 0.05 * np.random.default_rng(1).normal(size=(1000, 20))
    points = np.hstack((points, noise))
    bar = Bar()
    largest_eigenpairs(banded(cdist(points, points) ** 2), 2, bar)
    assert bar.passes <= 8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product_is_that_of_the_gram_matrix(dtype):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2500, 3)) + 100
    squares = (cdist(points, points) ** 2).astype(dtype)
    vectors = rng.normal(size=(2500, 4))
    center = np.eye(2500) - 1 / 2500
    expected = -0.5 * center @ squares.astype(np.float64) @ center @ vectors
    found = gram_product(banded(squares), vectors)
    tolerance = 1e-12 if dtype == np.float64 else 3e-6
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


def no_convergence(*args, **kwargs):
    raise eigen.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))


@pytest.mark.parametrize("arpack_works", [True, False])
def test_fallbacks(monkeypatch, arpack_works):
    squares = squares_with(SPECTRA["slow decay"], 600)
    expected, _ = dense(squares)
    monkeypatch.setattr(eigen, "_MOST_BLOCKS", 1)
    monkeypatch.setattr(eigen, "_MOST_RESTARTS", 1)
    if not arpack_works:
        monkeypatch.setattr(eigen, "eigsh", no_convergence)
    values, vectors = largest_eigenpairs(banded(squares), 2, Bar())
    np.testing.assert_allclose(values, expected[:2], rtol=1e-9)
    assert vectors.shape == (600, 2)
