"""Points that are known by their distances alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from ptunfold.types.numbers import FloatArray, IntArray
from ptunfold.types.sheet import Graph

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
