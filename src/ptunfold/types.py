"""The records that the stages hand to each other: small, frozen, shapes in their docstrings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
Points: TypeAlias = "FloatArray | Space"


class Space(ABC):
    """Points that are known by the distances between them: what stands in the place of coordinates.

    Attributes
    ----------
    shape : (int, int)
        The number of points, and of the dimensions that tangent spaces may have.
    dtype : dtype
        What results are written in.
    nbytes : int
        The size of what the points are known by.
    view : (n_points, n_axes)
        Coordinates to look at: those that the points were given by, or classical scaling of the
        distances to some of them. Nothing is measured in them.
    bound : (n_points, n_axes) float64
        Coordinates whose distances bound those of the points from below.
    places : (n_points,) int
        For each point the first one at distance 0.
    moves : (n_points,) float64
        How far the points were moved from where they were given.
    extent : float
        Their root mean square distance from the middle; 0 where it is not known.
    is_frugal : bool
        Whether distances within neighbourhoods have to do, and none between them are asked for.
    """

    shape: tuple[int, int]
    dtype: Any
    nbytes: int
    view: FloatArray
    bound: FloatArray
    places: IntArray
    moves: FloatArray
    extent: float = 0.0
    is_frugal: bool = False

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return squared distances of the points ``rows`` (m, a) and ``columns`` (m, b): (m, a, b).

        Row by row: between ``rows[i]`` and ``columns[i]``.
        """

    @abstractmethod
    def lengths(self, tails: IntArray, heads: IntArray) -> FloatArray:
        """Return the distance between the points of each pair, (n_pairs,)."""

    @abstractmethod
    def candidates(self, block: slice, count: int) -> IntArray:
        """List points that are nearest to those of a block, itself among them, (m, count)."""

    @abstractmethod
    def within(self, radius: float) -> IntArray:
        """List pairs that are at most ``radius`` apart, (n_pairs, 2)."""

    @abstractmethod
    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:
        """List places in ``among`` of the points nearest to each query, (n_queries, count)."""

    @abstractmethod
    def among(self, nodes: IntArray) -> Space:
        """Return some of the points."""

    def plan(self, members: IntArray, graph: Graph) -> None:
        """Look whether the distances between neighbourhoods next to each other are too many."""
        return  # of what is known, or quickly found, never

    def movable(self, n_neighbors: int) -> Space | None:
        """Return points that can be moved, by neighbourhoods of so many others; None if none can.

        That takes all distances.
        """
        return None

    def moved(self, members: IntArray, weights: FloatArray) -> Space:
        """Move each point by a combination of its members, whose weights add up to 0."""
        raise NotImplementedError

    def said(self) -> list[str]:
        """Return what there is to tell about the distances."""
        return []


def kernel_ready(array: Any, dtype: Any) -> NDArray[Any]:
    """Return an array as the kernels are compiled for it, itself if it is so already.

    For one that is read-only, has another order in memory or another type, kernels would be
    compiled once more, which takes longer than most fits.
    """
    return np.require(array, dtype, ("C", "A", "W", "E"))


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
        _, labels = csgraph.connected_components(matrix, directed=False)
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
class Dimension:
    """The intrinsic dimension of points, as it looks from several sides.

    Attributes
    ----------
    consensus : int
        The median of the three estimates, rounded; no more than ``planes`` if its gap is clear.
    planes : float
        From the gap in the spectrum of local principal components.
    likelihood : float
        By maximum likelihood (Levina and Bickel).
    growth : float
        From the growth of the distance to the k-th neighbour (Pettis et al.).
    local : (n_sample,) int
        The first estimate at single points.
    sample : (n_sample,) int
        Which of the distinct points these are.

    Examples
    --------
    >>> from ptunfold import estimate_dimension
    >>> from ptunfold.datasets import s_with_hole
    >>> found = estimate_dimension(s_with_hole(500).points)
    >>> found.consensus
    2
    """

    consensus: int
    planes: float
    likelihood: float
    growth: float
    local: IntArray
    sample: IntArray


@dataclass(frozen=True, eq=False)
class Orientation:
    """Whether the tangent frames of a sheet can all turn the same way around.

    Attributes
    ----------
    is_orientable : bool
        False for a Möbius band or a Klein bottle.
    n_conflicts : int
        The number of edges whose frames turn opposite ways in spite of everything.
    loop : (n_nodes,) int or None
        If there are any: points of a closed path, the first one again at the end, along which left
        becomes right.

    Examples
    --------
    >>> import warnings
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import moebius_band
    >>> with warnings.catch_warnings(action="ignore"):  # which says that it is cut
    ...     found = PTU().fit(moebius_band(600).points).orientation_
    >>> found.is_orientable, bool(found.loop[0] == found.loop[-1])
    (False, True)
    """

    is_orientable: bool
    n_conflicts: int
    loop: IntArray | None


@dataclass(frozen=True, eq=False)
class Seam:
    """Where a sheet is cut open that closes upon itself.

    Who crosses the seam is carried by a motion: where ``edges[:, 1]`` are at x, they are seen from
    ``edges[:, 0]`` at ``turn @ x + shift``.

    Attributes
    ----------
    kind : {"period", "glide", "turn"}
        A shift, as around a cylinder; a shift with a reflection, as around a Möbius band; or a
        turn, as around a cone, or a surface that no flat map can show.
    edges : (n_edges, 2) int
        The edges across it, from one side to the other.
    turn, shift : (d, d), (d,) float64
        The motion.
    length, std : float
        How far it carries along the sheet, the mean over the edges and the standard deviation.
    loop : (n_nodes,) int
        The points of a short loop across it, the first one again at the end.
    loop_length : float
        The length of that loop along the graph.
    closing : float
        How far the shortest loops carry, as part of their lengths: 0 around a hole, 1 around a
        cylinder.
    trust : float
        How much is carried over the weakest edge of the better loops, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import PTU
    >>> angle, height = np.random.default_rng(0).uniform(0, 2, (2, 500)) * [[np.pi], [1]]
    >>> X = np.column_stack((np.cos(angle), np.sin(angle), height))  # a tube
    >>> (seam,) = PTU(seams="cut").fit(X).topology_.seams
    >>> print(seam.kind, round(seam.length, 2))
    period 6.28
    """

    kind: str
    edges: IntArray
    turn: FloatArray
    shift: FloatArray
    length: float
    std: float
    loop: IntArray
    loop_length: float
    closing: float
    trust: float


@dataclass(frozen=True, eq=False)
class Topology:
    """How a sheet closes upon itself: ``print`` it.

    Attributes
    ----------
    seams : tuple of Seam
        One for each loop that closes, independent of each other.
    dim : int
        The dimension of the sheet.
    has_rim : bool
        Whether it ends somewhere.
    is_orientable : bool
        Whether no loop turns left into right.
    n_holes : int
        The number of loops around holes, which need no cut.
    edges : (n_edges, 2) int
        All edges across seams.
    where : (n_points, d) float64
        The points as they are seen from one in the middle, along the shortest paths.
    is_sure : bool
        Whether the tangent planes agree well enough to tell what seams do.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import PTU
    >>> angle, height = np.random.default_rng(0).uniform(0, 2, (2, 500)) * [[np.pi], [1]]
    >>> X = np.column_stack((np.cos(angle), np.sin(angle), height))  # a tube
    >>> print(PTU(seams="cut").fit(X).topology_.name)
    a cylinder
    """

    seams: tuple[Seam, ...]
    dim: int
    has_rim: bool
    is_orientable: bool
    n_holes: int
    edges: IntArray
    where: FloatArray
    is_sure: bool = True

    @property
    def euler(self) -> int | None:
        """The Euler characteristic of a surface, None for other dimensions."""
        if self.dim != 2:
            return None
        return 2 - len(self.seams) - self.n_holes - self.has_rim

    @property
    def name(self) -> str:
        """What it is called."""
        n_seams, kinds = len(self.seams), [seam.kind for seam in self.seams]
        if self.dim == 1:
            return "a ring" if n_seams else "a curve"
        holes = ""
        if self.n_holes and self.dim == 2:
            holes = f" with {self.n_holes} hole{'s' * (self.n_holes > 1)}"
        if self.has_rim:
            names = {0: "a sheet", 1: "a cylinder"}
            if not self.is_orientable:
                names[1] = "a Möbius band"
            elif kinds == ["turn"]:
                names[1] = "a cone"
            return names.get(n_seams, f"a sheet closed along {n_seams} loops") + holes
        if self.dim > 2:
            is_torus = n_seams == self.dim and self.is_orientable
            return f"a {self.dim}-torus" if is_torus else f"closed, with {n_seams} loops"
        if self.is_orientable:
            names = {0: "a sphere", 2: "a torus"}
            return names.get(n_seams, f"a closed surface with {n_seams} loops")
        names = {1: "a projective plane", 2: "a Klein bottle"}
        return names.get(n_seams, f"a one-sided closed surface with {n_seams} loops")

    def __str__(self) -> str:
        end = "" if self.is_sure else "; a guess, because the tangent planes do not agree"
        if not self.seams:
            if not self.has_rim:
                end = f", closed: no flat map can show it whole{end}"
            return f"{self.name}{end}"
        count = len(self.seams)
        ways = "one direction" if count == 1 else f"{count} directions"
        lengths = [f"{seam.length:.4g} ± {seam.std:.2g}" for seam in self.seams]
        told = " and ".join(filter(None, (", ".join(lengths[:-1]), lengths[-1])))
        word = "period" if count == 1 else "periods"
        return f"closes upon itself along {ways}: {word} {told} ({self.name}){end}"


@dataclass(frozen=True, eq=False)
class Chart:
    """A part of the data, unfolded by itself.

    Attributes
    ----------
    nodes : (n_nodes,) int
        Its points.
    coordinates : (n_nodes, n_components) float64
        Where they are.
    distortion : float
        The root mean square error of the distances in it, relative to these.

    Examples
    --------
    >>> import warnings
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import sphere
    >>> with warnings.catch_warnings(action="ignore"):  # which says that it is closed
    ...     atlas = PTU().fit(sphere(500).points).atlas(2)
    >>> chart = atlas.charts[0]
    >>> chart.coordinates.shape == (len(chart.nodes), 2)
    True
    >>> bool(chart.distortion < 0.15)
    True
    """

    nodes: IntArray
    coordinates: FloatArray
    distortion: float


class Transition(NamedTuple):
    """The motion from one chart to another: x becomes ``turn @ x + shift``.

    Attributes
    ----------
    turn, shift : (c, c), (c,) float64
        The motion.
    error : float
        The root mean square distance that is left between the points of both.

    Examples
    --------
    >>> import warnings
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import sphere
    >>> with warnings.catch_warnings(action="ignore"):  # which says that it is closed
    ...     atlas = PTU().fit(sphere(500).points).atlas(2)
    >>> transition = atlas.transitions[0, 1]
    >>> transition.turn.shape, transition.shift.shape
    ((2, 2), (2,))
    """

    turn: FloatArray
    shift: FloatArray
    error: float


@dataclass(frozen=True, eq=False)
class Atlas:
    """Charts that overlap and together show all points.

    Attributes
    ----------
    charts : tuple of Chart
        The charts.
    transitions : dict of (int, int) to Transition
        From each chart to those that share points with it.
    home : (n_points,) int
        The chart that shows each point best; -1 if it was left out.
    distortion : float
        The root mean square error of the distances between points that are at home in the same
        chart, relative to these.

    Examples
    --------
    >>> import warnings
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import sphere
    >>> with warnings.catch_warnings(action="ignore"):  # which says that it is closed
    ...     atlas = PTU().fit(sphere(500).points).atlas(2)
    >>> len(atlas.charts), sorted(atlas.transitions)
    (2, [(0, 1), (1, 0)])
    >>> atlas.home.shape
    (500,)
    """

    charts: tuple[Chart, ...]
    transitions: dict[tuple[int, int], Transition]
    home: IntArray
    distortion: float


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

    def __str__(self) -> str:
        if self.coherence >= 0.9:
            end = "distances are unfolded"
        elif self.coherence >= 0.3:
            end = "distances are unfolded over short ways, and add up beyond"
        else:
            end = "distances are mostly lengths along the graph"
        return f"the tangent planes explain {self.explained:.0%} of the edges; {end}"


@dataclass(frozen=True, eq=False)
class Path:
    """A shortest path of the graph, unfolded into the tangent space of its first point.

    Attributes
    ----------
    nodes : (n_nodes,) int
        The points on the way, both ends included.
    points : (n_nodes, intrinsic_dim) float64
        The unfolded path; it starts at the origin.
    graph_length : float
        Sum of the edge lengths, the distance that Isomap would use.
    forward, backward : float
        The distance between the ends, unfolded from the first point and from the last; where the
        coherence is below 1, between the straight distance and the length of the path.
    coherence : (n_nodes - 1,) float64
        How far the unfolding of each edge can be believed, from 0 to 1.
    std : float
        The standard deviation of the distance; NaN if nothing but the connection is known.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> path = model.path(0, 1)
    >>> bool(path.distance <= path.graph_length)
    True
    >>> path.points.shape == (len(path.nodes), 2)
    True
    """

    nodes: IntArray
    points: FloatArray
    graph_length: float
    forward: float
    backward: float
    coherence: FloatArray
    std: float = float("nan")

    @property
    def chord(self) -> float:
        """Length of the straight segment between the ends of the unfolded path."""
        return float(np.linalg.norm(self.points[-1] - self.points[0]))

    @property
    def distance(self) -> float:
        """The estimated geodesic distance: the mean of the two one-way estimates."""
        return 0.5 * (self.forward + self.backward)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Coordinates found by multidimensional scaling.

    Attributes
    ----------
    coordinates : (n_points, n_components)
        One row a point.
    eigenvalues : (n_components,) float64
        Eigenvalues of the centred matrix of squared distances, descending, as they were found.

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> from ptunfold import classical_mds
    >>> from ptunfold.datasets import flat_square
    >>> X = flat_square(50).points
    >>> embedding = classical_mds(cdist(X, X), n_components=2)
    >>> embedding.coordinates.shape, embedding.eigenvalues.shape
    ((50, 2), (2,))
    """

    coordinates: FloatArray
    eigenvalues: FloatArray


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """How far from the fitted points something lies, in the space where it was given.

    Attributes
    ----------
    distance : (n_new,) float64
        The distance from the nearest fitted point. Noise in directions that were left out of the
        fit does not count.
    is_outside : (n_new,) bool
        Whether that is more than three times the mean way from the nearest fitted point to its
        neighbours, or that point was left out: the result is an extrapolation.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> places, info = model.transform([[9.0, 9.0, 9.0]], return_info=True)
    >>> info.is_outside
    array([ True])
    """

    distance: FloatArray
    is_outside: BoolArray


@dataclass(frozen=True, eq=False)
class LandmarkPlan:
    """Which landmarks are to be used: how many, how they are chosen, or the caller's own choice.

    With ``is_optional`` only if their picture is as good as that by all distances.
    """

    count: int
    how: str  # "maxmin" or "random"
    rng: np.random.RandomState
    chosen: IntArray | None = None
    is_optional: bool = False


@dataclass(frozen=True)
class Options:
    """What a user asks for, checked; the meanings are those of :class:`ptunfold.PTU`.

    None where it is left to the data. ``graph`` may be one of one's own. Fewer dimensions than
    ``intrinsic_dim`` may be taken with ``may_shrink``, if they hold the edges; shortcuts are
    dropped with ``is_pruned``.
    """

    graph: Any
    n_neighbors: int | None
    radius: float | None
    search: str
    disconnected: str
    is_pruned: bool
    intrinsic_dim: int
    may_shrink: bool
    tangent_neighbors: int | None
    tangent: str | None
    step: str | None
    denoise: int | None
    coherence: float | None


@dataclass(frozen=True)
class Settings(Options):
    """What is done: :class:`Options` with all that was left to the data decided.

    ``n_wide`` is the number of neighbours that each point is given in the end, from among
    neighbours of neighbours, 0 for no more than it has. The last round of denoising takes
    ``denoise_scale`` times as many as the first. Coherence that is None is measured at each edge.
    """

    n_neighbors: int
    tangent_neighbors: int
    tangent: str
    step: str
    denoise: int
    n_wide: int
    denoise_neighbors: int
    denoise_scale: int


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

    @cached_property
    def chart(self) -> Connection:
        """What is embedded: the connection without the edges that are torn."""
        if self.torn is None or not len(self.torn):
            return self.connection
        graph, connection = self.graph, self.connection
        keys = np.concatenate((self.torn, self.torn[:, ::-1])) @ [graph.n_points, 1]
        kept = ~np.isin(graph.tails * np.int64(graph.n_points) + graph.indices, keys)
        indptr = np.concatenate(([0], np.cumsum(kept)))[graph.indptr]
        return replace(
            connection,
            graph=Graph(indptr, graph.indices[kept], graph.lengths[kept], graph.bridges),
            rotations=connection.rotations[kept],
            steps=connection.steps[kept],
            coherence=None if connection.coherence is None else connection.coherence[kept],
        )

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
        return Transport(share, 1.0 if kept is None else float(kept.mean()))

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
