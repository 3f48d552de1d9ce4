"""The picture of a report: where the embedding stretches and bends, and how true it is."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from ptunfold.types import FloatArray, IntArray

if TYPE_CHECKING:
    from ptunfold.report.findings import Report

_MOST_DRAWN = 20_000  # points
_INK = 15_000  # points are so large that they fill about as much whatever their number
_N_ELLIPSES = 30
_ELLIPSE = 0.4  # the radius of a circle, of the way from one to the next
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "0.7"
# The strongest colour: a distortion of 10 to 30 %, and a curvature that turns by 0.3 or more around
# the whole sheet, so that what is nothing looks like it.
_LEAST_OFF, _MOST_OFF, _LEAST_TURN = 10, 30, 0.3


def picture(report: Report) -> bytes:
    """Draw the report, as a PNG file."""
    drawn = io.BytesIO()
    figure(report).savefig(drawn, format="png", dpi=100, metadata={"Software": None})
    return drawn.getvalue()


def figure(report: Report) -> Any:
    """Draw the report: distortion, curvature, distances and eigenvalues."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib; install it with pip install 'ptunfold[plot]'"
        ) from error
    drawn = Figure(figsize=(11, 8.5), layout="constrained")
    axes = drawn.subplots(2, 2)
    _distortion(axes[0, 0], report)
    _curvature(axes[0, 1], report)
    _shepard(axes[1, 0], report)
    _spectrum(axes[1, 1], report)
    return drawn


def _distortion(ax: Any, report: Report) -> None:
    if not report.planes_agree:
        _embedding(ax, report, np.full(len(report.embedding), np.nan), {}, "")
        ax.set_title("distortion unknown: the tangent planes do not agree on lengths")
        return
    with np.errstate(invalid="ignore"):
        off = np.minimum(100 * (report.stretch.distortion - 1), _MOST_OFF)
    top = max(_LEAST_OFF, off[np.isfinite(off)].max(initial=0))
    label = f"lengths off by, %{' or more' if top == _MOST_OFF else ''}"
    _embedding(ax, report, off, {"vmin": 0, "vmax": top, "cmap": "viridis"}, label)
    _ellipses(ax, report)
    ax.set_title("distortion, and what circles become")


def _curvature(ax: Any, report: Report) -> None:
    values = report.curvature.values
    known, area = np.abs(values[np.isfinite(values)]), float(np.nansum(report.curvature.areas))
    top = float(np.quantile(known, 0.98)) if len(known) else 0.0
    top = max(top, _LEAST_TURN / area if area > 0 else 1.0)
    scale = {"vmin": -top, "vmax": top, "cmap": "RdBu_r"}
    _embedding(ax, report, values, scale, "curvature")
    is_marked = any(void.center_embedding is not None for void in report.voids)
    guessed = "" if report.planes_agree else ", a guess"
    ax.set_title("curvature" + guessed + is_marked * ", holes (+) and where to sample (×)")


def _embedding(
    ax: Any, report: Report, values: FloatArray, scale: dict[str, Any], label: str
) -> None:
    """Draw points in the colours of some values, those without one in grey, and holes."""
    places = _flat(report.embedding)
    chosen = _some(np.flatnonzero(np.isfinite(places).all(axis=1)))
    is_known = np.isfinite(values[chosen])
    size = float(np.clip(_INK / max(len(chosen), 1), 1, 30))
    ax.scatter(*places[chosen[~is_known]].T, s=size, linewidths=0, c=_GREY)
    known = chosen[is_known]
    shown = ax.scatter(*places[known].T, s=size, linewidths=0, c=values[known], **scale)
    if len(known):
        ax.figure.colorbar(shown, ax=ax, label=label)
    for void in report.voids:
        if void.center_embedding is not None and len(void.center_embedding) > 1:
            ax.plot(*void.center_embedding[:2], "+", color=_ORANGE, markersize=12)
        if void.coordinates is not None and len(void.coordinates):
            ax.plot(*_flat(void.coordinates).T, "x", color=_ORANGE, markersize=4)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="first coordinate", ylabel="second coordinate")


def _ellipses(ax: Any, report: Report) -> None:
    """Draw what small circles on the sheet become, at points far from each other."""
    found = report.stretch
    if report.embedding.shape[1] != 2 or found.factors.shape[1] != 2 or not len(found.worst):
        return
    from matplotlib.patches import Ellipse

    known = found.worst[np.isfinite(found.factors[found.worst]).all(axis=1)]
    chosen, apart = _spread(report.embedding, known)
    radius = _ELLIPSE * apart
    for point in chosen:
        wide, high = 2 * radius * found.factors[point]
        x, y = found.directions[point]
        angle = float(np.degrees(np.arctan2(y, x)))
        style = {"fill": False, "edgecolor": "0.15", "linewidth": 0.8}
        ax.add_patch(Ellipse(report.embedding[point], wide, high, angle=angle, **style))


def _spread(embedding: FloatArray, among: IntArray) -> tuple[list[int], float]:
    """Choose points that are far from each other, and say how far at least."""
    among = _some(np.sort(among))
    places = embedding[among].astype(np.float64)
    nearest = np.full(len(among), np.inf)
    chosen, apart = [0] if len(among) else [], 0.0
    while chosen and len(chosen) < min(_N_ELLIPSES, len(among)):
        nearest = np.minimum(nearest, np.linalg.norm(places - places[chosen[-1]], axis=1))
        apart = float(nearest.max())
        chosen.append(int(nearest.argmax()))
    return [int(among[place]) for place in chosen], apart


def _shepard(ax: Any, report: Report) -> None:
    ax.set_title("distances")
    ax.set(xlabel="along the data", ylabel="in the embedding")
    found = report.quality
    if found is None or not len(found.true):
        return
    ax.hexbin(found.true, found.shown, gridsize=60, bins="log", cmap="viridis", mincnt=1)
    longest = float(found.true.max())
    ax.plot([0, longest], [0, longest], color=_ORANGE, linewidth=1)


def _spectrum(ax: Any, report: Report) -> None:
    ax.set_title("eigenvalues")
    ax.set(xlabel="coordinate", ylabel="% of the sum of all |eigenvalues|")
    n_values = len(report.spectrum)
    is_shown = np.arange(n_values) < report.embedding.shape[1]
    numbers = np.arange(1, n_values + 1)
    ax.bar(numbers, 100 * report.spectrum, color=np.where(is_shown, _BLUE, _GREY))
    ax.set_xticks(numbers)
    ax.axhline(0, color="0.3", linewidth=0.8)


def _flat(places: FloatArray) -> FloatArray:
    """Take the first two coordinates; a second one of 0 where there is none."""
    return np.pad(np.asarray(places)[:, :2], ((0, 0), (0, max(0, 2 - places.shape[1]))))


def _some(among: IntArray) -> IntArray:
    """Choose no more points than can be told from each other."""
    if len(among) <= _MOST_DRAWN:
        return among
    return np.sort(np.random.default_rng(0).choice(among, _MOST_DRAWN, replace=False))
