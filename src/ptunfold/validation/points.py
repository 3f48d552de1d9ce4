"""Points: those of a fit, new ones, and places in an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ptunfold.caller import warn
from ptunfold.types import FloatArray, Points, Space, kernel_ready
from ptunfold.validation.values import first_repeated

_REMEDY_FOR_TEXT = "encode such columns as numbers, or leave them out"


def check_points(X: Any, estimator: Any = None) -> FloatArray:
    """Return the points as a finite float32 or float64 array of shape (n_points, n_features).

    Any form that scikit-learn accepts will do. The ``n_features_in_`` and ``feature_names_in_`` of
    an estimator are set.
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


def check_new_points(X: Any, estimator: Any, around: FloatArray) -> FloatArray:
    """Return points for a fitted estimator: as many features, in the same order, finite.

    ``around`` is one of the fitted points, (n_features,).
    """
    points = _as_array(X, estimator, reset=False)
    _check_finite(points)
    _check_size(points, "X", estimator.embedding_.dtype, around)
    return points


def check_places(Z: Any, embedding: FloatArray) -> FloatArray:
    """Return points of an embedding, (n_places, n_components)."""
    n_components = embedding.shape[1]
    places = _as_array(Z, name="Z")
    if places.shape[1] != n_components:
        raise ValueError(
            f"Z has {places.shape[1]} columns, but the embedding has {n_components}; pass points "
            "of the embedding, one a row"
        )
    _check_finite(places, "Z")
    _check_size(places, "Z", embedding.dtype, reach=float(np.nanmax(np.abs(embedding))))
    return places


def is_lazy(X: Any) -> bool:
    """Tell whether something is an array or a data frame of Dask, without loading Dask."""
    is_of_dask = type(X).__module__.partition(".")[0] in ("dask", "dask_expr")
    return is_of_dask and (hasattr(type(X), "map_blocks") or has_partitions(X))


def has_partitions(X: Any) -> bool:
    """Tell a data frame of Dask, or a column of one, from an array."""
    return hasattr(type(X), "map_partitions") and hasattr(type(X), "divisions")


def in_memory(X: Any) -> Any:
    """Compute a collection of Dask, make a table of Arrow a data frame; leave all else."""
    if is_lazy(X):
        return X.compute()
    is_of_arrow = type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas")
    return X.to_pandas() if is_of_arrow and hasattr(X, "column_names") else X


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
            "matrix of distances, but is taken for coordinates, one row a point; pass "
            'metric="precomputed" if it is one'
        )


def as_points(points: Any) -> Points:
    """Return points for a stage in the middle: floats and their squares have to be finite."""
    if isinstance(points, Space):
        return points
    if type(points) is np.ndarray and points.ndim == 2 and points.dtype in (np.float32, np.float64):
        _check_finite(points, "points")
        if points.size:
            _check_extent(points)
        return kernel_ready(points, points.dtype)
    return check_points(points)


def _as_array(X: Any, estimator: Any = None, *, reset: bool = True, name: str = "X") -> FloatArray:
    """Return a float32 or float64 array (n_points, n_features) of whatever scikit-learn takes."""
    X = in_memory(X)
    if hasattr(X, "obsm") and hasattr(X, "X"):
        raise TypeError(
            f"{name} is an {type(X).__name__}, but an array of points is needed: pass "
            'adata.obsm["X_pca"], or adata.X as a dense array'
        )
    if sparse.issparse(X):
        raise TypeError(
            f"{name} is a sparse matrix, but tangent frames need dense points: pass "
            f"{name}.toarray(), or reduce the points first, for example with "
            "sklearn.decomposition.TruncatedSVD"
        )
    if isinstance(X, np.matrix):
        raise TypeError(f"{name} is a numpy.matrix; pass numpy.asarray({name})")
    refuse_mask(X, name)
    X = _with_shape(X, name)
    shape = tuple(X.shape)
    for count, what, remedy in zip(
        shape, ("sample", "feature"), ("one row a point", "one column a feature"), strict=False
    ):
        if count == 0:
            raise ValueError(
                f"{name} has 0 {what}(s) (shape={shape}) while a minimum of 1 is required; pass "
                f"{remedy}"
            )
    if len(shape) != 2:
        raise ValueError(
            f"{name} has {len(shape)} dimension(s), but one row a point is needed: Reshape your "
            f"data, for example {name}.reshape(len({name}), -1), or {name}.reshape(1, -1) if it "
            "is a single point"
        )
    _check_values(X, name)
    dtypes = np.float32 if _is_single(X) else (np.float64, np.float32)
    options = {"dtype": dtypes, "order": "C", "ensure_all_finite": False}
    try:
        points = (
            check_array(X, input_name=name, **options)
            if estimator is None
            else validate_data(estimator, X, reset=reset, **options)
        )
    except (ValueError, TypeError) as error:
        said = str(error)
        if "feature names should match" in said:  # scikit-learn's words, which others look for
            raise ValueError(f"{said}Pass X[model.feature_names_in_]") from error
        if "is expecting" in said:
            raise ValueError(f"{said.rstrip('.')}; pass the features of the fit") from error
        if "Feature names are only supported" in said:
            raise TypeError(
                "the names of X's columns are of several types; make them all strings, with "
                "X.columns = X.columns.astype(str)"
            ) from error
        if "complex" in said:
            raise _no_complex_numbers(name) from error
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"{name} holds values that are no numbers ({_one_sentence(said)}); {_REMEDY_FOR_TEXT}"
        ) from error
    return kernel_ready(points, points.dtype)


def _is_single(X: Any) -> bool:
    """Tell whether all of an array or a data frame is float32, whatever its library calls it."""
    kinds = list(getattr(X, "dtypes", ())) or [getattr(X, "dtype", None)]
    single = ("float32", ">f4", "<f4", "float[pyarrow]")
    return all(str(kind).lower() in single for kind in kinds)


def refuse_mask(values: Any, name: str) -> None:
    """Refuse an array that hides some of its values, which nothing here could respect."""
    n_masked = int(np.sum(np.ma.getmaskarray(values))) if np.ma.isMaskedArray(values) else 0
    if n_masked:
        raise ValueError(
            f"{name} is a masked array with {n_masked} of {values.size} values masked; leave their "
            f"rows out, for example numpy.ma.compress_rows({name}), or fill them with "
            f"{name}.filled(...)"
        )


def _check_values(X: Any, name: str) -> None:
    """Refuse values that would lose their meaning without a word."""
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind in ("U", "S") or (kind == "O" and _has_text(X.ravel())):
        raise ValueError(f"{name} holds text; {_REMEDY_FOR_TEXT}")
    columns = list(getattr(X, "columns", ()))
    twice = first_repeated(columns)
    if twice is not None:
        raise ValueError(f"{name} has several columns called {twice!r}; give each its own name")
    for column, dtype in zip(columns, getattr(X, "dtypes", ()), strict=False):
        words = str(dtype).lower()
        is_text = words.startswith(("str", "utf8", "categorical", "enum"))
        is_text |= words == "object" and _has_text(X[column])
        is_text |= words == "category" and _has_text(dtype.categories)
        if is_text:
            raise ValueError(f"{name} holds text in its column {column!r}; {_REMEDY_FOR_TEXT}")
        if words.startswith(("date", "time", "duration")):
            raise _no_dates(name)
        if words.startswith("sparse"):
            raise TypeError(
                f"{name} has sparse columns, but tangent frames need dense points: pass "
                f'{name}.astype("float64")'
            )
    if kind == "c":
        raise _no_complex_numbers(name)
    if kind in ("M", "m"):
        raise _no_dates(name)


def _no_dates(name: str) -> ValueError:
    return ValueError(
        f"{name} holds dates or spans of time; pass them as numbers in a unit of your choice, "
        f"for example {name}.astype('int64')"
    )


def _no_complex_numbers(name: str) -> ValueError:
    return ValueError(
        "Complex data not supported: pass real and imaginary parts as columns of their own, "
        f"for example numpy.hstack(({name}.real, {name}.imag))"
    )


def _one_sentence(said: str) -> str:
    """Shorten what a library says to its first sentence."""
    first = said.strip().splitlines()[0] if said.strip() else "they could not be read"
    return first.split(". ")[0].rstrip(".")[:150]


def _has_text(values: Any) -> bool:
    return any(isinstance(value, str | bytes) for value in values)


def _with_shape(X: Any, name: str) -> Any:
    """Return an array or a data frame; lists become arrays."""
    if not hasattr(X, "shape"):
        kind = type(X).__name__
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise ValueError(
                f"the rows of {name} have different lengths; pass one row a point, each with all "
                "features"
            ) from error
        if X.ndim == 0:
            raise ValueError(
                f"{name} has 0 dimension(s), being a {kind}, but one row a point is needed: pass "
                "an array, a data frame or a list of rows"
            )
    return X


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


def _check_size(
    points: FloatArray, name: str, dtype: Any, around: FloatArray | None = None, reach: float = 0.0
) -> None:
    """Refuse points so far away that squared distances overflow; what was fitted did not."""
    limit = max(1e15 if dtype == np.float32 else 1e60, reach)
    largest = float(np.abs(points).max()) if points.size else 0.0
    if largest > limit and around is not None:  # far from 0, but perhaps all of them are
        with np.errstate(over="ignore"):
            largest = float(np.abs(points - around).max())
    if largest > limit:
        raise ValueError(
            f"{name} has a value of size {largest:.3g}, too large for squares in {dtype}; check "
            "its units, which must be those of the fitted data"
        )
