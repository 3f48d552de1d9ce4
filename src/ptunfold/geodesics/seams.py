"""Where a sheet closes upon itself: which of its loops are seams, and what each seam does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ptunfold.geodesics.coarsening import gather
from ptunfold.geodesics.loops import Group, around_voids, group_loops, independent, unroll
from ptunfold.geodesics.periods import fit_periods
from ptunfold.kernels.cones import mark_one_sided
from ptunfold.kernels.development import Unfolding
from ptunfold.kernels.trees import Tree
from ptunfold.types import BoolArray, Connection, FloatArray, Graph, Seam, Topology

# Of the length of a loop, how far it carries its ends apart: 0 around a hole in a flat sheet, 1
# around a cylinder with any noise, 0.64 around a cone whose rim is half as long as that of a disk.
_CLOSED = 0.5
# Of what is carried over the weakest edge of the best loops: 0.9 and more around cylinders, 0 to
# 0.8 where a loop jumps from one winding of a roll to the next.
_TRUSTED = 0.85
# Edges across a seam, in units of n^(1 - 1/d): 2 and more; those that jump are fewer. Cells have a
# quarter as many neighbours as points, which are half as far away.
_LEAST_SEAM, _LEAST_SEAM_OF_CELLS = 0.5, 0.15
# Of points at a rim, in units of n^(1 - 1/d): 0.4 and more on sheets, up to 0.1 without a rim; of
# more than two dimensions up to 0.25, because neighbours are few for so many directions.
_RIM, _SOLID_RIM, _ONE_SIDE = 0.25, 0.35, -0.2
# Of how far it carries, by how much the motion of a seam may differ along it and still be a shift.
_SHIFT = 0.25
_NEARLY_ALL = 0.9
# More points are put into cells, which have no voids between them, as nearest neighbours do.
_MOST_POINTS, _N_CELLS = 50_000, 10_000
# Of what is carried from edge to edge: enough to believe motions; and where all directions close by
# shifts and there is no rim, which no rough data do by chance.
_COHERENT, _COHERENT_TORUS = 0.75, 0.6
# Of edges, what lines explain: 0.94 and more on curves, 0.45 and less on sheets and lumps.
_ALONG_A_CURVE = 0.7
# Of points that are next to each other in a coordinate, those that have no neighbour in common: 0
# along a curve, a third and more where it parts into three alike, a tenth for a short branch.
_BRANCHING = 0.05


def find_topology(connection: Connection, n_jobs: int | None = None) -> Topology:
    """Find where a connected sheet closes upon itself, and how.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of a connected graph.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

    Examples
    --------
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> from ptunfold.datasets import flat_torus
    >>> points = flat_torus(1000).points
    >>> graph = build_graph(points, 20)
    >>> connection = connect(points, graph, estimate_frames(points, graph))
    >>> print(find_topology(connection).name)
    a torus
    """
    return find_from(connection, unroll(connection), None, n_jobs)


def find_from(
    connection: Connection, unrolled: Unfolding, is_match: BoolArray | None, n_jobs: int | None
) -> Topology:
    """Find the topology of a connected graph that was unrolled.

    With the edges that match, (n_edges,), what has to be cut is found soon: holes are not counted,
    and periods are as the paths from one point have them.
    """
    if connection.graph.n_points <= _MOST_POINTS:
        return _find_among(connection, unrolled, n_jobs, is_match)[0]
    cells = gather(connection, _N_CELLS)
    unrolled = unroll(cells.coarse)
    found, turns = _find_among(cells.coarse, unrolled, n_jobs, of_cells=True)
    found = cells.spread(found, turns)
    return replace(found, is_sure=planes_agree(connection, _is_torus(found)))


def _find_among(
    connection: Connection,
    unrolled: Unfolding,
    n_jobs: int | None,
    is_match: BoolArray | None = None,
    *,
    of_cells: bool = False,
) -> tuple[Topology, FloatArray]:
    """Find the topology of a connected graph of points or of cells that was unrolled.

    Returns the turns from the frames of points to that of their places too, (n_points, d, d).
    """
    graph, dim = connection.graph, connection.intrinsic_dim
    n_around = around_voids(graph, dim)
    # Where frames are unsure, an edge may end where it leads by chance.
    known = is_match if connection.coherence is None else None
    groups, relations = group_loops(connection, unrolled, known, n_around, n_jobs)
    if dim > 1:
        has_rim = ends_somewhere(connection, of_cells=of_cells)
    else:
        has_rim = not _is_ring(groups, unrolled.outward)
    found = [groups[place] for place in independent(groups, relations)]
    closing = [group for group in groups if _closes(group, dim, has_rim)]
    least = (_LEAST_SEAM_OF_CELLS if of_cells else _LEAST_SEAM) * graph.n_points ** (1 - 1 / dim)
    seams = [group for group in found if group in closing and len(group.edges) >= least]
    across = [group.edges for group in closing]
    edges = np.concatenate(across) if seams else np.empty(0, dtype=np.int64)
    torn = np.column_stack((graph.tails[edges], graph.indices[edges]))
    told = [_seam(group, graph, unrolled.tree) for group in seams]
    topology = Topology(
        tuple(told),
        dim=dim,
        has_rim=has_rim,
        is_orientable=all(np.linalg.det(group.turn) > 0 for group in groups),
        n_holes=len(found) - len(seams) if has_rim else 0,
        edges=torn,
        where=unrolled.outward,
    )
    turns = unrolled.turns
    is_solid = dim > 2 and bool(seams) and all(seam.kind == "period" for seam in told)
    if is_solid and is_match is None:
        topology, turns = _fitted_to_all_edges(topology, connection, unrolled, groups, seams)
    is_sure = planes_agree(connection, _is_torus(topology))
    is_branching = is_sure and dim == 1 and not seams and _branches(graph, unrolled.outward)
    return replace(topology, is_sure=is_sure, is_branching=is_branching), turns


def _closes(group: Group, dim: int, has_rim: bool) -> bool:
    """Tell whether a loop goes around more than a hole, which a surface without a rim has not."""
    is_turned_over = np.linalg.det(group.turn) < 0
    if dim == 1:  # a ring goes on as it came; a track that crosses itself may come back turned
        return group.closing >= _CLOSED and not is_turned_over
    # Around a hole left stays left.
    is_loop = group.closing >= _CLOSED or is_turned_over
    return not has_rim or (is_loop and group.trust >= _TRUSTED)


def _is_torus(topology: Topology) -> bool:
    """Tell whether all directions close, each by a shift."""
    n_shifts = sum(seam.kind == "period" for seam in topology.seams)
    return not topology.has_rim and n_shifts == len(topology.seams) == topology.dim


def ends_somewhere(connection: Connection, *, of_cells: bool = False) -> bool:
    """Tell whether there are more points at a rim than by chance."""
    dim = connection.intrinsic_dim
    # Where neighbours are few for the directions there are, some points lack one anywhere, but not
    # next to each other.
    n_beside = 2 if dim > 2 else int(of_cells)
    return length_of_rim(connection, n_beside) > (_RIM if dim == 2 else _SOLID_RIM)


def length_of_rim(connection: Connection, n_beside: int = 0) -> float:
    """Count points that have all neighbours on one side, in units of n^(1 - 1/d).

    So many of their neighbours have to be such points too.
    """
    graph, dim = connection.graph, connection.intrinsic_dim
    is_rim = np.empty(graph.n_points, dtype=bool)
    mark_one_sided(graph.indptr, connection.steps, _ONE_SIDE, is_rim)
    if n_beside:
        is_rim &= np.bincount(graph.tails, is_rim[graph.indices], graph.n_points) >= n_beside
    return float(np.count_nonzero(is_rim) / graph.n_points ** (1 - 1 / dim))


def planes_agree(connection: Connection, is_torus: bool) -> bool:
    """Tell whether motions can be believed: frames agree, and a curve is one."""
    kept, explained = connection.coherence, connection.explained
    is_curve = connection.intrinsic_dim == 1
    if is_curve and explained is not None and explained.mean() < _ALONG_A_CURVE:
        return False
    least = _COHERENT_TORUS if is_torus and not is_curve else _COHERENT
    return kept is None or bool(kept.mean() >= least)


def _is_ring(groups: list[Group], where: FloatArray) -> bool:
    """Tell whether a loop of a curve, (n_points, 1) from its middle, is all of it."""
    periods = [float(np.linalg.norm(group.gaps, axis=1).mean()) for group in groups]
    return max(periods, default=0.0) > _NEARLY_ALL * float(np.ptp(where))


def _branches(graph: Graph, where: FloatArray) -> bool:
    """Tell whether points of a curve that are next to each other in ``where`` (n, 1) are not so."""
    _, one_each = np.unique(where[:, 0], return_index=True)  # of copies
    near = graph.to_sparse()
    near.data[:] = 1
    near = (near + sparse.eye_array(graph.n_points)).tocsr()[one_each]
    in_common = near[:-1].multiply(near[1:]).sum(axis=1)
    return bool(np.count_nonzero(in_common == 0) > _BRANCHING * len(in_common))


def _seam(group: Group, graph: Graph, tree: Tree) -> Seam:
    """Tell what a seam does to those who cross it."""
    gaps, dim = group.gaps, len(group.shift)
    mean = gaps.mean(axis=0)
    spread = np.linalg.norm(gaps - mean, axis=1).mean()
    turn, shift = group.turn, group.shift
    along = gaps[group.loops <= np.quantile(group.loops, 0.1)]
    if np.linalg.det(turn) < 0:
        kind = "glide"
        if group.misfit <= _SHIFT * np.linalg.norm(gaps, axis=1).mean():
            values, vectors = np.linalg.eigh((turn + turn.T) / 2)
            along = gaps @ vectors[:, values > 0.5]  # what a reflection leaves as it is
    elif spread <= _SHIFT * np.linalg.norm(mean):
        kind, turn, shift, along = "period", np.eye(dim), mean, gaps
    else:
        kind = "turn"
    lengths = np.linalg.norm(along, axis=1)
    shortest = int(group.loops.argmin())
    ends = (graph.tails[group.edges[shortest]], graph.indices[group.edges[shortest]])
    there, back = (_way_to_root(graph, tree, int(node)) for node in ends)
    return Seam(
        kind,
        edges=np.column_stack((graph.tails[group.edges], graph.indices[group.edges])),
        turn=turn,
        shift=shift,
        length=float(lengths.mean()),
        std=float(lengths.std()),
        loop=np.array([*there[::-1], *back]),
        loop_length=float(group.loops[shortest]),
        closing=group.closing,
        trust=group.trust,
    )


def _fitted_to_all_edges(
    topology: Topology,
    connection: Connection,
    unrolled: Unfolding,
    groups: list[Group],
    seams: list[Group],
) -> tuple[Topology, FloatArray]:
    """Measure shifts by all edges of a solid: of its long steps one path has many that err.

    Returns the turns of points too, (n_points, d, d): what is curved stays as it was unrolled.
    """
    graph = connection.graph
    windings = _windings(graph, groups, seams)
    laid = fit_periods(
        connection, unrolled, windings, np.array([one.shift for one in topology.seams])
    )
    is_flat = _is_torus(topology)
    told = []
    for seam, group, period in zip(topology.seams, seams, laid.periods, strict=True):
        gaps = laid.seen[group.edges] - laid.places[graph.indices[group.edges]]
        length, std = float(np.linalg.norm(period)), float(np.linalg.norm(gaps, axis=1).std())
        shift = period if is_flat else length / np.linalg.norm(seam.shift) * seam.shift
        told.append(replace(seam, shift=shift, length=length, std=std))
    where, turns = (laid.places, laid.turns) if is_flat else (topology.where, unrolled.turns)
    return replace(topology, seams=tuple(told), where=where), turns


def _windings(graph: Graph, groups: list[Group], seams: list[Group]) -> FloatArray:
    """Count how often edges go across each seam, (n_edges, n_seams); NaN where gaps do not tell."""
    windings = np.zeros((graph.n_edges, len(seams)))
    periods = np.array([group.gaps.mean(axis=0) for group in seams])
    near = _SHIFT * np.linalg.norm(periods, axis=1).min()
    for group in groups:
        if group in seams:
            around = np.eye(len(seams))[seams.index(group)]
        else:
            mean = group.gaps.mean(axis=0)
            around = np.linalg.lstsq(periods.T, mean, rcond=None)[0].round()
            if np.linalg.norm(group.gaps - around @ periods, axis=1).mean() > near:
                around[:] = np.nan
        windings[group.edges], windings[graph.reverse[group.edges]] = around, -around
    return windings


def _way_to_root(graph: Graph, tree: Tree, node: int) -> list[int]:
    way = [node]
    while tree.parent_edge[way[-1]] >= 0:
        way.append(int(graph.tails[tree.parent_edge[way[-1]]]))
    return way
