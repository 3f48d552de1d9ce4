"""Passes over large matrices tile by tile, against whole ones."""

import numpy as np
import pytest

from ptunfold.kernels.tiles import TILE, add_rows, square_means, square_mirrored, symmetrize_rows

N = 2 * TILE + 21
MATRIX = np.random.default_rng(0).random((N, N))
MEANS = (MATRIX + MATRIX.T) / 2


@pytest.mark.parametrize("power", [1, 2])
def test_means_of_a_matrix_and_its_transpose(power):
    found = MATRIX.copy()
    for start in (TILE, 0, 2 * TILE):  # in any order
        symmetrize_rows(found, start, min(start + TILE, N), power)
    np.testing.assert_array_equal(found, MEANS**power)


@pytest.mark.parametrize("height", [1, 40, 100])
@pytest.mark.parametrize("n_together", [7, 64, N])
def test_bands_of_sums_become_squares_of_means(height, n_together):
    """Rows may come some at a time, and their blocks may begin and end within a band."""
    for top in range(0, N, height):
        band = np.zeros((min(height, N - top), N - top))
        for start in range(0, N, n_together):
            add_rows(band, top, MATRIX[start : start + n_together], start)
        bottom = top + len(band)
        np.testing.assert_array_equal(band[:, : len(band)], MATRIX[top:bottom, top:bottom])
        square_means(band)
        np.testing.assert_allclose(band, MEANS[top:bottom, top:] ** 2, rtol=1e-15)


def test_squares_of_means_with_a_mirror():
    rows, mirror = MATRIX[:70].copy(), MATRIX[:, :70].copy()
    expected = ((rows + mirror.T) / 2) ** 2
    apart = np.empty_like(rows)
    square_mirrored(rows, mirror, apart)
    square_mirrored(rows, mirror, rows)  # into itself
    np.testing.assert_array_equal(apart, expected)
    np.testing.assert_array_equal(rows, expected)
