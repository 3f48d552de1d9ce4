"""Loops that cannot be drawn together: the edges that close them, and what they do.

All paths from one central point are unfolded into its tangent space, which gives every point u a
place y_u and a turn Q_u. An edge u → v closes a loop with the paths to its ends. Carried around it,
the tangent space comes back moved: by the turn H = Q_u R_uv Q_vᵗ and the shift
t = y_u + Q_u s_uv - H y_v. On a flat sheet that is nothing for loops that can be drawn together,
and the same motion, a deck transformation, for all loops that can be drawn over each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptunfold.geodesics.paths import unfold
from ptunfold.geometry.coherence import carried_shares
from ptunfold.geometry.connection import nearest_rotations
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
from ptunfold.types import BoolArray, Connection, FloatArray, Graph, IntArray

# Where the end of an edge is off by less than half of one, no loop is shifted, which is by three;
# squares of edges, and of radians.
_APART, _TURNED, _EDGES_TOGETHER = 0.25, 0.09, 1 << 16
# A loop of so many edges and one may be a void between points at random: of few points, where
# loops are short, or of more than two dimensions; with 18 neighbours or more; with fewer.
_AROUND_SMALL_VOID, _AROUND_VOID, _AROUND_LARGE_VOID = 5, 6, 9
_FEW_POINTS, _MANY = 600, 18
_MOST_TRIANGLES = 1 << 16
_LOOPS = 25  # of those over which edges can be trusted, so many are enough to tell


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


def around_voids(graph: Graph, dim: int) -> int:
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
    # The shortest first, which take the least time and shut most: the order does not matter.
    n_steps = 3
    while n_steps <= n_around and not is_shut.all():
        n_shut = shut_short_loops(zipper, queue, n_steps)
        zip_up(zipper, queue, n_shut)
        n_steps += n_shut == 0
    return ~is_shut


@dataclass(frozen=True, eq=False)
class Group:
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


def group_loops(
    connection: Connection,
    unrolled: Unfolding,
    is_match: BoolArray | None,
    n_around: int,
    n_jobs: int | None,
) -> tuple[list[Group], IntArray]:
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
) -> Group:
    """Find the motion that loops through some edges make in the mean."""
    graph, distance = connection.graph, unrolled.tree.distance
    tails, heads = graph.tails[edges], graph.indices[edges]
    where = unrolled.outward[heads]
    seen, turns = _across(connection, unrolled, edges)
    turn = nearest_rotations(turns.sum(axis=0, keepdims=True))[0]
    shift = (seen - where @ turn.T).mean(axis=0)
    loops = distance[tails] + distance[heads] + graph.lengths[edges]
    return Group(edges, where, seen, turn, shift, loops, weakest)


def independent(groups: list[Group], relations: IntArray) -> list[int]:
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
