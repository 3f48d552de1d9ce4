"""Holes in a sheet that chance does not make, and where samples would fill them.

Surfaces only. In flat coordinates the points are triangulated (Delaunay). Of points at random with
one point on the area a, the circle around a triangle, of radius R and with no point inside, has
more than x = πR² / a with probability (1 + x) exp(-x). Triangles beyond what 2n of them come to by
chance are empty; those that are joined with each other, and not with the outside, are a hole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.interpolate import RBFInterpolator
from scipy.sparse import csgraph
from scipy.spatial import Delaunay, QhullError, cKDTree

from ptunfold.diagnostics.curvedness import areas_of
from ptunfold.diagnostics.rim import edges_along
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geodesics.loops import unroll
from ptunfold.geometry.graph import has_edges, without_bridges
from ptunfold.threads import (
    Run,
    call_apart,
    check_not_stopped,
    cut,
    run_blocks,
    single_threaded_blas,
)
from ptunfold.types import BoolArray, Connection, FloatArray, Geometry, IntArray

_LEAST_POINTS = 50
# Of a hundred sheets without a hole one may show one; more than that for densities that are not
# known but measured, from some 26 points each.
_CHANCE, _MARGIN = 0.01, 1.3
# A hole goes on where triangles are this part as empty; long and narrow ones are told by the number
# of points that are missing in them.
_EDGE, _MISSING = 0.4, 1.4
# Of the short edges of a triangulation, how many have to be edges of the graph: all of them, unless
# two parts of the sheet lie on each other.
_UNFOLDED = 0.8
# Of data that have no flat picture: charts around so many points, as far as this share of the way
# to the farthest, or less where they fold.
_N_CENTERS, _REACH, _LESS, _MOST_TRIES = 6, 0.6, 0.7, 3
_MOST_SAMPLES, _GRID = 16, 8
_MANY = 100_000  # points, with which triangles take a second
_EDGES_TOGETHER = 1 << 20
_N_AROUND = 150  # points that tell how the sheet goes on across a hole


@dataclass(frozen=True, eq=False)
class Void:
    """A hole in a sheet.

    Attributes
    ----------
    center : (n_features,) float64
        Its middle in the space of the points.
    radius : float
        That of a disc of the same area, along the sheet.
    clearance : float
        That of the largest disc in it.
    rim : (n_rim,) int
        The points around it.
    n_missing : float
        How many points it would have at the density of those around it.
    samples : (n_samples, n_features) float64
        Where new points would help most, the best first: each as far as can be from the points
        that there are and from those before it.
    coordinates : (n_samples, n_components) float64 or None
        The same in the embedding, if there is one.
    center_embedding : (n_components,) float64 or None
        The middle in the embedding, if there is one.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> (void,) = PTU().fit(s_with_hole(1000).points).voids()
    >>> void.center.shape, void.samples.shape[1]
    ((3,), 3)
    """

    center: FloatArray
    radius: float
    clearance: float
    rim: IntArray
    n_missing: float
    samples: FloatArray
    coordinates: FloatArray | None
    center_embedding: FloatArray | None

    def __str__(self) -> str:
        return (
            f"a hole of radius {self.radius:.3g} where about {self.n_missing:.0f} points are "
            f"missing, with {len(self.rim)} points around it"
        )


class _Hole(NamedTuple):
    """A hole in a chart: its middle, area, largest disc, rim, missing points, and new places."""

    center: FloatArray
    area: float
    clearance: float
    rim: IntArray
    n_missing: float
    places: FloatArray


class _Chart(NamedTuple):
    """A part of the sheet in flat coordinates, (n_nodes, 2), perhaps those of the embedding."""

    nodes: IntArray
    coordinates: FloatArray
    connection: Connection
    mesh: Delaunay
    is_embedding: bool


def find_voids(
    geometry: Geometry, embedding: FloatArray | None = None, *, points: FloatArray | None = None
) -> tuple[Void, ...]:
    """Find the holes of a sampled surface, and where new samples would fill them.

    Holes are looked for in the embedding, where it is flat and no two parts of it lie on each
    other, else in charts: what is seen from a few points, along geodesics. A hole is larger than
    what chance leaves between points, and closed all around. New places are brought back into space
    by the smoothest map through the points around the hole.

    Parameters
    ----------
    geometry : Geometry
        Graph, frames and connection.
    embedding : (n_points, n_components), optional
        Coordinates, NaN for points that are left out.
    points : (n_points, n_features), optional
        The points, if they have more coordinates than the geometry has kept.

    Returns
    -------
    voids : tuple of Void
        The largest first; none where the sheet is no surface.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import annulus, flat_square
    >>> for points in (annulus(1000, inner=0.4).points, flat_square(1000).points):
    ...     for void in PTU().fit(points).voids():
    ...         print(f"radius {void.radius:.1f}")
    radius 0.4
    """
    if geometry.connection.intrinsic_dim != 2:
        return ()
    places = geometry.surface if points is None else points
    found: list[tuple[_Hole, _Chart]] = []
    for chart in _charts(geometry, embedding):
        for hole in _holes(chart):
            rim = chart.nodes[hole.rim]
            # Charts overlap: the same hole is seen in several.
            if not any(np.isin(rim, other.rim).mean() > 0.5 for other, _ in found):
                found.append((hole._replace(rim=rim), chart))
    found.sort(key=lambda pair: -pair[0].area)
    with single_threaded_blas():
        return tuple(_void(hole, chart, places, embedding) for hole, chart in found)


def _charts(geometry: Geometry, embedding: FloatArray | None) -> Iterator[_Chart]:
    """Lay out each part of the sheet in the plane, whole or by charts that overlap."""
    labels = without_bridges(geometry.graph).component_labels
    for label, count in enumerate(np.bincount(labels)):
        if count < _LEAST_POINTS:
            continue
        nodes = np.flatnonzero(labels == label)
        chart = None
        if embedding is not None and embedding.shape[1] == 2:
            coordinates = np.asarray(embedding[nodes], dtype=np.float64)
            chart = _chart(restrict(geometry.chart, nodes), nodes, coordinates, True)
        if chart is not None:
            yield chart
        else:
            yield from _seen_from_some(restrict(geometry.connection, nodes), nodes)


def _chart(
    connection: Connection, nodes: IntArray, coordinates: FloatArray, is_embedding: bool
) -> _Chart | None:
    """Triangulate points; None if they do not lie side by side as they do on the sheet."""
    mesh = _triangulated(coordinates)
    check_not_stopped()
    if mesh is None or not _is_unfolded(connection, coordinates, mesh):
        return None
    return _Chart(nodes, coordinates, connection, mesh, is_embedding)


def _seen_from_some(connection: Connection, names: IntArray) -> Iterator[_Chart]:
    """Lay out what is seen from a few points that are far from each other."""
    nearest = np.full(connection.graph.n_points, np.inf)
    root: int | None = None
    for _ in range(_N_CENTERS):
        unrolled = unroll(connection, root)
        distances = unrolled.tree.distance
        nearest = np.minimum(nearest, distances)
        root = int(np.where(np.isfinite(nearest), nearest, -1).argmax())
        reach = _REACH * float(distances[np.isfinite(distances)].max())
        for _ in range(_MOST_TRIES):
            within = np.flatnonzero(distances <= reach)
            if len(within) < _LEAST_POINTS:
                break
            part, coordinates = restrict(connection, within), unrolled.outward[within]
            chart = _chart(part, names[within], coordinates, False)
            if chart is not None:
                yield chart
                break
            reach *= _LESS


def _is_unfolded(connection: Connection, coordinates: FloatArray, mesh: Delaunay) -> bool:
    """Tell whether points that are next to each other are so on the graph."""
    graph = connection.graph
    edges = _sides(mesh.simplices).reshape(-1, 2)
    check_not_stopped()  # of a million points each step takes half a second
    lengths = np.linalg.norm(coordinates[edges[:, 0]] - coordinates[edges[:, 1]], axis=1)
    ways = _ways(coordinates, graph.tails, graph.indices)
    check_not_stopped()
    shown = np.linalg.norm(ways, axis=1)
    if not len(shown):
        return False
    check_not_stopped()
    short = edges[lengths <= np.median(shown)].T
    return bool(short.size) and bool(has_edges(graph, *short).mean() >= _UNFOLDED)


def _triangulated(coordinates: FloatArray) -> Delaunay | None:
    """Triangulate points of the plane; None if they are too few or all on a line."""
    if not np.isfinite(coordinates).all():
        return None
    try:
        triangulate = partial(Delaunay, coordinates - coordinates.mean(axis=0))
        # Of a million points it takes ten seconds and more, and does not hear of Ctrl-C.
        return call_apart(triangulate) if len(coordinates) > _MANY else triangulate()
    except (QhullError, ValueError):
        return None


def _ways(coordinates: FloatArray, tails: IntArray, heads: IntArray) -> FloatArray:
    """Return what leads from some points to others; of many edges not at once, for Ctrl-C."""
    ways = np.empty((len(tails), coordinates.shape[1]))

    def handle(block: slice) -> None:
        ways[block] = coordinates[heads[block]] - coordinates[tails[block]]

    run_blocks(handle, cut(len(tails), _EDGES_TOGETHER), Run(1))
    return ways


def _sides(triangles: IntArray) -> IntArray:
    """List the ends of the side opposite to each corner, (n_triangles, 3, 2)."""
    return triangles[:, [[1, 2], [2, 0], [0, 1]]]


def _holes(chart: _Chart) -> list[_Hole]:
    """Find the holes of a chart, in its coordinates."""
    check_not_stopped()
    areas = _areas(chart.connection, chart.coordinates)
    if areas is None:
        return []
    check_not_stopped()
    sizes, radii, emptiness, openness = _measure(chart, np.log(areas))
    missing = sizes / np.exp(np.log(areas)[chart.mesh.simplices].mean(axis=1))
    level = _most_by_chance(len(chart.coordinates))
    labels = _regions(chart.mesh, emptiness, openness, _EDGE * level)
    found = []
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        if emptiness[members].max() > level or missing[members].sum() > _MISSING * level:
            found.append(_hole(chart, members, sizes, radii, float(missing[members].sum())))
    return found


def _measure(
    chart: _Chart, logs: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Measure triangles: areas, radii, how empty each is, and how open its sides, (n, 3).

    ``logs`` are those of the areas that points stand for.
    """
    coordinates, mesh = chart.coordinates, chart.mesh
    ends = _sides(mesh.simplices)
    sides = coordinates[ends]
    ways = sides[:, :, 1] - sides[:, :, 0]
    lengths = np.linalg.norm(ways, axis=2)
    sizes = 0.5 * np.abs(ways[:, 0, 0] * ways[:, 1, 1] - ways[:, 0, 1] * ways[:, 1, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        radii = np.where(sizes > 0, lengths.prod(axis=1) / (4 * sizes), np.inf)
    emptiness = np.pi * np.square(radii) / np.exp(logs[mesh.simplices].mean(axis=1))
    # A side is as open as the smallest circle around it is large or, if another corner lies in
    # that, as the fuller of its two triangles is empty.
    shares = np.pi / 4 * np.square(lengths) / np.exp(logs[ends].mean(axis=2))
    fuller = np.minimum(emptiness[:, None], np.append(emptiness, np.inf)[mesh.neighbors])
    return sizes, radii, emptiness, np.where(_has_empty_circle(chart, sides), shares, fuller)


def _has_empty_circle(chart: _Chart, sides: FloatArray) -> BoolArray:
    """Tell whether the smallest circle around each side has no corner in it, (n_triangles, 3)."""
    check_not_stopped()
    mesh = chart.mesh

    def is_off(apex: FloatArray) -> BoolArray:
        return np.einsum("tsi,tsi->ts", sides[:, :, 0] - apex, sides[:, :, 1] - apex) >= 0

    own = is_off(chart.coordinates[mesh.simplices])
    here = np.arange(len(mesh.simplices))[:, None, None]
    place = np.argmax(mesh.neighbors[mesh.neighbors] == here, axis=2)
    other = np.take_along_axis(mesh.simplices[mesh.neighbors], place[:, :, None], axis=2)[:, :, 0]
    return own & (is_off(chart.coordinates[other]) | (mesh.neighbors < 0))


def _regions(mesh: Delaunay, emptiness: FloatArray, openness: FloatArray, level: float) -> IntArray:
    """Tell apart the regions of empty triangles that the outside is not joined with; else -1."""
    check_not_stopped()
    outside = len(emptiness)
    others = np.where(mesh.neighbors < 0, outside, mesh.neighbors)
    is_empty = np.append(emptiness > level, True)
    joined = (openness > level) & is_empty[:-1, None] & is_empty[others]
    tails = np.repeat(np.arange(outside), 3)[joined.ravel()]
    ends = (tails, others[joined])
    matrix = sparse.coo_array((np.ones(len(tails)), ends), shape=(outside + 1, outside + 1))
    labels = csgraph.connected_components(matrix, directed=False)[1]
    return np.where(is_empty & (labels != labels[-1]), labels, -1)[:-1]


def _areas(connection: Connection, coordinates: FloatArray) -> FloatArray | None:
    """Measure the area that each point stands for in a chart, smoothed over neighbours."""
    graph, used = connection.graph, edges_along(connection)
    tails, heads = graph.tails[used], graph.indices[used]
    areas = areas_of(tails, _ways(coordinates, tails, heads), graph.n_points)
    is_known = np.isfinite(areas) & (areas > 0)
    if not is_known.any():
        return None
    logs = np.log(np.where(is_known, areas, 1))
    total = logs + np.bincount(tails, logs[heads], graph.n_points)
    count = is_known + np.bincount(tails, is_known[heads], graph.n_points)
    known = np.divide(total, count, out=np.full(len(logs), np.nan), where=count > 0)
    return np.exp(np.where(count > 0, known, np.nanmedian(known)))


def _most_by_chance(n_points: int) -> float:
    """Find x with 2n (1 + x) exp(-x) = a small chance, and allow for more."""
    level = np.log(2 * n_points / _CHANCE)
    for _ in range(20):
        level = np.log(2 * n_points / _CHANCE * (1 + level))
    return float(_MARGIN * level)


def _hole(
    chart: _Chart, members: IntArray, sizes: FloatArray, radii: FloatArray, n_missing: float
) -> _Hole:
    """Describe the hole that some triangles make, and choose places for new points."""
    corners, area = chart.mesh.simplices[members], float(sizes[members].sum())
    center = sizes[members] / area @ chart.coordinates[corners].mean(axis=1)
    places = _new_places(chart.coordinates, corners, np.sqrt(area / n_missing))
    clearance = float(radii[members].max())
    return _Hole(center, area, clearance, np.unique(corners), n_missing, places)


def _new_places(coordinates: FloatArray, corners: IntArray, spacing: float) -> FloatArray:
    """Choose places in a hole, each as far as can be from all points and from those before.

    None but the first is nearer to others than ``spacing``.
    """
    shares = [(i, j, _GRID - i - j) for i in range(_GRID) for j in range(_GRID - i)]
    inside = np.einsum("gc,tci->tgi", np.array(shares) / _GRID, coordinates[corners])
    inside = inside.reshape(-1, 2)
    room = cKDTree(coordinates[np.unique(corners)]).query(inside)[0]
    chosen = [inside[room.argmax()]]
    while len(chosen) < _MOST_SAMPLES:
        room = np.minimum(room, np.linalg.norm(inside - chosen[-1], axis=1))
        if room.max() < spacing:
            break
        chosen.append(inside[room.argmax()])
    return np.array(chosen)


def _void(hole: _Hole, chart: _Chart, points: FloatArray, embedding: FloatArray | None) -> Void:
    """Bring a hole back into space, by the smoothest map through the points around it."""
    check_not_stopped()
    wanted = np.concatenate((hole.center[None], hole.places))
    near = _points_around(hole, chart)
    check_not_stopped()
    back = _continued(chart.coordinates[near], points[chart.nodes[near]], wanted)
    shown = wanted if chart.is_embedding else None
    if shown is None and embedding is not None:
        shown = _continued(chart.coordinates[near], embedding[chart.nodes[near]], wanted)
    return Void(
        center=back[0],
        radius=float(np.sqrt(hole.area / np.pi)),
        clearance=hole.clearance,
        rim=hole.rim,
        n_missing=hole.n_missing,
        samples=back[1:],
        coordinates=None if shown is None else shown[1:],
        center_embedding=None if shown is None else shown[0],
    )


def _points_around(hole: _Hole, chart: _Chart) -> IntArray:
    """Choose points around a hole, each place once, that tell how the sheet goes on."""
    is_rim = np.isin(chart.nodes, hole.rim)
    away = cKDTree(chart.coordinates[is_rim]).query(chart.coordinates)[0]
    near = np.argsort(away, kind="stable")[: max(_N_AROUND, 2 * int(is_rim.sum()))]
    _, first = np.unique(chart.coordinates[near], axis=0, return_index=True)
    return near[np.sort(first)]


def _continued(coordinates: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Continue values of some places to others, as smoothly as can be."""
    middle, scale = coordinates.mean(axis=0), np.ptp(coordinates, axis=0).max()
    values = np.asarray(values, dtype=np.float64)
    mean = values.mean(axis=0)  # far from the origin digits would be lost
    smooth = RBFInterpolator(
        (coordinates - middle) / scale, values - mean, kernel="cubic", degree=2
    )
    found: FloatArray = smooth((wanted - middle) / scale) + mean
    return found
