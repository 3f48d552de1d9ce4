"""What a fitted model has to show on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ptunfold.explorer.borders import borders_of
from ptunfold.explorer.columns import as_columns, scaled
from ptunfold.explorer.comparison import as_comparisons, told_of
from ptunfold.explorer.measures import score_columns
from ptunfold.explorer.measuring import measure
from ptunfold.explorer.page import Page, make_page
from ptunfold.explorer.scales import PLAIN, Scale, check_scales, chosen, recognised
from ptunfold.explorer.thumbnails import thumbnails
from ptunfold.types import FloatArray, Geometry, IntArray, Seam
from ptunfold.validation.values import check_flag

_MOST_WITH_PATHS = 100_000  # points; with the graph of more a page is slow to open


def explorer_page(
    geometry: Geometry,
    points: FloatArray,
    embedding: FloatArray,
    landmarks: IntArray,
    *,
    names: Any,
    title: str,
    columns: Any = None,
    color: str | None = None,
    scales: Any = None,
    images: Any = None,
    paths: bool | None = None,
    compare: Any = None,
    seams: Sequence[Seam] = (),
    std: FloatArray | None = None,
    said: str = "",
    n_jobs: int | None = None,
) -> Page:
    """Make the page of a fitted model, whose geometry is in the caller's order of points.

    Points at ``seams`` that were cut are marked, on both sides with the same number; ``std``
    (n_points, c, c) are ellipses that tell how sure places are; ``said`` is what the page says of
    the fit. The other parameters are those of :meth:`ptunfold.PTU.explore`.
    """
    n_points = len(points)
    title, names = str(title), _as_names(names, points.shape[1])
    if paths is not None:
        check_flag("paths", paths)
    if color is not None and not isinstance(color, str):
        raise ValueError(
            f"color is {type(color).__name__}, not the name of a column; pass values as "
            'columns={"name": values}, and color="name"'
        )
    given = as_columns(columns, n_points)
    others = as_comparisons(compare, embedding)
    has_paths = n_points <= _MOST_WITH_PATHS if paths is None else paths
    measured = measure(geometry, embedding, has_paths=has_paths, n_jobs=n_jobs)
    scores = score_columns(measured, geometry.labels, landmarks, seams, std)
    coordinates = [f"ptu{index}" for index in range(embedding.shape[1])]
    known = [column.name for column in (*given, *scores)]
    wanted = check_scales(scales, [*known, *names, *coordinates])
    given = [scaled(column, wanted.get(column.name)) for column in given]
    scores = [scaled(score, wanted.get(score.name)) for score in scores]
    for name in known:
        wanted.pop(name, None)
    tables = zip([*names, *coordinates], [*points.T, *embedding.T], strict=True)
    axes = [_scale_of_axis(name, values, wanted.get(name)) for name, values in tables]
    own = {*coordinates, *(score.name for score in scores)}
    names = [f"{name} (feature)" if name in own else name for name in names]
    taken = {*names, *own}
    if color is not None and color not in {*taken, *(column.name for column in given)}:
        there = ", ".join([*(column.name for column in given), *names[:20], *coordinates])
        raise ValueError(f"there is no column {color} to colour by; there are {there}, ...")
    if color is None:
        color = given[0].name if given else coordinates[0]
    if color in (column.name for column in given) and color in taken:
        color = f"{color} (given)"
    for index, column in enumerate(given):
        name = f"{column.name} (given)" if column.name in taken else column.name
        while name in taken:
            name += "'"
        taken.add(name)
        given[index] = replace(column, name=name)
    return make_page(
        points,
        embedding,
        title=title,
        names=names,
        columns=[*given, *scores],
        axes=axes,
        color=color,
        pictures=None if images is None else thumbnails(images, points),
        is_pixels=isinstance(images, tuple),
        span=geometry.points if geometry.points.shape[1] < points.shape[1] else None,
        connection=geometry.connection if has_paths else None,
        doubts=measured.doubts,
        std=std if has_paths else None,
        example=measured.example,
        borders=borders_of(seams, embedding) if seams else None,
        others=others,
        quality=told_of(embedding, others, geometry, n_jobs) if others else {},
        said=said,
        n_jobs=n_jobs,
        no_paths="This page was made without paths; explore(paths=True) puts them in.",
    )


def _scale_of_axis(name: str, values: FloatArray, given: Any) -> Scale:
    """Choose the scale of a feature or a coordinate; where zero is there tells nothing."""
    if given is None:
        found = recognised(name, values)
        return found if found.kind == "cyclic" else PLAIN
    scale = chosen(given, name, values)
    if scale.kind == "kinds":
        raise ValueError(f"{name} cannot be shown as kinds; pass it among the columns")
    return scale


def _as_names(names: Any, n_features: int) -> list[str]:
    if isinstance(names, str) or np.ndim(names) != 1:
        raise ValueError(f"feature_names={names!r} is no list of names; pass one for each")
    if len(names) != n_features:
        raise ValueError(f"{len(names)} feature_names for {n_features} features; pass one for each")
    return [str(name) for name in names]
