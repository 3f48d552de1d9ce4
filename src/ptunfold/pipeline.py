"""Parallel Transport Unfolding on one screen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.embedding.classical import scale_squares
from ptunfold.embedding.layout import side_by_side
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import squared_distances, transport_distances
from ptunfold.geometry.components import resolve_components
from ptunfold.geometry.connection import connect
from ptunfold.geometry.frames import estimate_frames
from ptunfold.geometry.graph import build_graph, graph_from_matrix
from ptunfold.geometry.span import span_coordinates
from ptunfold.types import Connection, Embedding, FloatArray, Geometry, IntArray, Settings
from ptunfold.validation import check_points, check_settings, check_sources


def unfold(
    points: FloatArray,
    settings: Settings,
    n_components: int,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> tuple[Geometry, Embedding]:
    """Embed points: the whole method.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, checked.
    settings : Settings
        How the connection is laid, checked.
    n_components : int
        The number of output coordinates.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar for each long stage.

    Returns
    -------
    geometry : Geometry
        Graph, frames and connection.
    embedding : Embedding
        Coordinates, NaN for points that are left out, and eigenvalues; where components are
        embedded apart, one row of eigenvalues for each of them.
    """
    geometry = lay_connection(points, settings, n_jobs=n_jobs, progress=progress)
    components = members_of_components(geometry)
    pieces = [
        _embed(geometry.connection, nodes, n_components, points.dtype, n_jobs, progress)
        for nodes in components
    ]
    coordinates = np.full((len(points), n_components), np.nan, dtype=points.dtype)
    places = side_by_side([piece.coordinates for piece in pieces])
    for nodes, place in zip(components, places, strict=True):
        coordinates[nodes] = place
    eigenvalues = np.array([piece.eigenvalues for piece in pieces])
    return geometry, Embedding(coordinates, eigenvalues[0] if len(pieces) == 1 else eigenvalues)


def _embed(
    connection: Connection,
    nodes: IntArray,
    n_components: int,
    dtype: DTypeLike,
    n_jobs: int | None,
    progress: bool,
) -> Embedding:
    """Embed one component: all squared distances, then classical scaling."""
    arrangement = arrange(connection, nodes)
    order = np.argsort(arrangement.position, kind="stable")
    coordinates = np.zeros((len(nodes), n_components), dtype=dtype)
    eigenvalues = np.zeros(n_components)
    # m distinct points fill at most m - 1 dimensions; the other coordinates stay 0.
    n_filled = min(n_components, arrangement.connection.graph.n_points - 1)
    if n_filled:
        squares = squared_distances(
            arrangement.connection,
            arrangement.position[order],
            dtype=dtype,
            n_jobs=n_jobs,
            progress=progress,
        )
        embedding = scale_squares(squares, n_filled, n_jobs=n_jobs, progress=progress)
        coordinates[order, :n_filled] = embedding.coordinates
        eigenvalues[:n_filled] = embedding.eigenvalues
    return Embedding(coordinates, eigenvalues)


def lay_connection(
    points: FloatArray, settings: Settings, *, n_jobs: int | None = None, progress: bool = False
) -> Geometry:
    """Go from points to the connection, where the ambient space is gone.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, checked.
    settings : Settings
        How the connection is laid, checked.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar for each long stage.
    """
    points = span_coordinates(points)
    if isinstance(settings.graph, str):
        graph = build_graph(
            points,
            settings.n_neighbors,
            graph=settings.graph,
            radius=settings.radius,
            n_jobs=n_jobs,
        )
    else:
        graph = graph_from_matrix(settings.graph, len(points))
    whole, labels = resolve_components(points, graph, settings.disconnected, n_jobs)
    frames = estimate_frames(
        points,
        graph if settings.disconnected == "bridge" else whole,
        settings.tangent_neighbors,
        settings.intrinsic_dim,
        tangent_center=settings.tangent_center,
        bridged=whole,
        n_jobs=n_jobs,
        progress=progress,
    )
    connection = connect(points, whole, frames, settings.step, n_jobs=n_jobs, progress=progress)
    return Geometry(whole, frames, connection, labels)


def members_of_components(geometry: Geometry) -> list[IntArray]:
    """List the points of each component that is embedded, the largest component first."""
    n_components = geometry.labels.max() + 1
    return [np.flatnonzero(geometry.labels == label) for label in range(n_components)]


def geodesic_distances(
    X: Any,
    *,
    sources: Any = None,
    graph: Any = None,
    n_neighbors: int | None = None,
    radius: float | None = None,
    intrinsic_dim: int = 2,
    tangent_neighbors: int | None = None,
    tangent_center: str = "mean",
    step: str = "chord",
    disconnected: str = "bridge",
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate geodesic distances by parallel transport, without an embedding.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points.
    sources : list of int, optional
        The points to start from; all by default.
    graph : {"knn", "mutual", "radius"} or sparse matrix, optional
        The kind of proximity graph, "knn" by default, or the edge lengths of one.
    n_neighbors, radius, intrinsic_dim, tangent_neighbors, tangent_center, step, disconnected
        As in :class:`PTU`.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar for each long stage.

    Returns
    -------
    distances : (n_sources, n_points)
        In the dtype of ``X``. Infinite between components with ``disconnected="separate"``, NaN
        for the points that ``disconnected="largest"`` leaves out.

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
    points = check_points(X)
    settings = check_settings(
        points,
        n_neighbors=n_neighbors,
        radius=radius,
        graph="knn" if graph is None else graph,
        intrinsic_dim=intrinsic_dim,
        tangent_neighbors=tangent_neighbors,
        tangent_center=tangent_center,
        step=step,
        disconnected=disconnected,
        n_jobs=n_jobs,
    )
    if sources is not None:
        sources = check_sources(sources, len(points))
    geometry = lay_connection(points, settings, n_jobs=n_jobs, progress=progress)
    distances = transport_distances(
        geometry.connection, sources, dtype=points.dtype, n_jobs=n_jobs, progress=progress
    )
    mark_left_out(distances, geometry.labels, sources)
    return distances


def mark_left_out(distances: FloatArray, labels: IntArray, sources: IntArray | None) -> None:
    """Set the distances of points without a component, -1 in ``labels``, to NaN, in place."""
    left_out = labels == -1
    distances[:, left_out] = np.nan
    distances[left_out if sources is None else left_out[sources]] = np.nan
