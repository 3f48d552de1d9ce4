"""Every check on what a user passes; each message says what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from ptunfold.types import FloatArray, Graph, IntArray, LandmarkPlan, Settings

GRAPH_KINDS = ("knn", "mutual", "radius")
TANGENTS = ("pca", "quadratic")
TANGENT_CENTERS = ("mean", "point")
STEPS = ("projection", "chord", "arc")
SEARCHES = ("auto", "exact", "approximate")
PRUNES = ("shortcuts",)
LANDMARKS = ("maxmin", "random")
DISCONNECTED = ("bridge", "error", "largest", "separate")


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


def _check_size(points: FloatArray, name: str, dtype: Any) -> None:
    """Refuse points so far away that squared distances overflow."""
    largest = float(np.abs(points).max()) if points.size else 0.0
    if largest > (1e15 if dtype == np.float32 else 1e60):
        raise ValueError(
            f"{name} has a value of size {largest:.3g}, too large for squares in {dtype}; check "
            "its units, which must be those of the fitted data"
        )


def _as_array(X: Any, estimator: Any = None, *, reset: bool = True) -> FloatArray:
    """Return a float32 or float64 array (n_points, n_features) of whatever scikit-learn takes."""
    if sparse.issparse(X):
        raise TypeError(
            "X is a sparse matrix, but tangent frames need dense points: pass X.toarray(), "
            "or reduce the points first, for example with sklearn.decomposition.TruncatedSVD"
        )
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
    return points


def as_points(points: Any) -> FloatArray:
    """Return points for a stage in the middle: an array that was checked before is not again."""
    if (
        isinstance(points, np.ndarray)
        and points.ndim == 2
        and points.dtype in (np.float32, np.float64)
    ):
        return points
    return check_points(points)


def _number_of_dimensions(X: Any) -> int:
    if hasattr(X, "shape"):
        return len(X.shape)
    try:
        return np.asarray(X).ndim
    except ValueError as error:
        raise ValueError(
            "the rows of X have different lengths; pass one row a point, each with all features"
        ) from error


def _check_extent(points: FloatArray) -> None:
    """Refuse points whose squared distances overflow or vanish in their own dtype."""
    extent = float(np.max(points.max(axis=0).astype(np.float64) - points.min(axis=0)))
    limit = 1e15 if points.dtype == np.float32 else 1e60
    if not 1 / limit < extent < limit and extent > 0:
        raise ValueError(
            f"the points of X are {extent:.3g} across, too far from 1 for squares in "
            f"{points.dtype}; divide X by {extent:.0e}"
        )


def check_same_size(n_points: int, n_in_graph: int) -> None:
    """Check that a graph belongs to the points."""
    if n_in_graph != n_points:
        raise ValueError(
            f"the graph has {n_in_graph} points, but {n_points} points were passed; "
            "pass the points that the graph was built from"
        )


def check_n_jobs(n_jobs: Any) -> None:
    """Check the number of threads."""
    if n_jobs is None:
        return
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads; pass None for 1, -1 for all cores, "
            "or a positive whole number"
        )


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


def check_settings(
    points: FloatArray,
    *,
    n_components: int | None = None,
    n_neighbors: int | None,
    radius: float | None,
    graph: Any,
    intrinsic_dim: int,
    tangent_neighbors: int | None,
    tangent_center: str,
    step: str,
    disconnected: str,
    search: str,
    tangent: str = "pca",
    denoise: int | str = 0,
    prune: str | None = None,
    n_jobs: int | None,
) -> Settings:
    """Fill in defaults and check everything that can be checked before the work starts.

    Parameters are those of :class:`ptunfold.PTU`; ``graph`` may also be a sparse matrix, and
    ``n_components`` is None where no embedding is wanted.
    """
    n_points, n_features = points.shape
    check_choice("tangent_center", tangent_center, TANGENT_CENTERS)
    check_choice("step", step, STEPS)
    check_choice("disconnected", disconnected, DISCONNECTED)
    check_choice("search", search, SEARCHES)
    check_choice("tangent", tangent, TANGENTS)
    if prune is not None:
        check_choice("prune", prune, PRUNES)
    is_count = isinstance(denoise, Integral) and not isinstance(denoise, bool) and denoise >= 0
    if not is_count and not (isinstance(denoise, str) and denoise == "auto"):
        raise ValueError(
            f'denoise={denoise!r} is not known; pass how often, 0 for never, or "auto"'
        )
    check_n_jobs(n_jobs)
    if n_components is not None:
        check_n_components(n_components, n_points)
    check_count("intrinsic_dim", intrinsic_dim)
    if tangent_neighbors is None:
        # Measured: 10 is best on clean data by a little, but falls apart from 1.5 % noise on.
        n_wanted = max(15, 3 * intrinsic_dim)
        if tangent == "quadratic":
            n_wanted = max(n_wanted, 4 * n_coefficients(intrinsic_dim))
        tangent_neighbors = min(n_wanted, n_points - 1)
    if tangent == "quadratic":
        _check_surface("tangent_neighbors", tangent_neighbors, intrinsic_dim)
    if denoise:
        _check_surface("the number of other points,", n_points - 1, intrinsic_dim)
    check_tangent_sizes(intrinsic_dim, tangent_neighbors, n_points, n_features)
    if n_neighbors is None:
        n_neighbors = min(10, n_points - 1)
    if graph is None or isinstance(graph, str):
        check_graph_settings(graph, n_neighbors, radius, n_points)
    elif not isinstance(graph, Graph):
        graph = check_graph_matrix(graph, n_points)
    return Settings(
        n_neighbors=n_neighbors,
        radius=radius,
        graph=graph,
        intrinsic_dim=intrinsic_dim,
        tangent_neighbors=tangent_neighbors,
        tangent_center=tangent_center,
        step=step,
        disconnected=disconnected,
        search=search,
        tangent=tangent,
        denoise=denoise,
        prune=prune,
    )


def check_landmarks(
    n_landmarks: Any, landmarks: str, random_state: Any, n_points: int, n_components: int
) -> LandmarkPlan | str | None:
    """Check what is said about landmarks: a plan, None for all points, or "auto".

    Parameters are those of :class:`ptunfold.PTU`.
    """
    check_choice("landmarks", landmarks, LANDMARKS)
    rng = check_random_state(random_state)
    if n_landmarks is None or (isinstance(n_landmarks, str) and n_landmarks == "auto"):
        return n_landmarks
    chosen = None
    if isinstance(n_landmarks, Integral) and not isinstance(n_landmarks, bool):
        count = int(n_landmarks)
    elif isinstance(n_landmarks, Real) and 0 < float(n_landmarks) < 1:
        count = max(round(float(n_landmarks) * n_points), n_components + 1)
    elif not isinstance(n_landmarks, str | Real) and np.ndim(n_landmarks) == 1:
        chosen = np.unique(check_sources(n_landmarks, n_points, "n_landmarks"))
        count = len(chosen)
    else:
        raise ValueError(
            f"n_landmarks={n_landmarks!r} is not known; pass a number of points, a fraction "
            'between 0 and 1, a list of points, None for all points, or "auto"'
        )
    if not n_components < count <= n_points:
        raise ValueError(
            f"n_landmarks asks for {count} landmarks, but {n_components} components of "
            f"{n_points} points need between {n_components + 1} and {n_points}; "
            f"{3 * (n_components + 1)} are a good start"
        )
    return LandmarkPlan(count, landmarks, rng, chosen)


def n_coefficients(dim: int) -> int:
    """Count the coefficients of a quadratic function of ``dim`` variables.

    Examples
    --------
    >>> n_coefficients(2)
    6
    """
    return 1 + dim + dim * (dim + 1) // 2


def _check_surface(name: str, n_neighbors: int, dim: int) -> None:
    n_least = 2 * n_coefficients(dim) - 1
    if isinstance(n_neighbors, Integral) and n_neighbors < n_least:
        raise ValueError(
            f"{name} {n_neighbors} cannot determine a quadratic surface of {dim} dimensions; "
            f'{n_least} are needed, better twice as many, or tangent="pca" and denoise=0'
        )


def check_n_components(n_components: int, n_points: int) -> None:
    """Check the number of output coordinates."""
    check_count("n_components", n_components)
    if n_components >= n_points:
        raise ValueError(
            f"n_components={n_components} needs more than {n_components} points, but X has "
            f"{n_points}; lower n_components"
        )


def check_graph_settings(
    graph: str | None, n_neighbors: int, radius: float | None, n_points: int
) -> None:
    """Check what determines the proximity graph."""
    check_choice("graph", graph, GRAPH_KINDS)
    if graph == "radius" and radius is None:
        raise ValueError('graph="radius" needs a radius: pass radius=..., in the units of X')
    if radius is not None and (
        not isinstance(radius, Real) or isinstance(radius, bool) or not 0 < radius < np.inf
    ):
        raise ValueError(f"radius={radius!r} is not a positive number; pass one in the units of X")
    if graph != "radius":
        check_count("n_neighbors", n_neighbors)
        if n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={n_neighbors} needs more than {n_neighbors} points, but X has "
                f"{n_points}; pass n_neighbors below {n_points} or more points"
            )


def check_tangent_sizes(
    intrinsic_dim: int, tangent_neighbors: int, n_points: int, n_features: int
) -> None:
    """Check the dimension of the tangent spaces and the size of the neighbourhoods."""
    check_count("intrinsic_dim", intrinsic_dim)
    check_count("tangent_neighbors", tangent_neighbors)
    if intrinsic_dim > n_features:
        raise ValueError(
            f"intrinsic_dim={intrinsic_dim} exceeds n_features={n_features}, the dimension of the "
            f"points; pass intrinsic_dim (by default n_components) of at most {n_features}"
        )
    if intrinsic_dim >= n_points:
        raise ValueError(
            f"intrinsic_dim={intrinsic_dim} needs more than {intrinsic_dim} points, but X has "
            f"{n_points}; lower intrinsic_dim or pass more points"
        )
    if tangent_neighbors < intrinsic_dim:
        raise ValueError(
            f"tangent_neighbors={tangent_neighbors} cannot span intrinsic_dim={intrinsic_dim} "
            f"dimensions; pass tangent_neighbors of at least {intrinsic_dim}, better three times it"
        )
    if tangent_neighbors >= n_points:
        raise ValueError(
            f"tangent_neighbors={tangent_neighbors} needs more than {tangent_neighbors} points, "
            f"but X has {n_points}; pass tangent_neighbors below {n_points} or more points"
        )


def check_graph_matrix(matrix: Any, n_points: int) -> sparse.csr_array:
    """Return a user's matrix of edge lengths in CSR form, explicit zeros kept."""
    if isinstance(matrix, tuple):
        matrix = _matrix_of_neighbors(matrix, n_points)
    if not sparse.issparse(matrix):
        raise TypeError(
            f"graph is a {type(matrix).__name__}, but a SciPy sparse matrix of edge lengths is "
            "needed, because a dense one cannot tell a missing edge from one of length 0; "
            "for example the result of sklearn.neighbors.kneighbors_graph, a ptunfold.Graph, or a "
            "tuple (indices, distances) of nearest neighbours"
        )
    if matrix.shape != (n_points, n_points):
        raise ValueError(
            f"graph has shape {matrix.shape}, but X has {n_points} points; "
            f"pass a sparse matrix of shape ({n_points}, {n_points})"
        )
    if matrix.dtype.kind not in "fiu":
        raise ValueError(
            f"graph holds values of type {matrix.dtype}, not edge lengths; with scikit-learn's "
            'kneighbors_graph pass mode="distance"'
        )
    if matrix.format in ("bsr", "dia"):
        raise ValueError(
            f"graph is stored in the {matrix.format.upper()} format, which cannot tell a missing "
            "edge from one of length 0; pass a CSR, CSC or COO matrix"
        )
    matrix = _shortest_of_repeated(sparse.coo_array(matrix).astype(np.float64))
    for found, wrong in (
        ("NaN or infinite", ~np.isfinite(matrix.data)),
        ("negative", matrix.data < 0),
    ):
        if wrong.any():
            raise ValueError(
                f"graph has {np.count_nonzero(wrong)} {found} edge length(s); store a length "
                ">= 0 for each edge and leave out the entries of pairs that are no edge"
            )
    return matrix


def _shortest_of_repeated(matrix: sparse.coo_array) -> sparse.csr_array:
    """Turn entries into rows; of one that is given twice the smaller holds, where SciPy adds up."""
    rows, columns = (index.astype(np.int64) for index in matrix.coords)
    keys = rows * matrix.shape[1] + columns
    order = np.argsort(keys, kind="stable")
    keys, first = np.unique(keys[order], return_index=True)
    lengths = matrix.data[order]
    if len(first):
        lengths = np.fmin.reduceat(lengths, first)
    entries = (lengths, np.divmod(keys, matrix.shape[1]))
    return sparse.csr_array(entries, shape=matrix.shape)


def _matrix_of_neighbors(lists: tuple[Any, ...], n_points: int) -> sparse.csr_array:
    """Turn neighbours (n_points, k) and their distances, in either order, into a matrix."""
    try:
        arrays = [np.asarray(array) for array in lists]
    except ValueError as error:
        raise ValueError(
            "the rows of the neighbours in graph have different lengths; pass (indices, "
            f"distances), both of shape ({n_points}, k), with -1 where there is no neighbour"
        ) from error
    # The order that pynndescent and UMAP have, or the other one, of scikit-learn and faiss.
    if len(arrays) == 2 and arrays[0].dtype.kind == "f" and arrays[1].dtype.kind in "iu":
        arrays.reverse()
    if (
        len(arrays) != 2
        or arrays[0].ndim != 2
        or arrays[0].shape != arrays[1].shape
        or len(arrays[0]) != n_points
        or arrays[0].dtype.kind not in "iu"
    ):
        shapes = ", ".join(f"{array.shape} {array.dtype}" for array in arrays)
        raise ValueError(
            f"graph is a tuple of {len(arrays)} arrays ({shapes}); pass (indices, distances), both "
            f"of shape ({n_points}, k), the indices whole numbers"
        )
    indices, distances = arrays
    rows = np.arange(n_points)[:, None]
    # Many libraries list a point as its own nearest neighbour, and -1 or infinity for none.
    is_edge = (indices >= 0) & (indices != rows) & (distances != np.inf)
    is_wrong = (indices >= n_points) | (indices < -1)
    if is_wrong.any():
        raise ValueError(
            f"graph names neighbour {indices[is_wrong][0]}, but X has {n_points} points; pass the "
            "neighbours of these points, and -1 for none"
        )
    entries = (
        distances[is_edge],
        (np.broadcast_to(rows, indices.shape)[is_edge], indices[is_edge]),
    )
    return sparse.coo_array(entries, shape=(n_points, n_points))


def check_sources(sources: Any, n_points: int, name: str = "sources") -> IntArray:
    """Return a list of points as an array of indices."""
    sources = np.asarray(sources)
    if sources.dtype == bool and sources.shape == (n_points,):
        sources = np.flatnonzero(sources)
    if sources.ndim != 1 or (len(sources) and sources.dtype.kind not in "iu"):
        raise ValueError(
            f"{name} must be a 1-D list of point indices (or a mask with one entry a point), "
            f"found an array of shape {sources.shape} and type {sources.dtype}"
        )
    return np.array([check_index(index, n_points) for index in sources.tolist()], dtype=np.int64)


def check_index(index: Any, n_points: int) -> int:
    """Return the index of a point, counted from the front."""
    if not isinstance(index, Integral) or isinstance(index, bool):
        raise ValueError(f"{index!r} is not the index of a point; pass a whole number")
    if not -n_points <= int(index) < n_points:
        raise ValueError(f"point {index} does not exist; the indices go from 0 to {n_points - 1}")
    return int(index) % n_points


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Check an option against its possible values."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {known}")


def check_count(name: str, value: Any) -> None:
    """Check that a parameter is a positive whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is not a positive whole number; pass 1 or more")
