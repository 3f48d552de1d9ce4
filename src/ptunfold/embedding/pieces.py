"""One component of the data embedded: by all distances, or by those from landmarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.embedding.classical import scale_squares
from ptunfold.embedding.landmarks import landmark_mds
from ptunfold.embedding.relaxation import N_ANCHORS, N_LOOKED_AT, is_strained, relax
from ptunfold.embedding.stress import scale_one_way
from ptunfold.engines import Engine
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geodesics.distances import distances_among
from ptunfold.geodesics.landmarks import farthest_landmarks, landmark_distances
from ptunfold.geometry.order import sample
from ptunfold.types import (
    Connection,
    Embedding,
    FloatArray,
    Geometry,
    IntArray,
    LandmarkPlan,
)


def embed_by_all_distances(
    connection: Connection,
    nodes: IntArray,
    n_components: int,
    engine: Engine,
    *,
    mds: str,
    dtype: DTypeLike,
    n_jobs: int | None,
    progress: bool,
) -> Embedding:
    """Embed one component: all squared distances, then classical scaling or stress.

    Parameters
    ----------
    connection : Connection
        Rotations and steps of the whole graph.
    nodes : (n_nodes,) int
        All nodes of the component.
    n_components : int
        The number of output coordinates.
    engine : Engine
        Where the work is done.
    mds : {"auto", "classical", "stress"}
        How distances become coordinates; "auto" relaxes what classical scaling folds.
    dtype, n_jobs, progress
        As in :func:`ptunfold.transport_distances`.
    """
    how: dict[str, Any] = {"dtype": dtype, "n_jobs": n_jobs, "progress": progress}
    if mds == "stress" and len(nodes) > n_components + 1:
        one_way = distances_among(connection, nodes, is_one_way=True, **how)
        return scale_one_way(one_way, n_components, n_jobs=n_jobs, progress=progress)
    arrangement = engine.arrange(connection, nodes)
    order = np.argsort(arrangement.position, kind="stable")
    coordinates = np.zeros((len(nodes), n_components), dtype=dtype)
    eigenvalues = np.zeros(n_components)
    # m distinct points fill at most m - 1 dimensions; the other coordinates stay 0.
    n_filled = min(n_components, arrangement.connection.graph.n_points - 1)
    if n_filled:
        squares = engine.squares(arrangement.connection, arrangement.position[order], **how)
        embedding = scale_squares(squares, n_filled, n_jobs=n_jobs, progress=progress)
        coordinates[order, :n_filled] = embedding.coordinates
        eigenvalues[:n_filled] = embedding.eigenvalues
        del squares  # they are larger than all that follows
    if mds == "auto" and n_filled == n_components:
        coordinates = _relaxed(_part(connection, nodes), coordinates, engine, **how)
    return Embedding(coordinates, eigenvalues)


def _part(connection: Connection, nodes: IntArray) -> Connection:
    """Take a component out of a connection, or the connection itself if it has no other."""
    is_whole = len(nodes) == connection.graph.n_points
    return connection if is_whole else restrict(connection, nodes)


def _relaxed(
    connection: Connection, coordinates: FloatArray, engine: Engine, **how: Any
) -> FloatArray:
    """Relax a picture if distances from some points say that it is strained."""
    assert connection.points is not None
    looked_at = sample(connection.points, N_LOOKED_AT)
    # Few rows, which are made here: an engine may be at its end by now.
    if not is_strained(landmark_distances(connection, looked_at, **how), looked_at, coordinates):
        return coordinates
    rows_of, anchors = engine.rows(connection), sample(connection.points, N_ANCHORS)
    rows = landmark_distances(connection, anchors, rows_of=rows_of, **how)
    relaxed: FloatArray = rows_of.use(
        rows,
        len(anchors),
        lambda rows: relax(rows, anchors, coordinates, n_jobs=how["n_jobs"]),
    )
    return relaxed


def embed_by_landmarks(
    connection: Connection,
    nodes: IntArray,
    n_components: int,
    plan: LandmarkPlan,
    engine: Engine,
    *,
    mds: str,
    dtype: DTypeLike,
    n_jobs: int | None,
    progress: bool,
) -> tuple[Embedding, IntArray]:
    """Embed one component by the distances from landmarks, which are returned too.

    Parameters
    ----------
    connection, nodes, n_components, mds, dtype, n_jobs, progress
        As in `embed_by_all_distances`.
    plan : LandmarkPlan
        Which landmarks; places in ``nodes`` where they are chosen.
    engine : Engine
        Where the work is done.
    """
    part = _part(connection, nodes)
    how: dict[str, Any] = {"dtype": dtype, "n_jobs": n_jobs, "progress": progress}
    rows_of = engine.rows(part)
    if plan.chosen is None and plan.how == "maxmin":
        landmarks, rows = farthest_landmarks(part, plan.count, rows_of=rows_of, **how)
        if len(landmarks) <= n_components:  # there are no more places than that
            embedding = embed_by_all_distances(
                connection, nodes, n_components, engine, mds=mds, **how
            )
            return embedding, nodes[:0]
    else:
        chosen = plan.chosen
        if chosen is None:
            chosen = np.sort(plan.rng.choice(len(nodes), plan.count, replace=False))
        landmarks = chosen
        rows = landmark_distances(part, landmarks, rows_of=rows_of, **how)

    def scale(rows: Any) -> Embedding:
        embedding = landmark_mds(rows, landmarks, n_components)
        if mds == "auto" and is_strained(rows, landmarks, embedding.coordinates):
            coordinates = relax(rows, landmarks, embedding.coordinates, n_jobs=n_jobs)
            return replace(embedding, coordinates=coordinates)
        return embedding

    embedding = rows_of.use(rows, len(landmarks), scale)
    coordinates = embedding.coordinates.astype(dtype, copy=False)
    return replace(embedding, coordinates=coordinates), nodes[landmarks]


def share_of_landmarks(
    plan: LandmarkPlan | None,
    geometry: Geometry,
    nodes: IntArray,
    n_embedded: int,
    n_components: int,
) -> LandmarkPlan | None:
    """Give a component its share of the landmarks; None if it needs none.

    Parameters
    ----------
    plan : LandmarkPlan, optional
        For all points.
    geometry : Geometry
        All points.
    nodes : (n_nodes,) int
        The nodes of the component.
    n_embedded : int
        The number of points in all components.
    n_components : int
        The number of output coordinates.
    """
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
