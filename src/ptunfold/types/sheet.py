"""The sheet as the stages build it: graph, frames, connection, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ptunfold.forks import cached_property
from ptunfold.types.numbers import BoolArray, FloatArray, IntArray, pair_keys


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected proximity graph; each edge stands in it once for each direction.

    Attributes
    ----------
    indptr : (n_points + 1,) int64
        The edges that leave point ``i`` are ``indptr[i]:indptr[i + 1]``.
    indices : (n_edges,) int32
        The point that each edge leads to, ascending within a point.
    lengths : (n_edges,) float64
        The length of each edge; 0 between duplicate points.
    bridges : (n_bridges, 2) int64, optional
        Edges that were added to join components: they carry paths, but say nothing about tangent
        spaces.

    Examples
    --------
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import flat_square
    >>> graph = build_graph(flat_square(100).points, n_neighbors=5)
    >>> graph.n_points, int(graph.component_labels.max())
    (100, 0)
    >>> first = graph.indices[graph.indptr[0] : graph.indptr[1]]  # the neighbours of point 0
    >>> len(first) >= 5
    True
    """

    indptr: IntArray
    indices: IntArray
    lengths: FloatArray
    bridges: IntArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Who reads it checks it: it may be mapped into memory, read-only.
        return {name: value for name, value in self.__dict__.items() if name != "is_checked"}

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of directed edges, twice the number of undirected ones."""
        return len(self.indices)

    @cached_property
    def tails(self) -> IntArray:
        """The point that each edge leaves, ``(n_edges,)``."""
        return np.repeat(np.arange(self.n_points, dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def reverse(self) -> IntArray:
        """For each edge ``i → j`` the position of ``j → i``, ``(n_edges,)``."""
        # Edges are sorted by (tail, head); sorted by (head, tail) they are each other's way back.
        matrix = self.to_sparse()
        matrix.data = np.arange(self.n_edges, dtype=np.int32)
        found: IntArray = matrix.tocsc().data
        return found

    @cached_property
    def component_labels(self) -> IntArray:
        """The component of each point, ``(n_points,)``, the largest component with 0."""
        # Without its lengths: SciPy would take an edge of length 0 for no edge.
        matrix = self.to_sparse()
        matrix.data = np.ones_like(matrix.data)
        # Mostly all are in one component, which the way through it tells in a third of the time.
        if self.n_points and self.n_points == len(
            csgraph.breadth_first_order(matrix, 0, return_predecessors=False)
        ):
            return np.zeros(self.n_points, dtype=np.int64)
        # Edges lead both ways: what is connected is strongly so, and found three times as fast.
        _, labels = csgraph.connected_components(matrix, connection="strong")
        by_size = np.argsort(-np.bincount(labels), kind="stable")
        rank = np.empty_like(by_size)
        rank[by_size] = np.arange(len(by_size))
        return rank[labels]

    def with_lengths(self, lengths: FloatArray) -> Graph:
        """Return the same edges with other lengths.

        Examples
        --------
        >>> from ptunfold import build_graph
        >>> from ptunfold.datasets import flat_square
        >>> graph = build_graph(flat_square(100).points, n_neighbors=5)
        >>> double = graph.with_lengths(2 * graph.lengths)
        >>> bool((double.indices == graph.indices).all())
        True
        """
        other = Graph(self.indptr, self.indices, lengths, self.bridges)
        for name in ("tails", "reverse"):  # found once
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def to_sparse(self) -> sparse.csr_array:
        """Return the lengths as a symmetric sparse array; zero lengths are stored explicitly.

        Examples
        --------
        >>> from ptunfold import build_graph
        >>> from ptunfold.datasets import flat_square
        >>> matrix = build_graph(flat_square(100).points, n_neighbors=5).to_sparse()
        >>> matrix.shape, bool((matrix != matrix.T).nnz == 0)
        ((100, 100), True)
        """
        shape = (self.n_points, self.n_points)
        # SciPy's graph functions took 32 bits alone before they took 64 too.
        indptr = self.indptr.astype(np.int32) if self.n_edges < 1 << 31 else self.indptr
        return sparse.csr_array((self.lengths, self.indices, indptr), shape=shape)


@dataclass(frozen=True, eq=False)
class Frames:
    """An orthonormal basis of the tangent space at each point (𝕋ᵢ in the paper).

    Attributes
    ----------
    vectors : (n_points, n_features, intrinsic_dim) float64
        ``vectors[i]`` has the basis of point ``i`` as its columns; NaN at points without an edge.
    singular_values : (n_points, intrinsic_dim) float64
        How far each neighbourhood reaches along each basis vector, descending.
    residual : (n_points,) float64
        Root mean square distance of the neighbourhood from its tangent plane or, with quadratic
        tangents, its standard deviation from the surface: an estimate of the noise.
    lift : (n_points, n_features) float64, optional
        With quadratic tangents, the way from each point to the surface fitted around it.
    is_one_sided : (n_points,) bool, optional
        Points next to a crease, whose basis was taken from one side of it; none by default.
    n_members : int
        The number of points in a neighbourhood, where there are so many.
    curvature : (n_points,) float64, optional
        With quadratic tangents, the sectional curvature of the surface, the mean over pairs of
        directions.
    members : (n_points, n_members) int, optional
        Where points are known by their distances alone: the points of each neighbourhood.
        ``vectors[i]`` and ``lift[i]`` are then the shares of ``members[i]``, in place of features.
    negative : (n_points,) float64, optional
        With members, how far each neighbourhood is from any in a Euclidean space: the share of
        negative eigenvalues in its classical scaling, from 0 to 1.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> model.frames_.vectors.shape, model.frames_.intrinsic_dim
    ((300, 3, 2), 2)
    """

    vectors: FloatArray
    singular_values: FloatArray
    residual: FloatArray
    lift: FloatArray | None = None
    is_one_sided: BoolArray | None = None
    n_members: int = 0
    curvature: FloatArray | None = None
    members: IntArray | None = None
    negative: FloatArray | None = None

    @property
    def intrinsic_dim(self) -> int:
        """Dimension of the tangent spaces."""
        return int(self.vectors.shape[2])


@dataclass(frozen=True, eq=False)
class Connection:
    """The discrete Levi-Civita connection on the edges of a graph.

    Attributes
    ----------
    graph : Graph
        The graph that the edges belong to.
    rotations : (n_edges, intrinsic_dim, intrinsic_dim) float64
        For the edge ``i → j`` the orthogonal matrix that turns coordinates in the frame of ``j``
        into coordinates in the frame of ``i`` (R_ij, Proposition 1).
    steps : (n_edges, intrinsic_dim) float64
        The edge ``i → j`` written in the frame of ``i``.
    coherence : (n_edges,) float64, optional
        How much of what was unfolded before is carried over each edge, between 0 and 1; the rest
        is taken for straight. 1 everywhere by default.
    points : (n_points, n_axes) float64, optional
        Coordinates of the points: no distance is shorter than the chord between two of them.
    explained : (n_points,) float64, optional
        The share of the squared lengths of the edges at each point that lies in its tangent space.
    curvature : (n_points,) float64, optional
        The sectional curvature that paths are unfolded with; 0 everywhere by default.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> connection = model.connection_
    >>> connection.rotations.shape == (connection.graph.n_edges, 2, 2)
    True
    >>> connection.intrinsic_dim
    2
    """

    graph: Graph
    rotations: FloatArray
    steps: FloatArray
    coherence: FloatArray | None = None
    points: FloatArray | None = None
    explained: FloatArray | None = None
    curvature: FloatArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "is_checked"}

    @property
    def intrinsic_dim(self) -> int:
        """Dimension of the tangent spaces."""
        return int(self.steps.shape[1])


def without_edges(connection: Connection, torn: IntArray) -> Connection:
    """Take out some edges (n_torn, 2), both ways."""
    graph = connection.graph
    keys = pair_keys(graph.n_points, *np.concatenate((torn, torn[:, ::-1])).T)
    kept = ~np.isin(pair_keys(graph.n_points, graph.tails, graph.indices), keys)
    indptr = np.concatenate(([0], np.cumsum(kept)))[graph.indptr]
    bridges = graph.bridges
    if bridges is not None:  # a ring may be torn there
        bridges = bridges[~np.isin(pair_keys(graph.n_points, *bridges.T), keys)]
    return replace(
        connection,
        graph=Graph(indptr, graph.indices[kept], graph.lengths[kept], bridges),
        rotations=connection.rotations[kept],
        steps=connection.steps[kept],
        coherence=None if connection.coherence is None else connection.coherence[kept],
    )


@dataclass(frozen=True)
class Transport:
    """How far the unfolding of paths can be believed.

    Attributes
    ----------
    explained : float
        The share of the edges, by their squared lengths, that lies in the tangent spaces; the
        median over points. About 1 on sheets, 0.2 to 0.7 on data that are none.
    coherence : float
        How much of a path is carried on from edge to edge, the mean over edges: 1 where the
        unfolding is believed, 0 where distances are lengths along the graph.
    overlapping : float
        Of the distances unfolded, the share that was shorter than the straight line, if so many
        were that lengths along the graph were taken instead; else 0.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> print(model.transport_)
    the tangent planes explain 97% of the edges; distances are unfolded
    """

    explained: float
    coherence: float
    overlapping: float = 0.0

    def __str__(self) -> str:
        if self.overlapping:
            end = f"unfolded, {self.overlapping:.0%} of the distances fall short of the straight "
            end += "line, and lengths along the graph are taken"
        elif self.coherence >= 0.9:
            end = "distances are unfolded"
        elif self.coherence >= 0.3:
            end = "distances are unfolded over short ways, and add up beyond"
        else:
            end = "distances are mostly lengths along the graph"
        return f"the tangent planes explain {self.explained:.0%} of the edges; {end}"


@dataclass(frozen=True, eq=False)
class Seen:
    """What stays of points that were known by their distances: how each sees others.

    A point at the distances r from ``members[i]`` is at ``-0.5 * shares[i].T @ (r² - squares[i])``
    in the tangent space of i.

    Attributes
    ----------
    members : (n_points, n_members) int
        The points by which each one sees.
    shares : (n_points, n_members, d) float64
        The basis of the tangent space at each point, by its members.
    squares : (n_points, n_members) float64
        The squared distances of the members from the point.
    turned : (n_edges,) float64
        How much the tangent spaces at the ends of each edge differ: the sum of squared sines.
    moved : (n_points,) float64
        How far points were moved by denoising.
    extent : float
        The root mean square distance from the middle of the points.
    n_off : int
        In how many dimensions off the sheet they may have moved.
    """

    members: IntArray
    shares: FloatArray
    squares: FloatArray
    turned: FloatArray
    moved: FloatArray
    extent: float
    n_off: int


@dataclass(frozen=True, eq=False)
class Geometry:
    """What the points have become once the ambient space is gone.

    The graph has bridges, and points that are left out without an edge. ``labels`` are the
    component that each point is embedded with, the largest first; -1 if it is left out. ``points``
    are the points, for more features than points their coordinates in their span, with noise that
    is alike in many directions those along the others; frames are in these coordinates.
    ``surface`` is where graph and frames were measured: the points, or what denoising made of them.
    ``shortcuts`` (n_shortcuts, 2) are edges that were taken for some. ``texture`` is "flat",
    "smooth", "noisy", "very noisy" or "rough"; None if nothing was left to the data. With many
    points all of this is in an order of its own: point i here is the caller's point ``order[i]``.
    ``torn`` (n_torn, 2) are edges across seams, which the embedding tears. Where points are known
    by their distances alone, ``seen`` has what stays of these, and ``points`` are to be looked at.
    ``overlapping`` is the share of the distances that fell short of the straight line, where that
    was too much and they are lengths along the graph instead.
    """

    graph: Graph
    frames: Frames
    connection: Connection
    labels: IntArray
    points: FloatArray
    surface: FloatArray
    shortcuts: IntArray
    texture: str | None
    order: IntArray | None = None
    torn: IntArray | None = None
    seen: Seen | None = None
    overlapping: float = 0.0

    @cached_property
    def chart(self) -> Connection:
        """What is embedded: the connection without the edges that are torn."""
        if self.torn is None or not len(self.torn):
            return self.connection
        return without_edges(replace(self.connection, graph=self.graph), self.torn)

    @property
    def transport(self) -> Transport:
        """How far the unfolding can be believed."""
        explained, kept = self.connection.explained, self.connection.coherence
        has_edge = np.diff(self.graph.indptr) > 0
        starts = self.graph.indptr[:-1][has_edge]
        if len(starts):  # to other than copies of itself
            has_edge[has_edge] = np.logical_or.reduceat(self.graph.lengths > 0, starts)
        share = 1.0
        if explained is not None and has_edge.any():
            share = float(np.median(explained[has_edge]))
        coherence = 1.0 if kept is None else float(kept.mean())
        return Transport(share, coherence, self.overlapping)

    @cached_property
    def components(self) -> list[IntArray]:
        """The points of each component that is embedded, the largest component first."""
        return [np.flatnonzero(self.labels == one) for one in range(self.labels.max() + 1)]

    @cached_property
    def place(self) -> IntArray:
        """The number here of each of the caller's points, ``(n_points,)``."""
        return np.arange(len(self.labels)) if self.order is None else np.argsort(self.order)

    @property
    def input_shortcuts(self) -> IntArray:
        """Shortcuts by the caller's numbers, sorted, ``(n_shortcuts, 2)``."""
        pairs = np.sort(self.to_input(self.shortcuts), axis=1)
        return pairs[np.lexsort(pairs.T[::-1])]

    def to_input(self, nodes: IntArray) -> IntArray:
        """Return the caller's numbers of points here."""
        return nodes if self.order is None else self.order[nodes]
