"""How curved a sheet is, from what comes back turned around the triangles of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma, pi

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ptunfold.diagnostics.rim import edges_along, rim_points
from ptunfold.geodesics.paths import both_directions
from ptunfold.geometry.coherence import around_triangles, on_both_ways
from ptunfold.threads import check_not_stopped
from ptunfold.types import BoolArray, Connection, FloatArray, IntArray
from ptunfold.validation.records import check_connection

# Rounds of averaging over neighbours: each value is compared with the one two levels later.
_ROUNDS = (0, 1, 2, 4, 8, 16, 32)
_LATER = 2
# Squares of differences are averaged over so many rounds, and the two are added: by chance, or
# where the curvature changes its sign, a difference is small though the error is not.
_NEAR, _FAR = 8, 32
# Of white noise in the plane, averaged over an area of 1 and of 4, the difference has 0.45 of the
# variance of the first.
_DEVIATIONS = 0.45**-0.5
# Edges of length l turn a little too much, by K l² / 12 of it.
_EDGES = 12
# Areas are known to a few per cent: points on a lattice have more than those at random.
_AREAS = 0.05
_MOST_CENTERS = 8
# Fewer points than this times √n are no rim but gaps by chance, as on a sphere.
_RIM = 0.25
_LEAST_IN_DISC = 30


@dataclass(frozen=True, eq=False)
class Curvature:
    """The curvature of a sheet: ``print`` it.

    Attributes
    ----------
    values : (n_points,) float64
        The Gaussian curvature at each point; of more than two dimensions the mean of the
        sectional curvatures, which is the scalar curvature over d (d - 1). 0 on curves. NaN at
        points without a triangle of edges around them.
    std : (n_points,) float64
        The standard error of each.
    areas : (n_points,) float64
        The part of the sheet that each point stands for: its area, length or volume.
    total, total_std : float
        The integral of the curvature, 4π for a sphere of any size, and its standard error.
    bound : float
        No map of the sheet into the plane, one to one, has scales that differ by less than this
        factor; 1 where that says nothing, NaN if the sheet is no surface.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import spherical_cap
    >>> found = PTU().fit(spherical_cap(500, angle=60).points).curvature()
    >>> print(f"{found.values.mean():.2f}")
    1.00
    """

    values: FloatArray
    std: FloatArray
    areas: FloatArray
    total: float
    total_std: float
    bound: float

    def __str__(self) -> str:
        known = np.isfinite(self.values)
        if not known.any():
            return "the curvature is not known"
        said = (
            f"curvature {np.median(self.values[known]):.3g} ± {np.median(self.std[known]):.2g} "
            f"at the median point, {self.total:.3g} ± {self.total_std:.2g} in all"
        )
        if self.bound > 1.005:
            said += f"; scales of any flat map differ by a factor of {self.bound:.3g} or more"
        return said


def curvature(connection: Connection, *, n_jobs: int | None = None) -> Curvature:
    """Measure how curved a sheet is at each point, and in all.

    A vector that is carried around a triangle of area B comes back turned by K B, K the curvature
    inside. Over the triangles at a point, K is ∑⟨H - I, B⟩ / ∑‖B‖², with the turn H and B as a
    bivector. Both sums are averaged over neighbours, and over theirs, again and again: noise falls,
    and what is smoothed away grows. How far values still change from one level to a later one is
    the error, of either kind; each point takes the level where it is least around it.

    The bound is Milnor's argument (A Problem in Cartography, American Mathematical Monthly 76,
    1969) for any surface. A disc of radius r has a rim of length L ≤ 2πr - ∫ω(s)ds, with ω(s) the
    curvature within the distance s of its centre. Its image contains a disc of radius r times the
    least scale, and so has a rim no shorter than that one's, but no longer than L times the largest
    scale: the scales differ by the factor 2πr / L or more. Of negative curvature discs have an area
    A = πr² - ∬ω and images within a disc of radius r times the largest scale: the factor is
    √(A / πr²). Discs are drawn around a few points as far as the rim; ω is taken one standard error
    nearer to 0.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of a graph; bridges do not count.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

    Returns
    -------
    curvature : Curvature
        Values with standard errors, areas, the integral, and the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> from ptunfold.datasets import sphere
    >>> from ptunfold.diagnostics.curvedness import curvature
    >>> points = 2 * sphere(1000).points
    >>> graph = build_graph(points, 20)
    >>> frames = estimate_frames(points, graph, 20, tangent="quadratic")
    >>> found = curvature(connect(points, graph, frames, step="arc"))
    >>> print(f"{np.median(found.values):.2f}, in all {found.total / np.pi:.1f} π")
    0.25, in all 4.0 π
    """
    connection = check_connection(connection)
    dim, is_used = connection.intrinsic_dim, edges_along(connection)
    graph = connection.graph
    areas = areas_of(graph.tails[is_used], connection.steps[is_used], graph.n_points)
    if dim == 1:
        values = np.where(np.isfinite(areas), 0.0, np.nan)
        return Curvature(values, values, areas, 0.0, 0.0, np.nan)
    values, std, n_alike = _turned(connection, is_used, n_jobs)
    parts, errors = np.nan_to_num(values * areas), np.nan_to_num(std * areas)
    noise = np.sqrt((n_alike * np.square(errors)).sum())
    total_std = np.hypot(noise, _AREAS * np.abs(parts).sum())
    bound = np.nan
    if dim == 2:
        is_rim = rim_points(connection, n_jobs=n_jobs)
        bound = _bound(connection, np.abs(values), parts, errors, is_rim)
    return Curvature(values, std, areas, float(parts.sum()), float(total_std), bound)


def curvature_values(connection: Connection, *, n_jobs: int | None = None) -> FloatArray:
    """Measure the ``values`` of `curvature` alone, (n_points,), in two thirds of the time."""
    connection = check_connection(connection)
    return _turned(connection, edges_along(connection), n_jobs)[0]


def areas_of(tails: IntArray, steps: FloatArray, n_points: int) -> FloatArray:
    """Measure the part of a sheet that each point stands for, (n_points,), by its neighbours.

    Points at random in a ball of radius r and d dimensions have variances of r² / (d + 2), so that
    their determinant tells its volume. At the rim half of the ball is missing, and the middle is
    off by c r; the determinant then is that of half a ball but for a known factor.
    ``steps`` (n_edges, d) lead from ``tails`` (n_edges,) to neighbours. NaN where these are too
    few.
    """
    dim = steps.shape[1]

    def summed(values: FloatArray) -> FloatArray:
        return np.bincount(tails, values, minlength=n_points).astype(np.float64)

    counts = summed(np.ones(len(tails)))
    many = np.maximum(counts, 2)
    means = np.stack([summed(steps[:, axis]) / many for axis in range(dim)], axis=1)
    covariances = np.empty((n_points, dim, dim))
    for row in range(dim):
        for column in range(dim):
            products = summed(steps[:, row] * steps[:, column])
            products -= many * means[:, row] * means[:, column]
            covariances[:, row, column] = products / (many - 1)
    volumes = np.sqrt(np.maximum(np.linalg.det(covariances), 0) * (dim + 2.0) ** dim)
    ball = pi ** (dim / 2) / gamma(dim / 2 + 1)
    half_off = gamma(dim / 2 + 1) / (pi**0.5 * gamma((dim + 3) / 2))  # c
    excess = 2 * max(1 - (dim + 2) * half_off**2, 0) ** 0.5 - 1
    off = np.square(means).sum(axis=1)
    spread = np.trace(covariances, axis1=1, axis2=2)
    share = np.divide(off, spread, out=np.zeros(n_points), where=spread > 0)
    is_half = np.minimum(share / (half_off**2 / (dim / (dim + 2) - half_off**2)), 1)
    volumes = ball * volumes / (1 + excess * is_half)
    return np.where(counts > dim, volumes / (many + 1), np.nan)  # the neighbours and itself


def _turned(
    connection: Connection, is_used: BoolArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Find the curvature at each point, its standard error, and how many points share that."""
    graph, n_points = connection.graph, connection.graph.n_points
    sums = on_both_ways(graph, lambda edges: around_triangles(connection, edges, n_jobs))
    check_not_stopped()
    _, along, areas, counts = np.where(is_used[:, None], sums, 0).T
    both: FloatArray = np.stack(
        [np.bincount(graph.tails, part * counts, n_points) for part in (along, areas)], axis=1
    ).astype(np.float64)
    averaging = _averaging(connection, is_used)
    levels, done = [], 0
    for rounds in _ROUNDS:
        both, done = _averaged(averaging, both, rounds - done), rounds
        along, areas = both.T
        levels.append(np.divide(along, areas, out=np.full(n_points, np.nan), where=areas > 0))
    check_not_stopped()
    found = np.array(levels)
    errors = np.square(found[:-_LATER] - found[_LATER:])
    errors = _mean_around(averaging, errors.T).T
    is_known = np.isfinite(errors) & np.isfinite(found[:-_LATER])
    best = np.argmin(np.where(is_known, errors, np.inf), axis=0)[None]
    values = np.take_along_axis(found, best, axis=0)[0]
    noise = _DEVIATIONS * np.sqrt(np.take_along_axis(errors, best, axis=0)[0])
    squares = np.square(connection.steps).sum(axis=1)
    degrees = np.maximum(np.diff(graph.indptr), 1)
    lengths = np.bincount(graph.tails, squares, n_points) / degrees
    n_alike = degrees * (1 + np.array(_ROUNDS)[best[0]])  # the area grows with the rounds
    return values, np.hypot(noise, np.square(values) * lengths / _EDGES), n_alike


def _averaging(connection: Connection, is_used: BoolArray) -> sparse.csr_array:
    """Return the matrix that averages over each point and its neighbours."""
    check_not_stopped()
    graph, n_points = connection.graph, connection.graph.n_points
    weights = is_used.astype(np.float64)
    matrix = sparse.csr_array((weights, graph.indices, graph.indptr), shape=(n_points, n_points))
    matrix = matrix + sparse.eye_array(n_points, format="csr")
    return sparse.diags_array(1 / matrix.sum(axis=1)).tocsr() @ matrix


def _mean_around(averaging: sparse.csr_array, errors: FloatArray) -> FloatArray:
    """Average what is known of errors (n_points, n_levels) near each point and farther around."""
    is_known = np.isfinite(errors)
    total: FloatArray = np.where(is_known, errors, 0)
    # Mostly the same is known at all levels, and one column is enough.
    is_alike = bool((is_known == is_known[:, :1]).all())
    share: FloatArray = (is_known[:, :1] if is_alike else is_known).astype(np.float64)
    mean = np.zeros(errors.shape)
    for rounds in (_NEAR, _FAR - _NEAR):
        total, share = (_averaged(averaging, values, rounds) for values in (total, share))
        is_near = np.broadcast_to(share > 0, errors.shape)
        mean += np.divide(total, share, out=np.full(errors.shape, np.nan), where=is_near)
    return mean


def _averaged(averaging: sparse.csr_array, values: FloatArray, rounds: int) -> FloatArray:
    for _ in range(rounds):
        check_not_stopped()
        values = averaging @ values
    return values


def _bound(
    connection: Connection,
    sizes: FloatArray,
    parts: FloatArray,
    errors: FloatArray,
    is_rim: BoolArray,
) -> float:
    """Find the factor by which the scales of any flat map differ."""
    graph = connection.graph
    if np.count_nonzero(is_rim) <= _RIM * graph.n_points**0.5:
        is_rim = np.zeros(graph.n_points, dtype=bool)
    inside = np.flatnonzero(~is_rim & (np.diff(graph.indptr) > 0))
    if len(inside) < _LEAST_IN_DISC:
        return 1.0
    depths = np.full(graph.n_points, np.inf)
    if is_rim.any():
        rim = np.flatnonzero(is_rim)
        depths = csgraph.dijkstra(graph.to_sparse(), indices=rim, min_only=True)
    bound, left = 1.0, inside
    # First those that promise most: the curvature around them, as far as the rim.
    promise = np.nan_to_num(sizes) * np.square(np.minimum(depths, 1e100))
    for _ in range(_MOST_CENTERS):
        center = int(left[np.argmax(promise[left])])
        distances = np.mean(both_directions(connection, center), axis=0)
        bound = max(bound, _around(distances, depths[center], parts, errors))
        there = distances[left][np.isfinite(distances[left])]  # its own component
        reach = depths[center] if np.isfinite(depths[center]) else np.max(there)
        left = left[distances[left] > reach / 2]
        if not len(left):
            break
    return bound


def _around(distances: FloatArray, depth: float, parts: FloatArray, errors: FloatArray) -> float:
    """Find that factor for discs around one point, no larger than ``depth``."""
    within = np.flatnonzero(distances <= (depth if np.isfinite(depth) else np.finfo(float).max))
    within = within[np.argsort(distances[within])]
    radii = distances[within]

    def inner(values: FloatArray, power: int) -> FloatArray:
        """Sum (r - rᵢ)^power over the points i within each radius r."""
        zero, one, two = (np.cumsum(values * radii**k) for k in range(3))
        return radii * zero - one if power == 1 else radii**2 * zero - 2 * radii * one + two

    around = 2 * pi * radii
    more, less = parts[within] - errors[within], parts[within] + errors[within]
    factors = [1.0]
    some = radii > 0  # copies of the centre are no disc
    some[:_LEAST_IN_DISC] = False
    rims = 1 - inner(more, 1)[some] / around[some]
    discs = 1 - inner(less, 2)[some] / (around * radii)[some]
    if len(rims):
        smallest, largest = rims.min(), discs.max()
        factors += [np.inf if smallest <= 0 else 1 / smallest, np.sqrt(max(largest, 1))]
    return float(max(factors))
