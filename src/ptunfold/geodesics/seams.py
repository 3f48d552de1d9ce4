"""Where a sheet closes upon itself: loops that cannot be drawn together, and what they do.

All paths from one central point are unfolded into its tangent space, which gives every point u a
place y_u and a turn Q_u. An edge u → v closes a loop with the paths to its ends. Carried around it,
the tangent space comes back moved: by the turn H = Q_u R_uv Q_vᵗ and the shift
t = y_u + Q_u s_uv - H y_v. On a flat sheet that is nothing for loops that can be drawn together,
and the same motion, a deck transformation, for all loops that can be drawn over each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptunfold.geodesics.coarsening import gather
from ptunfold.geodesics.paths import unfold
from ptunfold.geodesics.periods import fit_periods
from ptunfold.geometry.coherence import carried_shares
from ptunfold.geometry.connection import nearest_rotations
from ptunfold.kernels.cones import mark_one_sided
from ptunfold.kernels.development import Unfolding, look_across, mark_matches
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.trees import Tree, least_along, lengths_from, mark_ways
from ptunfold.kernels.zipping import (
    Zipper,
    join_open_edges,
    shut_short_loops,
    triangles_of_open_edges,
    zip_up,
)
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import (
    BoolArray,
    Connection,
    FloatArray,
    Graph,
    IntArray,
    Seam,
    Topology,
)

# Where the end of an edge is off by less than half of one, no loop is shifted, which is by three;
# squares of edges, and of radians.
_APART, _TURNED, _EDGES_TOGETHER = 0.25, 0.09, 1 << 16
# A loop of so many edges and one may be a void between points at random: of few points, where
# loops are short, or of more than two dimensions; with 18 neighbours or more; with fewer.
_AROUND_SMALL_VOID, _AROUND_VOID, _AROUND_LARGE_VOID = 5, 6, 9
_FEW_POINTS, _MANY = 600, 18
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
_MOST_TRIANGLES = 1 << 16
_LOOPS = 25  # of those over which edges can be trusted, so many are enough to tell
# More points are put into cells, which have no voids between them, as nearest neighbours do.
_MOST_POINTS, _N_CELLS = 50_000, 10_000
# Of what is carried from edge to edge: enough to believe motions; and where all directions close by
# shifts and there is no rim, which no rough data do by chance.
_COHERENT, _COHERENT_TORUS = 0.75, 0.6
# Of edges, what lines explain: 0.94 and more on curves, 0.45 and less on sheets and lumps.
_ALONG_A_CURVE = 0.7


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
    n_around = _around_voids(graph, dim)
    # Where frames are unsure, an edge may end where it leads by chance.
    known = is_match if connection.coherence is None else None
    groups, relations = _group(connection, unrolled, known, n_around, n_jobs)
    has_rim = _has_rim(connection, of_cells) if dim > 1 else not _is_ring(groups, unrolled.outward)
    found = [groups[place] for place in _independent(groups, relations)]
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
    return replace(topology, is_sure=planes_agree(connection, _is_torus(topology))), turns


def _closes(group: _Group, dim: int, has_rim: bool) -> bool:
    """Tell whether a loop goes around more than a hole, which a surface without a rim has not."""
    if dim == 1:
        return group.closing >= _CLOSED
    # Around a hole left stays left.
    is_loop = group.closing >= _CLOSED or np.linalg.det(group.turn) < 0
    return not has_rim or (is_loop and group.trust >= _TRUSTED)


def _is_torus(topology: Topology) -> bool:
    """Tell whether all directions close, each by a shift."""
    n_shifts = sum(seam.kind == "period" for seam in topology.seams)
    return not topology.has_rim and n_shifts == len(topology.seams) == topology.dim


def planes_agree(connection: Connection, is_torus: bool) -> bool:
    """Tell whether motions can be believed: frames agree, and a curve is one."""
    kept, explained = connection.coherence, connection.explained
    is_curve = connection.intrinsic_dim == 1
    if is_curve and explained is not None and explained.mean() < _ALONG_A_CURVE:
        return False
    least = _COHERENT_TORUS if is_torus and not is_curve else _COHERENT
    return kept is None or bool(kept.mean() >= least)


def unroll(connection: Connection, root: int | None = None) -> Unfolding:
    """Unfold all paths from a point, by default in the middle, of a connected graph, whole."""
    graph = connection.graph
    if root is None:
        # From where points are sparsest, so that their order does not matter.
        apart = np.bincount(graph.tails, graph.lengths, graph.n_points)
        first = lengths_from(graph, int(apart.argmax()))
        one = lengths_from(graph, int(first.argmax()))
        other = lengths_from(graph, int(one.argmax()))
        root = int(np.maximum(one, other).argmin())
    return unfold(replace(connection, coherence=None), root)


def _around_voids(graph: Graph, dim: int) -> int:
    """Tell how many edges lead around a void between points at random."""
    if dim > 2 or graph.n_points < _FEW_POINTS:
        return _AROUND_SMALL_VOID
    is_thin = graph.n_edges < _MANY * graph.n_points
    return _AROUND_LARGE_VOID if is_thin else _AROUND_VOID


def matching_edges(
    connection: Connection, unrolled: Unfolding, n_jobs: int | None = None
) -> BoolArray:
    """Mark the edges that end where they lead, and as they lead there, (n_edges,).

    Their loops through the root move nothing: there is nothing in them, or a hole in a flat sheet.
    """
    graph, arrays = connection.graph, connection_arrays(connection)
    is_match = np.empty(graph.n_edges, dtype=bool)
    most = _APART * float(np.median(graph.lengths)) ** 2, _TURNED

    def look(block: slice) -> None:
        mark_matches(arrays, unrolled, *most, block.start, block.stop, is_match)

    run_blocks(look, cut(graph.n_edges, _EDGES_TOGETHER), Run(n_jobs))
    return is_match


def open_edges(
    graph: Graph, tree: Tree, n_around: int, is_match: BoolArray | None = None
) -> BoolArray:
    """Mark the edges whose loops through the tree cannot be drawn together, (n_edges,).

    A loop can be drawn together if triangles fill it, or loops of up to ``n_around`` edges and one,
    or if it is known to move nothing.
    """
    is_shut = np.zeros(graph.n_edges, dtype=bool)
    edges = tree.parent_edge[tree.parent_edge >= 0]
    is_shut[edges] = is_shut[graph.reverse[edges]] = True
    if is_match is not None:
        is_shut |= is_match
        edges = np.flatnonzero(is_shut & (graph.tails < graph.indices))
    zipper = Zipper(graph.indptr, graph.indices, graph.reverse, is_shut)
    queue = np.empty(graph.n_edges // 2 + 1, dtype=np.int64)
    queue[: len(edges)] = edges
    zip_up(zipper, queue, len(edges))
    # Mostly there are no voids, which the longest loops tell at once; else the shortest come first.
    if not shut_short_loops(zipper._replace(is_shut=is_shut.copy()), queue, n_around):
        return ~is_shut
    n_steps = 3
    while n_steps <= n_around:
        n_shut = shut_short_loops(zipper, queue, n_steps)
        zip_up(zipper, queue, n_shut)
        n_steps += n_shut == 0
    return ~is_shut


def _has_rim(connection: Connection, of_cells: bool) -> bool:
    """Tell whether some points have all their neighbours on one side."""
    graph, dim = connection.graph, connection.intrinsic_dim
    is_rim = np.empty(graph.n_points, dtype=bool)
    mark_one_sided(graph.indptr, connection.steps, _ONE_SIDE, is_rim)
    least = (_RIM if dim == 2 else _SOLID_RIM) * graph.n_points ** (1 - 1 / dim)
    # Where neighbours are few for the directions there are, some points lack one anywhere, but not
    # next to each other.
    n_beside = 2 if dim > 2 else int(of_cells)
    if n_beside and np.count_nonzero(is_rim) > least:
        is_rim &= np.bincount(graph.tails, is_rim[graph.indices], graph.n_points) >= n_beside
    return bool(np.count_nonzero(is_rim) > least)


def _is_ring(groups: list[_Group], where: FloatArray) -> bool:
    """Tell whether a loop of a curve, (n_points, 1) from its middle, is all of it."""
    periods = [float(np.linalg.norm(group.gaps, axis=1).mean()) for group in groups]
    return max(periods, default=0.0) > _NEARLY_ALL * float(np.ptp(where))


@dataclass(frozen=True, eq=False)
class _Group:
    """Open edges whose loops can be drawn over each other.

    Attributes
    ----------
    edges : (n_edges,) int
        Directed, all from one side to the other.
    heads, seen : (n_edges, d)
        Where the heads are, and where they are as seen from their tails.
    turn, shift : (d, d), (d,)
        The motion that loops through them make.
    loops : (n_edges,)
        The lengths of their loops through the root.
    weakest : (n_loops,)
        The least coherence on the way around some of these loops.
    """

    edges: IntArray
    heads: FloatArray
    seen: FloatArray
    turn: FloatArray
    shift: FloatArray
    loops: FloatArray
    weakest: FloatArray

    @property
    def trust(self) -> float:
        """The least coherence on the better loops."""
        return float(np.quantile(self.weakest, 0.9))

    @property
    def gaps(self) -> FloatArray:
        """How far the heads are from where they are seen, (n_edges, d)."""
        return self.seen - self.heads

    @property
    def closing(self) -> float:
        """How far the shortest loops carry their ends apart, as part of their lengths."""
        ratios = np.linalg.norm(self.gaps, axis=1) / self.loops
        return float(np.median(ratios[self.loops <= np.quantile(self.loops, 0.1)]))

    @property
    def misfit(self) -> float:
        """How far the motion takes heads from where they are seen, in the mean."""
        return float(
            np.linalg.norm(self.heads @ self.turn.T + self.shift - self.seen, axis=1).mean()
        )


def _group(
    connection: Connection,
    unrolled: Unfolding,
    is_match: BoolArray | None,
    n_around: int,
    n_jobs: int | None,
) -> tuple[list[_Group], IntArray]:
    """Put open edges together that lead the same way; list triangles of three groups, (m, 3)."""
    graph = connection.graph
    leading = None if is_match is None else _by_shifts(connection, unrolled, is_match, n_around)
    if leading is None:
        is_open = open_edges(graph, unrolled.tree, n_around, is_match)
        leading = np.empty(graph.n_edges, dtype=np.int64)
        join_open_edges(_zipper(graph, is_open), n_around, leading)
    else:
        is_open = leading >= 0
    zipper, edges = _zipper(graph, is_open), np.flatnonzero(is_open)
    numbers = leading.copy()
    numbers[edges] = np.minimum(leading[edges], leading[graph.reverse[edges]])
    triangles = np.empty((_MOST_TRIANGLES, 3), dtype=np.int64)
    count = triangles_of_open_edges(zipper, numbers, triangles)
    edges = edges[leading[edges] == numbers[edges]]
    # Loops that are their own inverse have both directions.
    is_once = leading[edges] < leading[graph.reverse[edges]]
    edges = edges[is_once | (graph.tails[edges] < graph.indices[edges])]
    edges = edges[np.argsort(numbers[edges], kind="stable")]
    names, firsts = np.unique(numbers[edges], return_index=True)
    relations = np.searchsorted(names, triangles[: min(count, _MOST_TRIANGLES)])
    parts: list[IntArray] = list(np.split(edges, firsts[1:])) if len(names) else []
    if not parts:
        return [], relations
    weakest = _weakest(connection, unrolled, parts, n_jobs)
    together = zip(parts, weakest, strict=True)
    return [_with_motion(connection, unrolled, *each) for each in together], relations


def _zipper(graph: Graph, is_open: BoolArray) -> Zipper:
    return Zipper(graph.indptr, graph.indices, graph.reverse, ~is_open)


def _by_shifts(
    connection: Connection, unrolled: Unfolding, is_match: BoolArray, n_around: int
) -> IntArray | None:
    """Give the edges that do not match the number of one that shifts as they do, (n_edges,).

    Others have -1. None if some edges turn, or shift by no more than loops around voids may.
    """
    graph = connection.graph
    edges = np.flatnonzero(~is_match & (graph.tails < graph.indices))
    seen, turns = _across(connection, unrolled, edges)
    shifts = seen - unrolled.outward[graph.indices[edges]]
    turned = connection.intrinsic_dim - np.trace(turns, axis1=1, axis2=2)
    # So far all edges around a void may lead, each off by half of one besides.
    longest, mean = float(graph.lengths.max()), float(graph.lengths.mean())
    least = n_around * (longest + _APART**0.5 * mean) + longest
    is_far = np.linalg.norm(shifts, axis=1) > least
    if not (is_far & (turned <= _TURNED)).all():
        return None
    leading = np.full(graph.n_edges, -1)
    while len(edges):
        # Two shifts differ by one, which is far too.
        forth, back = (np.linalg.norm(shifts - way * shifts[0], axis=1) for way in (1, -1))
        is_alike = np.minimum(forth, back) < least / 2
        alike = np.where(forth < back, edges, graph.reverse[edges])[is_alike]
        leading[alike], leading[graph.reverse[alike]] = edges[0], graph.reverse[edges[0]]
        edges, shifts = edges[~is_alike], shifts[~is_alike]
    return leading


def _across(
    connection: Connection, unrolled: Unfolding, edges: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Tell where heads are as seen from tails, (m, d), and the turns of loops, (m, d, d)."""
    dim = connection.intrinsic_dim
    seen, turns = np.empty((len(edges), dim)), np.empty((len(edges), dim, dim))
    look_across(connection_arrays(connection), unrolled, edges, seen, turns)
    return seen, turns


def _weakest(
    connection: Connection, unrolled: Unfolding, parts: list[IntArray], n_jobs: int | None
) -> list[FloatArray]:
    """Tell the least that is carried over any edge on some loops through each part of the edges.

    Measured even where everything was carried: a few edges that jump do not show in the mean. On
    the ways to the edges alone.
    """
    graph, tree = connection.graph, unrolled.tree
    some = [
        part[np.linspace(0, len(part) - 1, min(len(part), _LOOPS)).astype(int)] for part in parts
    ]
    together = np.concatenate(some)
    ends = graph.tails[together], graph.indices[together]
    last = tree.parent_edge[_on_the_way(graph, tree, np.concatenate(ends))]
    last = last[last >= 0]
    shares = carried_shares(connection, np.concatenate((last, together)), n_jobs)
    along = np.ones(graph.n_points)
    along[graph.indices[last]] = shares[: len(last)]
    least_along(graph.tails, tree, np.count_nonzero(np.isfinite(tree.distance)), along)
    least = np.minimum(np.minimum(*(along[end] for end in ends)), shares[len(last) :])
    return np.split(least, np.cumsum([len(edges) for edges in some])[:-1])


def _on_the_way(graph: Graph, tree: Tree, nodes: IntArray) -> IntArray:
    """List the nodes on the ways from the root of a tree to some of them, sorted."""
    is_met = np.zeros(graph.n_points, dtype=bool)
    mark_ways(graph.tails, tree, nodes, is_met)
    return np.flatnonzero(is_met)


def _with_motion(
    connection: Connection, unrolled: Unfolding, edges: IntArray, weakest: FloatArray
) -> _Group:
    """Find the motion that loops through some edges make in the mean."""
    graph, distance = connection.graph, unrolled.tree.distance
    tails, heads = graph.tails[edges], graph.indices[edges]
    where = unrolled.outward[heads]
    seen, turns = _across(connection, unrolled, edges)
    turn = nearest_rotations(turns.sum(axis=0, keepdims=True))[0]
    shift = (seen - where @ turn.T).mean(axis=0)
    loops = distance[tails] + distance[heads] + graph.lengths[edges]
    return _Group(edges, where, seen, turn, shift, loops, weakest)


def _independent(groups: list[_Group], relations: IntArray) -> list[int]:
    """Choose groups whose loops, mod 2, make all others; those with the shortest loops."""
    basis: dict[int, int] = {}

    def adds(vector: int) -> bool:
        while vector:
            top = vector.bit_length()
            if top not in basis:
                basis[top] = vector
                return True
            vector ^= basis[top]
        return False

    for triangle in np.unique(np.sort(relations, axis=1), axis=0).tolist():
        vector = 0
        for place in triangle:
            vector ^= 1 << place
        adds(vector)
    order = sorted(range(len(groups)), key=lambda place: groups[place].loops.min())
    return [place for place in order if adds(1 << place)]


def _seam(group: _Group, graph: Graph, tree: Tree) -> Seam:
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
    groups: list[_Group],
    seams: list[_Group],
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


def _windings(graph: Graph, groups: list[_Group], seams: list[_Group]) -> FloatArray:
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
