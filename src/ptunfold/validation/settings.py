"""Everything else that a user sets, and the defaults."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from ptunfold.types import Graph, LandmarkPlan, Options, Points, Space
from ptunfold.validation.graphs import (
    check_graph_matrix,
    check_graph_settings,
    warn_of_similarities,
)
from ptunfold.validation.points import warn_of_distances
from ptunfold.validation.records import check_graph
from ptunfold.validation.values import (
    DISCONNECTED,
    LANDMARK_SELECTIONS,
    PRUNES,
    SEARCHES,
    STEPS,
    SURFACES,
    TANGENTS,
    check_choice,
    check_coherence,
    check_count,
    check_n_jobs,
    check_seed,
    check_sources,
    n_coefficients,
    plain,
)


def check_options(
    points: Points,
    *,
    n_components: int | None = None,
    n_neighbors: Any,
    radius: float | None,
    graph: Any,
    intrinsic_dim: int,
    tangent_neighbors: Any,
    tangent: str,
    step: str,
    denoise: int | str,
    coherence: float | str,
    may_shrink: bool,
    prune: str | None,
    disconnected: str,
    search: str,
    n_jobs: int | None,
) -> Options:
    """Check everything that can be checked before the work starts.

    Parameters are those of :class:`ptunfold.PTU`; ``graph`` may also be a sparse matrix, and
    ``n_components`` is None where no embedding is wanted. What is "auto" in them becomes None, for
    :func:`ptunfold.geometry.decisions.resolve_auto` to decide.
    """
    n_points, n_features = points.shape
    intrinsic_dim, n_components = plain(intrinsic_dim), plain(n_components)
    n_neighbors, tangent_neighbors = plain(n_neighbors), plain(tangent_neighbors)
    denoise = plain(denoise)
    check_choice("step", step, ("auto", *STEPS))
    check_choice("disconnected", disconnected, DISCONNECTED)
    check_choice("search", search, SEARCHES)
    check_choice("tangent", tangent, ("auto", *TANGENTS))
    if prune is not None and not (isinstance(prune, str) and prune in PRUNES):
        raise ValueError(f'prune={prune!r} is not known; pass "auto", "shortcuts", or None')
    check_count("tangent_neighbors", tangent_neighbors, or_auto=True)
    if _is_kind(graph, "knn") or _is_kind(graph, "mutual"):
        check_count("n_neighbors", n_neighbors, or_auto=True)
    is_count = isinstance(denoise, Integral) and not isinstance(denoise, bool) and denoise >= 0
    if not is_count and not _is_auto(denoise):
        raise ValueError(
            f'denoise={denoise!r} is not known; pass how often, 0 for never, or "auto"'
        )
    if not _is_auto(coherence):
        check_coherence(coherence)
    check_n_jobs(n_jobs)
    if n_components is not None:
        check_n_components(n_components, n_points)
    check_count("intrinsic_dim", intrinsic_dim)
    n_tangent = n_points - 1 if _is_auto(tangent_neighbors) else tangent_neighbors
    if tangent in SURFACES:
        is_open = _is_auto(tangent_neighbors)
        _check_surface("points" if is_open else "tangent_neighbors", n_tangent, intrinsic_dim)
    if is_count and denoise:
        _check_surface("points", n_points - 1, intrinsic_dim)
    check_tangent_sizes(intrinsic_dim, n_tangent, n_points, n_features)
    if graph is None or isinstance(graph, str):
        check_graph_settings(graph, 1 if _is_auto(n_neighbors) else n_neighbors, radius, n_points)
    elif isinstance(graph, Graph):
        graph = check_graph(graph, n_points)
    else:
        graph = check_graph_matrix(graph, n_points)
        if not isinstance(points, Space):
            warn_of_similarities(points, graph)
    if not isinstance(points, Space):
        warn_of_distances(points)
    return Options(
        graph=graph,
        n_neighbors=_unless_auto(n_neighbors),
        radius=radius,
        search=search,
        disconnected=disconnected,
        is_pruned=prune == "shortcuts" or (prune == "auto" and _is_kind(graph, "knn")),
        intrinsic_dim=intrinsic_dim,
        may_shrink=may_shrink,
        tangent_neighbors=_unless_auto(tangent_neighbors),
        tangent=_unless_auto(tangent),
        step=_unless_auto(step),
        denoise=_unless_auto(denoise),
        coherence=None if _is_auto(coherence) else float(coherence),
    )


def _unless_auto(value: Any) -> Any:
    return None if _is_auto(value) else value


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _is_kind(graph: Any, kind: str) -> bool:
    return isinstance(graph, str) and graph == kind


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


def _check_surface(name: str, n_neighbors: int, dim: int) -> None:
    n_least = 2 * n_coefficients(dim) - 1
    if isinstance(n_neighbors, Integral) and n_neighbors < n_least:
        found = f"{n_neighbors} other points" if name == "points" else f"{name}={n_neighbors}"
        raise ValueError(
            f"{found} cannot determine a quadratic surface of {dim} dimensions; "
            f'{n_least} are needed, better twice as many, or tangent="pca" and denoise=0'
        )


def check_landmarks(
    landmarks: Any, landmark_selection: str, random_state: Any, n_points: int, n_components: int
) -> LandmarkPlan | str | None:
    """Check what is said about landmarks: a plan, None for all points, or "auto".

    Parameters are those of :class:`ptunfold.PTU`.
    """
    check_choice("landmark_selection", landmark_selection, LANDMARK_SELECTIONS)
    rng = check_seed(random_state)
    if landmarks is None or (isinstance(landmarks, str) and landmarks == "auto"):
        return landmarks
    chosen = None
    if isinstance(landmarks, Integral) and not isinstance(landmarks, bool):
        count = int(landmarks)
    elif isinstance(landmarks, Real) and 0 < float(landmarks) < 1:
        count = max(round(float(landmarks) * n_points), n_components + 1)
    elif hasattr(landmarks, "__len__") and not isinstance(landmarks, str):
        chosen = np.unique(check_sources(landmarks, n_points, "landmarks"))
        count = len(chosen)
    else:
        raise ValueError(
            f"landmarks={landmarks!r} is not known; pass a number of points, a fraction "
            'between 0 and 1, a list of points, None for all points, or "auto"'
        )
    if not n_components < count <= n_points:
        raise ValueError(
            f"landmarks asks for {count} points, but {n_components} components of "
            f"{n_points} points need between {n_components + 1} and {n_points}; "
            f"{3 * (n_components + 1)} are a good start"
        )
    return LandmarkPlan(count, landmark_selection, rng, chosen)


def check_n_components(n_components: int, n_points: int) -> None:
    """Check the number of output coordinates."""
    check_count("n_components", n_components)
    if n_components >= n_points:
        raise ValueError(
            f"n_components={n_components} needs more than {n_components} points, but X has "
            f"{n_points}; lower n_components"
        )
