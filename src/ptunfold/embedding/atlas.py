"""Charts that overlap, where no single one can show the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from ptunfold.embedding.landmark_scaling import along_principal_axes
from ptunfold.embedding.pieces import embed_component
from ptunfold.embedding.relaxation import N_ANCHORS, least_stress
from ptunfold.engines import Engine
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geodesics.landmarks import landmark_distances
from ptunfold.geometry.connection import nearest_rotations
from ptunfold.geometry.order import sample
from ptunfold.kernels.trees import lengths_from
from ptunfold.threads import Run
from ptunfold.types import (
    Atlas,
    BoolArray,
    Chart,
    FloatArray,
    Geometry,
    IntArray,
    LandmarkPlan,
    Transition,
)

_OVERLAP = 0.1  # of the way from the middle of a chart to the farthest point of its own
_MOST_BY_ALL, _N_LANDMARKS, _N_SOURCES = 3000, 200, 300
# Of distances: what curvature and noise leave in a chart that is as good as flat.
_FLAT = 0.01


def make_atlas(geometry: Geometry, n_charts: int, n_components: int, run: Run) -> Atlas:
    """Cover the largest component by charts, each unfolded by itself; the others have one each."""
    geometry = replace(geometry, torn=None)
    parts: list[IntArray] = []
    home = np.full(geometry.graph.n_points, -1)
    for place, nodes in enumerate(geometry.components):
        lengths = _from_middles(geometry, nodes, n_charts if place == 0 else 1)
        nearest = lengths.min(axis=0)
        home[nodes] = len(parts) + lengths.argmin(axis=0)
        # Along a shortest path to the middle of a chart one stays in it: it is connected.
        reach = nearest + _OVERLAP * nearest.max()
        parts += [nodes[row <= reach] for row in lengths]
    made = [
        _chart(geometry, nodes, home[nodes] == number, n_components, run)
        for number, nodes in enumerate(parts)
    ]
    charts = tuple(chart for chart, _ in made)
    transitions = {}
    for one, first in enumerate(charts):
        for other, second in enumerate(charts):
            _, ours, theirs = np.intersect1d(first.nodes, second.nodes, return_indices=True)
            if one != other and len(ours) > n_components:
                transitions[one, other] = _transition(
                    first.coordinates[ours], second.coordinates[theirs]
                )
    off, whole = np.array([squares for _, squares in made]).sum(axis=0)
    return Atlas(charts, transitions, home, float(np.sqrt(off / whole)) if whole else 0.0)


def _from_middles(geometry: Geometry, nodes: IntArray, count: int) -> FloatArray:
    """Measure along the graph from points as far apart as possible, (n_middles, n_nodes)."""
    graph = restrict(geometry.connection, nodes).graph
    rows: list[FloatArray] = []
    for _ in range(min(count, len(nodes))):
        nearest = np.min(rows, axis=0) if rows else lengths_from(graph, 0)
        rows.append(lengths_from(graph, int(nearest.argmax())))
    return np.array(rows)


def _chart(
    geometry: Geometry, nodes: IntArray, is_home: BoolArray, n_components: int, run: Run
) -> tuple[Chart, FloatArray]:
    """Unfold some points by the paths among them alone, and measure what that distorts.

    Also returned are the sums of squares, of errors and of distances, among the points that are at
    home in the chart.
    """
    plan = LandmarkPlan(_N_LANDMARKS, "maxmin", np.random.RandomState(0))
    few = len(nodes) <= _MOST_BY_ALL
    embedding, _ = embed_component(
        geometry, nodes, n_components, None if few else plan, Engine(), run, mds="classical"
    )
    coordinates: FloatArray = embedding.coordinates.astype(np.float64)
    connection = restrict(geometry.connection, nodes)
    sources = sample(coordinates, _N_SOURCES)
    exact = landmark_distances(connection, sources, np.float64, run)
    if _distortion(exact, sources, coordinates) > _FLAT:
        # Scaling compares squares and draws no border as short as it is. Those at home decide, as
        # they are looked up here; the others of the overlap follow.
        home = np.flatnonzero(is_home)
        others = np.setdiff1d(home, sources)  # what is measured by is not what is fitted to
        fitted: IntArray = others if len(others) >= N_ANCHORS else home
        anchors = fitted[sample(coordinates[fitted], N_ANCHORS)]
        rows = landmark_distances(connection, anchors, np.float64, run)
        places = least_stress(rows, anchors, coordinates, n_jobs=run.n_jobs)
        coordinates = along_principal_axes(places)
    at_home = is_home[sources]
    off = cdist(coordinates[sources[at_home]], coordinates[is_home]) - exact[at_home][:, is_home]
    squares = np.array([np.square(off).sum(), np.square(exact[at_home][:, is_home]).sum()])
    return Chart(nodes, coordinates, _distortion(exact, sources, coordinates)), squares


def _distortion(exact: FloatArray, sources: IntArray, coordinates: FloatArray) -> float:
    """Measure how far distances in a chart are from exact ones, from some points to all."""
    whole = np.linalg.norm(exact)
    shown = cdist(coordinates[sources], coordinates)
    return float(np.linalg.norm(shown - exact) / whole) if whole else 0.0


def _transition(found: FloatArray, wanted: FloatArray) -> Transition:
    """Find the motion that takes points of one chart to where they are in another."""
    middle, goal = found.mean(axis=0), wanted.mean(axis=0)
    turn = nearest_rotations(((wanted - goal).T @ (found - middle))[None])[0]
    shift = goal - turn @ middle
    off = found @ turn.T + shift - wanted
    return Transition(turn, shift, float(np.sqrt(np.square(off).sum(axis=1).mean())))
