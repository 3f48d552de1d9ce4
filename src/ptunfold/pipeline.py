"""Parallel Transport Unfolding on one screen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ptunfold.caller import warn
from ptunfold.embedding.judging import fewer_neighbors, is_truer
from ptunfold.embedding.layout import side_by_side
from ptunfold.embedding.pieces import (
    embed_by_all_distances,
    embed_by_landmarks,
    share_of_landmarks,
)
from ptunfold.engines import Engine
from ptunfold.geometry.coherence import with_coherence
from ptunfold.geometry.components import resolve_components
from ptunfold.geometry.connection import connect, leading_axes
from ptunfold.geometry.creases import take_one_side
from ptunfold.geometry.frames import estimate_frames
from ptunfold.geometry.graph import (
    build_graph,
    graph_from_matrix,
    has_edges,
    subgraph,
    with_edges,
    without_edges,
)
from ptunfold.geometry.isotropic import leading_coordinates
from ptunfold.geometry.noise import move_to_surface
from ptunfold.geometry.order import MOST_UNORDERED, renumber_graph, spatial_order
from ptunfold.geometry.shortcuts import (
    find_jumps,
    find_shortcuts,
    keep_to_sheet,
    short_ones,
)
from ptunfold.geometry.span import span_coordinates
from ptunfold.geometry.texture import (
    Texture,
    is_open,
    settle,
    texture_of,
    was_noise,
    with_dimension,
    without_noise,
    without_thin_ones,
)
from ptunfold.geometry.widening import widen_graph
from ptunfold.planning import RoomCheck
from ptunfold.threads import effective_n_jobs, single_threaded_blas
from ptunfold.types import (
    Embedding,
    FloatArray,
    Frames,
    Geometry,
    Graph,
    IntArray,
    LandmarkPlan,
    Settings,
)

# Coherence below it is worth a word, with points enough for neighbourhoods to have a shape.
_MUCH_LOST, _MANY_POINTS = 0.3, 50


def unfold(
    points: FloatArray,
    settings: Settings,
    n_components: int,
    landmarks: LandmarkPlan | None = None,
    engine: Engine | None = None,
    *,
    check: RoomCheck | None = None,
    mds: str = "auto",
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
    engine : Engine, optional
        Where distances are computed and kept; threads by default.
    check : callable, optional
        Looks whether there is room, as `plan_landmarks` returns it.
    mds : {"auto", "classical", "stress"}
        How distances become coordinates.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
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
    engine = Engine() if engine is None else engine
    n_jobs = effective_n_jobs(n_jobs)  # once for all stages
    geometry = lay_connection(
        points, settings, engine, check=check, n_jobs=n_jobs, progress=progress
    )
    components = members_of_components(geometry)
    n_embedded = sum(len(nodes) for nodes in components)
    pieces, used = [], []
    for nodes in components:
        how: dict[str, Any] = {"mds": mds, "dtype": points.dtype}
        how |= {"n_jobs": n_jobs, "progress": progress}
        share = share_of_landmarks(landmarks, geometry, nodes, n_embedded, n_components)
        if share is None:
            pieces.append(
                embed_by_all_distances(geometry.connection, nodes, n_components, engine, **how)
            )
        else:
            piece, chosen = embed_by_landmarks(
                geometry.connection, nodes, n_components, share, engine, **how
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
            warn(
                f"{n_left} of the {len(landmarks.chosen)} landmarks lie in parts of the data that "
                "are left out or need none, and are not used",
            )
    return geometry, embedding, given


def lay_connection(
    points: FloatArray,
    settings: Settings,
    engine: Engine | None = None,
    *,
    check: RoomCheck | None = None,
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
    engine : Engine, optional
        Where frames and connection are computed, if it can; threads by default.
    check : callable, optional
        Looks whether there is room, once it is known what the data are like.
    is_ordered : bool
        Put many points into an order that is good for the caches.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    progress : bool
        Show a progress bar for each long stage.
    """
    with single_threaded_blas():
        if settings.denoise < 0:
            points = leading_coordinates(points, settings.intrinsic_dim)
        points = span_coordinates(points)
    order = spatial_order(points) if is_ordered and len(points) > MOST_UNORDERED else None
    if order is not None:
        points = points[order]
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    said: list[str] = []  # of what is laid in the end, or of what cannot be
    try:
        with single_threaded_blas():
            laid = _lay_by_evidence(points, settings, order, engine, said, check, **how)
    finally:
        for message in said:
            warn(message)
    is_told = settings.coherence is None and len(points) >= _MANY_POINTS
    if is_told and laid.transport.coherence < _MUCH_LOST:
        warn(
            f"{laid.transport}, as in Isomap: the data are no sheet of "
            f"intrinsic_dim={laid.connection.intrinsic_dim} dimensions",
        )
    return laid


def _lay_by_evidence(
    points: FloatArray,
    settings: Settings,
    order: IntArray | None,
    engine: Engine | None,
    said: list[str],
    check: RoomCheck | None,
    n_jobs: int | None,
    progress: bool,
) -> Geometry:
    """Settle what is left to the data, lay the connection, and judge by it what was settled."""
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    built = _graph(points, settings, order, **how)
    found = _pruned(*built, settings, is_sheet=True)
    if settings.may_shrink:
        settings = with_dimension(settings, points, found[0], n_jobs=n_jobs)
    texture = None
    if is_open(settings):
        texture = texture_of(points, found[0], settings.intrinsic_dim, n_jobs=n_jobs)
        if settings.may_shrink and texture.is_noisy:
            narrower = without_thin_ones(settings, points, found[0], n_jobs=n_jobs)
            if narrower is not settings:
                settings = narrower
                texture = texture_of(points, found[0], settings.intrinsic_dim, n_jobs=n_jobs)
        if not texture.is_sheet:
            found = _pruned(*built, settings, is_sheet=False)
    decided = settle(settings, texture, len(points))
    kind = None if texture is None else texture.kind
    if texture is not None and settings.denoise < 0 < decided.denoise:
        if check is not None:
            check(points, decided, kind, found[0])
        laid = _lay(points, *found, decided, texture, order, engine, said, **how)
        if was_noise(laid):
            return laid
        del laid
        texture = without_noise(texture)
        kind = texture.kind
        decided = settle(settings, texture, len(points))
    if texture is not None and texture.kind == "rough" and decided.may_thin:
        fewer = replace(decided, n_neighbors=fewer_neighbors(len(points)))
        thinner = _pruned(*_graph(points, fewer, order, **how), fewer, is_sheet=False)
        if is_truer(points, thinner[0], found[0], decided.intrinsic_dim, n_jobs=n_jobs):
            found, decided = thinner, fewer
        del thinner
    if check is not None:
        check(points, decided, kind, found[0])
    del built
    return _lay(points, *found, decided, texture, order, engine, said, **how)


def _lay(
    points: FloatArray,
    graph: Graph,
    shortcuts: IntArray,
    settings: Settings,
    texture: Texture | None,
    order: IntArray | None,
    engine: Engine | None,
    said: list[str],
    n_jobs: int | None,
    progress: bool,
) -> Geometry:
    """Go from points and their graph to the connection, as it was settled.

    What there is to say about it if it is kept becomes the content of ``said``.
    """
    said.clear()
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    surface, dim = points, settings.intrinsic_dim
    # Surfaces are fitted in a robust way unless least squares were asked for.
    fit = "quadratic" if settings.tangent == "quadratic" else "robust"
    for _ in range(settings.denoise):
        surface = move_to_surface(
            surface, graph, settings.denoise_neighbors, dim, tangent=fit, **how
        )
        is_sheet = texture is None or texture.is_sheet
        built = _graph(surface, settings, order, **how)
        graph, shortcuts = _pruned(*built, settings, is_sheet=is_sheet)
    whole, labels = resolve_components(
        surface, graph, settings.disconnected, n_jobs, say=said.append
    )
    if (labels < 0).any():
        graph = subgraph(graph, labels[graph.tails] >= 0)
        shortcuts = shortcuts[(labels[shortcuts] >= 0).all(axis=1)]
    device = None if engine is None else engine.geometry(surface, settings)

    def frames_on(graph: Graph, whole: Graph) -> Frames:
        return estimate_frames(
            surface,
            graph,
            settings.tangent_neighbors,
            dim,
            tangent=settings.tangent,
            bridged=whole,
            names=order,
            device=device,
            **how,
        )

    def one_sided(frames: Frames, graph: Graph) -> Frames:
        n_near, tangent = settings.tangent_neighbors, settings.tangent
        return take_one_side(surface, graph, frames, n_near, tangent=tangent, **how)

    frames = frames_on(graph, whole)
    if texture is not None and texture.kind == "smooth" and settings.step == "arc":
        frames = one_sided(frames, graph)
        jumps = find_jumps(surface, graph, frames) if settings.is_pruned else shortcuts[:0]
        if len(jumps):
            graph, whole = (without_edges(one, *jumps.T) for one in (graph, whole))
            del frames  # they are as large as anything
            frames = one_sided(frames_on(graph, whole), graph)
            shortcuts = np.concatenate((shortcuts, jumps))
    if settings.n_wide:
        whole = widen_graph(surface, graph, frames, settings.n_wide, bridged=whole, **how)
        if settings.is_pruned:  # what keeps to the sheet after all is no shortcut
            shortcuts = shortcuts[~has_edges(whole, *shortcuts.T)]
            keeps = keep_to_sheet(surface, frames, shortcuts)
            whole = with_edges(surface, whole, shortcuts[keeps])
            shortcuts = shortcuts[~keeps]
    connection = connect(surface, whole, frames, settings.step, device=device, **how)
    connection = replace(connection, points=leading_axes(surface))
    if texture is None or texture.kind != "flat" or settings.coherence is not None:
        connection = with_coherence(connection, settings.coherence, n_jobs=n_jobs)
    return Geometry(
        whole,
        frames,
        connection,
        labels,
        points,
        surface,
        shortcuts,
        None if texture is None else texture.kind,
        order=order,
    )


def _graph(
    points: FloatArray,
    settings: Settings,
    order: IntArray | None,
    n_jobs: int | None,
    progress: bool,
) -> tuple[Graph, IntArray]:
    """Build the graph, or take the caller's, and find its shortcuts, (n_shortcuts, 2)."""
    if isinstance(settings.graph, str):
        graph = build_graph(
            points,
            settings.n_neighbors,
            graph=settings.graph,
            radius=settings.radius,
            search=settings.search,
            n_jobs=n_jobs,
            progress=progress,
        )
    else:
        graph = graph_from_matrix(settings.graph, len(points))
        if order is not None:
            graph = renumber_graph(graph, np.argsort(order))
    return graph, np.column_stack(find_shortcuts(graph, n_jobs=n_jobs, progress=progress))


def _pruned(
    graph: Graph, shortcuts: IntArray, settings: Settings, *, is_sheet: bool
) -> tuple[Graph, IntArray]:
    """Drop shortcuts, the long ones only from a sheet; return the graph and what was dropped."""
    if not settings.is_pruned:
        return graph, shortcuts
    if not is_sheet:
        shortcuts = short_ones(graph, shortcuts)
    return without_edges(graph, *shortcuts.T), shortcuts


def members_of_components(geometry: Geometry) -> list[IntArray]:
    """List the points of each component that is embedded, the largest component first."""
    n_components = geometry.labels.max() + 1
    return [np.flatnonzero(geometry.labels == label) for label in range(n_components)]
