"""What the embedding does to lengths and areas at each point: its differential."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptunfold.diagnostics.rim import edges_along
from ptunfold.geometry.graph import edges_from
from ptunfold.threads import Run, check_not_stopped, cut, run_blocks, single_threaded_blas
from ptunfold.types import BoolArray, Connection, FloatArray, Geometry, IntArray, pair_keys
from ptunfold.validation.records import check_connection

_TOLERANCE = 0.1
_POINTS_TOGETHER = 1 << 15
_FLAT = 1e-6  # of the longest extent of the neighbours: they span no more


@dataclass(frozen=True, eq=False)
class Stretch:
    """How the embedding stretches the sheet at each point.

    A small circle around a point becomes an ellipse, whose axes are ``factors`` times as long.

    Attributes
    ----------
    factors : (n_points, d) float64
        The singular values of the differential, descending: 1 where lengths are kept, 0 along
        directions that are not shown. NaN where there is nothing to tell them from.
    directions : (n_points, n_components) float64
        The direction in the embedding that is stretched most, of length 1.
    distortion : (n_points,) float64
        The larger of the largest factor and of 1 / the smallest: 1 is perfect.
    area : (n_points,) float64
        The product of the factors: how much areas (volumes, lengths) grow.
    median : float
        The median of ``distortion``: one number for the whole.
    share : float
        The share of the points with a distortion of more than 1.1.
    worst : (n_told,) int
        All points that have a distortion, the worst first.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(1000).points)
    >>> print(model.stretch())
    lengths are off by 0.6% at the median point, by more than 10% at 0% of the points
    """

    factors: FloatArray
    directions: FloatArray
    distortion: FloatArray
    area: FloatArray
    median: float
    share: float
    worst: IntArray

    def __str__(self) -> str:
        if not len(self.worst):
            return "the stretch is not known"
        return (
            f"lengths are off by {self.median - 1:.1%} at the median point, "
            f"by more than {_TOLERANCE:.0%} at {self.share:.0%} of the points"
        )


def stretch(connection: Connection, embedding: FloatArray, *, n_jobs: int | None = None) -> Stretch:
    """Measure the differential of an embedding against the tangent frames.

    At each point the linear map is fitted that takes the steps to the neighbours, in the tangent
    frame, to their differences in the embedding.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of a graph; bridges do not count.
    embedding : (n_points, n_components)
        Coordinates, NaN for points that are left out.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

    Returns
    -------
    stretch : Stretch
        Factors and directions, areas, and what they come to.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> from ptunfold.diagnostics.stretch import stretch
    >>> points = np.random.default_rng(0).random((500, 2))
    >>> graph = build_graph(points)
    >>> connection = connect(points, graph, estimate_frames(points, graph))
    >>> wide = stretch(connection, points * [3, 2])
    >>> np.round(wide.factors[0], 6).tolist(), np.round(np.abs(wide.directions[0]), 6).tolist()
    ([3.0, 2.0], [1.0, 0.0])
    """
    connection = check_connection(connection)
    graph = connection.graph
    embedding = np.asarray(embedding, dtype=np.float64)
    is_there: BoolArray = np.asarray(np.isfinite(embedding).all(axis=1))
    is_used = edges_along(connection)
    check_not_stopped()
    is_used &= is_there[graph.tails] & is_there[graph.indices]
    factors = np.empty((graph.n_points, connection.intrinsic_dim))
    directions = np.empty(embedding.shape)

    def handle(block: slice) -> None:
        edges = slice(graph.indptr[block.start], graph.indptr[block.stop])
        used = edges.start + np.flatnonzero(is_used[edges])
        tails, heads = graph.tails[used], graph.indices[used]
        shown = embedding[heads] - embedding[tails]
        maps = _fit(tails - block.start, connection.steps[used], shown, block.stop - block.start)
        factors[block], directions[block] = _factors(maps)

    with single_threaded_blas():
        run_blocks(handle, cut(graph.n_points, _POINTS_TOGETHER), Run(n_jobs))
    check_not_stopped()
    known = np.flatnonzero(np.isfinite(factors[:, 0]))
    distortion = _distortion(factors)
    told = distortion[known]
    return Stretch(
        factors=factors,
        directions=directions,
        distortion=distortion,
        area=factors.prod(axis=1),
        median=float(np.median(told)) if len(known) else np.nan,
        share=float(np.mean(told > 1 + _TOLERANCE)) if len(known) else np.nan,
        worst=known[np.argsort(-told, kind="stable")],
    )


def distortion_at(nodes: IntArray, geometry: Geometry, embedding: FloatArray) -> FloatArray:
    """Measure ``Stretch.distortion`` at some points, in a time that does not grow with the others.

    The points are those of the geometry; the embedding is in the caller's order.
    """
    connection, graph = geometry.connection, geometry.connection.graph
    degrees = graph.indptr[nodes + 1] - graph.indptr[nodes]
    tails, edges = np.repeat(np.arange(len(nodes)), degrees), edges_from(graph, nodes)
    heads, steps = graph.indices[edges], connection.steps[edges]
    places = embedding[geometry.to_input(nodes)].astype(np.float64)
    shown = embedding[geometry.to_input(heads)] - places[tails]
    is_used = np.isfinite(shown).all(axis=1) & np.isfinite(steps).all(axis=1) & steps.any(axis=1)
    pairs = [pair for pair in (graph.bridges, geometry.torn) if pair is not None and len(pair)]
    if pairs:
        skipped = np.concatenate([*pairs, *(pair[:, ::-1] for pair in pairs)])
        keys = pair_keys(graph.n_points, *skipped.T)
        is_used &= ~np.isin(pair_keys(graph.n_points, nodes[tails], heads), keys)
    maps = _fit(tails[is_used], steps[is_used], shown[is_used], len(nodes))
    return _distortion(_factors(maps)[0])


def _factors(maps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return singular values (n_points, d), and the direction of the largest in the embedding."""
    n_points, n_components, dim = maps.shape
    factors = np.full((n_points, dim), np.nan)
    directions = np.full((n_points, n_components), np.nan)
    known = np.flatnonzero(np.isfinite(maps).all(axis=(1, 2)))
    left, values, _ = np.linalg.svd(maps[known], full_matrices=False)
    factors[known] = 0
    factors[known, : values.shape[1]] = values
    directions[known] = left[:, :, 0]
    return factors, directions


def _distortion(factors: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        found: FloatArray = np.maximum(factors[:, 0], 1 / factors[:, -1])
    return found


def _fit(tails: IntArray, steps: FloatArray, shown: FloatArray, n_points: int) -> FloatArray:
    """Fit the linear map from steps to differences at each point, (n_points, n_components, d)."""
    dim = steps.shape[1]

    def summed(values: FloatArray) -> FloatArray:
        return np.bincount(tails, values, minlength=n_points).astype(np.float64)

    moments = np.empty((n_points, dim, dim))
    mixed = np.empty((n_points, dim, shown.shape[1]))
    for row in range(dim):
        for column in range(dim):
            moments[:, row, column] = summed(steps[:, row] * steps[:, column])
        for column in range(shown.shape[1]):
            mixed[:, row, column] = summed(steps[:, row] * shown[:, column])
    values = np.linalg.eigvalsh(moments)
    spans = values[:, 0] > _FLAT**2 * values[:, -1]
    moments[~spans] = np.eye(dim)
    maps: FloatArray = np.linalg.solve(moments, mixed).transpose(0, 2, 1)
    return np.where(spans[:, None, None], maps, np.nan)
