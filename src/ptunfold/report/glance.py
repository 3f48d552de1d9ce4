"""A fit at a glance, for notebooks: a small picture, what was found, and one number.

It looks at a sample of the points, so that it takes no longer for a million of them.
"""

from __future__ import annotations

import html

import numpy as np

from ptunfold.diagnostics.stretch import distortion_at
from ptunfold.fitted import Fitted
from ptunfold.report.advice import NOT_BELIEVED
from ptunfold.report.words import percent, plural
from ptunfold.types import FloatArray, IntArray

_MOST_LOOKED_AT = 2000
_WIDE, _HIGH, _MARGIN = 1200, 800, 20  # units of the picture, four to a pixel
_INK, _DOTS = 600, (10, 28)  # dots are so large that they fill about as much whatever their number
_POINT = 1e-9  # an extent that is none
_TOLERANCE = 0.1
# Shares by which lengths are off, and colours up to each of them, beyond, and for what is unknown:
# they stand out from white and from black alike.
_BOUNDS = (0.01, 0.03, 0.1, 0.3)
_COLOURS = ("#2f81c7", "#17998f", "#6f9a2e", "#c78a1a", "#d9552b", "#8a8f98")
_STYLE = (
    ".ptunfold-glance{display:flex;flex-wrap:wrap;align-items:center;gap:8px 20px;max-width:60em;"
    "margin:8px 0;font:13px/1.45 system-ui,sans-serif}"
    ".ptunfold-glance svg{flex:none;width:300px;max-width:100%;height:auto}"
    ".ptunfold-glance div{flex:1;min-width:16em}"
    ".ptunfold-glance p{margin:0 0 6px}"
    ".ptunfold-glance b{font-size:20px;font-weight:600}"
    ".ptunfold-glance small{font-size:12px;opacity:.8}"
    ".ptunfold-glance span{white-space:nowrap;margin-left:8px}"
    ".ptunfold-glance i{display:inline-block;width:9px;height:9px;border-radius:5px;"
    "margin-right:4px}"
)


def glance(fitted: Fitted, summary: str) -> str:
    """Draw the embedding of a fit, small, and say what was found, as a part of a page."""
    geometry, n_points = fitted.geometry, len(fitted.embedding)
    nodes = np.flatnonzero(geometry.labels >= 0)
    if len(nodes) > _MOST_LOOKED_AT:
        nodes = np.sort(np.random.default_rng(0).choice(nodes, _MOST_LOOKED_AT, replace=False))
    places = fitted.embedding[geometry.to_input(nodes)]
    off = distortion_at(nodes, geometry, fitted.embedding) - 1
    if geometry.transport.coherence < NOT_BELIEVED:  # planes that do not agree on lengths
        off = np.full_like(off, np.nan)
    return (
        f'<style>{_STYLE}</style><div class="ptunfold-glance">{_picture(places, off)}'
        f"<div><p>{_number(off, n_points)}</p><p>{html.escape(_findings(fitted))}</p>"
        f"<p>{_legend(off)}</p><p><small>{html.escape(summary)}</small></p>"
        "<p><small><code>diagnose()</code> says more, <code>explore()</code> shows more.</small>"
        "</p></div></div>"
    )


def _number(off: FloatArray, n_points: int) -> str:
    known = off[np.isfinite(off)]
    if not len(known):
        return "How true lengths are is unknown."
    share = float(np.mean(known > _TOLERANCE))
    sample = f" ({len(known):,} of {n_points:,} looked at)" if len(off) < n_points else ""
    return (
        f"Lengths are off by <b>{percent(float(np.median(known)))}</b> at the median point, by "
        f"more than {_TOLERANCE:.0%} at {percent(share)} of the points{sample}."
    )


def _findings(fitted: Fitted) -> str:
    """Say what is known without a search."""
    geometry = fitted.geometry
    n_pieces, n_left = int(geometry.labels.max()) + 1, int(np.count_nonzero(geometry.labels < 0))
    found = str(geometry.transport)
    said = [
        found[:1].upper() + found[1:],
        f"the data are in {n_pieces} pieces, shown apart" if n_pieces > 1 else "",
        f"{plural(n_left, 'point')} left out" if n_left else "",
        "data that close upon themselves were cut open" if fitted.is_tile else "",
    ]
    return f"{'; '.join(filter(None, said))}."


def _kinds(off: FloatArray) -> IntArray:
    """Return the place of each point among the colours."""
    return np.where(np.isnan(off), len(_BOUNDS) + 1, np.searchsorted(_BOUNDS, off))


def _picture(places: FloatArray, off: FloatArray) -> str:
    """Draw points as dots of one path for each colour, which takes few letters."""
    is_there = np.isfinite(places).all(axis=1)
    at, kinds = _in_units(places[is_there]), _kinds(off[is_there])
    high = int(at[:, 1].max(initial=_MARGIN)) + _MARGIN
    at[:, 1] = high - at[:, 1]
    dot = int(np.clip(_INK / np.sqrt(max(len(at), 1)), *_DOTS))
    drawn = "".join(
        f'<path stroke="{_COLOURS[kind]}" d="'
        + "".join(f"M{x} {y}h0" for x, y in at[kinds == kind].tolist())
        + '"/>'
        for kind in np.unique(kinds).tolist()
    )
    return (
        f'<svg viewBox="0 0 {_WIDE} {high}" role="img" aria-label="the embedding" fill="none" '
        f'stroke-linecap="round" stroke-width="{dot}">{drawn}</svg>'
    )


def _in_units(places: FloatArray) -> IntArray:
    """Fit the first two coordinates into the picture, (n_points, 2)."""
    flat = np.zeros((len(places), 2))
    flat[:, : places.shape[1]] = places[:, :2]
    flat /= max(np.abs(flat).max(initial=0), np.finfo(float).tiny)  # extents have to be numbers
    flat -= flat.min(axis=0, initial=np.inf)
    room = np.array([_WIDE, _HIGH]) - 2 * _MARGIN
    scale = (room / np.maximum(flat.max(axis=0, initial=0), _POINT)).min()
    return np.rint(_MARGIN + scale * flat).astype(np.int64)


def _legend(off: FloatArray) -> str:
    """Name the colours that are to be seen."""
    words = [*(f"up to {percent(bound)}" for bound in _BOUNDS), "more", "unknown"]
    items = "".join(
        f'<span><i style="background:{_COLOURS[kind]}"></i>{words[kind]}</span>'
        for kind in np.unique(_kinds(off)).tolist()
    )
    return f"off by{items}" if items else ""
