"""Whether data that close upon themselves are cut open, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ptunfold.caller import warn
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geodesics.loops import matching_edges, unroll
from ptunfold.geodesics.seams import (
    ends_somewhere,
    find_from,
    find_topology,
    length_of_rim,
    planes_agree,
)
from ptunfold.geometry.graph import without_bridges
from ptunfold.types import Connection, Geometry, IntArray, Topology
from ptunfold.types.sheet import without_edges

# Of fewer points than 50 on a curve, 200 on a surface, loops are too short to tell.
_LEAST_POINTS, _AND_MORE = 50, 4
# Of a period, its spread along the seam. Flat data have 0.1 % and less, with 3 % of noise up to
# 2 %; molecules 3 %, a torus of revolution 16 %, a Klein bottle in four dimensions 25 %.
_SAME, _ALIKE = 0.01, 0.05


def cut_open(
    geometry: Geometry,
    n_components: int,
    seams: str,
    is_flatter: Callable[[Connection, Connection], bool],
    n_jobs: int | None = None,
) -> Geometry:
    """Tear the edges across the seams of data that close upon themselves, and say so.

    With "auto" that is done if a picture of ``n_components`` dimensions has no room for another one
    for each loop that closes. Periods that are not the same wherever a seam is crossed are those of
    curved sheets: then ``is_flatter`` has to find the sheet with the cut, the second one, so.
    """
    torn: list[IntArray] = [np.empty((0, 2), dtype=np.int64)]
    if seams == "leave":
        return geometry
    for nodes, part, topology in _topologies(geometry, n_jobs):
        has_room = n_components >= topology.dim + len(topology.seams)
        if topology.dim == 2 == n_components and not (topology.seams or topology.has_rim):
            warn(
                f"the data are closed like {topology.name}, which no flat map can show whole; "
                "distances() are right, but the embedding folds: pass n_components=3"
            )
        elif topology.seams and (seams == "cut" or not has_room):
            is_same = all(seam.std <= _SAME * seam.length for seam in topology.seams)
            is_worth_it = seams == "cut" or is_same
            if not (is_worth_it or is_flatter(part, without_edges(part, topology.edges))):
                warn(
                    f"the sheet {topology}, but is curved, so that no cut lays it flat: the "
                    f"embedding folds; pass n_components={topology.dim + len(topology.seams)} for "
                    'more room, or seams="cut" or "leave" to have it so without this warning'
                )
                continue
            torn.append(nodes[topology.edges])
            if seams == "auto":
                warn(
                    f"the sheet {topology} and is cut open there: neighbours across the seam are "
                    'far apart in the embedding (see topology_ and images); pass seams="cut" to '
                    'have it so without this warning, or "leave" to fold the sheet'
                )
    return replace(geometry, torn=np.concatenate(torn))


def least_points(dim: int) -> int:
    """Tell of how many points on loops are looked for."""
    return _LEAST_POINTS * _AND_MORE ** (dim - 1)


def closes(geometry: Geometry, n_jobs: int | None = None) -> bool:
    """Tell whether some part of the data surely closes upon itself."""
    return any(topology.seams for *_, topology in _topologies(geometry, n_jobs))


def must_fold(geometry: Geometry, n_jobs: int | None = None) -> bool:
    """Tell whether no picture can show some part: it has no rim, or closes as flat data do.

    These have nearly the same period everywhere.
    """
    return any(
        not topology.has_rim
        or (topology.seams and all(seam.std <= _ALIKE * seam.length for seam in topology.seams))
        for *_, topology in _topologies(geometry, n_jobs)
    )


def has_no_rim(geometry: Geometry) -> bool:
    """Tell whether most of the data are a surface that ends nowhere, as spheres and tori do."""
    return any(not ends_somewhere(part) for part in _largest(geometry))


def length_of_most_rim(geometry: Geometry) -> float:
    """Count points at the rim of most of the data, as `length_of_rim`; curves have no end of it."""
    return max((length_of_rim(part) for part in _largest(geometry)), default=np.inf)


def _largest(geometry: Geometry) -> Iterator[Connection]:
    """Take out the part that holds most of the points, if it is of two dimensions and more."""
    for _, part in _parts(geometry, len(geometry.labels) // 2 + 1):
        if part.intrinsic_dim > 1:
            yield part


def _topologies(
    geometry: Geometry, n_jobs: int | None
) -> Iterator[tuple[IntArray, Connection, Topology]]:
    """Find the topology of each part that is large enough and lies not flat, where it is sure."""
    least = least_points(geometry.connection.intrinsic_dim)
    for nodes, part in _parts(geometry, least):
        if not planes_agree(part, is_torus=True):
            continue
        unrolled = unroll(part)
        is_match = matching_edges(part, unrolled, n_jobs)
        if is_match.all():  # nothing closes, whatever holes there are
            continue
        topology = find_from(part, unrolled, is_match, n_jobs)
        if topology.is_sure:
            yield nodes, part, topology


def topology_of(geometry: Geometry) -> Topology:
    """Find the topology of the largest part, in the caller's numbers."""
    nodes, part = next(_parts(geometry, 1))
    found = find_topology(part, n_jobs=1)
    nodes = geometry.to_input(nodes)
    where = np.full((len(geometry.labels), found.dim), np.nan)
    where[nodes] = found.where
    seams = tuple(
        replace(seam, edges=nodes[seam.edges], loop=nodes[seam.loop]) for seam in found.seams
    )
    return replace(found, seams=seams, edges=nodes[found.edges], where=where)


def _parts(geometry: Geometry, least: int) -> Iterator[tuple[IntArray, Connection]]:
    """Take out each part of enough points that is joined without bridges."""
    # A curve of several pieces is one all the same.
    is_curve = geometry.connection.intrinsic_dim == 1
    graph = geometry.graph if is_curve else without_bridges(geometry.graph)
    labels = graph.component_labels
    for label, count in enumerate(np.bincount(labels)):
        if count < least:
            continue
        nodes = np.flatnonzero(labels == label)
        yield nodes, restrict(geometry.connection, nodes)
