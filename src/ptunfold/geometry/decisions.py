"""What is left to the data, decided in one place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.geometry.frames import frames_at
from ptunfold.geometry.order import sample
from ptunfold.geometry.shapes import shapes_at
from ptunfold.geometry.texture import (
    IN_STRONG_NOISE,
    LEAST_NEIGHBORHOODS,
    MANY,
    SAMPLE,
    Texture,
    median_explained,
    texture_of,
)
from ptunfold.threads import Run
from ptunfold.types import Geometry, Graph, Options, Points, Settings, Space
from ptunfold.validation.values import BENT, SURFACES, n_coefficients, plane_neighbors

_NEIGHBORS = 10
# Neighbours for each dimension, from among neighbours of neighbours. Measured on sheets: the error
# falls with them, the time of a fit grows by a third. With many points the memory matters more.
_WIDE, _MOST_WIDE = 12, 200_000
_DENOISE_ROUNDS = 3
# How many times larger neighbourhoods may be in the last round of denoising dense data, if they are
# no more than a 22nd of the data, and how many numbers are looked at in all. Measured on rolls of
# 8000 and 16 000 points, noise of 2.8 %: 5.9 and 2.0 % with one size, 2.6 and 1.2 % with more.
_MOST_SCALE, _MOST_VALUES = 8, 10**8
# For each coefficient of a surface. Measured: on thin samples fewer are better.
_TANGENT_NEIGHBORS = 3
# Of the data: 0.6 on six dimensions of 2000 points, where surfaces are five times as exact as
# planes, 0.74 on eight of 1500, where planes are twice as exact.
_WIDEST = 0.65
# So much of the edges along lines: a curve, of which planes would follow the curvature.
_ALONG = 0.9
# Of one direction of a large neighbourhood to the one before it: strips with noise as large as
# their width have 0.84 and more for the first one off the plane, 0.15 to 0.6 for the last one in
# it; sheets with any noise up to 0.6 for the former, 0.7 and more for the latter.
_AS_THICK, _NARROW = 0.8, 0.65
# What transport has to be after denoising, if it was noise, and how far points may have moved, as
# part of their extent: 0.02 to 0.3 on noisy sheets, up to 0.7 on tables that are none.
COHERENT, _SHEET, _LONGEST_WAY = 0.9, 0.95, 0.35
# Planes explain 0.93 and more on spheres and tori of 200 points, which are bent within a
# neighbourhood. Of 60 to 150 points noise is 0.15 of the extent and less; limbs and corners that
# are smoothed away are 0.2.
_SHEET_IF_CLOSED, _LONGEST_WAY_OF_FEW = 0.85, 0.18
# Of the edges, what planes explain on noisy sheets: 0.98 and more; where they are thick 0.986.
_SURELY, _SURELY_IF_THICK = 0.97, 0.985
_MUCH_LOST = 0.3  # coherence below it: lengths are those along the graph


def has_auto(options: Options, n_points: int) -> bool:
    """Tell whether the texture of the data decides about anything."""
    is_open = None in (options.step, options.tangent, options.denoise)
    return is_open or _may_widen(options, n_points)


def may_thin(options: Options) -> bool:
    """Tell whether fewer neighbours may be taken, if lengths along that graph fit better."""
    return options.n_neighbors is None and isinstance(options.graph, str) and options.graph == "knn"


def _may_widen(options: Options, n_points: int) -> bool:
    return may_thin(options) and options.radius is None and n_points <= _MOST_WIDE


def resolve_auto(options: Options, texture: Texture | None, n_points: int) -> Settings:
    """Decide all that is left to the data, by what they are like, if that is known.

    ======  =====================================  =========  =====  =======
    data    edges                                  tangent    step   denoise
    ======  =====================================  =========  =====  =======
    flat    10 neighbours                          pca        chord  0
    smooth  12 d among neighbours of neighbours    quadratic  arc    0
    noisy   12 d among neighbours of neighbours    robust     arc    3
    rough   10 neighbours                          pca        chord  0
    ======  =====================================  =========  =====  =======

    Where they are very noisy, more neighbours take part in denoising; of dense data ever more from
    round to round.
    """
    kind = None if texture is None else texture.kind
    dim, n_near, tangent = options.intrinsic_dim, options.tangent_neighbors, options.tangent
    is_noisy = texture is not None and texture.is_noisy
    n_each = MANY if texture is None else texture.n_each
    is_curved = kind == "smooth" or is_noisy
    step = options.step or ("arc" if is_curved else "chord")
    if tangent is None:
        tangent = "robust" if is_noisy else "quadratic" if is_curved else "pca"
        # Too few for a surface, or too wide: of many dimensions any neighbourhood is.
        width = (_TANGENT_NEIGHBORS * n_coefficients(dim) / n_points) ** (1 / dim)
        has_few = n_near is not None and n_near < 2 * n_coefficients(dim) - 1
        if has_few or width > _WIDEST:
            tangent = "pca"
    if n_near is None:
        n_near = plane_neighbors(dim, n_points)
        if tangent in SURFACES:
            share = n_each if is_noisy else _TANGENT_NEIGHBORS
            n_near = max(share * n_coefficients(dim), n_near)
        n_near = min(n_near, n_points - 1)
    share = IN_STRONG_NOISE if kind == "very noisy" else n_each
    # Long edges pay only where steps follow the bend.
    is_wide = _may_widen(options, n_points) and is_curved and step in BENT
    decided = {
        "n_neighbors": options.n_neighbors or min(_NEIGHBORS, n_points - 1),
        "n_wide": _WIDE * dim * is_wide,
        "tangent_neighbors": n_near,
        "tangent": tangent,
        "step": step,
        "denoise": _DENOISE_ROUNDS * is_noisy if options.denoise is None else options.denoise,
        "denoise_neighbors": min(share * n_coefficients(dim), n_points - 1),
        "denoise_scale": 1 if texture is None else texture.scale,
    }
    return Settings(**{**vars(options), **decided})


def look_at(
    points: Points, graph: Graph, options: Options, run: Run
) -> tuple[Options, Texture | None]:
    """Find out what the data are like, and of how many dimensions, if anything depends on it.

    The graph is without shortcuts. Options come back with fewer dimensions, if that is allowed and
    they are enough.
    """
    if options.may_shrink:
        options = with_dimension(options, points, graph, run)
    if not has_auto(options, len(points)):
        return options, None
    texture = _texture_at_its_scale(options, points, graph, run)
    if options.may_shrink and texture.is_noisy:
        narrower = without_thin_ones(options, points, graph, run)
        if narrower is not options:
            options = narrower
            texture = _texture_at_its_scale(options, points, graph, run)
    return options, texture


def _texture_at_its_scale(options: Options, points: Points, graph: Graph, run: Run) -> Texture:
    """Look at ever larger neighbourhoods while noise is as large as they are.

    The denser data are, the smaller is a neighbourhood, and the same noise makes the more of it.
    """
    dim, scale = options.intrinsic_dim, 1
    texture = texture_of(points, graph, dim, n_jobs=run.n_jobs)
    if texture.kind not in ("rough", "very noisy") or options.denoise is not None:
        return texture
    if isinstance(points, Space):  # where a neighbourhood takes all distances within it
        return texture
    least = IN_STRONG_NOISE * n_coefficients(dim)
    most = min(
        _MOST_SCALE,
        len(points) / (2 * LEAST_NEIGHBORHOODS * least),
        _MOST_VALUES / (least * points.size),
    )
    while texture.kind != "noisy" and 2 * scale <= most:
        scale *= 2
        wider = texture_of(points, graph, dim, scale=scale, n_jobs=run.n_jobs)
        if wider.is_noisy:
            texture = wider
        elif texture.is_noisy:
            break
    return texture


def with_dimension(options: Options, points: Points, graph: Graph, run: Run) -> Options:
    """Take the least number of dimensions, up to that in ``options``, that holds the edges.

    A curve that is unfolded in two dimensions winds up, because the plane around a point follows
    its curvature.
    """
    nodes = sample(points, SAMPLE)
    for fewer in range(1, options.intrinsic_dim):
        n_near = plane_neighbors(fewer, len(points))
        frames = frames_at(nodes, points, graph, n_near, fewer, n_jobs=run.n_jobs)
        if median_explained(points, graph, frames, nodes) >= _ALONG:
            return replace(options, intrinsic_dim=fewer)
    return options


def share_explained(points: Points, graph: Graph, settings: Settings, run: Run) -> float:
    """Measure on some points how much of the edges tangent planes hold."""
    nodes = sample(points, SAMPLE)
    sizes = settings.tangent_neighbors, settings.intrinsic_dim
    frames = frames_at(nodes, points, graph, *sizes, n_jobs=run.n_jobs)
    return median_explained(points, graph, frames, nodes)


def without_thin_ones(options: Options, points: Points, graph: Graph, run: Run) -> Options:
    """Leave out the dimensions of noisy data in which they are no wider than their noise.

    Of a narrow strip with noise as large as its width, large neighbourhoods are long, and as thick
    as they are wide. A tangent plane would turn about the strip at random.
    """
    dim = options.intrinsic_dim
    widest = IN_STRONG_NOISE * n_coefficients(dim)
    # Of few points such neighbourhoods are thick because the data are bent.
    least = LEAST_NEIGHBORHOODS * MANY * n_coefficients(dim)
    if dim == 1 or len(points) < least or points.shape[1] == dim:
        return options
    nodes = sample(points, SAMPLE)
    found = shapes_at(nodes, points, graph, widest, dim, n_jobs=run.n_jobs)
    widths = np.maximum(found.widths, np.finfo(float).tiny)
    *drops, last = np.median(widths[:, 1:] / widths[:, :-1], axis=0)
    sharpest = int(np.argmin(drops))
    if last <= _AS_THICK or drops[sharpest] >= _NARROW:
        return options
    return replace(options, intrinsic_dim=sharpest + 1)


def was_noise(geometry: Geometry, *, is_few: bool, is_closed: bool) -> bool:
    """Tell whether it was noise that denoising took away.

    Then the points have moved by a small part of their extent, smaller if they are few, and
    transport along what is left is coherent. Surfaces that are closed are bent more.
    """
    if geometry.seen is not None:
        moved, extent = np.square(geometry.seen.moved).mean(), geometry.seen.extent**2
    else:
        moved, extent = _moved(geometry)
    transport = geometry.transport
    least = _SHEET_IF_CLOSED if is_closed else _SHEET
    is_sheet = transport.coherence >= COHERENT and transport.explained >= least
    farthest = _LONGEST_WAY_OF_FEW if is_few else _LONGEST_WAY
    return bool(is_sheet and moved <= farthest**2 * extent)


def is_doubtful(geometry: Geometry, texture: Texture) -> bool:
    """Tell whether planes explain denoised points not as well as those of sheets."""
    return geometry.transport.explained < (_SURELY_IF_THICK if texture.is_thick else _SURELY)


def is_no_sheet(geometry: Geometry, options: Options) -> bool:
    """Tell whether transport, where it is measured, says next to nothing."""
    return options.coherence is None and geometry.transport.coherence < _MUCH_LOST


def _moved(geometry: Geometry) -> tuple[float, float]:
    """Sum up the squares of how far points were moved, and of how far they are apart."""
    moved, extent = (
        np.square(offsets, dtype=np.float64).sum()
        for offsets in (
            geometry.surface - geometry.points,
            geometry.points - geometry.points.mean(axis=0, dtype=np.float64),
        )
    )
    return moved, extent
