"""Parallel Transport Unfolding on one screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from ptunfold.caller import warn
from ptunfold.embedding.judging import (
    are_few,
    fewer_neighbors,
    is_flatter,
    is_truer,
    tells_less,
    told,
)
from ptunfold.embedding.pieces import embed_component, side_by_side
from ptunfold.engines import Engine
from ptunfold.geodesics.cutting import closes, closes_alike, cut_open, least_points
from ptunfold.geometry.components import join_components
from ptunfold.geometry.decisions import (
    is_doubtful,
    look_at,
    may_thin,
    resolve_auto,
    was_noise,
)
from ptunfold.geometry.graph import joined_by, with_edges, without_edges
from ptunfold.geometry.seeing import seen_by
from ptunfold.geometry.stages import (
    Pruned,
    connected,
    denoise,
    prepare,
    proximity_graph,
    prune,
    tangent_frames,
    widen,
)
from ptunfold.geometry.texture import Texture
from ptunfold.kernels.ahead import compile_ahead
from ptunfold.memory import free_bytes
from ptunfold.planning import RoomCheck
from ptunfold.threads import Run, effective_n_jobs, single_threaded_blas
from ptunfold.types import (
    Embedding,
    Geometry,
    Graph,
    IntArray,
    LandmarkPlan,
    Options,
    Points,
    Settings,
    Space,
)

# Coherence below it is worth a word, with points enough for neighbourhoods to have a shape.
_MUCH_LOST, _MANY_POINTS = 0.3, 50
# Of the eigenvalues of neighbourhoods, by size. Distances along a sphere have 0.005 and less, those
# of city blocks 0.12, squared distances more.
_MUCH_NEGATIVE = 0.1


def unfold(
    points: Points,
    options: Options,
    n_components: int,
    landmarks: LandmarkPlan | None = None,
    engine: Engine | None = None,
    run: Run = Run(),
    *,
    check: RoomCheck | None = None,
    mds: str = "auto",
    seams: str = "auto",
) -> tuple[Geometry, Embedding, IntArray]:
    """Embed points: the whole method.

    Parameters
    ----------
    points : (n_points, n_features), or Space
        The points, checked.
    options : Options
        What was asked for, checked.
    n_components : int
        The number of output coordinates.
    landmarks : LandmarkPlan, optional
        Use distances from some points only; from all by default.
    engine : Engine, optional
        Where distances are computed and kept; threads by default.
    run : Run
        Threads and progress bars.
    check : callable, optional
        Looks whether there is room, as `plan_landmarks` returns it.
    mds : {"auto", "classical", "stress"}
        How distances become coordinates.
    seams : {"auto", "cut", "leave"}
        Whether a sheet that closes upon itself is cut open.

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
    run = replace(run, n_jobs=effective_n_jobs(run.n_jobs))  # once for all stages
    geometry = build_geometry(points, options, engine, run, check=check)
    flatter = partial(is_flatter, dim=n_components, n_jobs=run.n_jobs)
    geometry = cut_open(geometry, n_components, seams, flatter, run.n_jobs)
    with single_threaded_blas():
        pieces = [
            embed_component(geometry, nodes, n_components, landmarks, engine, run, mds=mds)
            for nodes in geometry.components
        ]
    coordinates = np.full((len(points), n_components), np.nan, dtype=points.dtype)
    placed = side_by_side([embedding.coordinates for embedding, _ in pieces])
    for nodes, place in zip(geometry.components, placed, strict=True):
        coordinates[geometry.to_input(nodes)] = place
    eigenvalues = np.array([embedding.eigenvalues for embedding, _ in pieces])
    embedding = Embedding(coordinates, eigenvalues[0] if len(pieces) == 1 else eigenvalues)
    used = geometry.to_input(np.concatenate([chosen for _, chosen in pieces]))
    return geometry, embedding, _told(used, landmarks)


def build_geometry(
    points: Points,
    options: Options,
    engine: Engine | None = None,
    run: Run = Run(),
    *,
    check: RoomCheck | None = None,
    is_ordered: bool = True,
) -> Geometry:
    """Go from points to the connection, where the ambient space is gone.

    Parameters
    ----------
    points : (n_points, n_features), or Space
        The points, checked.
    options : Options
        What was asked for, checked.
    engine : Engine, optional
        Where frames and connection are computed, if it can; threads by default.
    run : Run
        Threads and progress bars.
    check : callable, optional
        Looks whether there is room, once it is known what the data are like.
    is_ordered : bool
        Put many points into an order that is good for the caches.
    """
    if isinstance(points, np.ndarray):
        dim, n_jobs = options.intrinsic_dim or 2, effective_n_jobs(run.n_jobs)
        compile_ahead(points.dtype.name, dim, n_jobs, free_bytes)
    said: list[str] = []  # of what is built in the end, or of what cannot be
    try:
        with single_threaded_blas():
            points, order = prepare(points, options, is_ordered=is_ordered)
            builder = _Builder(points, order, Engine() if engine is None else engine, run, said)
            geometry = builder.by_evidence(options, check)
    finally:
        for message in said:
            warn(message)
    _warn_of_negative(geometry)
    is_told = options.coherence is None and len(points) >= _MANY_POINTS
    if is_told and geometry.transport.coherence < _MUCH_LOST:
        warn(
            f"{geometry.transport}, as in Isomap: the data are no sheet of "
            f"intrinsic_dim={geometry.connection.intrinsic_dim} dimensions",
        )
    return geometry


@dataclass(frozen=True, eq=False)
class _Builder:
    """What all attempts at a geometry share.

    Attributes
    ----------
    points : (n_points, n_features)
        As `prepare` returns them.
    order : (n_points,) int or None
        The same.
    engine : Engine
        Where frames and connection are computed, if it can.
    run : Run
        Threads and progress bars.
    said : list of str
        What there is to say about the last attempt.
    """

    points: Points
    order: IntArray | None
    engine: Engine
    run: Run
    said: list[str]

    def by_evidence(self, options: Options, check: RoomCheck | None) -> Geometry:
        """Decide what is left to the data, build, and judge by it what was decided."""
        n_points = len(self.points)
        settings = resolve_auto(options, None, n_points)
        found = proximity_graph(self.points, settings, self.order, self.run)
        pruned = prune(found, settings, None)
        options, texture = look_at(self.points, pruned.graph, options, self.run)
        settings, pruned = resolve_auto(options, texture, n_points), prune(found, settings, texture)
        if settings.denoise and not self.can_move(options, settings):
            options = replace(options, denoise=0)
            settings = resolve_auto(options, texture, n_points)
        if texture is not None and options.denoise is None and settings.denoise:
            if check is not None:
                check(self.points, settings, texture.kind, pruned.graph)
            geometry = self.build(pruned, settings, texture)
            if was_noise(geometry) and not self.is_spoilt(geometry, pruned, options, settings):
                return geometry
            del geometry
            texture = texture.without_noise
            settings = resolve_auto(options, texture, n_points)
        if texture is not None and texture.kind == "rough":
            pruned, settings = self.by_pictures(found, pruned, options, settings, texture, check)
        if check is not None:
            check(self.points, settings, None if texture is None else texture.kind, pruned.graph)
        del found
        geometry = self.build(pruned, settings, texture)
        if self.may_be_torn(geometry, options):
            dim, n_jobs = settings.intrinsic_dim, self.run.n_jobs
            graph = with_edges(self.points, pruned.graph, pruned.shortcuts)
            torn = Pruned(without_edges(graph, *geometry.shortcuts.T), geometry.shortcuts)
            pruned = _untorn(graph, torn, lambda graph: told(self.points, graph, dim, n_jobs))
            if pruned is not torn:
                return self.build(pruned, replace(settings, is_pruned=False), texture)
        return geometry

    def may_be_torn(self, geometry: Geometry, options: Options) -> bool:
        """Tell whether edges were dropped from what looked like a sheet, and is none.

        Of a ring of few pictures planes explain the edges, and still do not lead around it.
        """
        is_judged = geometry.texture in (None, "rough") or not isinstance(options.graph, str)
        were_dropped = options.is_pruned and len(geometry.shortcuts) > 0
        is_no_sheet = options.coherence is None and geometry.transport.coherence < _MUCH_LOST
        return were_dropped and is_no_sheet and not is_judged

    def is_spoilt(
        self, geometry: Geometry, pruned: Pruned, options: Options, settings: Settings
    ) -> bool:
        """Tell whether denoised points tell less of the data than the graph as it was.

        Only in doubt, and of what can be shown: pictures of solids and of closed sheets fold.
        """
        dim, n_jobs = settings.intrinsic_dim, self.run.n_jobs
        if not is_doubtful(geometry) or dim > 2 or are_few(len(self.points)):
            return False
        if closes_alike(geometry, n_jobs):
            return False
        graphs = [pruned.graph]
        if may_thin(options):
            fewer = replace(settings, n_neighbors=fewer_neighbors(len(self.points)))
            graphs.append(proximity_graph(self.points, fewer, self.order, self.run).graph)
        return tells_less(self.points, geometry.connection, graphs, dim, n_jobs)

    def can_move(self, options: Options, settings: Settings) -> bool:
        """Tell whether points can be denoised, which takes all distances between them."""
        points = self.points
        if not isinstance(points, Space) or points.movable(settings.denoise_neighbors) is not None:
            return True
        if options.denoise is not None:
            raise ValueError(
                f"denoise={options.denoise} needs the distances between all points, and these are "
                'known in part; pass denoise=0, or all of them with metric="precomputed"'
            )
        return False

    def by_pictures(
        self,
        found: Pruned,
        pruned: Pruned,
        options: Options,
        settings: Settings,
        texture: Texture,
        check: RoomCheck | None,
    ) -> tuple[Pruned, Settings]:
        """Choose the graph whose picture tells most, where tangent planes say nothing.

        Fewer neighbours may be better, and so may be shortcuts: some are what closes a ring.
        """
        dim, n_jobs = settings.intrinsic_dim, self.run.n_jobs
        tell = cache(lambda graph: told(self.points, graph, dim, n_jobs))  # each looked at once
        if may_thin(options):
            found, pruned, settings = self.thinned(found, pruned, settings, texture, check, tell)
        return _untorn(found.graph, pruned, tell), settings

    def thinned(
        self,
        found: Pruned,
        pruned: Pruned,
        settings: Settings,
        texture: Texture,
        check: RoomCheck | None,
        tell: Callable[[Graph], float],
    ) -> tuple[Pruned, Pruned, Settings]:
        """Take fewer neighbours, if the picture of their graph tells more.

        Returns the graph with its shortcuts, the graph without, and the settings.
        """
        fewer = replace(settings, n_neighbors=fewer_neighbors(len(self.points)))
        found_fewer = proximity_graph(self.points, fewer, self.order, self.run)
        thinner = prune(found_fewer, fewer, texture)
        if are_few(len(self.points)):
            # Without a look: of a loop of 72 views, ten neighbours would span a seventh.
            if thinner.graph.component_labels.max() > pruned.graph.component_labels.max():
                return found, pruned, settings
        else:
            # What falls into pieces is joined as more neighbours join it.
            found_fewer = replace(found_fewer, graph=joined_by(found_fewer.graph, found.graph))
            thinner = replace(thinner, graph=joined_by(thinner.graph, pruned.graph))
            if not is_truer(thinner.graph, pruned.graph, tell):
                return found, pruned, settings
        dim, n_jobs = settings.intrinsic_dim, self.run.n_jobs
        # A picture that folds is no judge, and so few neighbours leave holes in a solid.
        if dim > 2 and len(self.points) >= least_points(dim):
            if check is not None:
                check(self.points, settings, texture.kind, pruned.graph)
            if closes(self.build(pruned, settings, texture), n_jobs):
                return found, pruned, settings
        return found_fewer, thinner, fewer

    def build(self, pruned: Pruned, settings: Settings, texture: Texture | None) -> Geometry:
        """Go from points and their graph (Sec. 3.1) to the connection, as it was decided."""
        self.said.clear()
        order, run = self.order, self.run
        surface, pruned = denoise(self.points, pruned, settings, texture, order, run)
        graph, labels = join_components(
            surface, pruned.graph, settings.disconnected, run.n_jobs, say=self.said.append
        )
        pruned = replace(pruned, graph=graph).among(labels >= 0)
        device = None  # for coordinates
        if not isinstance(surface, Space):
            device = self.engine.geometry(surface, settings)
        # Sec. 3.2
        frames, pruned = tangent_frames(surface, pruned, settings, texture, order, device, run)
        pruned = widen(surface, pruned, frames, settings, run)
        # Sec. 3.3
        connection = connected(surface, pruned.graph, frames, settings, texture, run)
        seen, points = None, self.points
        if isinstance(points, Space) and isinstance(surface, Space):
            self.said.extend(points.said())
            seen = seen_by(points, surface, frames, connection, settings, run)
            points = surface = points.view
        assert not isinstance(points, Space)
        assert not isinstance(surface, Space)
        return Geometry(
            pruned.graph,
            frames,
            connection,
            labels,
            points,
            surface,
            pruned.shortcuts,
            None if texture is None else texture.kind,
            order=order,
            seen=seen,
        )


def _untorn(whole: Graph, pruned: Pruned, tell: Callable[[Graph], float]) -> Pruned:
    """Drop shortcuts only if the picture without them tells clearly more: some close a ring."""
    if pruned.graph is whole or is_truer(pruned.graph, whole, tell):
        return pruned
    return Pruned(whole, pruned.shortcuts[:0])


def _warn_of_negative(geometry: Geometry) -> None:
    """Say so if distances are, even nearby, not those of any Euclidean space."""
    if geometry.frames.negative is None:
        return
    share = float(np.nanmedian(geometry.frames.negative))
    if share > _MUCH_NEGATIVE:
        warn(
            f"neighbourhoods are not Euclidean: {share:.0%} of their spectrum is negative, and "
            "tangent spaces cannot show that; a metric that is smooth nearby, such as the root of "
            "this one, may do better"
        )


def _told(used: IntArray, landmarks: LandmarkPlan | None) -> IntArray:
    """Sort landmarks that were named, and say if some of them are not used."""
    if landmarks is None or landmarks.chosen is None:
        return used
    n_left = len(landmarks.chosen) - len(used)
    if n_left and len(used):
        warn(
            f"{n_left} of the {len(landmarks.chosen)} landmarks lie in parts of the data that "
            "are left out or need none, and are not used",
        )
    return np.sort(used)
