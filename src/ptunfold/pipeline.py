"""Parallel Transport Unfolding on one screen."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.embedding.classical import scale_squares
from ptunfold.embedding.landmarks import landmark_mds
from ptunfold.embedding.layout import side_by_side
from ptunfold.geodesics.arrangement import arrange, restrict
from ptunfold.geodesics.distances import squared_distances, transport_distances
from ptunfold.geodesics.landmarks import farthest_landmarks, landmark_distances
from ptunfold.geometry.components import resolve_components
from ptunfold.geometry.connection import connect
from ptunfold.geometry.frames import estimate_frames
from ptunfold.geometry.graph import build_graph, graph_from_matrix
from ptunfold.geometry.noise import is_noisy, move_to_surface
from ptunfold.geometry.order import MOST_UNORDERED, renumber_graph, spatial_order
from ptunfold.geometry.shortcuts import find_shortcuts, without_edges
from ptunfold.geometry.span import span_coordinates
from ptunfold.planning import check_room_for_rows
from ptunfold.types import (
    Connection,
    Embedding,
    FloatArray,
    Geometry,
    Graph,
    IntArray,
    LandmarkPlan,
    Settings,
)
from ptunfold.validation import check_points, check_settings, check_sources


def unfold(
    points: FloatArray,
    settings: Settings,
    n_components: int,
    landmarks: LandmarkPlan | None = None,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> tuple[Geometry, Embedding, IntArray]:
    """Embed points: the whole method.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, checked.
    settings : Settings
        How the connection is laid, checked.
    n_components : int
        The number of output coordinates.
    landmarks : LandmarkPlan, optional
        Use distances from some points only; from all by default.
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
    landmarks : (n_landmarks,) int
        The landmarks used, in the caller's numbers; none in components embedded by all distances.
    """
    geometry = lay_connection(points, settings, n_jobs=n_jobs, progress=progress)
    components = members_of_components(geometry)
    n_embedded = sum(len(nodes) for nodes in components)
    pieces, used = [], []
    for nodes in components:
        how: dict[str, Any] = {"dtype": points.dtype, "n_jobs": n_jobs, "progress": progress}
        share = _share(landmarks, geometry, nodes, n_embedded, n_components)
        if share is None:
            pieces.append(_embed(geometry.connection, nodes, n_components, **how))
        else:
            piece, chosen = _embed_by_landmarks(
                geometry.connection, nodes, n_components, share, **how
            )
            pieces.append(piece)
            used.append(geometry.given(chosen))
    coordinates = np.full((len(points), n_components), np.nan, dtype=points.dtype)
    places = side_by_side([piece.coordinates for piece in pieces])
    for nodes, place in zip(components, places, strict=True):
        coordinates[geometry.given(nodes)] = place
    eigenvalues = np.array([piece.eigenvalues for piece in pieces])
    embedding = Embedding(coordinates, eigenvalues[0] if len(pieces) == 1 else eigenvalues)
    given = np.concatenate(used) if used else np.empty(0, dtype=np.int64)
    if landmarks is not None and landmarks.chosen is not None:
        given = np.sort(given)
        if len(given) < len(landmarks.chosen) and len(given):
            n_left = len(landmarks.chosen) - len(given)
            warnings.warn(
                f"{n_left} of the {len(landmarks.chosen)} landmarks lie in parts of the data that "
                "are left out or need none, and are not used",
                stacklevel=2,
            )
    return geometry, embedding, given


def _embed(
    connection: Connection,
    nodes: IntArray,
    n_components: int,
    *,
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


def _embed_by_landmarks(
    connection: Connection,
    nodes: IntArray,
    n_components: int,
    plan: LandmarkPlan,
    *,
    dtype: DTypeLike,
    n_jobs: int | None,
    progress: bool,
) -> tuple[Embedding, IntArray]:
    """Embed one component by the distances from landmarks, which are returned too."""
    is_whole = len(nodes) == connection.graph.n_points
    part = connection if is_whole else restrict(connection, nodes)
    how: dict[str, Any] = {"dtype": dtype, "n_jobs": n_jobs, "progress": progress}
    if plan.chosen is None and plan.how == "maxmin":
        landmarks, rows = farthest_landmarks(part, plan.count, **how)
        if len(landmarks) <= n_components:  # there are no more places than that
            return _embed(connection, nodes, n_components, **how), nodes[:0]
    else:
        chosen = plan.chosen
        if chosen is None:
            chosen = np.sort(plan.rng.choice(len(nodes), plan.count, replace=False))
        landmarks = chosen
        rows = landmark_distances(part, landmarks, **how)
    return landmark_mds(rows, landmarks, n_components), nodes[landmarks]


def _share(
    plan: LandmarkPlan | None,
    geometry: Geometry,
    nodes: IntArray,
    n_embedded: int,
    n_components: int,
) -> LandmarkPlan | None:
    """Give a component its share of the landmarks; None if it needs none."""
    if plan is None:
        return None
    if plan.chosen is not None:
        inside = np.flatnonzero(np.isin(nodes, geometry.place[plan.chosen]))
        if len(inside) <= n_components and len(nodes) > len(inside):
            raise ValueError(
                f"{len(inside)} of the landmarks lie in a component of {len(nodes)} points, but "
                f"{n_components + 1} are needed in each; choose landmarks in every component, or "
                "pass a number"
            )
        return None if len(inside) == len(nodes) else replace(plan, chosen=inside)
    count = max(round(plan.count * len(nodes) / n_embedded), 3 * (n_components + 1))
    if len(nodes) == n_embedded:
        count = plan.count
    return None if count >= len(nodes) else replace(plan, count=count)


def lay_connection(
    points: FloatArray,
    settings: Settings,
    *,
    is_ordered: bool = True,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Geometry:
    """Go from points to the connection, where the ambient space is gone.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, checked.
    settings : Settings
        How the connection is laid, checked.
    is_ordered : bool
        Put many points into an order that is good for the caches.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar for each long stage.
    """
    points = span_coordinates(points)
    order = spatial_order(points) if is_ordered and len(points) > MOST_UNORDERED else None
    if order is not None:
        points = points[order]
    surface = points
    graph = _graph(points, settings, order, n_jobs)
    for _ in range(_rounds(points, graph, settings, n_jobs)):
        surface = move_to_surface(
            surface, graph, settings.intrinsic_dim, n_jobs=n_jobs, progress=progress
        )
        graph = _graph(surface, settings, order, n_jobs)
    whole, labels = resolve_components(surface, graph, settings.disconnected, n_jobs)
    frames = estimate_frames(
        surface,
        graph if settings.disconnected == "bridge" else whole,
        settings.tangent_neighbors,
        settings.intrinsic_dim,
        tangent=settings.tangent,
        tangent_center=settings.tangent_center,
        bridged=whole,
        names=order,
        n_jobs=n_jobs,
        progress=progress,
    )
    connection = connect(surface, whole, frames, settings.step, n_jobs=n_jobs, progress=progress)
    return Geometry(whole, frames, connection, labels, points, surface, order)


def _graph(
    points: FloatArray, settings: Settings, order: IntArray | None, n_jobs: int | None
) -> Graph:
    """Build the graph, or take the caller's, without shortcuts if these are to be dropped."""
    if isinstance(settings.graph, str):
        graph = build_graph(
            points,
            settings.n_neighbors,
            graph=settings.graph,
            radius=settings.radius,
            search=settings.search,
            n_jobs=n_jobs,
        )
    else:
        graph = graph_from_matrix(settings.graph, len(points))
        if order is not None:
            graph = renumber_graph(graph, np.argsort(order))
    if settings.prune == "shortcuts":
        graph = without_edges(graph, *find_shortcuts(graph, n_jobs=n_jobs))
    return graph


def _rounds(points: FloatArray, graph: Graph, settings: Settings, n_jobs: int | None) -> int:
    """Count how often the points are to be moved to the surface around them."""
    if isinstance(settings.denoise, str):
        return 2 if is_noisy(points, graph, settings.intrinsic_dim, n_jobs=n_jobs) else 0
    return settings.denoise


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
    tangent: str = "pca",
    tangent_center: str = "mean",
    step: str = "chord",
    denoise: int | str = 0,
    prune: str | None = None,
    disconnected: str = "bridge",
    search: str = "auto",
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
    n_neighbors, radius, intrinsic_dim, tangent_neighbors, tangent, tangent_center, step,
    denoise, prune, disconnected, search
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
        search=search,
        tangent=tangent,
        denoise=denoise,
        prune=prune,
        n_jobs=n_jobs,
    )
    n_rows = len(points)
    if sources is not None:
        sources = check_sources(sources, len(points))
        n_rows = len(sources)
    check_room_for_rows(n_rows, len(points), points.dtype.itemsize)
    geometry = lay_connection(
        points, settings, is_ordered=sources is not None, n_jobs=n_jobs, progress=progress
    )
    return distances_of(geometry, sources, points.dtype, n_jobs=n_jobs, progress=progress)


def distances_of(
    geometry: Geometry,
    sources: IntArray | None,
    dtype: DTypeLike,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate distances from the caller's ``sources`` to all of his points, in his order.

    Parameters
    ----------
    geometry : Geometry
        Graph, frames and connection.
    sources : (n_sources,) int, optional
        The points to start from; all by default.
    dtype, n_jobs, progress
        As in :func:`ptunfold.transport_distances`.

    Returns
    -------
    distances : (n_sources, n_points)
        Infinite where no path leads, NaN for points that are left out.
    """
    n_points = len(geometry.labels)
    n_rows = n_points if sources is None else len(sources)
    n_arrays = 2 if sources is None and geometry.order is not None else 1
    check_room_for_rows(n_arrays * n_rows, n_points, np.dtype(dtype).itemsize)
    inner = sources if sources is None else geometry.place[sources]
    distances = transport_distances(
        geometry.connection, inner, dtype=dtype, n_jobs=n_jobs, progress=progress
    )
    left_out = geometry.labels == -1
    if left_out.any():
        distances[:, left_out] = np.nan
        distances[left_out if inner is None else left_out[inner]] = np.nan
    if geometry.order is not None:
        for row in distances:
            row[:] = row[geometry.place]
        if inner is None:
            distances = distances[geometry.place]
    return distances
