"""What was found out about single points, as columns to colour by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.explorer.columns import Column
from ptunfold.explorer.measuring import Measured
from ptunfold.types import FloatArray, IntArray, Seam

# All that there may be.
SCORES = (
    "local distortion", "disagreement", "coherence", "stretch", "curvature", "error bar", "rim",
    "landmark", "component", "void", "seam",
)  # fmt: skip


def score_columns(
    measured: Measured,
    labels: IntArray,
    landmarks: IntArray,
    seams: Sequence[Seam],
    std: FloatArray | None,
) -> list[Column]:
    """Return the scores that say something about these points: none that are not defined.

    Points at the two sides of a seam have the same number, and so have those around a void.
    """
    n_points = len(labels)
    found = {name: _finite(values) for name, values in measured.scores.items()}
    if not np.nanmax(found["disagreement"], initial=0) > 0:  # as with all arcs
        del found["disagreement"]
    if std is not None:
        found["error bar"] = np.sqrt(np.square(std).sum(axis=(1, 2)))
    columns = [
        Column(name, values, is_score=True)
        for name, values in found.items()
        if np.isfinite(values).any()
    ]
    kinds = {
        "rim": measured.is_rim.astype(np.int32),
        "landmark": np.isin(np.arange(n_points), landmarks).astype(np.int32),
    }
    columns += [
        Column(name, values, ["no", "yes"], is_score=True)
        for name, values in kinds.items()
        if values.any()
    ]
    if labels.max() > 0 or labels.min() < 0:
        parts = [str(label) for label in range(labels.max() + 1)]
        columns.append(Column("component", labels.astype(np.int32), parts, is_score=True))
    groups = {"void": [void.rim for void in measured.voids], "seam": [seam.edges for seam in seams]}
    columns += [_numbered(name, members, n_points) for name, members in groups.items() if members]
    return columns


def _numbered(name: str, groups: Sequence[IntArray], n_points: int) -> Column:
    """Give the members of each group its number, from 1."""
    numbers = np.zeros(n_points, dtype=np.int32)
    for number, members in enumerate(groups, start=1):
        numbers[members] = number
    labels = ["none", *map(str, range(1, len(groups) + 1))]
    return Column(name, numbers, labels, is_score=True)


def _finite(values: FloatArray) -> FloatArray:
    """Take what has no bound for what is not known: it has no place on a scale."""
    return np.where(np.isfinite(values), values, np.nan)
