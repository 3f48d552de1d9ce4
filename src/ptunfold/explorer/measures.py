"""What was found out about single points, as columns to colour by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.explorer.columns import Column
from ptunfold.explorer.measuring import Measured
from ptunfold.types import FloatArray, IntArray, Seam

# All that there may be, and what a page says of each.
SCORES = {
    "local distortion": "How much the ways from the point to its neighbours are too long or too "
    "short in the embedding, relative to their lengths: 0.1 is 10 %.",
    "disagreement": "How much paths unfolded from one end and from the other differ in length, on "
    "the average of a dozen paths, relative to their lengths.",
    "coherence": "How far the unfolding of paths can be believed around the point: 1 where tangent "
    "planes agree, 0 where they say nothing and lengths are those along the graph.",
    "stretch": "The factor by which the embedding makes lengths at the point too long or too "
    "short, in the worst direction: 1 is true.",
    "curvature": "How the sheet is curved at the point: above 0 like a ball, below 0 like a "
    "saddle, 0 where it unrolls flat.",
    "error bar": "How far the place of the point in the embedding may be off: one standard "
    "deviation, in the units of the coordinates.",
    "rim": "Whether the point is at the rim of the sheet, or of a hole in it: its neighbours all "
    "lie on one side.",
    "landmark": "Whether distances were measured from the point to all others; the others were "
    "placed by them.",
    "component": "The part of the graph that the point belongs to; no path leads to another.",
    "void": "The hole that the point lies around, by its number.",
    "seam": "The seam at which closed data were cut open to be laid flat, by its number.",
}
# What it says of columns that are none of them.
OTHERS = {
    "feature": "A feature of the data.",
    "place": "A coordinate of the embedding; which way it points has no meaning.",
    "given": "A column that came with the data.",
}


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
