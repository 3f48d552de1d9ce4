"""Tangent frames by local principal components of neighbourhoods on the graph."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.components import component_labels
from ptunfold.kernels.paths import graph_neighborhoods
from ptunfold.progress import stage
from ptunfold.types import FloatArray, Frames, Graph, IntArray
from ptunfold.validation import TANGENT_CENTERS, check_choice, check_points, check_tangent_sizes

_CHUNK_VALUES = 1 << 22


def estimate_frames(
    points: FloatArray,
    graph: Graph,
    tangent_neighbors: int = 10,
    intrinsic_dim: int = 2,
    *,
    center: str = "mean",
    progress: bool = False,
) -> Frames:
    """Estimate an orthonormal basis of the tangent space at each point (Sec. 3.2 of the paper).

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph. A point without an edge gets a frame of NaN.
    tangent_neighbors : int
        The number K of nearest points *on the graph*; may be above or below the number of graph
        neighbours. Copies of the point itself span nothing and do not count.
    intrinsic_dim : int
        The dimension d of the tangent spaces.
    center : {"mean", "point"}
        Centre each neighbourhood at the mean of the point and its neighbours, or at the point.
    progress : bool
        Show a progress bar.

    Returns
    -------
    frames : Frames
        Bases, singular values and the distance of each neighbourhood from its tangent plane.

    Raises
    ------
    ValueError
        If a neighbourhood does not span ``intrinsic_dim`` dimensions. Components of at most
        ``intrinsic_dim`` points cannot; any basis that contains their span is exact for them.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, estimate_frames
    >>> points = np.random.default_rng(0).normal(size=(50, 2)) @ np.ones((2, 5))
    >>> frames = estimate_frames(points, build_graph(points), intrinsic_dim=1)
    >>> frames.vectors.shape
    (50, 5, 1)
    """
    points = check_points(points)
    n_points, n_features = points.shape
    check_tangent_sizes(intrinsic_dim, tangent_neighbors, n_points, n_features)
    check_choice("center", center, TANGENT_CENTERS)
    labels = component_labels(graph)
    too_small_to_span = np.bincount(labels)[labels] <= intrinsic_dim
    magnitude = np.abs(points).max()

    vectors = np.empty((n_points, n_features, intrinsic_dim))
    singular_values = np.empty((n_points, intrinsic_dim))
    residual = np.empty(n_points)
    nodes_per_chunk = max(1, _CHUNK_VALUES // ((tangent_neighbors + 1) * n_features))
    with stage("frames", n_points, "points", progress) as bar:
        for start in range(0, n_points, nodes_per_chunk):
            chunk = slice(start, min(start + nodes_per_chunk, n_points))
            offsets, counts = _neighborhoods(points, graph, chunk, tangent_neighbors, center)
            bases, values, residual[chunk] = _principal_directions(offsets, counts, intrinsic_dim)
            # Rounding of the coordinates themselves can look like a spread of this size.
            rounding = 10 * tangent_neighbors * np.finfo(points.dtype).eps
            is_flat = values[:, -1] <= rounding * np.maximum(values[:, 0], magnitude)
            is_flat &= ~too_small_to_span[chunk]
            if is_flat.any():
                worst = int(np.flatnonzero(is_flat)[0])
                _raise_flat(start + worst, values[worst], counts[worst], intrinsic_dim)
            vectors[chunk], singular_values[chunk] = bases, values
            bar.update(len(counts))
    vectors[np.diff(graph.indptr) == 0] = np.nan
    return Frames(vectors, singular_values, residual)


def _neighborhoods(
    points: FloatArray, graph: Graph, chunk: slice, tangent_neighbors: int, center: str
) -> tuple[FloatArray, IntArray]:
    """Gather the centred neighbourhoods of a range of points.

    Returns offsets (n_nodes, K + 1, n_features) float64, the point itself first and zeros where
    a small component has fewer than K other points, and the number of neighbours (n_nodes,).
    """
    nodes = np.arange(chunk.start, chunk.stop)
    members = np.repeat(nodes[:, None], tangent_neighbors + 1, axis=1)
    found = np.empty((len(nodes), tangent_neighbors), dtype=np.int64)
    counts = np.empty(len(nodes), dtype=np.int64)
    graph_neighborhoods(
        graph.indptr, graph.indices, graph.lengths, chunk.start, chunk.stop, found, counts
    )
    is_member = np.arange(tangent_neighbors) < counts[:, None]
    members[:, 1:][is_member] = found[is_member]
    # Counted from the point, so that coordinates far from the origin lose no digits in the mean.
    offsets = points[members].astype(np.float64) - points[nodes, None, :]
    if center == "mean":
        means = offsets.sum(axis=1) / (counts + 1)[:, None]
        offsets -= means[:, None, :]
        offsets[:, 1:][~is_member] = 0.0
    return offsets, counts


def _principal_directions(
    offsets: FloatArray, counts: IntArray, intrinsic_dim: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bases (n_nodes, n_features, d), singular values (n_nodes, d) and residuals."""
    # With neighbours as rows the directions are the right singular vectors.
    _, values, directions = np.linalg.svd(offsets, full_matrices=False)
    squares_left = np.square(values[:, intrinsic_dim:]).sum(axis=1)
    bases = directions[:, :intrinsic_dim].transpose(0, 2, 1)
    return bases, values[:, :intrinsic_dim], np.sqrt(squares_left / (counts + 1))


def _raise_flat(node: int, values: FloatArray, count: int, intrinsic_dim: int) -> None:
    rank = int(np.count_nonzero(values > 1e-12 * max(values[0], np.finfo(float).tiny)))
    raise ValueError(
        f"the {count} neighbours of point {node} span {min(rank, intrinsic_dim - 1)} of "
        f"intrinsic_dim={intrinsic_dim} dimensions, so it has no tangent frame; raise "
        "tangent_neighbors, or lower intrinsic_dim or n_components"
    )
