"""What a fit takes, from what is known before it starts: the arrays that are there together.

Measured beside it in ``benchmarks/memory.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptunfold.geodesics.rows import sources_together
from ptunfold.geodesics.squares import BAND, plan_bands
from ptunfold.geometry.given import VALUES_TOGETHER, Matrix
from ptunfold.geometry.order import MOST_UNORDERED
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import effective_n_jobs
from ptunfold.types import Graph, Points, Settings, Space
from ptunfold.validation.values import BENT, SURFACES

# Edges for each neighbour, both directions counted; between 1 (all mutual) and 2.
_EDGES_A_NEIGHBOR = 1.15
_EDGES_A_NEIGHBOR_IN_MANY = 1.5
_MANY_FEATURES = 15
_SAMPLE = 64
_FIXED = 3_000_000  # small arrays, and what is free between them
_TRAVELLING = 40_000_000  # on the way to a device and back
_PROCESS = 340_000_000  # a worker of a cluster, with its libraries and kernels
_READ_TOGETHER = 1 << 30
_ANCHORS, _PLACED_TOGETHER = 400, 1 << 12  # of relaxation
_LARGER_SAMPLE, _PART = 1000, 8 << 21  # the latter of points with many features
_COLUMNS, _BUFFER = 1 << 15, 25_000_000  # the latter of linear algebra


@dataclass(frozen=True)
class Needs:
    """What a fit takes, in bytes; frames are laid over points of so many features."""

    n_points: int
    n_features: int
    itemsize: int
    n_given: int  # bytes of the points as they are given
    n_edges: float  # directed ones, of the graph that paths lead along
    dim: int
    n_components: int
    n_jobs: int
    is_fitted: bool  # tangents are those of surfaces
    is_arc: bool  # steps are
    is_moved: bool  # points are denoised
    is_partly: bool  # transport is carried on in part only
    is_ordered: bool  # points have an order of their own
    n_moves: int = 0  # of points whose distances are given, all of which are moved with them
    is_matrix: bool = False  # all distances are given in place of points

    @property
    def _table(self) -> int:
        """Return the size of the points in float64."""
        return 8 * self.n_points * self.n_features

    @property
    def _matrices(self) -> float:
        """What is there of distances that are given, once they are those of moved points."""
        return 8 * self.n_points**2 * (1 + self.itemsize / 8) if self.n_moves else 0.0

    @property
    def _parts(self) -> float:
        """What is taken to look through distances that are given."""
        return 16.0 * min(self.n_points**2, VALUES_TOGETHER) if self.is_matrix else 0.0

    @property
    def _points(self) -> float:
        return self.n_given + self.is_ordered * self._table * self.itemsize / 8

    @property
    def _edge(self) -> int:
        """Return the size of rotation and step."""
        return 8 * self.dim * (self.dim + 1)

    @property
    def geometry(self) -> float:
        """What is there when the connection is laid."""
        edge = 20 + 8 * self.is_arc + self._edge + 8 * self.is_partly
        point = 8 * (2 * self.dim + min(self.n_features, 16) + 4)
        moved = self.is_moved * self._table * self.itemsize / 8
        frames = self._table * (self.dim + self.is_fitted)
        return self._points + moved + frames + self.n_edges * edge + self.n_points * point

    @property
    def laying(self) -> float:
        """The most that is there while it is laid."""
        copy = self._table * self.itemsize / 8
        # Some of the points, three times in float64, more of them as they are, and parts of all;
        # later there may be fewer features.
        some = min(_SAMPLE / self.n_points, 1) * 24 / self.itemsize
        some += (self.n_points > _LARGER_SAMPLE) * _LARGER_SAMPLE / self.n_points
        centring = self.n_given * (1 + some) + min(3 * _PART, 24 / self.itemsize * self.n_given)
        searching = self._points + self.n_points * 400
        if self.n_features > _MANY_FEATURES:
            searching += 3 * self._table
        moving = self._points + 4 * copy + self._table * (self.dim + 1) if self.is_moved else 0
        judging = self.geometry + self.n_edges * 80 + self._matrices
        if self.is_matrix:
            centring = self._parts * self.itemsize / 8
            searching = self._matrices + self.n_points * 400
            searching += self._parts if self.n_moves else centring
            # Squares and what becomes of them; from the second time on, what came of the first.
            moving = 32 * self.n_points**2 if self.n_moves else 0
            if self.n_moves > 1:
                moving = self._matrices + 24 * self.n_points**2
        elif self.is_moved:
            judging = max(judging, self.geometry + 2 * self._table)
        return _FIXED + max(centring, searching, moving, judging)

    @property
    def _arranged(self) -> float:
        """What is there when the search for paths between all points begins."""
        edge = 18 + self._edge + 8 * self.is_partly
        return self.geometry + self.n_edges * edge + 200 * self.n_points

    @property
    def _searching(self) -> float:
        """What the threads have that search for paths."""
        height = self.dim + 2 * self.is_partly
        rows = sources_together(self.n_points)
        point = 52 + LANES * (10 + 8 * height) + rows * self.itemsize
        shares = self.n_edges * (32 + self._edge) * self.is_partly
        return self.n_jobs * self.n_points * point + shares

    @property
    def _tree(self) -> int:
        """What a thread has for each point of the tree of a landmark."""
        return 48 + 16 * self.dim + 8 * self.dim**2

    @property
    def _scaling(self) -> float:
        """What the eigensolver has beside the matrix."""
        return 8 * 30 * self.n_points * (self.n_components + 6)

    @property
    def _relaxing(self) -> float:
        """What pictures of rough data take that are relaxed, beside the distances."""
        if not self.is_partly:
            return 0.0
        block = 2 * 8 * min(self.n_points, _PLACED_TOGETHER)
        return _ANCHORS * (self.n_points * self.itemsize + self.n_jobs * block)

    def all_distances(self) -> float:
        """All distances in memory, and classical scaling."""
        bands = bytes_of_all_distances(self.n_points, self.itemsize)
        working = max(self._searching, self._scaling)
        return max(self.laying, _FIXED + self._arranged + bands + working)

    def stored(self) -> float:
        """All distances on disk."""
        height = plan_bands(self.n_points)[0].stop
        columns = self.n_points * height * self.itemsize
        band = self.n_points * BAND * self.itemsize
        n_threads = min(self.n_jobs, max(_READ_TOGETHER // columns, 1))
        folding = n_threads * (columns + band)
        working = max(self._searching, folding, self._scaling + self.n_jobs * band)
        return max(self.laying, _FIXED + self._arranged + working)

    def on_device(self) -> float:
        """All distances on a device, or where its engine finds room."""
        return _TRAVELLING + max(self.laying, _FIXED + self.geometry + self._relaxing)

    def stress(self) -> float:
        """All distances in memory, and the least stress."""
        n_arrays = 4 if self.is_arc else 7
        arrays = self.n_points**2 * (8 * n_arrays + self.itemsize)
        return max(self.laying, _FIXED + self.geometry + arrays)

    def worker(self, n_threads: int, n_landmarks: int | None) -> float:
        """All distances, or those from landmarks, by one process of a cluster."""
        edge = 20 + self._edge + 8 * self.is_partly
        sent = self.n_edges * edge + 8 * self.n_points * (min(self.n_features, 16) + 8)
        if n_landmarks is None:
            working = self._searching / self.n_jobs
        else:
            working = self.n_points * (self._tree + 2 * self.itemsize)
        return _PROCESS + sent + n_threads * working

    def landmarks(self, count: int) -> float:
        """Distances from landmarks."""
        rows = self.n_points * count * self.itemsize
        products = 12 * count * min(self.n_points, _COLUMNS)
        scaling = products + min(products, _BUFFER)
        working = max(self.n_jobs * self.n_points * self._tree, scaling)
        edges = 8 * self.n_edges * (not self.is_partly)
        others = 64 * self.n_points
        return max(self.laying, _FIXED + self.geometry + edges + rows + working + others)


def needs_of(
    points: Points,
    settings: Settings,
    kind: str | None,
    graph: Graph | None = None,
    *,
    n_components: int,
    n_given: int,
    n_jobs: int | None,
) -> Needs:
    """Collect what decides how much memory a fit takes, where settings are decided.

    ``n_given`` is the size of the points as they were given, ``kind`` the texture of the data.
    """
    is_matrix = isinstance(points, Matrix)
    return Needs(
        len(points),
        min(points.shape),
        points.dtype.itemsize,
        0 if is_matrix else n_given,
        _n_edges(points, settings, graph),
        settings.intrinsic_dim,
        n_components,
        effective_n_jobs(n_jobs),
        is_fitted=settings.tangent in SURFACES,
        is_arc=settings.step in BENT,
        is_moved=settings.denoise > 0 and not is_matrix,
        is_partly=kind == "rough" if settings.coherence is None else settings.coherence < 1,
        is_ordered=len(points) > MOST_UNORDERED,
        n_moves=settings.denoise if is_matrix else 0,
        is_matrix=is_matrix,
    )


def _n_edges(points: Points, settings: Settings, graph: Graph | None) -> float:
    n_points, n_features = points.shape
    if settings.n_wide:
        return _EDGES_A_NEIGHBOR * settings.n_wide * n_points
    if graph is not None:
        return graph.n_edges
    if isinstance(settings.graph, Graph):
        return settings.graph.n_edges
    if not isinstance(settings.graph, str):
        return float(2 * settings.graph.nnz)
    if settings.graph == "radius":
        return n_points * _mean_degree(points, settings.radius)
    is_wide = n_features > _MANY_FEATURES
    share = _EDGES_A_NEIGHBOR_IN_MANY if is_wide else _EDGES_A_NEIGHBOR
    return share * settings.n_neighbors * n_points


def _mean_degree(points: Points, radius: float | None) -> float:
    """Count the points within a radius of a few of them."""
    if isinstance(points, Space):
        return 2 * len(points.within(radius or 0.0)) / len(points)
    sample = points[np.random.default_rng(0).integers(len(points), size=_SAMPLE)]
    counts = [
        np.count_nonzero(np.square(points - point).sum(axis=1) <= np.square(radius or 0.0))
        for point in sample
    ]
    return float(np.mean(counts))


def bytes_of_all_distances(n_points: int, itemsize: int) -> int:
    """Estimate what all distances take: half a number for each ordered pair, in bands."""
    return int((0.5 * n_points + 0.5 * BAND) * n_points * itemsize)
