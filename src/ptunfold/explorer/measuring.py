"""Everything that a page has to know about a fit, measured side by side."""

from __future__ import annotations

from typing import NamedTuple

from ptunfold.diagnostics import point_scores
from ptunfold.diagnostics.curvedness import curvature_values
from ptunfold.diagnostics.rim import rim_points
from ptunfold.diagnostics.stretch import stretch
from ptunfold.diagnostics.voids import Void, find_voids
from ptunfold.explorer.example import example_pair
from ptunfold.kernels.spreading import Doubts
from ptunfold.sureness import known_doubts
from ptunfold.threads import Run, run_together
from ptunfold.types import BoolArray, FloatArray, Geometry


class Measured(NamedTuple):
    """Scores of points by their names, what was found around holes, and what paths need."""

    scores: dict[str, FloatArray]
    is_rim: BoolArray
    voids: tuple[Void, ...]
    example: tuple[int, int] | None
    doubts: Doubts | None


def measure(
    geometry: Geometry, embedding: FloatArray, *, has_paths: bool, n_jobs: int | None
) -> Measured:
    """Measure all of it; the example and the doubts only if the page has paths."""
    connection, chart = geometry.connection, geometry.chart

    def bent() -> FloatArray | None:
        # A curve has no curvature of its own.
        return curvature_values(connection, n_jobs=n_jobs) if connection.intrinsic_dim > 1 else None

    def holes() -> tuple[tuple[Void, ...], tuple[int, int] | None]:
        voids = find_voids(geometry, embedding)
        return voids, example_pair(geometry, embedding, voids) if has_paths else None

    # The longest first.
    curvature, (voids, example), scores, stretched, is_rim, doubts = run_together(
        [
            bent,
            holes,
            lambda: point_scores(chart, embedding, n_jobs=n_jobs),
            lambda: stretch(chart, embedding, n_jobs=n_jobs).distortion,
            lambda: rim_points(connection, n_jobs=n_jobs),
            lambda: known_doubts(geometry, n_jobs) if has_paths else None,
        ],
        Run(n_jobs),
    )
    scores["stretch"] = stretched
    if curvature is not None:
        scores["curvature"] = curvature
    return Measured(scores, is_rim, voids, example, doubts)
