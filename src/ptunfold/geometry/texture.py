"""What the data are like at the scale of a neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptunfold.geometry.frames import frames_at
from ptunfold.geometry.graph import edges_from
from ptunfold.geometry.intrinsic import shadows
from ptunfold.geometry.order import sample
from ptunfold.geometry.shapes import Shapes, shapes_at
from ptunfold.threads import cut
from ptunfold.types import FloatArray, Frames, Graph, IntArray, Points, Space
from ptunfold.validation.values import n_coefficients, plane_neighbors

SAMPLE = 100
FEW, MANY, IN_STRONG_NOISE = 4, 8, 14  # neighbours for each coefficient of a surface
# Measured on the sets of benchmarks/accuracy.py. Bend: 0 on flat sets, 0.008 on a swiss roll of
# 100 000 points, where plain planes are exact to 0.01 %, and 0.03 to 0.3 on smaller curved sets.
_FLAT = 0.005
_MUCH = 0.03  # of the data is bent: they are not flat, but creased at least
# So little may be noise or not: there is nothing to gain from knowing.
_LITTLE = 0.05
# Of misfit with few neighbours to that with many: up to 0.58 on clean data, 0.9 or more with noise.
_NOISY = 0.6
# Of the first direction off the plane to the last one in it: up to 0.51 with noise that can be
# dealt with, 0.58 and more on images, tables and volumes; noise loses as neighbourhoods grow.
_THIN, _THINNER = 0.55, 0.9
_STRONG = 0.25
# Noise of sheets whose planes are in doubt has 0.2 to 0.57, a thick ring in many dimensions 0.73 to
# 0.81.
_THICK = 0.65
# Of the least tenth of misfits to their median: 0.78 and more with noise, up to 0.62 on surfaces.
_EVEN, _EVERYWHERE = 0.7, 0.9
# Of the edges, what lies in the tangent planes of a sheet: 0.93 and more without noise, 0.78 and
# more with noise that can be dealt with; up to 0.72 on most images, tables and volumes, up to 0.88
# on loops of images, whose planes follow their curvature.
_EXPLAINED, _WELL_EXPLAINED = 0.75, 0.9
# So many neighbourhoods have to fit into the data: where a surface is fitted to a large part of
# them, their shape goes with the noise. With fewer points small ones will do that are half as wide
# as the data, if they show nothing but noise.
LEAST_NEIGHBORHOODS = 11
# Of the mean square of misfits to the square of their median: up to 1.1 with noise alone, 1.2 and
# more where some neighbourhoods reach over a bend, or to another winding of a roll.
_ALIKE, _SAMPLE_OF_MISFITS = 1.2, 400
_VALUES_TOGETHER = 1 << 16
_AS_MUCH = 1.5  # noise has up to 1.1, sheets without it 2.7 and more


@dataclass(frozen=True)
class Texture:
    """What data are like at the scale of a neighbourhood.

    Attributes
    ----------
    kind : {"flat", "smooth", "noisy", "very noisy", "rough"}
        Flat: planes fit. Smooth: they fit nearly, or surfaces do. Noisy: a sheet with noise, very
        noisy if large neighbourhoods are still a quarter as thick as wide. Rough: neither, because
        the data have more dimensions than were asked for, or none.
    explained : float
        The share of the edges, by their squared lengths, that lies in tangent planes; the median
        over points.
    n_each : int
        How many neighbours for each coefficient surfaces are fitted to, where there is noise.
    scale : int
        So many times as many take part in the last round of denoising: of dense data noise fills
        small neighbourhoods.
    thickness : float
        Of noisy data, the first width of large neighbourhoods off the plane, as part of the last
        one in it; the median.
    """

    kind: str
    explained: float
    n_each: int = MANY
    scale: int = 1
    thickness: float = 0.0

    @property
    def is_noisy(self) -> bool:
        """Whether there is noise that can be dealt with."""
        return self.kind in ("noisy", "very noisy")

    @property
    def is_thick(self) -> bool:
        """Whether the noise is nearly as wide as the sheet, which may be none, within its reach."""
        return self.thickness >= _THICK

    @property
    def is_sheet(self) -> bool:
        """Whether tangent planes explain the data, apart from noise."""
        return self.explained >= _EXPLAINED

    @property
    def without_noise(self) -> Texture:
        """What data are that looked noisy and are not."""
        return replace(self, kind="smooth" if self.explained >= _WELL_EXPLAINED else "rough")


def texture_of(
    points: Points, graph: Graph, dim: int, *, scale: int = 1, n_jobs: int | None = None
) -> Texture:
    """Tell flat, smooth, noisy and rough data apart.

    Planes and quadratic surfaces are fitted to neighbourhoods of some points, small and large.
    What surfaces leave over grows fast with the neighbourhood where it comes from curvature, and
    not at all where it is noise. Noise also makes a neighbourhood the less thick, relative to its
    width, the wider it is; data that are no sheet of this dimension are as thick at any width.
    With a ``scale`` all neighbourhoods have so many times as many members.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import swiss_roll
    >>> for noise in (0, 0.002):
    ...     points = swiss_roll(1000, noise=noise).points
    ...     print(texture_of(points, build_graph(points), 2).kind)
    smooth
    noisy
    >>> points = np.random.default_rng(0).normal(size=(1000, 10))
    >>> texture = texture_of(points, build_graph(points), 2)
    >>> print(texture.kind, round(texture.explained, 1))
    rough 0.4
    """
    n_points, n_features = points.shape
    if n_features == dim:
        return Texture("flat", 1.0)
    nodes = sample(points, SAMPLE)

    def look(n_neighbors: int, *, surfaces: bool = True) -> Shapes:
        return shapes_at(nodes, points, graph, n_neighbors, dim, surfaces=surfaces, n_jobs=n_jobs)

    n_terms = scale * n_coefficients(dim)
    n_near = min(scale * plane_neighbors(dim, n_points), n_points - 1)
    few, many = FEW * n_terms, MANY * n_terms
    planes = frames_at(nodes, points, graph, n_near, dim, n_jobs=n_jobs)
    explained = median_explained(points, graph, planes, nodes)
    widths = planes.singular_values[:, -1] / np.sqrt(n_near + 1)
    has_width = widths > 0  # points without neighbours, and copies of so few, say nothing
    nodes, is_bent = nodes[has_width], (planes.residual >= _FLAT * widths)[has_width]
    if not has_width.any() or is_bent.mean() < _MUCH:
        return Texture("flat", explained)
    clean = "smooth" if explained >= _WELL_EXPLAINED else "rough"
    if min(LEAST_NEIGHBORHOODS * many, 2 ** max(dim, 2) * few) > n_points:
        return Texture(clean, explained)
    nodes = nodes[is_bent]  # what is flat says nothing about the rest
    near, wide = look(few), look(many)
    small, large = np.median(near.off), np.median(wide.off)
    if small <= _NOISY * large or small <= _LITTLE * np.median(near.off_planes):
        return Texture(clean, explained)
    narrow = look(n_near, surfaces=False)
    thin = wide.thickness
    is_thin = thin < max(_THIN, _THINNER * narrow.thickness)
    # Noise in many directions is thick at any width, but its share falls as the width grows.
    if not is_thin and explained < _WELL_EXPLAINED:
        widest = IN_STRONG_NOISE * n_terms
        if widest < n_points:
            is_thin = look(widest).share > narrow.share
    # Creases are no noise, which is the same everywhere: between them planes explain everything.
    is_everywhere = is_bent.mean() >= _EVERYWHERE
    is_even = is_everywhere and np.quantile(near.off, 0.1) >= _EVEN * small
    if not is_thin or (thin >= _STRONG and explained >= _WELL_EXPLAINED and not is_even):
        return Texture(clean, explained)
    # Off the surface in all directions, or in one direction, but off the plane.
    off = wide.off / np.maximum(wide.widths[:, -2], np.finfo(float).tiny)
    is_strong = min(np.median(off) * np.sqrt(many + 1), thin) >= _STRONG
    room = n_points / (LEAST_NEIGHBORHOODS * n_terms)  # for each coefficient
    if room < MANY and explained < _EXPLAINED:  # too few to tell noise from more dimensions
        return Texture(clean, explained)
    if is_strong and room >= IN_STRONG_NOISE:
        return Texture("very noisy", explained, MANY, scale, thin)
    # Noise is alike everywhere. If some neighbourhoods fit far worse than most, they are too wide,
    # and smaller ones are taken; of few points these from the start.
    nodes = sample(points, _SAMPLE_OF_MISFITS)
    for n_each in (MANY, FEW) if is_strong or room >= MANY else (FEW,):
        misfits = look(n_each * n_terms).off
        if np.square(misfits).mean() <= _ALIKE * np.median(misfits) ** 2:
            return Texture("noisy", explained, n_each, scale, thin)
    return Texture("noisy" if room >= MANY else clean, explained, MANY, scale, thin)


def noise_left(points: FloatArray, graph: Graph, dim: int, n_jobs: int | None = None) -> float:
    """Estimate the noise of points that were not denoised; 0 where curvature may be all there is.

    What surfaces miss of neighbourhoods is three to five times as much of large ones as of small
    ones where it comes from curvature, and the same where it is noise.
    """
    sizes = [n_each * n_coefficients(dim) for n_each in (FEW, MANY)]
    if sizes[1] >= len(points) or points.shape[1] <= dim:
        return 0.0
    nodes = sample(points, SAMPLE)
    found = (
        shapes_at(nodes, points, graph, size, dim, surfaces=True, n_jobs=n_jobs) for size in sizes
    )
    small, large = (float(np.nanmedian(shapes.off)) for shapes in found)
    return small if large <= _AS_MUCH * small else 0.0


def median_explained(points: Points, graph: Graph, frames: Frames, nodes: IntArray) -> float:
    """Measure the share of the edges at ``nodes`` that lies in their frames."""
    shares = []
    widest = 1 if isinstance(points, Space) else points.shape[1]
    counts = np.diff(graph.indptr)[nodes]
    together = max(_VALUES_TOGETHER // (widest * max(int(counts.max(initial=1)), 1)), 1)
    for some in cut(len(nodes), together):
        rows = np.repeat(np.arange(some.start, some.stop), counts[some])
        tails, heads = nodes[rows], graph.indices[edges_from(graph, nodes[some])]
        if isinstance(points, Space):
            assert frames.members is not None
            along = shadows(points, frames.members[rows], frames.vectors[rows], tails, heads)
            squares = np.square(points.lengths(tails, heads))
        else:
            offsets = points[heads].astype(np.float64) - points[tails]
            along = np.einsum("ej,ejk->ek", offsets, frames.vectors[rows])
            squares = np.square(offsets).sum(axis=1)
        held, whole = (
            np.bincount(rows - some.start, sums, some.stop - some.start)
            for sums in (np.square(along).sum(axis=1), squares)
        )
        has_edges = whole > 0  # copies of a point have no other edges
        shares.append(held[has_edges] / whole[has_edges])
    found = np.concatenate(shares) if shares else np.empty(0)
    return float(np.median(found)) if len(found) else 1.0
