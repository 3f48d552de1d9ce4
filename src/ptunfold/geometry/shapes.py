"""How wide and thick neighbourhoods are, and how well surfaces fit them; no frames are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptunfold.geometry.frames import find_members, frames_at, gathered, leading, node_blocks
from ptunfold.geometry.graph import without_bridges
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.geometry.surface import FAR, misfits_by_products
from ptunfold.kernels.surfaces import distances_from_planes, fit_surfaces
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import FloatArray, Graph, IntArray, Points, Space, kernel_ready

_CHUNK_VALUES = 1 << 18
# Widths, deviations from planes, and from surfaces or else from planes again.
_Measures = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Shapes:
    """What neighbourhoods of some points look like.

    Attributes
    ----------
    widths : (n_nodes, d + 1)
        Singular values along the principal axes: in the plane, and the first one off it.
    off_planes : (n_nodes,)
        The standard deviation from the principal plane.
    off : (n_nodes,)
        The same from the quadratic surface, if it was fitted.
    n_members : int
        How many points each has, itself among them.
    """

    widths: FloatArray
    off_planes: FloatArray
    off: FloatArray
    n_members: int

    @property
    def thickness(self) -> float:
        """The first width off the plane, as part of the last one in it: the median."""
        *_, wide, thick = self.widths.T
        return float(np.median(thick / np.maximum(wide, np.finfo(float).tiny)))

    @property
    def share(self) -> float:
        """The share of neighbourhoods that lies along their planes or surfaces: the median."""
        along = np.square(self.widths[:, :-1]).sum(axis=1)
        off = np.square(self.off) * self.n_members
        return float(np.median(along / np.maximum(along + off, np.finfo(float).tiny)))


def shapes_at(
    nodes: IntArray,
    points: Points,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    *,
    surfaces: bool = False,
    n_jobs: int | None = None,
) -> Shapes:
    """Look at the neighbourhoods of some points, in fewer dimensions than those of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import swiss_roll
    >>> points = swiss_roll(1000).points
    >>> shapes = shapes_at(np.arange(1000), points, build_graph(points), 24, 2, surfaces=True)
    >>> bool(shapes.thickness < 0.2), bool((shapes.off < shapes.off_planes).mean() > 0.9)
    (True, True)
    """
    if isinstance(points, Space):
        return _by_frames(nodes, points, graph, n_neighbors, dim, surfaces, n_jobs)
    places, within = distinct_places(points), without_bridges(graph)
    n_values = (n_neighbors + 1) * points.shape[1]
    widths, off_planes, off = np.empty((len(nodes), dim + 1)), *np.empty((2, len(nodes)))
    # In many dimensions products of members say all about their distances.
    measure = _by_products if points.shape[1] > n_neighbors + 1 else _by_axes

    def handle(block: slice) -> None:
        members, counts = find_members(within, places, nodes[block], n_neighbors)
        for part in cut(len(members), max(_CHUNK_VALUES // n_values, 1)):
            some = slice(block.start + part.start, block.start + part.stop)
            offsets, _ = gathered(points, members[part], counts[part])
            found = measure(offsets, counts[part], dim, surfaces)
            widths[some], off_planes[some], off[some] = found

    run_blocks(handle, node_blocks(len(nodes), len(points), n_values), Run(n_jobs))
    return Shapes(widths, off_planes, off, n_neighbors + 1)


def _by_axes(offsets: FloatArray, counts: IntArray, dim: int, surfaces: bool) -> _Measures:
    """Measure neighbourhoods, (n_nodes, n_members, n_features), in their coordinates."""
    n_nodes, _, n_features = offsets.shape
    widths, bases = leading(offsets, dim + 1)
    planes, counts = np.ascontiguousarray(bases[:, :, :dim]), kernel_ready(counts, np.int64)
    off_planes, off = np.empty((2, n_nodes))
    distances_from_planes(offsets, planes, counts, off_planes)
    if not surfaces:
        return widths, off_planes, off_planes
    unused = np.empty_like(planes), np.empty((n_nodes, n_features)), np.empty(n_nodes)
    fit_surfaces(offsets, counts, planes, 0, FAR, unused[0], off, *unused[1:])
    return widths, off_planes, off


def _by_products(offsets: FloatArray, counts: IntArray, dim: int, surfaces: bool) -> _Measures:
    """Do the same by the products of their members."""
    products = offsets @ offsets.transpose(0, 2, 1)
    squares, axes = np.linalg.eigh(products) if surfaces else (np.linalg.eigvalsh(products), None)
    squares = np.maximum(squares[:, ::-1], 0)
    widths = np.sqrt(squares[:, : dim + 1])
    off_planes = np.sqrt(squares[:, dim:].sum(axis=1) / (counts + 1))
    if axes is None:
        return widths, off_planes, off_planes
    along = axes[:, :, : -dim - 1 : -1] * widths[:, None, :dim]
    return widths, off_planes, misfits_by_products(along, products, counts)


def _by_frames(
    nodes: IntArray,
    points: Space,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    surfaces: bool,
    n_jobs: int | None,
) -> Shapes:
    """Do it where points are known by their distances."""
    planes, thicker = (
        frames_at(nodes, points, graph, n_neighbors, each, n_jobs=n_jobs) for each in (dim, dim + 1)
    )
    fitted = planes
    if surfaces:
        fitted = frames_at(
            nodes, points, graph, n_neighbors, dim, tangent="quadratic", n_jobs=n_jobs
        )
    return Shapes(thicker.singular_values, planes.residual, fitted.residual, n_neighbors + 1)
