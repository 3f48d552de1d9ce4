"""One component of the data embedded: by all distances, or by those from landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ptunfold.embedding.alignment import embedding_error
from ptunfold.embedding.classical import scale_squares
from ptunfold.embedding.judging import judge_of_places
from ptunfold.embedding.landmark_scaling import landmark_mds
from ptunfold.embedding.relaxation import (
    N_ANCHORS,
    N_LOOKED_AT,
    is_strained,
    relax,
    tolerable_strain,
)
from ptunfold.embedding.stress import scale_one_way
from ptunfold.engines import Engine
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geodesics.distances import distances_among
from ptunfold.geodesics.landmarks import farthest_landmarks, landmark_distances
from ptunfold.geodesics.squares import Squares
from ptunfold.geometry.order import sample
from ptunfold.threads import Run
from ptunfold.types import Connection, Embedding, FloatArray, Geometry, IntArray, LandmarkPlan

_MANY = 8  # points for each landmark that may be left out
_SETTLED = 0.02  # of the picture: what half of the landmarks may change


def embed_component(
    geometry: Geometry,
    nodes: IntArray,
    n_components: int,
    plan: LandmarkPlan | None,
    engine: Engine,
    run: Run,
    *,
    mds: str,
) -> tuple[Embedding, IntArray]:
    """Embed one component, by all distances or by its share of the landmarks for all points.

    With ``mds="auto"`` what classical scaling folds is relaxed. Returns the embedding of ``nodes``
    and those of them that were landmarks.
    """
    tolerable = tolerable_strain(geometry)
    scaling = _Scaling(n_components, engine, run, mds, geometry.points, tolerable)
    share = landmarks_for(nodes, geometry, plan, n_components)
    for plan in () if share is None else _tried(share):
        found = scaling.by_landmarks(geometry.chart, nodes, plan)
        if found is not None:
            return found
    return scaling.by_all_distances(geometry.chart, nodes), nodes[:0]


def _tried(plan: LandmarkPlan) -> list[LandmarkPlan]:
    """List what is tried, one after the other: few landmarks, if they are enough, before many."""
    if plan.fewer is None:
        return [plan]
    return [replace(plan, count=plan.fewer, fewer=None, is_optional=True), plan]


@dataclass(frozen=True)
class _Scaling:
    """How a component is embedded, wherever that is."""

    n_components: int
    engine: Engine
    run: Run
    mds: str
    points: FloatArray
    tolerable: float

    def by_all_distances(self, connection: Connection, nodes: IntArray) -> Embedding:
        """Embed one component: all squared distances, then classical scaling or stress."""
        n_components, run, dtype = self.n_components, self.run, self.points.dtype
        if self.mds == "stress" and len(nodes) > n_components + 1:
            one_way = distances_among(connection, nodes, dtype, run, is_one_way=True)
            return scale_one_way(one_way, n_components, run)
        arranged = self.engine.arrange(connection, nodes)
        order = np.argsort(arranged.position, kind="stable")
        coordinates = np.zeros((len(nodes), n_components), dtype=dtype)
        eigenvalues = np.zeros(n_components)
        # m distinct points fill at most m - 1 dimensions; the other coordinates stay 0.
        n_filled = min(n_components, arranged.connection.graph.n_points - 1)
        if n_filled:
            position = arranged.position[order]
            squares = self.engine.squares(arranged.connection, position, dtype, run)
            embedding = scale_squares(squares, n_filled, n_jobs=run.n_jobs, verbose=run.verbose)
            coordinates[order, :n_filled] = embedding.coordinates
            eigenvalues[:n_filled] = embedding.eigenvalues
        if self.mds == "auto" and n_filled == n_components:
            assert connection.points is not None
            points = connection.points[nodes]
            looked_at, rank = sample(points, N_LOOKED_AT), np.argsort(order)
            rows = _distances_from(looked_at, squares, rank)
            if is_strained(rows, looked_at, coordinates, self.tolerable):
                anchors = sample(points, N_ANCHORS)
                rows = _distances_from(anchors, squares, rank)
                del squares  # they are larger than all that follows
                coordinates = self._relaxed(rows, anchors, coordinates, nodes)
        return Embedding(coordinates, eigenvalues)

    def by_landmarks(
        self, connection: Connection, nodes: IntArray, plan: LandmarkPlan
    ) -> tuple[Embedding, IntArray] | None:
        """Embed one component by the distances from landmarks, which are returned too.

        Where they are chosen, ``plan`` has their places in ``nodes``. Returns None if there are no
        more places than coordinates, or landmarks are optional and do not tell enough.
        """
        part = restrict(connection, nodes)
        how, rows_of = (self.points.dtype, self.run), self.engine.rows(part)
        if plan.chosen is None and plan.how == "maxmin":
            landmarks, rows = farthest_landmarks(part, plan.count, *how, rows_of=rows_of)
            if len(landmarks) <= self.n_components:
                return None
        else:
            chosen = plan.chosen
            if chosen is None:
                chosen = np.sort(plan.rng.choice(len(nodes), plan.count, replace=False))
            landmarks, rows = chosen, landmark_distances(part, chosen, *how, rows_of=rows_of)
        embedding = landmark_mds(rows, landmarks, self.n_components)
        places = embedding.coordinates
        if plan.is_optional and not self._is_settled(rows, landmarks, places):
            return None
        if self.mds == "auto" and is_strained(rows, landmarks, places, self.tolerable):
            if plan.is_optional:
                return None
            coordinates = self._relaxed(rows, landmarks, places, nodes)
            embedding = replace(embedding, coordinates=coordinates)
        return embedding, nodes[landmarks]

    def _relaxed(
        self, rows: FloatArray, anchors: IntArray, places: FloatArray, nodes: IntArray
    ) -> FloatArray:
        """Relax a picture, judged by what is shown."""
        judge = judge_of_places(self.points[nodes])
        return relax(rows, anchors, places, judge, n_jobs=self.run.n_jobs)

    def _is_settled(self, rows: FloatArray, landmarks: IntArray, places: FloatArray) -> bool:
        """Tell whether half of the landmarks lead to the same picture."""
        half = slice(len(landmarks) // 2)  # which were chosen first, as far apart as can be
        if len(landmarks[half]) <= self.n_components:
            return False
        before = landmark_mds(rows[half], landmarks[half], self.n_components).coordinates
        return embedding_error(before, places) <= _SETTLED


def _distances_from(sources: IntArray, squares: Squares, rank: IntArray) -> FloatArray:
    """Read distances from some nodes to all; ``rank`` is the row of each in the matrix."""
    rows = squares.rows(rank[sources])
    np.sqrt(rows, out=rows)
    for row in rows:  # one by one: there is no second copy of them
        row[:] = row[rank]
    return rows


def landmarks_for(
    nodes: IntArray, geometry: Geometry, plan: LandmarkPlan | None, n_components: int
) -> LandmarkPlan | None:
    """Give a component its share of the landmarks; None if it needs none.

    Parameters are those of `embed_component`.
    """
    if plan is None:
        return None
    laid = geometry.connection
    is_sheet = geometry.texture != "rough" and laid.coherence is None
    # What is curved, or has more dimensions than are shown, has no one picture, and landmarks would
    # choose another one.
    lies_flat = is_sheet and laid.curvature is None and laid.intrinsic_dim <= n_components
    if plan.is_optional:
        return plan if lies_flat and len(nodes) >= _MANY * plan.count else None
    n_embedded = np.count_nonzero(geometry.labels >= 0)
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
    are_fewer = plan.fewer is not None and lies_flat and plan.fewer < count
    fewer = plan.fewer if are_fewer else None
    return None if count >= len(nodes) else replace(plan, count=count, fewer=fewer)


def side_by_side(pieces: Sequence[FloatArray], gap: float = 0.1) -> list[FloatArray]:
    """Move centred pieces (n_i, n_components) apart along the first axis so that none overlap.

    Between two of them ``gap`` times the widest is left; the first one is not moved.
    """
    space = gap * max(np.ptp(piece, axis=0).max() for piece in pieces) or 1.0
    moved = [pieces[0]]
    for piece in pieces[1:]:
        left = moved[-1][:, 0].max() + space
        shift = np.zeros(piece.shape[1], dtype=piece.dtype)
        shift[0] = left - piece[:, 0].min()
        moved.append(piece + shift)
    return moved
