"""What a report begins with: the data and their shape, each in a line."""

from __future__ import annotations

import numpy as np

from ptunfold.fitted import Fitted
from ptunfold.geometry.graph import without_bridges
from ptunfold.report.advice import NOT_BELIEVED
from ptunfold.report.words import either_or, plural
from ptunfold.types import BoolArray, Orientation, Topology


def first_words(fitted: Fitted, n_features: int) -> str:
    """Say what a report says first, without making the rest of it.

    Of data that are no sheet also that, and of those that were cut open how they close: that was
    found out already.
    """
    is_there = points_shown(fitted)
    told = data_line(
        fitted.embedding.shape,
        None if fitted.is_precomputed else n_features,
        fitted.as_given.texture,
        len(pieces_shown(fitted, is_there)),
        int(np.count_nonzero(~is_there)),
    )
    transport = fitted.as_given.transport
    if transport.coherence < NOT_BELIEVED:  # whoever sees the page has not seen the warning
        told += f"; {transport}, as in Isomap"
    if fitted.is_tile:
        told += f"; {shape_line(fitted.topology, fitted.orientation)}"
    return told


def points_shown(fitted: Fitted) -> BoolArray:
    """Mark the points that have a place, (n_points,)."""
    geometry = fitted.as_given
    return (geometry.labels >= 0) & np.isfinite(fitted.embedding).all(axis=1)


def pieces_shown(fitted: Fitted, is_there: BoolArray) -> tuple[int, ...]:
    """Count the points of each piece that is shown, before bridges, the largest first."""
    pieces = without_bridges(fitted.as_given.graph).component_labels[is_there]
    return tuple(sorted(np.unique(pieces, return_counts=True)[1].tolist(), reverse=True))


def data_line(
    shape: tuple[int, ...], n_features: int | None, texture: str | None, n_pieces: int, n_out: int
) -> str:
    """Say what the data are; of distances alone there are no features."""
    n_points, n_components = shape
    known = "known distances" if n_features is None else plural(n_features, "feature")
    said = (
        f"{n_points:,} points of {known} in {plural(n_components, 'dimension')}, "
        f"texture {texture or 'unknown'}"
    )
    if texture == "flat" and n_features == n_components:  # there is nothing to unfold
        said += ", shown as they are"
    said += ", in one piece" if n_pieces == 1 else f", in {n_pieces} pieces"
    return said + (f"; {n_out:,} left out" if n_out else "")


def shape_line(topology: Topology, orientation: Orientation) -> str:
    """Say what the sheet is like as a whole."""
    said = str(topology)
    if topology.dim > 1:
        said += f"; {either_or(orientation.is_orientable, 'two-sided', 'one-sided')}"
    return said
