"""The records that stages hand to each other, where they come from a caller or from a file.

Kernels trust their arrays: an index out of range would end the process. What each record promises
is stated here, once, and checked in time proportional to its size. What comes back holds the same
values in the types that the kernels are compiled for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ptunfold.types import (
    BoolArray,
    Connection,
    FloatArray,
    Frames,
    Geometry,
    Graph,
    IntArray,
    Seen,
    kernel_ready,
    pair_keys,
)
from ptunfold.validation.shapes import (
    LARGEST,
    LEAST,
    check_orthonormal,
    check_range,
    check_size,
    look_at,
)

Record = TypeVar("Record")
LARGEST_SQUARE = LARGEST**2
_OF_CURVATURE = {"least": -LARGEST_SQUARE, "most": LARGEST_SQUARE}  # lengths to the power of -2
TEXTURES = ("flat", "smooth", "noisy", "very noisy", "rough")


def known_good(record: Record) -> Record:
    """Mark a record that is right because of how it was made: nobody has to look at it."""
    record.__dict__["is_checked"] = True
    return record


def is_known_good(record: Any) -> bool:
    """Tell whether a record was looked at: it is frozen, and once is enough."""
    return "is_checked" in record.__dict__


def check_graph(graph: Any, n_points: int | None = None, name: str = "graph") -> Graph:
    """Return a graph that keeps what :class:`ptunfold.Graph` promises, or say what it does not."""
    _check_kind(graph, Graph, name, "build one with ptunfold.build_graph or graph_from_matrix")
    if not is_known_good(graph):
        graph = known_good(_checked_graph(graph, name))
    check_same_size(n_points, graph.n_points)
    return graph


def _checked_graph(graph: Graph, name: str) -> Graph:
    starts = look_at(graph.indptr, f"{name}.indptr", "i", (None,))
    heads = look_at(graph.indices, f"{name}.indices", "i", (None,))
    n_points, n_edges = len(starts) - 1, len(heads)
    if n_points < 1 or starts[0] != 0 or starts[-1] != n_edges or (starts[1:] < starts[:-1]).any():
        raise ValueError(
            f"{name}.indptr does not divide {n_edges} edges among points; it has to go from 0 to "
            f"{n_edges} without a step back"
        )
    check_range(heads, n_points, f"{name}.indices")
    ready = Graph(
        kernel_ready(starts, np.int64),
        kernel_ready(heads, np.int32),
        check_lengths(graph.lengths, f"{name}.lengths", n_edges),
        _check_pairs(graph.bridges, n_points, f"{name}.bridges"),
    )
    graph = _same_or(graph, ready)
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
    _check_among(graph.bridges, graph, f"{name}.bridges")
    return graph


def _check_pairs(pairs: Any, n_points: int, name: str) -> IntArray | None:
    if pairs is None:
        return None
    found = kernel_ready(look_at(pairs, name, "i", (None, 2)), np.int64)
    check_range(found, n_points, name)
    return found


def _check_among(pairs: IntArray | None, graph: Graph, name: str) -> None:
    if pairs is not None:
        keys = pair_keys(graph.n_points, graph.tails, graph.indices)
        if not np.isin(pair_keys(graph.n_points, *pairs.T), keys).all():
            raise ValueError(f"{name} are not all among its edges; leave out the others")


def check_lengths(lengths: Any, name: str, n_edges: int | None = None) -> FloatArray:
    """Return lengths of edges: finite, none below 0, none too large or too small for squares."""
    found = kernel_ready(look_at(lengths, name, "f", (n_edges,)), np.float64)
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

    ``points`` is the shape of the points that they belong to, None for any number of features;
    points without an edge may be without a frame.
    """
    _check_kind(frames, Frames, "frames", "make some with ptunfold.estimate_frames")
    vectors = look_at(frames.vectors, "frames.vectors", "f", (None, None, None))
    members = frames.members
    if members is not None:  # which stand for features
        points = points[0], vectors.shape[1]
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
    if members is None:
        check_orthonormal(vectors, "frames.vectors", is_needed)
    else:
        members = kernel_ready(look_at(members, "frames.members", "i", points), np.int64)
        check_range(members, n_points, "frames.members")
        _numbers(frames, "vectors", (*points, dim), is_needed)
    is_one_sided = frames.is_one_sided
    if is_one_sided is not None:
        is_one_sided = look_at(is_one_sided, "frames.is_one_sided", "b", (n_points,))
    return Frames(
        kernel_ready(vectors, np.float64),
        _numbers(frames, "singular_values", (n_points, dim), is_needed, least=-1e-6),
        _numbers(frames, "residual", (n_points,), is_needed, least=-1e-6),
        _numbers(frames, "lift", points, is_needed),
        is_one_sided,
        frames.n_members,
        _numbers(frames, "curvature", (n_points,), is_needed, **_OF_CURVATURE),
        members,
        _numbers(frames, "negative", (n_points,), is_needed),
    )


def check_connection(connection: Any) -> Connection:
    """Return a connection that keeps what :class:`ptunfold.Connection` promises."""
    remedy = "make one with ptunfold.connect"
    _check_kind(connection, Connection, "connection", remedy)
    if not is_known_good(connection):
        connection = known_good(_same_or(connection, _checked_connection(connection, remedy)))
    checked: Connection = connection
    return checked


def _same_or(record: Any, ready: Any) -> Any:
    """Return a record itself if what is ready for the kernels is nothing else."""
    fields = type(record).__dataclass_fields__
    is_same = all(getattr(record, name) is getattr(ready, name) for name in fields)
    return record if is_same else ready


def _checked_connection(connection: Connection, remedy: str) -> Connection:
    graph = check_graph(connection.graph, name="connection.graph")
    n_points, n_edges = graph.n_points, graph.n_edges
    steps = _numbers(connection, "steps", (n_edges, None))
    dim = steps.shape[1]
    if dim < 1:
        raise ValueError(f"connection.steps has shape {steps.shape}, without any number; {remedy}")
    rotations = look_at(connection.rotations, "connection.rotations", "f", (n_edges, dim, dim))
    check_orthonormal(rotations, "connection.rotations")
    if connection.coherence is not None and connection.curvature is not None:
        raise ValueError(
            "connection has coherence and curvature, but with curvature everything is carried on; "
            "leave one of them out"
        )
    return Connection(
        graph,
        kernel_ready(rotations, np.float64),
        steps,
        _numbers(connection, "coherence", (n_edges,), least=0, most=1),
        _numbers(connection, "points", (n_points, None)),
        _numbers(connection, "explained", (n_points,), least=0, most=1),
        _numbers(connection, "curvature", (n_points,), None, **_OF_CURVATURE),
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
    labels = look_at(geometry.labels, "labels", "i", (n_points,))
    check_range(labels, n_points, "labels", least=-1)
    if (labels[graph.tails] != labels[graph.indices]).any():
        raise ValueError("labels are not the same at both ends of each edge")
    if ((labels < 0) & (np.diff(graph.indptr) > 0)).any() or labels.max() < 0:
        raise ValueError("labels leave out points that have edges, or all points")
    shortcuts = look_at(geometry.shortcuts, "shortcuts", "i", (None, 2))
    check_range(shortcuts, n_points, "shortcuts")
    if geometry.texture is not None and geometry.texture not in TEXTURES:
        raise ValueError(f"texture {geometry.texture!r} is none of {', '.join(TEXTURES)}")
    order = geometry.order
    if order is not None:
        order = kernel_ready(look_at(order, "order", "i", (n_points,)), np.int64)
        if not np.array_equal(np.sort(order), np.arange(n_points)):
            raise ValueError(f"order does not list each of {n_points} points once")
    seen = None if geometry.seen is None else _checked_seen(geometry.seen, graph, connection)
    torn = _check_pairs(geometry.torn, n_points, "torn")
    _check_among(torn, graph, "torn")
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
        torn=torn,
        seen=seen,
    )


def _checked_seen(seen: Seen, graph: Graph, connection: Connection) -> Seen:
    members = kernel_ready(look_at(seen.members, "seen.members", "i", (None, None)), np.int64)
    check_range(members, graph.n_points, "seen.members")
    n_points, width = graph.n_points, members.shape[1]
    squares = _numbers(seen, "squares", (n_points, width), least=0)
    extent = check_numbers(np.atleast_1d(seen.extent), "seen.extent", (1,))
    n_off = look_at(np.atleast_1d(seen.n_off), "seen.n_off", "i", (1,))
    check_range(n_off, 1 << 31, "seen.n_off", least=1)
    return Seen(
        members,
        _numbers(seen, "shares", (n_points, width, connection.intrinsic_dim)),
        squares,
        _numbers(seen, "turned", (graph.n_edges,)),
        _numbers(seen, "moved", (n_points,), least=0),
        float(extent[0]),
        int(n_off[0]),
    )


def check_coordinates(coordinates: Any, name: str, is_embedded: BoolArray) -> FloatArray:
    """Return coordinates (n_points, n_components): finite where a point is embedded, else NaN."""
    found = _checked_points(coordinates, name, (len(is_embedded), None), is_embedded)
    if found.shape[1] < 1 or not np.isnan(found[~is_embedded]).all():
        raise ValueError(f"{name} has no columns, or numbers for points that were left out")
    return found


def check_numbers(
    values: Any, name: str, shape: tuple[int | None, ...], most: float = LARGEST
) -> FloatArray:
    """Return finite numbers of a shape, in which None stands for any length."""
    found = look_at(values, name, "f", shape)
    check_size(found, name, least=-most, most=most)
    return found


def check_indices(values: Any, name: str, n_points: int) -> IntArray:
    """Return a list of different points."""
    found = kernel_ready(look_at(values, name, "i", (None,)), np.int64)
    check_range(found, n_points, name)
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


def _checked_points(
    values: Any, name: str, shape: tuple[int | None, ...], is_there: BoolArray | None = None
) -> FloatArray:
    found = look_at(values, name, "f", shape)
    if found.dtype not in (np.float32, np.float64) or not found.size:
        raise ValueError(f"{name} of shape {found.shape} and type {found.dtype} are no points")
    most = 1e16 if found.dtype == np.float32 else 1e61
    known = found if is_there is None else found[is_there]
    check_size(known, name, least=-most, most=most)
    spread = known.max(axis=0, initial=-most).astype(np.float64) - known.min(axis=0, initial=most)
    if 0 < (extent := spread.max(initial=0)) < 1 / most:
        raise ValueError(
            f"{name} are {extent:.3g} across, too little for squares in {found.dtype}; points that "
            "were fitted are not"
        )
    return kernel_ready(found, found.dtype)


def _numbers(
    record: Any,
    name: str,
    shape: tuple[int | None, ...],
    is_needed: BoolArray | None = None,
    **bounds: float,
) -> Any:
    """Return the numbers of a record, if it has them, as kernels want them.

    Where none are needed, (n_points,), rows of NaN will do.
    """
    is_optional = record.__dataclass_fields__[name].default is None
    if is_optional and getattr(record, name) is None:
        return None
    full_name = f"{type(record).__name__.lower()}.{name}"
    found = known = look_at(getattr(record, name), full_name, "f", shape)
    if is_needed is not None:
        known = found[is_needed | ~np.isnan(found.reshape(len(found), -1)).all(axis=1)]
    check_size(known, full_name, **bounds)
    return kernel_ready(found, np.float64)
