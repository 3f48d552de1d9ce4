"""How far an embedding is from another one, wherever both lie."""

from __future__ import annotations

import numpy as np

from ptunfold.types import FloatArray


def aligned(found: FloatArray, exact: FloatArray, *, is_affine: bool = False) -> FloatArray:
    """Move an embedding onto another one as well as a rigid motion can, or any affine map.

    The latter is for methods that keep no scale.
    """
    return _centred_onto(found, exact, is_affine) + exact.mean(axis=0, dtype=np.float64)


def embedding_error(found: FloatArray, exact: FloatArray, *, is_affine: bool = False) -> float:
    """Measure the Frobenius distance after the best motion, relative to the exact places.

    Parameters are those of `aligned`.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> turned = square @ [[0, 1], [-1, 0]] + 5
    >>> print(f"{embedding_error(turned, square):.3f} {embedding_error(2 * square, square):.3f}")
    0.000 1.000
    """
    wanted = exact - exact.mean(axis=0, dtype=np.float64)
    off = _centred_onto(found, exact, is_affine) - wanted
    return float(np.linalg.norm(off) / np.linalg.norm(wanted))


def _centred_onto(found: FloatArray, exact: FloatArray, is_affine: bool) -> FloatArray:
    """Move an embedding onto another one whose middle is the origin."""
    found = found - found.mean(axis=0, dtype=np.float64)
    exact = exact - exact.mean(axis=0, dtype=np.float64)
    if is_affine:
        return found @ np.linalg.lstsq(found, exact, rcond=None)[0]
    left, _, right = np.linalg.svd(found.T @ exact)
    return found @ left @ right
