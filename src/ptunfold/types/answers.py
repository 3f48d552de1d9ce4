"""What single questions are answered with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptunfold.types.numbers import BoolArray, FloatArray, IntArray


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
