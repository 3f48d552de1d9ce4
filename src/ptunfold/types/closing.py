"""Data that close upon themselves: how they do, where they are cut, and charts of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ptunfold.types.numbers import FloatArray, IntArray


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
        How far it carries along the sheet, and the standard deviation over the edges.
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
        The points as they are seen from one in the middle, along the shortest paths; of tori
        of more than two dimensions as all edges together have them.
    is_sure : bool
        Whether the tangent planes agree well enough to tell what seams do.
    is_branching : bool
        Whether a curve parts, so that points of several branches are in one place of ``where``.

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
    is_branching: bool = False

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
            if n_seams > 1:
                return f"a curve with {n_seams} loops"
            return "a ring" if n_seams else "a branching curve" if self.is_branching else "a curve"
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
            if is_torus:
                return f"a {self.dim}-torus"
            return f"closed, with {n_seams} loops" if n_seams else "closed, as no rim was found"
        if self.is_orientable:
            names = {0: "a sphere", 2: "a torus"}
            return names.get(n_seams, f"a closed surface with {n_seams} loops")
        names = {1: "a projective plane", 2: "a Klein bottle"}
        return names.get(n_seams, f"a one-sided closed surface with {n_seams} loops")

    def __str__(self) -> str:
        end = "" if self.is_sure else "; a guess, because the tangent planes do not agree"
        if not self.seams:
            if not self.has_rim:
                closed = ", closed" if self.dim < 3 else ""
                end = f"{closed}{': no flat map can show it whole' * (self.dim > 1)}{end}"
            return f"{self.name}{end}"
        count = len(self.seams)
        ways = "one direction" if count == 1 else f"{count} directions"
        lengths = [f"{seam.length:.4g} ± {seam.std:.2g}" for seam in self.seams]
        told = " and ".join(filter(None, (", ".join(lengths[:-1]), lengths[-1])))
        if self.dim == 1 and count > 1:
            return f"{self.name}, {told} long{end}"
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
