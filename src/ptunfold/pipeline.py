"""Parallel Transport Unfolding on one screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ptunfold.attempts import Attempts
from ptunfold.caller import warn
from ptunfold.embedding.judging import is_flatter
from ptunfold.embedding.pieces import embed_component, side_by_side
from ptunfold.engines import Engine
from ptunfold.geodesics.cutting import cut_open
from ptunfold.geometry.components import join_components
from ptunfold.geometry.decisions import is_no_sheet
from ptunfold.geometry.seeing import seen_by
from ptunfold.geometry.stages import (
    Pruned,
    connected,
    denoise,
    prepare,
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
    IntArray,
    LandmarkPlan,
    Options,
    Points,
    Settings,
    Space,
)

_MOSTLY_EXPLAINED = 0.8  # edges: it is not for want of dimensions that planes lead nowhere
_MANY_POINTS = 50  # enough for neighbourhoods to have a shape
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
        Where frames are computed, if it can; threads by default.
    run : Run
        Threads and progress bars.
    check : callable, optional
        Looks whether there is room, once it is known what the data are like.
    is_ordered : bool
        Put many points into an order that is good for the caches.
    """
    said: list[str] = []  # of what is built in the end, or of what cannot be
    try:
        geometry = build_quietly(
            points, options, run, said, engine, check=check, is_ordered=is_ordered
        )
    finally:
        for message in said:
            warn(message)
    _warn_of_negative(geometry)
    if geometry.overlapping:
        warn(
            f"unfolded in {geometry.connection.intrinsic_dim} dimensions the data overlap "
            f"themselves, {geometry.overlapping:.0%} of the distances being shorter than the "
            "straight line, so distances are lengths along the graph, as in Isomap; pass another "
            "intrinsic_dim, or fewer n_neighbors, unless the data wind around a hole or a tip"
        )
    elif is_no_sheet(geometry, options) and len(points) >= _MANY_POINTS:
        why = (
            f"the data are no sheet of intrinsic_dim={geometry.connection.intrinsic_dim} dimensions"
        )
        if geometry.transport.explained > _MOSTLY_EXPLAINED:
            why = f"nearby planes disagree, because of noise or of the metric, or {why}"
        warn(f"{geometry.transport}, as in Isomap: {why}")
    return geometry


def build_quietly(
    points: Points,
    options: Options,
    run: Run,
    said: list[str] | None = None,
    engine: Engine | None = None,
    *,
    check: RoomCheck | None = None,
    is_ordered: bool = True,
) -> Geometry:
    """Do the same without a word; what `build_geometry` warns of meanwhile comes into ``said``."""
    if isinstance(points, np.ndarray):
        dim, n_jobs = options.intrinsic_dim or 2, effective_n_jobs(run.n_jobs)
        compile_ahead(points.dtype.name, dim, n_jobs, free_bytes)
    engine, said = Engine() if engine is None else engine, [] if said is None else said
    with single_threaded_blas():
        points, order = prepare(points, options, is_ordered=is_ordered)
        builder = _Builder(points, order, engine, run, said)
        return Attempts(points, order, builder.build, run, check, said).best(options)


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
        Where frames are computed, if it can.
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
