"""Points: those of a fit, new ones, and places in an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ptunfold.caller import warn
from ptunfold.types import FloatArray, kernel_ready


def check_points(X: Any, estimator: Any = None) -> FloatArray:
    """Return the points as a finite float32 or float64 array of shape (n_points, n_features).

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points, in any form that scikit-learn accepts.
    estimator : estimator, optional
        Where given, its ``n_features_in_`` and ``feature_names_in_`` are set.
    """
    points = _as_array(X, estimator)
    _check_finite(points)
    n_points = len(points)
    if n_points < 3:
        raise ValueError(f"X has n_samples={n_points} point(s); at least 3 are needed")
    _check_extent(points)
    if (points == points[0]).all():
        raise ValueError(
            f"all {n_points} points of X are equal, so there is nothing to unfold; "
            "check how the data were read"
        )
    return points


def check_new_points(X: Any, estimator: Any) -> FloatArray:
    """Return points for a fitted estimator: as many features, in the same order, finite."""
    points = _as_array(X, estimator, reset=False)
    _check_finite(points)
    _check_size(points, "X", estimator.embedding_.dtype)
    return points


def check_places(Z: Any, n_components: int, dtype: Any) -> FloatArray:
    """Return points of an embedding, (n_places, n_components)."""
    places = _as_array(Z)
    if places.shape[1] != n_components:
        raise ValueError(
            f"Z has {places.shape[1]} columns, but the embedding has {n_components}; pass points "
            "of the embedding, one a row"
        )
    _check_finite(places, "Z")
    _check_size(places, "Z", dtype)
    return places


def warn_of_distances(points: FloatArray) -> None:
    """Say so where points look like the distances between points."""
    n_points, n_features = points.shape
    if n_points != n_features or n_points <= 3:
        return
    largest = float(np.abs(points).max())
    # The diagonal first: with other points it is all that is looked at.
    if (
        np.abs(np.diagonal(points)).max() <= 1e-6 * largest
        and points.min() >= 0
        and np.allclose(points, points.T, rtol=1e-4, atol=1e-6 * largest)
    ):
        warn(
            f"X has {n_points} rows and columns, is symmetric and is 0 on its diagonal, like a "
            "matrix of distances, but is taken for coordinates, one row a point; pass the points "
            "themselves, or embed the distances with ptunfold.classical_mds",
        )


def as_points(points: Any) -> FloatArray:
    """Return points for a stage in the middle: of floats it is only asked that they are finite."""
    if type(points) is np.ndarray and points.ndim == 2 and points.dtype in (np.float32, np.float64):
        _check_finite(points, "points")
        return kernel_ready(points, points.dtype)
    return check_points(points)


def _as_array(X: Any, estimator: Any = None, *, reset: bool = True) -> FloatArray:
    """Return a float32 or float64 array (n_points, n_features) of whatever scikit-learn takes."""
    if hasattr(X, "obsm") and hasattr(X, "X"):
        raise TypeError(
            f"X is an {type(X).__name__}, but an array of points is needed: pass "
            'adata.obsm["X_pca"], or adata.X as a dense array'
        )
    if sparse.issparse(X):
        raise TypeError(
            "X is a sparse matrix, but tangent frames need dense points: pass X.toarray(), "
            "or reduce the points first, for example with sklearn.decomposition.TruncatedSVD"
        )
    refuse_mask(X, "X")
    ndim = _number_of_dimensions(X)
    if ndim != 2:
        raise ValueError(
            f"X has {ndim} dimension(s), but one row a point is needed: Reshape your data, for "
            "example X.reshape(len(X), -1), or X.reshape(1, -1) if it is a single point"
        )
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise ValueError(
            "Complex data not supported: pass real and imaginary parts as columns of their own, "
            "for example numpy.hstack((X.real, X.imag))"
        )
    options = {"dtype": (np.float64, np.float32), "order": "C", "ensure_all_finite": False}
    try:
        points = (
            check_array(X, input_name="X", **options)
            if estimator is None
            else validate_data(estimator, X, reset=reset, **options)
        )
    except ValueError as error:
        if "could not convert string" in str(error) or "bytes/strings" in str(error):
            raise ValueError(
                f"X holds text ({error}); encode the text columns as numbers or leave them out"
            ) from error
        raise
    return kernel_ready(points, points.dtype)


def refuse_mask(values: Any, name: str) -> None:
    """Refuse an array that hides some of its values, which nothing here could respect."""
    n_masked = int(np.sum(np.ma.getmaskarray(values))) if np.ma.isMaskedArray(values) else 0
    if n_masked:
        raise ValueError(
            f"{name} is a masked array with {n_masked} of {values.size} values masked; leave their "
            f"rows out, for example numpy.ma.compress_rows({name}), or fill them with "
            f"{name}.filled(...)"
        )


def _number_of_dimensions(X: Any) -> int:
    if hasattr(X, "shape"):
        return len(X.shape)
    try:
        return np.asarray(X).ndim
    except ValueError as error:
        raise ValueError(
            "the rows of X have different lengths; pass one row a point, each with all features"
        ) from error


def _check_finite(points: FloatArray, name: str = "X") -> None:
    # A finite sum proves finite entries at a fraction of the cost; overflow only costs a look.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(points.sum()):
            return
    bad_rows = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad_rows):
        found = "NaN" if np.isnan(points[bad_rows]).any() else "infinity (inf)"
        raise ValueError(
            f"{name} contains {found} in {len(bad_rows)} of {len(points)} rows (first in row "
            f"{bad_rows[0]}); leave these rows out or fill them, for example with "
            "sklearn.impute.SimpleImputer"
        )


def _check_extent(points: FloatArray) -> None:
    """Refuse points whose squared distances overflow or vanish in their own dtype."""
    extent = float(np.max(points.max(axis=0).astype(np.float64) - points.min(axis=0)))
    limit = 1e15 if points.dtype == np.float32 else 1e60
    if not 1 / limit < extent < limit and extent > 0:
        raise ValueError(
            f"the points of X are {extent:.3g} across, too far from 1 for squares in "
            f"{points.dtype}; divide X by {extent:.0e}"
        )


def _check_size(points: FloatArray, name: str, dtype: Any) -> None:
    """Refuse points so far away that squared distances overflow."""
    largest = float(np.abs(points).max()) if points.size else 0.0
    if largest > (1e15 if dtype == np.float32 else 1e60):
        raise ValueError(
            f"{name} has a value of size {largest:.3g}, too large for squares in {dtype}; check "
            "its units, which must be those of the fitted data"
        )
