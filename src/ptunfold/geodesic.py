"""Geodesic distances without an embedding, from points or from what a fit has laid over them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.geodesics.distances import transport_distances
from ptunfold.geodesics.paths import unfold_path
from ptunfold.geometry.spaces import metric_space
from ptunfold.memory import with_advice
from ptunfold.pipeline import build_geometry
from ptunfold.planning import bytes_of_geometry, check_room_for_rows
from ptunfold.sureness import rows_with_std
from ptunfold.threads import Run
from ptunfold.types import FloatArray, Geometry, IntArray, Path
from ptunfold.validation.settings import check_options
from ptunfold.validation.values import check_flag, check_index, check_sources


@with_advice("the search for paths", "pass fewer sources at a time, or float32 points")
def geodesic_distances(
    X: Any,
    *,
    metric: Any = "euclidean",
    sources: Any = None,
    graph: Any = None,
    n_neighbors: int | str = "auto",
    radius: float | None = None,
    intrinsic_dim: int = 2,
    tangent_neighbors: int | str = "auto",
    tangent: str = "auto",
    step: str = "auto",
    denoise: int | str = "auto",
    coherence: float | str = "auto",
    prune: str | None = "auto",
    disconnected: str = "bridge",
    search: str = "auto",
    return_std: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Any:
    """Estimate geodesic distances by parallel transport, without an embedding.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points, or their distances with ``metric="precomputed"``.
    metric : str or callable
        How far points are from each other, as in :class:`PTU`.
    sources : list of int, optional
        The points to start from; all by default.
    graph : {"knn", "mutual", "radius"} or sparse matrix, optional
        The kind of proximity graph, "knn" by default, or the edge lengths of one.
    intrinsic_dim : int, default=2
        The dimension of the tangent spaces, taken as it is: 1 for curves.
    n_neighbors, radius, tangent_neighbors, tangent, step, denoise, coherence, prune, disconnected,
    search
        As in :class:`PTU`.
    return_std : bool, default=False
        Return standard deviations too.
    n_jobs : int, optional
        Number of threads: None for every core, unless joblib's context or a parent worker says
        otherwise.
    verbose : bool
        Show a progress bar for each long stage.

    Returns
    -------
    distances : (n_sources, n_points)
        In the dtype of ``X``. Infinite between components with ``disconnected="separate"``, NaN
        for the points that ``disconnected="largest"`` leaves out.
    std : (n_sources, n_points)
        How sure they are; only with ``return_std``.

    Examples
    --------
    An arc of a circle: the distance along it, not across.

    >>> import numpy as np
    >>> from ptunfold import geodesic_distances
    >>> angle = np.linspace(0, np.pi, 200)
    >>> X = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> distances = geodesic_distances(X, sources=[0], intrinsic_dim=1, n_neighbors=2)
    >>> print(f"{distances[0, -1]:.3f}")
    3.142
    """
    points = metric_space(X, metric)
    check_flag("return_std", return_std)
    options = check_options(
        points,
        n_neighbors=n_neighbors,
        radius=radius,
        graph="knn" if graph is None else graph,
        intrinsic_dim=intrinsic_dim,
        tangent_neighbors=tangent_neighbors,
        step=step,
        disconnected=disconnected,
        search=search,
        tangent=tangent,
        denoise=denoise,
        coherence=coherence,
        may_shrink=False,
        prune=prune,
        n_jobs=n_jobs,
    )
    n_rows = len(points)
    if sources is not None:
        sources = check_sources(sources, len(points))
        n_rows = len(sources)
    beside = bytes_of_geometry(points, options, n_jobs)
    check_room_for_rows(n_rows, len(points), points.dtype.itemsize, beside)
    run = Run(n_jobs, verbose)
    geometry = build_geometry(points, options, run=run, is_ordered=sources is not None)
    measure = distances_with_std if return_std else distances_of
    return measure(geometry, sources, points.dtype, run)


def distances_of(
    geometry: Geometry, sources: IntArray | None, dtype: DTypeLike, run: Run = Run()
) -> FloatArray:
    """Estimate distances from the caller's ``sources`` to all of his points, in his order.

    Infinite where no path leads, NaN for points that are left out.
    """
    n_points = len(geometry.labels)
    n_rows = n_points if sources is None else len(sources)
    n_arrays = 2 if sources is None and geometry.order is not None else 1
    check_room_for_rows(n_arrays * n_rows, n_points, np.dtype(dtype).itemsize)
    inner = sources if sources is None else geometry.place[sources]
    distances = transport_distances(
        geometry.connection, inner, dtype=dtype, n_jobs=run.n_jobs, verbose=run.verbose
    )
    distances = _as_given(distances, geometry, inner)
    return distances[geometry.place] if inner is None and geometry.order is not None else distances


def distances_with_std(
    geometry: Geometry, sources: IntArray | None, dtype: DTypeLike, run: Run = Run()
) -> tuple[FloatArray, FloatArray]:
    """Estimate what `distances_of` does, and the standard deviations."""
    n_points = len(geometry.labels)
    wanted = np.arange(n_points) if sources is None else sources
    check_room_for_rows(3 * len(wanted), n_points, np.dtype(np.float64).itemsize)
    inner = geometry.place[wanted]
    found = rows_with_std(geometry, inner, run)
    rows, std = (_as_given(array, geometry, inner).astype(dtype, copy=False) for array in found)
    if sources is None:  # where both ends are asked
        rows = distances_of(geometry, None, dtype, run)
    return rows, std


def _as_given(rows: FloatArray, geometry: Geometry, inner: IntArray | None) -> FloatArray:
    """Put columns in the caller's order, and NaN where points are left out, in place."""
    left_out = geometry.labels == -1
    if left_out.any():
        rows[:, left_out] = np.nan
        rows[left_out if inner is None else left_out[inner]] = np.nan
    if geometry.order is not None:
        for row in rows:
            row[:] = row[geometry.place]
    return rows


def path_of(geometry: Geometry, start: int, end: int, n_jobs: int | None = 1) -> Path:
    """Unfold the shortest path between two of the caller's points, in his numbers."""
    start, end = (check_index(index, geometry.graph.n_points) for index in (start, end))
    inner = geometry.place[start], geometry.place[end]
    path = unfold_path(geometry.connection, *inner, names=geometry.order)
    _, std = rows_with_std(geometry, np.array(inner[:1]), Run(n_jobs))
    return replace(path, nodes=geometry.to_input(path.nodes), std=float(std[0, inner[1]]))
