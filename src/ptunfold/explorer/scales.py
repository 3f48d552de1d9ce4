"""How values turn into colours: kinds, one scale from low to high, one around zero, one around."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ptunfold.explorer.palette import KINDS
from ptunfold.types import FloatArray, IntArray

NAMES = ("kinds", "sequential", "diverging", "cyclic")
_TURNS = (2 * np.pi, 360.0)
_ROUND = 0.8  # of a turn that angles have to fill, to be taken for such
_ANGLES = (
    "angles?|azimuth|bearing|deg|degrees?|dihedral|direction|heading|hue|lon|longitude|orientation|"
    "phase|phi|psi|rad|radians?|rotation|theta|torsion|yaw|°"
)
_SIGNED = (
    "anomaly|balance|bias|change|charge|contrast|correlation|curvature|delta|deviation|"
    "diff|difference|effect|error|fold|gain|logfc|loading|residuals?|scores?|signed|skew|velocity|"
    "zscore"
)
_LABELS = (
    "batch|category|class|classes|clusters?|digits?|groups?|kinds?|labels?|leiden|louvain|species|"
    "target|type"
)


@dataclass(frozen=True)
class Scale:
    """How numbers turn into colours; of a cyclic scale, where a turn begins and how long it is."""

    kind: str = "sequential"
    start: float = 0.0
    period: float = 0.0


PLAIN = Scale()


def recognised(name: str, values: FloatArray | IntArray) -> Scale:
    """Guess a scale from the name of a column and its values; in doubt, from low to high."""
    if not _tells(name, f"{_ANGLES}|{_SIGNED}|{_LABELS}"):
        return PLAIN
    known = values[np.isfinite(values)]
    if not len(known):
        return PLAIN
    low, high = float(known.min()), float(known.max())
    if _tells(name, _ANGLES):
        for turn in _TURNS:
            is_turn = _ROUND * turn <= high - low <= 1.0001 * turn
            if is_turn and (low >= 0 or -1.0001 * turn <= 2 * low <= 2 * high <= 1.0001 * turn):
                return _around(low, turn)
    if _tells(name, _SIGNED) and low < 0 < high:
        return Scale("diverging")
    is_whole = (np.rint(known) == known).all()
    if _tells(name, _LABELS) and is_whole and len(np.unique(known)) <= len(KINDS):
        return Scale("kinds")
    return PLAIN


def chosen(given: Any, name: str, values: FloatArray | IntArray) -> Scale:
    """Make the scale that a caller names; a number is the length of a turn."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if given == "cyclic":
        turns = (1.0, *_TURNS)
        return _around(low, next((turn for turn in turns if high - low <= turn), high - low))
    if isinstance(given, str) and given in NAMES:
        return Scale(given)
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not is_number or not 0 < given < np.inf:
        raise ValueError(
            f"the scale of {name} is {given!r}; pass one of {', '.join(NAMES)}, or a number, after "
            "which values come back to where they were"
        )
    return _around(low, float(given))


def check_scales(scales: Any, names: Collection[str]) -> dict[str, Any]:
    """Check that scales are told for columns that there are."""
    if scales is None:
        return {}
    if not isinstance(scales, Mapping):
        raise ValueError(
            f"scales are {type(scales).__name__}, not names with words; pass a dict as "
            '{"phase": "cyclic"}'
        )
    for name in scales:
        if name not in names:
            known = ", ".join(list(names)[:20])
            raise ValueError(f"there is no column {name} to scale; there are {known}, ...")
    return dict(scales)


def _tells(name: str, words: str) -> bool:
    """Tell whether one of the words stands in a name: phase_2, meanPhase, not emphasis."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return re.search(f"(?<![a-z])({words})(?![a-z])", apart) is not None


def _around(low: float, period: float) -> Scale:
    return Scale("cyclic", -period / 2 if low < 0 else 0.0, period)
