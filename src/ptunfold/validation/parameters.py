"""The parameters of an estimator as a file holds them: known names, plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from ptunfold.validation.matrices import METRICS
from ptunfold.validation.values import (
    DISCONNECTED,
    GRAPH_KINDS,
    LANDMARK_SELECTIONS,
    MDS,
    PRUNES,
    SEAMS,
    SEARCHES,
    STEPS,
    TANGENTS,
    check_n_jobs,
)

_CHOICES = {
    "metric": METRICS,
    "graph": GRAPH_KINDS,
    "tangent": ("auto", *TANGENTS),
    "step": ("auto", *STEPS),
    "prune": (None, *PRUNES),
    "landmark_selection": LANDMARK_SELECTIONS,
    "mds": MDS,
    "disconnected": DISCONNECTED,
    "search": SEARCHES,
    "seams": SEAMS,
}
# Numbers, or what else stands for one.
_NUMBERS: dict[str, tuple[type, tuple[Any, ...]]] = {
    "n_components": (Integral, ()),
    "n_neighbors": (Integral, ("auto",)),
    "radius": (Real, (None,)),
    "intrinsic_dim": (Integral, (None, "auto")),
    "tangent_neighbors": (Integral, ("auto",)),
    "denoise": (Integral, ("auto",)),
    "coherence": (Real, ("auto",)),
    "landmarks": (Real, (None, "auto")),
    "random_state": (Integral, (None,)),
    "verbose": (Integral, (True, False)),
}


def check_parameters(parameters: Any, names: Iterable[str], engines: tuple[str, ...]) -> None:
    """Check the parameters of a fitted model before they are written, and after they are read."""
    if not isinstance(parameters, dict) or not set(parameters) <= set(names):
        raise ValueError("its parameters are not those of an estimator that is known here")
    for name, value in parameters.items():
        if not _is_known(name, value, engines):
            raise ValueError(f"its parameter {name}={value!r:.80} is not known")


def _is_known(name: str, value: Any, engines: tuple[str, ...]) -> bool:
    if name == "n_jobs":
        check_n_jobs(value)
        return True
    if name == "landmarks" and isinstance(value, list):
        return all(isinstance(one, Integral) for one in value)
    if name in _NUMBERS:
        kind, others = _NUMBERS[name]
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        return (is_number and math.isfinite(value)) or _is_one_of(value, others)
    return _is_one_of(value, engines if name == "engine" else _CHOICES[name])


def _is_one_of(value: Any, choices: Iterable[Any]) -> bool:
    # By type too: 1 is no True.
    return any(type(value) is type(choice) and value == choice for choice in choices)
