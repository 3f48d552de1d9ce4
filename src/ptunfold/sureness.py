"""How long error bars have to be for the data at hand: half of the points tell, against all."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ptunfold.geodesics.doubts import doubts_of, rows_with
from ptunfold.geometry.order import sample
from ptunfold.kernels.spreading import Doubts
from ptunfold.pipeline import build_quietly
from ptunfold.threads import Run
from ptunfold.types import FloatArray, Geometry, IntArray, Options

_FEWEST, _FEW, _MOST = 450, 1000, 20_000  # points; more than the most would take long
_N_SOURCES = 16
# Bars have to hold as many differences as errors of a normal distribution are within 1.44 standard
# deviations.
_SHARE, _OF_NORMAL = 0.85, 1.44


class _Part(NamedTuple):
    """How much of the points is unfolded alone, and what that can tell.

    Both are wrong in the same way in part, which their differences do not tell: bars are ``common``
    times as long for it. They are no shorter than ``least`` times those given.
    """

    share: float
    common: float
    least: float


# Measured on sheets, spheres and hills (benchmarks/bars.py), by whether data are flat, where all
# that is wrong is rounding, and whether points are few. Half of few is too coarse for curved data;
# more of them have, beside holes, nearly all of what is wrong in common.
_PARTS = {
    (False, False): _Part(0.5, 1.25, 0.2),
    (False, True): _Part(0.7, 1.5, 0.8),
    (True, False): _Part(0.5, 1.8, 0.2),
    (True, True): _Part(0.5, 2.1, 0.2),
}
# Where not all is carried on: measured on 29 surfaces with known geodesics. Half of their points
# are too few for what is thin or sharp.
_NOT_ALL_CARRIED = _Part(0.7, 1.45, 0.1)
_MOST_FACTOR = 5.0
_LEAST_OFF = 1e-4  # of a bar: single differences may be next to nothing

_known: WeakKeyDictionary[Geometry, Doubts] = WeakKeyDictionary()


def rows_with_std(
    geometry: Geometry, sources: IntArray, run: Run = Run()
) -> tuple[FloatArray, FloatArray]:
    """Estimate distances from some nodes to all, and their standard deviations.

    Both are (n_sources, n_nodes), infinite where no path leads, in the order of the geometry.
    """
    return rows_with(known_doubts(geometry, run.n_jobs), geometry, sources, run)


def known_doubts(geometry: Geometry, n_jobs: int | None = None) -> Doubts:
    """Tell what is uncertain about a geometry, with bars as long as the data ask for; made once."""
    found = _known.get(geometry)
    if found is None:
        found = doubts_of(geometry, n_jobs)
        found = fitted_to_data(geometry, found, n_jobs)
        _known[geometry] = found
    return found


def fitted_to_data(geometry: Geometry, doubts: Doubts, n_jobs: int | None = None) -> Doubts:
    """Tell by how much bars are too short, and by how much more far away, from half of the points.

    Without noise errors fall quickly as points are added, so that distances by all of them stand
    for the truth: bars of half of them have to hold the differences. What is wrong with curvature
    or along a bend adds up along the way, so that far points may be off by more than bars know.
    They stay as they are where nothing can be told: with noise, which moves both alike, where
    planes do not explain the data, and of very few points.
    """
    given = doubts
    if not _is_clean(geometry, doubts):
        return given
    run, nodes = Run(n_jobs), np.flatnonzero(geometry.labels == 0)
    if len(nodes) > _MOST:  # some of them, and half of these
        nodes = nodes[sample(geometry.points[nodes], _MOST)]
        geometry = _geometry_of(geometry.points[nodes], geometry, run)
        nodes, doubts = np.flatnonzero(geometry.labels == 0), doubts_of(geometry, n_jobs)
    if len(nodes) < _FEWEST or not _is_clean(geometry, doubts):
        return given
    is_flat = geometry.texture == "flat"
    is_kept = geometry.connection.coherence is not None
    part = _NOT_ALL_CARRIED if is_kept else _PARTS[is_flat, len(nodes) < _FEW]
    some = nodes[sample(geometry.points[nodes], int(part.share * len(nodes)))]
    coarse = _geometry_of(geometry.points[some], geometry, run)
    coarse_doubts = doubts_of(coarse, n_jobs)
    if not _is_clean(coarse, coarse_doubts):
        return given
    sources = sample(coarse.points, _N_SOURCES)
    rows, std = rows_with(coarse_doubts, coarse, sources, run)
    finer = [found[:, some] for found in rows_with(doubts, geometry, some[sources], run)]
    bars = np.hypot(std, finer[1])
    is_apart = np.isfinite(rows) & np.isfinite(finer[0]) & (bars > 0) & (finer[0] > 0)
    if 2 * np.count_nonzero(is_apart) < is_apart.size:
        return given
    off = np.abs(rows - finer[0])[is_apart] / bars[is_apart]
    logs = np.log(finer[0][is_apart])
    middle, power = float(logs.mean()), 0.0
    if not is_flat:
        power = float(np.polyfit(logs - middle, np.log(np.maximum(off, _LEAST_OFF)), 1)[0])
        power = min(max(power, 0.0), 1.0)
    off = off / np.exp(power * (logs - middle))
    factor = part.common * float(np.quantile(off, _SHARE)) / _OF_NORMAL
    factor = min(max(factor, part.least), _MOST_FACTOR)
    return given._replace(factor=factor, middle=float(np.exp(middle)), power=power)


def _is_clean(geometry: Geometry, doubts: Doubts) -> bool:
    is_clean = geometry.texture in ("flat", "smooth") and doubts.noise == 0
    return is_clean and geometry.seen is None


def _geometry_of(points: FloatArray, like: Geometry, run: Run) -> Geometry:
    """Build the geometry of some of the points, as it comes, of the same dimension."""
    options = Options(
        graph="knn",
        n_neighbors=None,
        radius=None,
        search="exact",  # of not so many, and without a word
        disconnected="bridge",
        is_pruned=True,
        intrinsic_dim=like.connection.intrinsic_dim,
        may_shrink=False,
        tangent_neighbors=None,
        tangent=None,
        step=None,
        denoise=None,
        coherence=None,
    )
    return build_quietly(points, options, run)
