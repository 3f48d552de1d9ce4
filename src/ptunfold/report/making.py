"""All diagnostics of a fit, each made once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ptunfold.diagnostics.curvedness import Curvature, curvature
from ptunfold.diagnostics.rim import rim_points
from ptunfold.diagnostics.stretch import stretch
from ptunfold.diagnostics.voids import Void, find_voids
from ptunfold.embedding.quality import Quality, quality
from ptunfold.fitted import Fitted
from ptunfold.geodesic import distances_of
from ptunfold.report.findings import Report
from ptunfold.report.opening import pieces_shown, points_shown
from ptunfold.sureness import rows_with_std
from ptunfold.threads import Run, run_together, single_threaded_blas
from ptunfold.types import BoolArray, FloatArray, Geometry, IntArray

# Distances are measured from so many points, fewer of many: in a small part of the time of a fit.
_DISTANCES, _LEAST_SOURCES, _MOST_SOURCES = 500_000, 20, 500
_N_NEIGHBORS = 10
_N_PAIRS = 20_000
_N_VALUES = 8  # eigenvalues beyond those that are shown
_LONGEST_NAME = 40


def diagnose(fitted: Fitted, names: list[str], n_jobs: int | None = None) -> Report:
    """Put together all that can be said about a fit, as :meth:`ptunfold.PTU.diagnose` does."""
    geometry, embedding = fitted.as_given, fitted.embedding
    is_there = points_shown(fitted)
    sources = _sources(is_there)

    def judged() -> tuple[Quality | None, FloatArray]:
        rows = distances_of(fitted.geometry, sources, embedding.dtype, Run(n_jobs))
        return _quality(embedding, rows, sources, n_jobs), _spectrum(fitted, sources, rows, n_jobs)

    # What takes longest begins first.
    bars, bent, (found_quality, spectrum), topology, voids, orientation, shape = run_together(
        [
            lambda: _bars(fitted.geometry, sources, n_jobs),
            lambda: _curvature(fitted, n_jobs),
            judged,
            lambda: fitted.topology,
            lambda: _voids(fitted),
            lambda: fitted.orientation,
            lambda: _shape(fitted, n_jobs),
        ],
        Run(n_jobs),
    )
    bridges = geometry.graph.bridges
    return Report(
        embedding=embedding,
        names=tuple(_plain(name) for name in names),
        texture=geometry.texture,
        pieces=pieces_shown(fitted, is_there),
        n_bridges=0 if bridges is None else len(bridges),
        n_left_out=int(np.count_nonzero(~is_there)),
        is_cut=fitted.is_tile,
        transport=geometry.transport,
        topology=topology,
        orientation=orientation,
        quality=found_quality,
        spectrum=spectrum,
        bars=bars,
        has_features=not fitted.is_precomputed,
        curvature=bent,
        voids=voids,
        **shape,
    )


def _bars(geometry: Geometry, sources: IntArray, n_jobs: int | None) -> FloatArray:
    """Tell how sure distances from some points are, as shares of them: the median, and most."""
    some = geometry.place[sources[:: -(-len(sources) // _LEAST_SOURCES) or 1]]
    rows, std = rows_with_std(geometry, some, Run(n_jobs))
    is_apart = np.isfinite(rows) & (rows > 0)
    if not is_apart.any():
        return np.full(2, np.nan)
    return np.quantile(std[is_apart] / rows[is_apart], (0.5, 0.95))


# The sheet is measured in the order of the fit, where neighbours are next to each other.


def _curvature(fitted: Fitted, n_jobs: int | None) -> Curvature:
    place = fitted.geometry.place
    bent = curvature(fitted.geometry.connection, n_jobs=n_jobs)
    return replace(bent, values=bent.values[place], std=bent.std[place], areas=bent.areas[place])


def _voids(fitted: Fitted) -> tuple[Void, ...]:
    order = fitted.geometry.to_input(np.arange(len(fitted.embedding)))
    given = None if fitted.around_holes is None else fitted.around_holes[order]
    voids = find_voids(fitted.geometry, fitted.embedding[order], points=given)
    return tuple(replace(void, rim=order[void.rim]) for void in voids)


def _shape(fitted: Fitted, n_jobs: int | None) -> dict[str, Any]:
    geometry, place = fitted.geometry, fitted.geometry.place
    order = geometry.to_input(np.arange(len(place)))
    stretched = stretch(geometry.chart, fitted.embedding[order], n_jobs=n_jobs)
    return {
        "stretch": replace(
            stretched,
            factors=stretched.factors[place],
            directions=stretched.directions[place],
            distortion=stretched.distortion[place],
            area=stretched.area[place],
            worst=order[stretched.worst],
        ),
        "is_rim": rim_points(geometry.connection, n_jobs=n_jobs)[place],
    }


def _sources(is_there: BoolArray) -> IntArray:
    """Choose points to look from, at random, so that they stand for all."""
    among = np.flatnonzero(is_there)
    wanted = int(np.clip(_DISTANCES // max(len(is_there), 1), _LEAST_SOURCES, _MOST_SOURCES))
    if wanted >= len(among):
        return among
    return np.sort(np.random.RandomState(0).choice(among, wanted, replace=False))


def _quality(
    embedding: FloatArray, rows: FloatArray, sources: IntArray, n_jobs: int | None
) -> Quality | None:
    """Judge the picture by distances along the data; None for fewer than three points."""
    n_points = int(np.isfinite(embedding).all(axis=1).sum())
    n_neighbors = min(_N_NEIGHBORS, (n_points - 1) // 2)
    if n_neighbors < 1 or not len(sources):
        return None
    return quality(
        None,
        embedding,
        distances=rows,
        sources=sources,
        n_neighbors=n_neighbors,
        n_pairs=_N_PAIRS,
        n_jobs=n_jobs,
    )


def _spectrum(
    fitted: Fitted, sources: IntArray, rows: FloatArray, n_jobs: int | None
) -> FloatArray:
    """Return what coordinates contribute, shown or not: shares of all, of the largest piece."""
    geometry = fitted.as_given
    if fitted.is_tile:  # what is shown has no ways across the seams
        rows = _within_the_tile(fitted.geometry, sources, fitted.embedding, n_jobs)
    inside = np.flatnonzero(geometry.labels[sources] == 0)
    among = rows[np.ix_(inside, sources[inside])].astype(np.float64)
    if len(inside) < 2 or not np.isfinite(among).all():
        return np.empty(0)
    centred = -0.5 * np.square(0.5 * (among + among.T))
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    with single_threaded_blas():
        values = np.linalg.eigvalsh(centred)[::-1]
    total = np.abs(values).sum()
    if not total > 0:
        return np.empty(0)
    return np.asarray(values[: fitted.embedding.shape[1] + _N_VALUES] / total)


def _within_the_tile(
    geometry: Geometry, sources: IntArray, embedding: FloatArray, n_jobs: int | None
) -> FloatArray:
    cut = replace(geometry, connection=geometry.chart)
    return distances_of(cut, sources, embedding.dtype, Run(n_jobs))


def _plain(name: str) -> str:
    """Leave out of a name what a terminal would obey, or could not print."""
    letters = (letter if letter.isprintable() else " " for letter in str(name)[:_LONGEST_NAME])
    return " ".join("".join(letters).split())
