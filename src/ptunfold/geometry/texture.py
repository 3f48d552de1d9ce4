"""What the data are like at the scale of a neighbourhood, and what is best done with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.geometry.frames import estimate_frames
from ptunfold.types import FloatArray, Frames, Graph, Settings
from ptunfold.validation import SURFACES, n_coefficients, plane_neighbors

_SAMPLE = 150
_FEW, _MANY = 4, 8  # neighbours for each coefficient of a surface
# Measured on the sets of benchmarks/accuracy.py. Bend: 0 on flat sets, 0.008 on a swiss roll of
# 100 000 points, where plain planes are exact to 0.01 %, and 0.03 to 0.3 on smaller curved sets.
_FLAT = 0.005
_MUCH = 0.1  # of the data is bent: they are not flat
# What surfaces leave over of planes' misfit: up to 0.04 on most clean sets and 0.25 on a thin
# sample of steep hills, where they still pay; 0.8 where it is too thin for any surface.
_WELL_FITTED = 0.4
# So little may be noise or not: there is nothing to gain from knowing.
_LITTLE = 0.05
# Of misfit with few neighbours to that with many: up to 0.58 on clean data, 0.9 or more with noise.
_NOISY = 0.6
# Of the first direction off the plane to the last one in it: up to 0.51 with noise that can be
# dealt with, 0.58 and more on images, tables and volumes; noise loses as neighbourhoods grow.
_THIN, _THINNER = 0.55, 0.9
_STRONG = 0.25
_DENOISE_ROUNDS = 3
# For each coefficient of a surface. Measured at noise from 0.2 to 3.5 %: much noise needs more.
_DENOISE_NEIGHBORS, _IN_STRONG_NOISE = 8, 14
# For each coefficient of a surface. Measured: on thin samples fewer are better.
_NEIGHBORS, _NEIGHBORS_IN_NOISE = 3, 8


def texture_of(points: FloatArray, graph: Graph, dim: int, *, n_jobs: int | None = None) -> str:
    """Tell flat, smooth, noisy and rough data apart.

    Planes and quadratic surfaces are fitted to neighbourhoods of some points, small and large.
    What surfaces leave over grows fast with the neighbourhood where it comes from curvature, and
    not at all where it is noise. Noise also makes a neighbourhood the less thick, relative to its
    width, the wider it is; data that are no sheet of this dimension are as thick at any width.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph.
    dim : int
        The dimension of the tangent spaces.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    texture : {"flat", "smooth", "noisy", "very noisy", "rough"}
        Flat: planes fit. Smooth: surfaces fit. Noisy: a sheet with noise, very noisy if large
        neighbourhoods are still a quarter as thick as wide. Rough: neither, because the data are
        thinly sampled, or of more dimensions than ``dim``.

    Examples
    --------
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import swiss_roll
    >>> for noise in (0, 0.002):
    ...     points = swiss_roll(1000, noise=noise).points
    ...     print(texture_of(points, build_graph(points), 2))
    smooth
    noisy
    """
    n_points, n_features = points.shape
    if n_features == dim:
        return "flat"
    # A sample that does not depend on the order of the points: by their distance from the middle.
    from_middle = np.linalg.norm(points - points.mean(axis=0, dtype=np.float64), axis=1)
    quantiles = np.linspace(0, n_points - 1, min(_SAMPLE, n_points)).astype(np.int64)
    nodes = np.argsort(from_middle, kind="stable")[quantiles]

    def look(n_neighbors: int, tangent: str = "pca", more: int = 0) -> Frames:
        return estimate_frames(
            points,
            graph,
            n_neighbors,
            dim + more,
            tangent=tangent,
            nodes=nodes,
            must_span=False,
            n_jobs=n_jobs,
        )

    n_near = plane_neighbors(dim, n_points)
    few, many = (share * n_coefficients(dim) for share in (_FEW, _MANY))
    planes = look(n_near)
    widths = planes.singular_values[:, -1] / np.sqrt(n_near + 1)
    is_bent = planes.residual >= _FLAT * widths
    if is_bent.mean() < _MUCH:
        return "flat"
    if many >= n_points:
        return "rough"
    nodes = nodes[is_bent]  # what is flat says nothing about the rest
    plane, small, large = (
        np.median(look(*how).residual) for how in ((few,), (few, "quadratic"), (many, "quadratic"))
    )
    if small <= _NOISY * large or small <= _LITTLE * plane:
        return "smooth" if small <= _WELL_FITTED * plane else "rough"
    thin, thick = (_thickness(look(size, more=1)) for size in (many, n_near))
    if thin >= max(_THIN, _THINNER * thick):
        return "rough"
    return "noisy" if thin < _STRONG else "very noisy"


def _thickness(frames: Frames) -> float:
    """Compare the last of the directions with the one before it."""
    values = frames.singular_values
    return float(np.median(values[:, -1] / np.maximum(values[:, -2], np.finfo(float).tiny)))


def is_open(settings: Settings) -> bool:
    """Tell whether anything is left to the data."""
    is_auto = settings.step == "auto" or settings.tangent == "auto" or settings.denoise < 0
    return is_auto or settings.n_wide > 0


def settle(settings: Settings, texture: str | None, n_points: int) -> Settings:
    """Fill in what is left to the data.

    ======  =====================================  =========  =====  =======
    data    edges                                  tangent    step   denoise
    ======  =====================================  =========  =====  =======
    flat    ``n_neighbors``                        pca        chord  0
    smooth  12 d among neighbours of neighbours    quadratic  arc    0
    noisy   12 d among neighbours of neighbours    robust     arc    3
    rough   ``n_neighbors``                        pca        chord  0
    ======  =====================================  =========  =====  =======

    Parameters
    ----------
    settings : Settings
        As they were checked.
    texture : {"flat", "smooth", "noisy", "very noisy", "rough"} or None
        What the data are like. Where they are very noisy, more neighbours take part in denoising.
    n_points : int
        The number of points.
    """
    dim, is_noisy = settings.intrinsic_dim, texture in ("noisy", "very noisy")
    is_curved = texture == "smooth" or is_noisy
    tangent, step, denoise = settings.tangent, settings.step, settings.denoise
    n_near = settings.tangent_neighbors
    if tangent == "auto":
        tangent = "robust" if is_noisy else "quadratic" if is_curved else "pca"
        if 0 < n_near < 2 * n_coefficients(dim) - 1:  # too few for a surface
            tangent = "pca"
    if step == "auto":
        step = "arc" if is_curved else "chord"
    if denoise < 0:
        denoise = _DENOISE_ROUNDS if is_noisy else 0
    if n_near == 0:
        n_near = plane_neighbors(dim, n_points)
        if tangent in SURFACES:
            share = _NEIGHBORS_IN_NOISE if is_noisy else _NEIGHBORS
            n_near = max(share * n_coefficients(dim), n_near)
        n_near = min(n_near, n_points - 1)
    share = _IN_STRONG_NOISE if texture == "very noisy" else _DENOISE_NEIGHBORS
    return replace(
        settings,
        denoise_neighbors=min(share * n_coefficients(dim), n_points - 1),
        tangent=tangent,
        step=step,
        denoise=denoise,
        # Long edges pay only where they are taken for arcs.
        n_wide=settings.n_wide if is_curved and step == "arc" else 0,
        tangent_neighbors=n_near,
    )
