"""Tangent frames by local principal components of neighbourhoods on the graph."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.components import component_labels
from ptunfold.geometry.copies import distinct_places
from ptunfold.kernels.paths import graph_neighborhoods
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray, Frames, Graph, IntArray
from ptunfold.validation import (
    TANGENT_CENTERS,
    as_points,
    check_choice,
    check_same_size,
    check_tangent_sizes,
)

_CHUNK_VALUES = 1 << 21


def estimate_frames(
    points: FloatArray,
    graph: Graph,
    tangent_neighbors: int = 15,
    intrinsic_dim: int = 2,
    *,
    tangent_center: str = "mean",
    bridged: Graph | None = None,
    n_jobs: int | None = None,
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
        neighbours. Copies of a point span nothing and do not count.
    intrinsic_dim : int
        The dimension d of the tangent spaces.
    tangent_center : {"mean", "point"}
        Centre each neighbourhood at the mean of the point and its neighbours, or at the point.
    bridged : Graph, optional
        ``graph`` with its components joined. Neighbourhoods stay within a component, which bridges
        say nothing about, unless it is too small to have a shape of its own.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
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
        ``intrinsic_dim`` distinct points cannot; any basis that contains their span is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, estimate_frames
    >>> points = np.random.default_rng(0).normal(size=(50, 2)) @ np.ones((2, 5))
    >>> frames = estimate_frames(points, build_graph(points), intrinsic_dim=1)
    >>> frames.vectors.shape
    (50, 5, 1)
    """
    points = as_points(points)
    n_points, n_features = points.shape
    check_same_size(n_points, graph.n_points)
    check_tangent_sizes(intrinsic_dim, tangent_neighbors, n_points, n_features)
    check_choice("tangent_center", tangent_center, TANGENT_CENTERS)
    places = distinct_places(points)
    n_places = _places_in_component(graph, places)
    is_lost = n_places <= 2 * intrinsic_dim
    if bridged is not None:
        n_places[is_lost] = _places_in_component(bridged, places)[is_lost]

    vectors = np.empty((n_points, n_features, intrinsic_dim))
    singular_values = np.empty((n_points, intrinsic_dim))
    residual = np.empty(n_points)

    def handle(block: slice) -> None:
        nodes = np.arange(block.start, block.stop)
        members, counts = _find_members(graph, places, nodes, tangent_neighbors)
        if bridged is not None and is_lost[nodes].any():
            lost = is_lost[nodes]
            members[lost], counts[lost] = _find_members(
                bridged, places, nodes[lost], tangent_neighbors
            )
        offsets, rounding = _neighborhoods(points, members, counts, tangent_center)
        bases, values, residual[nodes] = _principal_directions(offsets, counts, intrinsic_dim)
        is_flat = (values[:, -1] <= rounding) & (n_places[nodes] > intrinsic_dim)
        if is_flat.any():
            first = int(np.flatnonzero(is_flat)[0])
            rank = int(np.count_nonzero(values[first] > rounding[first]))
            raise ValueError(
                f"the {counts[first]} neighbours of point {nodes[first]} span {rank} of "
                f"intrinsic_dim={intrinsic_dim} dimensions, so it has no tangent frame; raise "
                "tangent_neighbors, or lower intrinsic_dim or n_components"
            )
        vectors[nodes], singular_values[nodes] = bases, values

    n_nodes = min(max(_CHUNK_VALUES // ((tangent_neighbors + 1) * n_features), 1), 1024)
    run_blocks(
        handle,
        cut(n_points, n_nodes),
        n_jobs=n_jobs,
        description="frames",
        unit="points",
        progress=progress,
    )
    vectors[np.diff((bridged or graph).indptr) == 0] = np.nan
    return Frames(vectors, singular_values, residual)


def _places_in_component(graph: Graph, places: IntArray) -> IntArray:
    """Count the distinct places in the component of each point, (n_points,)."""
    labels = component_labels(graph)
    is_first = places == np.arange(len(places))
    return np.bincount(labels, weights=is_first).astype(np.int64)[labels]


def _find_members(
    graph: Graph, places: IntArray, nodes: IntArray, n_neighbors: int
) -> tuple[IntArray, IntArray]:
    """List each node and its neighbours, (n_nodes, K + 1), itself again where there are fewer."""
    found = np.empty((len(nodes), n_neighbors), dtype=np.int64)
    counts = np.empty(len(nodes), dtype=np.int64)
    graph_neighborhoods(graph.indptr, graph.indices, graph.lengths, places, nodes, found, counts)
    is_found = np.arange(n_neighbors) < counts[:, None]
    return np.column_stack((nodes, np.where(is_found, found, nodes[:, None]))), counts


def _neighborhoods(
    points: FloatArray, members: IntArray, counts: IntArray, tangent_center: str
) -> tuple[FloatArray, FloatArray]:
    """Gather and centre neighbourhoods.

    Returns offsets (n_nodes, K + 1, n_features) float64, zero where there are fewer neighbours,
    and the spread (n_nodes,) that the rounding of the coordinates alone can make.
    """
    gathered = points[members]
    # Counted from the point, so that coordinates far from the origin lose no digits in the mean.
    offsets = gathered.astype(np.float64) - gathered[:, :1]
    varies = (offsets != 0).any(axis=1)
    magnitude = np.where(varies, np.abs(gathered).max(axis=1), 0).max(axis=1)
    rounding = 4 * np.finfo(points.dtype).eps * magnitude.astype(np.float64)
    if tangent_center == "mean":
        means = offsets.sum(axis=1) / (counts + 1)[:, None]
        offsets -= means[:, None, :]
        offsets[np.arange(members.shape[1]) > counts[:, None]] = 0.0
    return offsets, rounding


def _principal_directions(
    offsets: FloatArray, counts: IntArray, intrinsic_dim: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bases (n_nodes, n_features, d), singular values (n_nodes, d) and residuals."""
    n_members, n_features = offsets.shape[1:]
    if n_features > 2 * n_members:
        values, bases = _by_gram_matrix(offsets, intrinsic_dim)
    else:
        values, bases = _by_svd(offsets, intrinsic_dim)
    off_plane = offsets - (offsets @ bases) @ bases.transpose(0, 2, 1)
    squares = np.einsum("ijk,ijk->i", off_plane, off_plane)
    return bases, values, np.sqrt(squares / (counts + 1))


def _by_svd(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading ``dim`` singular values and directions."""
    # With neighbours as rows the directions are the right singular vectors.
    _, values, directions = np.linalg.svd(offsets, full_matrices=False)
    return values[:, :dim], directions[:, :dim].transpose(0, 2, 1)


def _by_gram_matrix(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Do the same by the small matrix of inner products, many times faster in many dimensions.

    Squaring loses digits where a neighbourhood is far longer than wide: these go the other way.
    """
    squares, coefficients = np.linalg.eigh(offsets @ offsets.transpose(0, 2, 1))
    values = np.sqrt(np.maximum(squares[:, ::-1][:, :dim], 0))
    scale = np.where(values > 0, values, 1)
    weights = coefficients[:, :, ::-1][:, :, :dim] / scale[:, None, :]
    bases = offsets.transpose(0, 2, 1) @ weights
    # One Newton step to orthonormality; what it corrects is of the size of rounding.
    overlaps = bases.transpose(0, 2, 1) @ bases
    bases = bases @ (1.5 * np.eye(dim) - 0.5 * overlaps)
    is_long = values[:, -1] < 1e-2 * values[:, 0]
    if is_long.any():
        values[is_long], bases[is_long] = _by_svd(offsets[is_long], dim)
    return values, bases
