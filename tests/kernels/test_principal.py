"""Leading eigenspaces by iteration."""

import numpy as np
import pytest

from ptunfold.kernels.principal import leading_subspaces


@pytest.mark.parametrize(("size", "dim"), [(2, 1), (3, 2), (16, 2), (16, 5), (40, 8)])
def test_what_is_found_is_the_leading_eigenspace(size, dim):
    rng = np.random.default_rng(0)
    matrices = []
    for _ in range(300):
        basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
        values = np.sort(10.0 ** rng.uniform(-3, 0, size))[::-1]
        values[dim:] *= 10.0 ** rng.uniform(-16, 0)  # from a clean sheet to no gap at all
        matrices.append((basis * values) @ basis.T)
    spans, is_found = np.empty((300, dim, size)), np.empty(300, dtype=bool)
    leading_subspaces(np.array(matrices), spans, is_found)
    assert is_found.mean() > 0.5
    assert size == 2 or not is_found.all()
    for matrix, span in zip(np.array(matrices)[is_found], spans[is_found], strict=True):
        np.testing.assert_allclose(span @ span.T, np.eye(dim), atol=1e-14)
        expected = np.linalg.eigh(matrix)[1][:, -dim:]
        np.testing.assert_allclose(span.T @ span, expected @ expected.T, atol=1e-9)


def test_a_matrix_of_too_low_rank_is_left_to_others():
    column = np.arange(1.0, 7.0)
    is_found = np.empty(2, dtype=bool)
    leading_subspaces(
        np.array([np.outer(column, column), np.zeros((6, 6))]), np.empty((2, 2, 6)), is_found
    )
    assert not is_found.any()
