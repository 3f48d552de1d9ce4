"""Embeddings moved onto others."""

import numpy as np

from ptunfold.embedding.alignment import aligned, embedding_error


def test_an_affine_map_is_found():
    rng = np.random.default_rng(0)
    exact = rng.random((50, 2))
    found = exact @ [[2.0, 1.0], [0.0, -3.0]] + [5, 7]
    np.testing.assert_allclose(aligned(found, exact, is_affine=True), exact, atol=1e-12)
    assert embedding_error(found, exact, is_affine=True) < 1e-12
    assert embedding_error(found, exact) > 0.5
