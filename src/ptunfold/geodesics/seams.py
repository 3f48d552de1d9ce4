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
from ptunfold.kernels.development import Unfolding
from ptunfold.kernels.trees import Tree, least_along, lengths_from, mark_ways
from ptunfold.kernels.zipping import (
    Zipper,
    join_open_edges,
    shut_short_loops,
    triangles_of_open_edges,
    zip_up,
)
from ptunfold.types import (
    BoolArray,
    Connection,
    FloatArray,
    Graph,
    IntArray,
    Seam,
    Topology,
)

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
_LOOPS = 100  # of those over which edges can be trusted, so many are enough to tell
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
    return find_from(connection, unroll(connection), n_jobs)


def find_from(connection: Connection, unrolled: Unfolding, n_jobs: int | None) -> Topology:
    """Find the topology of a connected graph that was unrolled."""
    if connection.graph.n_points <= _MOST_POINTS:
        return _find_among(connection, unrolled, n_jobs)[0]
    cells = gather(connection, _N_CELLS)
    unrolled = unroll(cells.coarse)
    found, turns = _find_among(cells.coarse, unrolled, n_jobs, of_cells=True)
    found = cells.spread(found, turns)
    return replace(found, is_sure=planes_agree(connection, _is_torus(found)))


def _find_among(
    connection: Connection, unrolled: Unfolding, n_jobs: int | None, *, of_cells: bool = False
) -> tuple[Topology, FloatArray]:
    """Find the topology of a connected graph of points or of cells that was unrolled.

    Returns the turns from the frames of points to that of their places too, (n_points, d, d).
    """
    graph, dim = connection.graph, connection.intrinsic_dim
    n_around = _around_voids(graph, dim)
    is_open = open_edges(graph, unrolled.tree, n_around)
    groups, relations = _group(connection, unrolled, is_open, n_around, n_jobs)
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
    if dim > 2 and seams and all(seam.kind == "period" for seam in told):
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


def open_edges(graph: Graph, tree: Tree, n_around: int) -> BoolArray:
    """Mark the edges whose loops through the tree cannot be drawn together, (n_edges,).

    A loop can be drawn together if triangles fill it, or loops of up to ``n_around`` edges and one.
    """
    is_shut = np.zeros(graph.n_edges, dtype=bool)
    edges = tree.parent_edge[tree.parent_edge >= 0]
    is_shut[edges] = is_shut[graph.reverse[edges]] = True
    zipper = Zipper(graph.indptr, graph.indices, graph.reverse, is_shut)
    queue = np.empty(graph.n_edges // 2 + 1, dtype=np.int64)
    queue[: len(edges)] = edges
    n_shut, n_steps = len(edges), 3
    while n_steps <= n_around:
        if n_shut:
            zip_up(zipper, queue, n_shut)
        n_shut = shut_short_loops(zipper, queue, n_steps)
        n_steps += n_shut == 0
    return ~is_shut


def _has_rim(connection: Connection, of_cells: bool) -> bool:
    """Tell whether some points have all their neighbours on one side."""
    graph, dim = connection.graph, connection.intrinsic_dim
    lengths = np.linalg.norm(connection.steps, axis=1)
    steps = connection.steps / np.where(lengths > 0, lengths, 1)[:, None]
    means = np.column_stack(
        [np.bincount(graph.tails, steps[:, axis], graph.n_points) for axis in range(dim)]
    )
    sizes = np.linalg.norm(means, axis=1)
    ahead = means / np.where(sizes > 0, sizes, 1)[:, None]
    is_behind = np.einsum("ei,ei->e", steps, ahead[graph.tails]) < _ONE_SIDE
    has_behind = np.bincount(graph.tails, is_behind, graph.n_points) > 0
    is_rim = ~has_behind & (sizes > 0.5)
    # Where neighbours are few for the directions there are, some points lack one anywhere, but not
    # next to each other.
    n_beside = np.bincount(graph.tails, is_rim[graph.indices], graph.n_points)
    n_rim = np.count_nonzero(is_rim & (n_beside >= (2 if dim > 2 else int(of_cells))))
    least = _RIM if dim == 2 else _SOLID_RIM
    return bool(n_rim > least * graph.n_points ** (1 - 1 / dim))


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
    is_open: BoolArray,
    n_around: int,
    n_jobs: int | None,
) -> tuple[list[_Group], IntArray]:
    """Put open edges together that lead the same way; list triangles of three groups, (m, 3)."""
    graph = connection.graph
    zipper = Zipper(graph.indptr, graph.indices, graph.reverse, ~is_open)
    leading = np.empty(graph.n_edges, dtype=np.int64)
    join_open_edges(zipper, n_around, leading)
    numbers = np.minimum(leading, leading[graph.reverse])
    triangles = np.empty((_MOST_TRIANGLES, 3), dtype=np.int64)
    count = triangles_of_open_edges(zipper, numbers, triangles)
    # Loops that are their own inverse have both directions.
    is_once = (leading < leading[graph.reverse]) | (graph.tails < graph.indices)
    edges = np.flatnonzero(is_open & (leading == numbers) & is_once)
    edges = edges[np.argsort(numbers[edges], kind="stable")]
    names, firsts = np.unique(numbers[edges], return_index=True)
    relations = np.searchsorted(names, triangles[: min(count, _MOST_TRIANGLES)])
    parts: list[IntArray] = list(np.split(edges, firsts[1:])) if len(names) else []
    if not parts:
        return [], relations
    weakest = _weakest(connection, unrolled, parts, n_jobs)
    together = zip(parts, weakest, strict=True)
    return [_with_motion(connection, unrolled, *each) for each in together], relations


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
    ends = np.concatenate([both[edges] for edges in some for both in (graph.tails, graph.indices)])
    shares = carried_shares(connection, _on_the_way(graph, tree, ends), n_jobs)
    along = np.ones(graph.n_points)
    n_reached = np.count_nonzero(np.isfinite(tree.distance))
    least_along(graph.tails, shares, tree, n_reached, along)
    least = np.minimum(np.minimum(along[graph.tails], along[graph.indices]), shares)
    return [least[edges] for edges in some]


def _on_the_way(graph: Graph, tree: Tree, nodes: IntArray) -> IntArray:
    """List the nodes on the ways from the root of a tree to some of them, sorted."""
    is_met = np.zeros(graph.n_points, dtype=bool)
    mark_ways(graph.tails, tree, nodes, is_met)
    return np.flatnonzero(is_met)


def _with_motion(
    connection: Connection, unrolled: Unfolding, edges: IntArray, weakest: FloatArray
) -> _Group:
    """Find the motion that loops through some edges make in the mean."""
    graph, where, turns = connection.graph, unrolled.outward, unrolled.turns
    tails, heads = graph.tails[edges], graph.indices[edges]
    turn = np.einsum("eij,ejk,elk->il", turns[tails], connection.rotations[edges], turns[heads])
    turn = nearest_rotations(turn[None])[0]
    seen = where[tails] + np.einsum("eij,ej->ei", turns[tails], connection.steps[edges])
    shift = (seen - where[heads] @ turn.T).mean(axis=0)
    distance = unrolled.tree.distance
    loops = distance[tails] + distance[heads] + graph.lengths[edges]
    return _Group(edges, where[heads], seen, turn, shift, loops, weakest)


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
