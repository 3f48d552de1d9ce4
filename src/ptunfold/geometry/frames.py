"""Tangent frames by local principal components of neighbourhoods on the graph.

Neighbourhoods on the graph keep to the sheet, where those in space may not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.geometry.graph import without_bridges
from ptunfold.geometry.intrinsic import local_planes, seen_edges
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.geometry.surface import FAR, ROUNDS, fit_quadratic
from ptunfold.kernels.bending import write_in_frames
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.nearby import graph_neighborhoods
from ptunfold.kernels.principal import gather_offsets, leading_subspaces
from ptunfold.kernels.surfaces import distances_from_planes, fit_surfaces, principal_axes
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import (
    FloatArray,
    Frames,
    Graph,
    IntArray,
    Points,
    Space,
    kernel_ready,
)
from ptunfold.validation.points import as_points
from ptunfold.validation.records import check_graph
from ptunfold.validation.settings import check_tangent_sizes
from ptunfold.validation.values import SURFACES, TANGENTS, check_choice

_CHUNK_VALUES = 1 << 18
_NODES_TOGETHER, _VALUES_TOGETHER = 512, 1 << 18
_SMALL = 1e-6  # of the squares of a neighbourhood
_FEW_FEATURES = 8  # all axes of a neighbourhood are found sooner than the leading ones
# Of the largest, by which linear algebra may be off: up to 4 units of rounding on some machines.
_OF_SINGULAR_VALUES = 8 * np.finfo(np.float64).eps


class Planes(NamedTuple):
    """The tangent planes of neighbourhoods.

    Orthonormal bases (n_nodes, n_features, d), singular values (n_nodes, d), distances from the
    plane or the surface (n_nodes,), the extent that the rounding of coordinates alone can make
    (n_nodes,), and the way to the surface (n_nodes, n_features) and its curvature (n_nodes,), if
    one was fitted. Where points are known by their distances, members stand for features, and the
    share of negative eigenvalues is told.
    """

    bases: FloatArray
    values: FloatArray
    residual: FloatArray
    rounding: FloatArray
    lift: FloatArray | None = None
    curvature: FloatArray | None = None
    negative: FloatArray | None = None


def estimate_frames(
    points: Points,
    graph: Graph,
    tangent_neighbors: int = 15,
    intrinsic_dim: int = 2,
    *,
    tangent: str = "pca",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Frames:
    """Estimate an orthonormal basis of the tangent space at each point (Sec. 3.2 of the paper).

    Parameters
    ----------
    points : (n_points, n_features)
        The points, or what :func:`metric_space` made of their distances.
    graph : Graph
        The proximity graph. A point without an edge gets a frame of NaN. Neighbourhoods stay within
        what bridges join, unless that is too small to have a shape of its own.
    tangent_neighbors : int
        The number K of nearest points *on the graph*; may be above or below the number of graph
        neighbours. Copies of a point span nothing and do not count.
    intrinsic_dim : int
        The dimension d of the tangent spaces.
    tangent : {"pca", "quadratic", "robust"}
        The principal plane of the neighbourhood; the tangent plane of a quadratic surface fitted
        over it, which follows the curvature: it is more exact on curved data, above all at rims,
        and lets many neighbours average out noise; or the same with outliers left out of account.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
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
    graph = check_graph(graph, len(points))
    check_tangent_sizes(intrinsic_dim, tangent_neighbors, *points.shape)
    check_choice("tangent", tangent, TANGENTS)
    nodes, run = np.arange(len(points)), Run(n_jobs, verbose)
    return fit_frames(nodes, points, graph, tangent_neighbors, intrinsic_dim, tangent, run)


def frames_at(
    nodes: IntArray,
    points: Points,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    *,
    tangent: str = "pca",
    n_jobs: int | None = None,
) -> Frames:
    """Look at the frames of some points, made up where neighbours do not span them."""
    run = Run(n_jobs)
    return fit_frames(nodes, points, graph, n_neighbors, dim, tangent, run, must_span=False)


def fit_frames(
    nodes: IntArray,
    points: Points,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    tangent: str,
    run: Run,
    *,
    names: IntArray | None = None,
    must_span: bool = True,
    device: Any = None,
) -> Frames:
    """Do what `estimate_frames` does, for some points and anywhere.

    Messages call points by ``names``. Neighbourhoods that do not span the dimension are refused or,
    unless they ``must_span``, get some frame that is made up, and have no surface. ``device`` fits
    neighbourhoods elsewhere than here; see ``ptunfold.engines``.
    """
    is_space = isinstance(points, Space)
    n_features = n_neighbors + 1 if is_space else points.shape[1]
    places, within = distinct_places(points), without_bridges(graph)
    n_places = _places_in_component(within, places)
    # Too small to have a shape of their own: those look over bridges.
    is_lost = n_places <= 2 * dim
    if within is not graph:
        n_places[is_lost] = _places_in_component(graph, places)[is_lost]

    vectors: FloatArray = np.empty((len(nodes), n_features, dim))
    singular_values = np.empty((len(nodes), dim))
    residual = np.empty(len(nodes))
    lift = np.zeros((len(nodes), n_features)) if tangent in SURFACES else None
    curvature = np.zeros(len(nodes)) if tangent in SURFACES else None
    negative = np.zeros(len(nodes)) if is_space else None
    by_members = np.empty((len(nodes), n_features), dtype=np.int64) if is_space else None

    def gather(here: IntArray) -> tuple[IntArray, IntArray]:
        members, counts = find_members(within, places, here, n_neighbors)
        if within is not graph and is_lost[here].any():
            lost = is_lost[here]
            members[lost], counts[lost] = find_members(graph, places, here[lost], n_neighbors)
        return members, counts

    def keep(some: slice, members: IntArray, count: IntArray) -> None:
        here = nodes[some]
        fitted = fit(points, members, count, dim, tangent)
        bases, values, residual[some], rounding, lifted, curved, off_space = fitted
        if negative is not None and by_members is not None:
            negative[some], by_members[some] = off_space, members
        is_flat = (values[:, -1] <= rounding) & (n_places[here] > dim)
        if must_span and is_flat.any():
            first = int(np.flatnonzero(is_flat)[0])
            rank = int(np.count_nonzero(values[first] > rounding[first]))
            name = here[first] if names is None else names[here[first]]
            raise ValueError(
                f"the {count[first]} neighbours of point {name} span {rank} of "
                f"intrinsic_dim={dim} dimensions, so it has no tangent frame; raise "
                "tangent_neighbors, or lower intrinsic_dim or n_components"
            )
        if lifted is not None and curved is not None:
            assert lift is not None
            assert curvature is not None
            lift[some] = lifted
            lift[some][is_flat] = 0
            curvature[some] = np.where(is_flat, 0, curved)
        vectors[some], singular_values[some] = bases, values

    def handle(block: slice) -> None:
        members, counts = gather(nodes[block])
        if device is not None:
            all_members[block], all_counts[block] = members, counts
            return
        for part in cut(len(members), n_together):
            some = slice(block.start + part.start, block.start + part.stop)
            keep(some, members[part], counts[part])

    # Finding members takes workspace for all points; what follows wants to stay in the cache, or
    # goes to a device in large pieces.
    fit = fit_neighborhoods if device is None else device.fit_neighborhoods
    most_values = _CHUNK_VALUES if device is None else device.most_values
    n_together = max(most_values // ((n_neighbors + 1) * n_features), 1)
    if device is not None:
        all_members = np.empty((len(nodes), n_neighbors + 1), dtype=np.int32)
        all_counts = np.empty(len(nodes), dtype=np.int32)
    n_values = (n_neighbors + 1) * n_features
    run_blocks(handle, node_blocks(len(nodes), len(points), n_values), run, "frames", "points")
    if device is not None:
        for some in cut(len(nodes), n_together):
            keep(some, all_members[some], all_counts[some])
    vectors[np.diff(graph.indptr)[nodes] == 0] = np.nan
    return Frames(
        vectors,
        singular_values,
        residual,
        lift,
        n_members=n_neighbors + 1,
        curvature=curvature,
        members=by_members,
        negative=negative,
    )


def fit_neighborhoods(
    points: Points, members: IntArray, counts: IntArray, dim: int, tangent: str
) -> Planes:
    """Find the tangent planes of neighbourhoods, as `find_members` returns them."""
    if isinstance(points, Space):
        return Planes(*local_planes(points, members, counts, dim, tangent))
    offsets, rounding = gathered(points, members, counts)
    bases, values, residual = principal_directions(offsets, counts, dim)
    rounding = np.maximum(rounding, _OF_SINGULAR_VALUES * values[:, 0])
    if tangent not in SURFACES:
        return Planes(bases, values, residual, rounding)
    is_robust, n_features = tangent == "robust", offsets.shape[2]
    if n_features > offsets.shape[1]:
        bases, residual, lift, curvature = fit_quadratic(
            offsets, counts, bases, is_robust=is_robust
        )
    else:
        planes, bases = bases, np.empty_like(bases)
        lift, curvature = np.empty((len(offsets), n_features)), np.empty(len(offsets))
        n_rounds = ROUNDS if is_robust else 0
        fit_surfaces(offsets, counts, planes, n_rounds, FAR, bases, residual, lift, curvature)
    return Planes(bases, values, residual, rounding, lift, curvature)


def node_blocks(n_nodes: int, n_points: int, n_values: int) -> list[slice]:
    """Cut nodes into blocks, for neighbourhoods of ``n_values`` each; large ones keep threads busy.

    Each block looks for its members with room for all points, which has to pay.
    """
    size = max(_NODES_TOGETHER, n_nodes // 64)
    size = min(size, max((_VALUES_TOGETHER + 8 * n_points) // n_values, 1))
    return cut(n_nodes, -(-n_nodes // max(-(-n_nodes // size), 1)) or 1)


def find_members(
    graph: Graph, places: IntArray, nodes: IntArray, n_neighbors: int
) -> tuple[IntArray, IntArray]:
    """List each node and its neighbours on the graph, nearest first.

    For each point ``places`` has the first one at the same place; others do not count. Returns
    members (n_nodes, n_neighbors + 1), the node itself first, and again where there are fewer
    neighbours, and the number of neighbours found, (n_nodes,).
    """
    found = np.empty((len(nodes), n_neighbors), dtype=np.int64)
    counts = np.empty(len(nodes), dtype=np.int64)
    graph_neighborhoods(graph_arrays(graph), places, nodes, found, counts)
    is_found = np.arange(n_neighbors) < counts[:, None]
    return np.column_stack((nodes, np.where(is_found, found, nodes[:, None]))), counts


def edges_in_frames(
    points: Points, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Write edges in the frames at both ends, and these frames in each other.

    Returns overlaps of frames (n_edges, d, d), steps there and back (n_edges, d), and lengths.
    """
    if isinstance(points, Space):
        return seen_edges(points, frames, tails, heads)
    n_edges, dim = len(tails), frames.intrinsic_dim
    overlaps, lengths = np.empty((n_edges, dim, dim)), np.empty(n_edges)
    from_tail, from_head = np.empty((2, n_edges, dim))
    # One kind of numbers, which is compiled once.
    ends = (np.ascontiguousarray(nodes, dtype=np.int32) for nodes in (tails, heads))
    write_in_frames(points, frames.vectors, *ends, overlaps, from_tail, from_head, lengths)
    return overlaps, from_tail, from_head, lengths


def _places_in_component(graph: Graph, places: IntArray) -> IntArray:
    """Count the distinct places in the component of each point, (n_points,)."""
    labels = graph.component_labels
    is_first = places == np.arange(len(places))
    return np.bincount(labels, weights=is_first).astype(np.int64)[labels]


def gathered(
    points: FloatArray, members: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Gather and centre neighbourhoods.

    Returns offsets (n_nodes, K + 1, n_features) float64, zero where there are fewer neighbours,
    and the spread (n_nodes,) that the rounding of the coordinates alone can make.
    """
    offsets = np.empty((*members.shape, points.shape[1]))
    rounding = np.empty(len(members))
    gather_offsets(points, members, counts, offsets, rounding)
    return offsets, rounding


def principal_directions(
    offsets: FloatArray, counts: IntArray, dim: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bases (n_nodes, n_features, d), singular values (n_nodes, d) and residuals."""
    values, bases = leading(offsets, dim)
    if offsets.shape[2] > offsets.shape[1]:
        whole = np.einsum("ijk,ijk->i", offsets, offsets)
        squares = whole - np.square(values).sum(axis=1)
        left = np.flatnonzero(squares <= _SMALL * whole)  # what rounding would show in
        if len(left):
            along = offsets[left] @ bases[left]
            off_plane = offsets[left] - along @ bases[left].transpose(0, 2, 1)
            squares[left] = np.einsum("ijk,ijk->i", off_plane, off_plane)
        return bases, values, np.sqrt(squares / (counts + 1))
    residual = np.empty(len(offsets))
    distances_from_planes(offsets, bases, kernel_ready(counts, np.int64), residual)
    return bases, values, residual


def leading(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return singular values (n_nodes, d) and directions (n_nodes, n_features, d)."""
    n_members, n_features = offsets.shape[1:]
    by_axes = n_features <= min(n_members, _FEW_FEATURES)
    values, bases = (_by_axes if by_axes else _by_products)(offsets, dim)
    left = np.flatnonzero(np.isnan(values[:, 0]))  # what has to be exact
    if len(left):
        values[left], bases[left] = _by_svd(offsets[left], dim)
    return values, bases


def _by_axes(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Find all axes of neighbourhoods, and return the leading ones."""
    values = np.empty((len(offsets), dim))
    bases = np.empty((len(offsets), offsets.shape[2], dim))
    principal_axes(offsets, values, bases)
    return values, bases


def _by_svd(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading ``dim`` singular values and directions."""
    # With neighbours as rows the directions are the right singular vectors.
    _, values, directions = np.linalg.svd(offsets, full_matrices=False)
    return values[:, :dim], directions[:, :dim].transpose(0, 2, 1)


def _by_products(offsets: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Do the same by the smaller of the two matrices of products, several times as quick.

    NaN marks those that would lose digits.
    """
    across = offsets.transpose(0, 2, 1)
    by_features = offsets.shape[2] <= offsets.shape[1]
    products = across @ offsets if by_features else offsets @ across
    spans = np.empty((len(offsets), dim, products.shape[1]))
    is_found = np.empty(len(offsets), dtype=bool)
    leading_subspaces(products, spans, is_found)  # by iteration, where that is quick
    spans = spans.transpose(0, 2, 1)
    left = np.flatnonzero(~is_found)
    if len(left):
        spans[left] = np.linalg.eigh(products[left])[1][:, :, -dim:]
    return _within_spans(None if by_features else offsets, products, spans)


def _within_spans(
    offsets: FloatArray | None, products: FloatArray, spans: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Find singular values and directions from the leading eigenspaces, (n_nodes, m, d).

    ``products`` are of neighbours, given their ``offsets``, or else of features.
    """
    squares, turns = np.linalg.eigh(spans.transpose(0, 2, 1) @ products @ spans)
    values = np.sqrt(np.maximum(squares[:, ::-1], 0))
    bases = spans @ turns[:, :, ::-1]
    if offsets is not None:
        scale = np.where(values > 0, values, 1)
        bases = offsets.transpose(0, 2, 1) @ (bases / scale[:, None, :])
        # One Newton step to orthonormality; what it corrects is of the size of rounding.
        overlaps = bases.transpose(0, 2, 1) @ bases
        bases = bases @ (1.5 * np.eye(overlaps.shape[1]) - 0.5 * overlaps)
    # Squares lose digits where a neighbourhood is far longer than wide, or only copies of a point.
    values[values[:, -1] <= 1e-2 * values[:, 0]] = np.nan
    return values, bases
