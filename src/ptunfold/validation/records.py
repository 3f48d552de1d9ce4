"""The records that stages hand to each other, where they come from a caller or from a file.

Kernels trust their arrays: an index out of range would end the process. What each record promises
is stated here, once, and checked in time proportional to its size. What comes back holds the same
values in the types that the kernels are compiled for.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptunfold.types import (
    BoolArray,
    Connection,
    FloatArray,
    Frames,
    Geometry,
    Graph,
    IntArray,
    kernel_ready,
)

TEXTURES = ("flat", "smooth", "noisy", "very noisy", "rough")
# Beyond these, squares and sums over paths overflow or vanish.
LARGEST, LEAST = 1e100, 1e-290
_SLACK = 1e-3  # of orthonormal vectors, from a device in 32 bits
_ROWS_TOGETHER = 1 << 14
_KINDS = {"i": ("whole numbers", "iu"), "f": ("numbers", "fiu"), "b": ("yes and no", "b")}


def check_graph(graph: Any, n_points: int | None = None, name: str = "graph") -> Graph:
    """Return a graph that keeps what :class:`ptunfold.Graph` promises, or say what it does not.

    Parameters
    ----------
    graph : Graph
        What a caller or a file calls one.
    n_points : int, optional
        The number of points that it must have.
    name : str
        What messages call it.
    """
    _check_kind(graph, Graph, name, "build one with ptunfold.build_graph or graph_from_matrix")
    if "is_checked" not in graph.__dict__:
        graph = _checked_graph(graph, name)
        graph.__dict__["is_checked"] = True  # records are frozen: once is enough
    check_same_size(n_points, graph.n_points)
    return graph


def _checked_graph(graph: Graph, name: str) -> Graph:
    starts = _array(graph.indptr, f"{name}.indptr", "i", (None,))
    heads = _array(graph.indices, f"{name}.indices", "i", (None,))
    n_points, n_edges = len(starts) - 1, len(heads)
    if n_points < 1 or starts[0] != 0 or starts[-1] != n_edges or (starts[1:] < starts[:-1]).any():
        raise ValueError(
            f"{name}.indptr does not divide {n_edges} edges among points; it has to go from 0 to "
            f"{n_edges} without a step back"
        )
    _check_range(heads, n_points, f"{name}.indices")
    ready = Graph(
        kernel_ready(starts, np.int64),
        kernel_ready(heads, np.int32),
        check_lengths(graph.lengths, f"{name}.lengths", n_edges),
    )
    names = ("indptr", "indices", "lengths")
    if any(getattr(ready, one) is not getattr(graph, one) for one in names):
        graph = ready
    # Edges sorted by (tail, head) are those sorted by (head, tail) if each has its reverse.
    turned = graph.to_sparse().tocsc()
    tails = graph.tails
    is_next = (tails[1:] != tails[:-1]) | (graph.indices[1:] > graph.indices[:-1])
    if not (
        is_next.all()
        and np.array_equal(turned.indptr, graph.indptr)
        and np.array_equal(turned.indices, graph.indices)
        and np.allclose(turned.data, graph.lengths, rtol=1e-6, atol=0)
    ):
        raise ValueError(
            f"{name} has edges that are not sorted, stand there twice, or lead back with another "
            "length or not at all; each edge has to stand there once for each direction, ascending"
        )
    if (tails == graph.indices).any():
        raise ValueError(f"{name} has edges from a point to itself; leave them out")
    return graph


def check_lengths(lengths: Any, name: str, n_edges: int | None = None) -> FloatArray:
    """Return lengths of edges: finite, none below 0, none too large or too small for squares."""
    found = kernel_ready(_array(lengths, name, "f", (n_edges,)), np.float64)
    is_fine = (found == 0) | ((found >= LEAST) & (found <= LARGEST))
    if not is_fine.all():
        wrong = found[~is_fine]
        raise ValueError(
            f"{name} has {len(wrong)} of {len(found)} values that are no lengths of edges (first "
            f"{wrong[0]:.3g}); lengths are 0 or between {LEAST:.0e} and {LARGEST:.0e}"
        )
    return found


def check_frames(frames: Any, points: tuple[int, int | None], graph: Graph) -> Frames:
    """Return frames that keep what :class:`ptunfold.Frames` promises, or say what they do not.

    Parameters
    ----------
    frames : Frames
        What a caller or a file calls them.
    points : (n_points, n_features)
        The shape of the points that they belong to; None for any number of features.
    graph : Graph
        Points without an edge in it may be without a frame.
    """
    _check_kind(frames, Frames, "frames", "make some with ptunfold.estimate_frames")
    vectors = _array(frames.vectors, "frames.vectors", "f", (None, None, None))
    points = points[0], vectors.shape[1] if points[1] is None else points[1]
    if vectors.shape[:2] != points:
        raise ValueError(
            f"frames are for points of shape {vectors.shape[:2]}, but the points have shape "
            f"{points}; pass the frames of these points"
        )
    n_points, dim = points[0], vectors.shape[2]
    if not 1 <= dim <= points[1]:
        raise ValueError(
            f"frames.vectors has frames of {dim} vectors in {points[1]} dimensions; a frame has at "
            "least one vector and no more than there are dimensions"
        )
    is_needed = np.diff(graph.indptr) > 0
    _check_orthonormal(vectors, "frames.vectors", is_needed)
    values = _array(frames.singular_values, "frames.singular_values", "f", (n_points, dim))
    residual = _array(frames.residual, "frames.residual", "f", (n_points,))
    _check_size(_known(values, is_needed), "frames.singular_values", least=-1e-6)
    _check_size(_known(residual, is_needed), "frames.residual", least=-1e-6)
    lift, is_one_sided = frames.lift, frames.is_one_sided
    if lift is not None:
        lift = kernel_ready(_array(lift, "frames.lift", "f", points), np.float64)
        _check_size(_known(lift, is_needed), "frames.lift")
    if is_one_sided is not None:
        is_one_sided = _array(is_one_sided, "frames.is_one_sided", "b", (n_points,))
    return Frames(
        kernel_ready(vectors, np.float64),
        kernel_ready(values, np.float64),
        kernel_ready(residual, np.float64),
        lift,
        is_one_sided,
        frames.n_members,
    )


def check_connection(connection: Any) -> Connection:
    """Return a connection that keeps what :class:`ptunfold.Connection` promises."""
    remedy = "make one with ptunfold.connect"
    _check_kind(connection, Connection, "connection", remedy)
    graph = check_graph(connection.graph, name="connection.graph")
    n_points, n_edges = graph.n_points, graph.n_edges
    steps = _array(connection.steps, "connection.steps", "f", (n_edges, None))
    dim = steps.shape[1]
    if dim < 1:
        raise ValueError(f"connection.steps has shape {steps.shape}, without any number; {remedy}")
    _check_size(steps, "connection.steps")
    rotations = _array(connection.rotations, "connection.rotations", "f", (n_edges, dim, dim))
    _check_orthonormal(rotations, "connection.rotations")
    coherence, points, explained = (
        connection.coherence,
        connection.points,
        connection.explained,
    )
    if coherence is not None:
        coherence = _array(coherence, "connection.coherence", "f", (n_edges,))
        _check_size(coherence, "connection.coherence", least=0, most=1)
        coherence = kernel_ready(coherence, np.float64)
    if points is not None:
        points = _array(points, "connection.points", "f", (n_points, None))
        _check_size(points, "connection.points")
        points = kernel_ready(points, np.float64)
    if explained is not None:
        explained = _array(explained, "connection.explained", "f", (n_points,))
        _check_size(explained, "connection.explained", least=0, most=1)
        explained = kernel_ready(explained, np.float64)
    return Connection(
        graph,
        kernel_ready(rotations, np.float64),
        kernel_ready(steps, np.float64),
        coherence,
        points,
        explained,
    )


def check_geometry(geometry: Geometry) -> Geometry:
    """Return a geometry from a file whose parts are sound and belong together."""
    points = _checked_points(geometry.points, "points", (None, None))
    n_points = len(points)
    surface = geometry.surface
    if surface is not geometry.points:
        surface = _checked_points(surface, "surface", points.shape)
    graph = check_graph(geometry.graph, n_points)
    connection = check_connection(geometry.connection)
    frames = check_frames(geometry.frames, points.shape, graph)
    if frames.intrinsic_dim != connection.intrinsic_dim:
        raise ValueError(
            f"frames of {frames.intrinsic_dim} dimensions do not belong to a connection of "
            f"{connection.intrinsic_dim}"
        )
    labels = _array(geometry.labels, "labels", "i", (n_points,))
    _check_range(labels, n_points, "labels", least=-1)
    if (labels[graph.tails] != labels[graph.indices]).any():
        raise ValueError("labels are not the same at both ends of each edge")
    if ((labels < 0) & (np.diff(graph.indptr) > 0)).any() or labels.max() < 0:
        raise ValueError("labels leave out points that have edges, or all points")
    shortcuts = _array(geometry.shortcuts, "shortcuts", "i", (None, 2))
    _check_range(shortcuts, n_points, "shortcuts")
    if geometry.texture is not None and geometry.texture not in TEXTURES:
        raise ValueError(f"texture {geometry.texture!r} is none of {', '.join(TEXTURES)}")
    order = geometry.order
    if order is not None:
        order = kernel_ready(_array(order, "order", "i", (n_points,)), np.int64)
        if not np.array_equal(np.sort(order), np.arange(n_points)):
            raise ValueError(f"order does not list each of {n_points} points once")
    return replace(
        geometry,
        graph=graph,
        frames=frames,
        connection=connection,
        labels=kernel_ready(labels, np.int64),
        points=points,
        surface=points if geometry.surface is geometry.points else surface,
        shortcuts=kernel_ready(shortcuts, np.int64),
        order=order,
    )


def check_coordinates(coordinates: Any, name: str, is_embedded: BoolArray) -> FloatArray:
    """Return coordinates (n_points, n_components): finite where a point is embedded, else NaN."""
    found = _checked_points(coordinates, name, (len(is_embedded), None), is_embedded)
    if found.shape[1] < 1 or not np.isnan(found[~is_embedded]).all():
        raise ValueError(f"{name} has no columns, or numbers for points that were left out")
    return found


def check_numbers(values: Any, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """Return finite numbers of a shape, in which None stands for any length."""
    found = _array(values, name, "f", shape)
    _check_size(found, name)
    return found


def check_indices(values: Any, name: str, n_points: int) -> IntArray:
    """Return a list of different points."""
    found = kernel_ready(_array(values, name, "i", (None,)), np.int64)
    _check_range(found, n_points, name)
    if len(np.unique(found)) < len(found):
        raise ValueError(f"{name} names a point twice")
    return found


def check_same_size(n_points: int | None, n_in_graph: int) -> None:
    """Check that a graph belongs to the points."""
    if n_points is not None and n_in_graph != n_points:
        raise ValueError(
            f"the graph has {n_in_graph} points, but {n_points} points were passed; "
            "pass the points that the graph was built from"
        )


def _check_kind(record: Any, kind: type, name: str, remedy: str) -> None:
    if not isinstance(record, kind):
        article = "an" if type(record).__name__[:1].lower() in "aeio" else "a"
        raise TypeError(
            f"{name} is {article} {type(record).__name__}, but a ptunfold.{kind.__name__} is "
            f"needed; {remedy}"
        )


def _array(value: Any, name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Look at an array: numbers of a kind, in a shape with None for any length."""
    array = np.asarray(value)
    words, kinds = _KINDS[kind]
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} holds values of type {array.dtype}; {words} are needed")
    if array.ndim != len(shape) or any(
        wanted is not None and wanted != found
        for wanted, found in zip(shape, array.shape, strict=False)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} has shape {array.shape}; it has to be ({wanted})")
    return array


def _known(values: FloatArray, is_needed: BoolArray) -> FloatArray:
    """Leave out the rows of points that need none and have none."""
    return values[is_needed | ~np.isnan(values.reshape(len(values), -1)).all(axis=1)]


def _check_range(indices: IntArray, n_points: int, name: str, least: int = 0) -> None:
    if indices.size and not (indices.min() >= least and indices.max() < n_points):
        wrong = indices[(indices < least) | (indices >= n_points)]
        raise ValueError(
            f"{name} names {len(wrong)} times a point that does not exist (first {wrong[0]}); the "
            f"indices go from {least} to {n_points - 1}"
        )


def _check_size(
    values: FloatArray, name: str, *, least: float = -LARGEST, most: float = LARGEST
) -> None:
    # Comparisons with NaN are false.
    if values.size and not (values.min() >= least and values.max() <= most):
        wrong = values[~((values >= least) & (values <= most))]
        raise ValueError(
            f"{name} has {len(wrong)} of {values.size} values that are NaN or not between "
            f"{least:.3g} and {most:.3g} (first {wrong[0]:.3g})"
        )


def _checked_points(
    values: Any, name: str, shape: tuple[int | None, ...], is_there: BoolArray | None = None
) -> FloatArray:
    found = _array(values, name, "f", shape)
    if found.dtype not in (np.float32, np.float64) or not found.size:
        raise ValueError(f"{name} of shape {found.shape} and type {found.dtype} are no points")
    most = 1e16 if found.dtype == np.float32 else 1e61
    _check_size(found if is_there is None else found[is_there], name, least=-most, most=most)
    return kernel_ready(found, found.dtype)


def _check_orthonormal(matrices: FloatArray, name: str, is_needed: BoolArray | None = None) -> None:
    """Check that the columns of each matrix are orthonormal, in blocks to spare memory."""
    columns = range(matrices.shape[2])
    with np.errstate(all="ignore"):
        for start in range(0, len(matrices), _ROWS_TOGETHER):
            block = matrices[start : start + _ROWS_TOGETHER]
            gaps = np.zeros(len(block))
            for one, other in combinations_with_replacement(columns, 2):
                # Ten times as fast as products of small matrices.
                product = np.einsum("ni,ni->n", block[:, :, one], block[:, :, other])
                np.maximum(gaps, np.abs(product - (one == other)), out=gaps)
            is_wrong = ~(gaps <= _SLACK)
            if is_needed is not None:
                is_none = np.isnan(block).all(axis=(1, 2))
                is_wrong &= is_needed[start : start + _ROWS_TOGETHER] | ~is_none
            if is_wrong.any():
                first = start + int(is_wrong.argmax())
                rest = "" if is_needed is None else "; points without an edge may have none"
                raise ValueError(
                    f"{name}[{first}] is not finite, or its columns are no unit vectors at right "
                    f"angles{rest}"
                )
