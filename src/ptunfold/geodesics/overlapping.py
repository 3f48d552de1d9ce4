"""Whether data overlap themselves when they are unfolded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from ptunfold.geodesics.rows import MeanRows
from ptunfold.geometry.graph import without_bridges
from ptunfold.geometry.order import sample
from ptunfold.threads import Run
from ptunfold.types import Geometry

_SHORT = 0.9  # of the straight line
# So many distances are that short: of sheets up to 0.008, where few points are noisy, and none of
# most; 0.012 and more where data wind around a hole by more than a full turn, have fewer dimensions
# than they are unfolded in, or are held together by shortcuts. Once around it is 0.01 to 0.05, and
# the picture may be as it should.
NEARLY_NONE, MANY, MUCH = 0.002, 0.01, 0.05
_LEAST_POINTS = 50  # of fewer, a single path by chance is as much
_FEWEST_SOURCES, _MOST_SOURCES, _VALUES = 4, 16, 200_000  # a few hundredths of a fit


def share_below_chords(geometry: Geometry, run: Run = Run()) -> float:
    """Tell how many distances from some points are far shorter than the straight line.

    None can be, on any sheet: what is unfolded lies on itself then. Ways over bridges do not count,
    since these lead from one sheet to another.
    """
    connection = geometry.connection
    inside = np.flatnonzero(geometry.labels >= 0)
    if connection.points is None or len(inside) < _LEAST_POINTS:
        return 0.0
    count = int(np.clip(_VALUES // len(inside), _FEWEST_SOURCES, _MOST_SOURCES))
    sources = inside[sample(connection.points[inside], count)]
    # As rows of the fit are, which are compiled.
    rows = np.empty((len(sources), len(connection.points)), dtype=geometry.points.dtype)
    MeanRows(replace(connection, points=None)).fill(sources, rows, run.quiet)
    chords = cdist(connection.points[sources], connection.points)
    pieces = without_bridges(connection.graph).component_labels
    is_apart = np.isfinite(rows) & (chords > 0) & (pieces[sources][:, None] == pieces)
    return float(np.mean(rows[is_apart] < _SHORT * chords[is_apart])) if is_apart.any() else 0.0
