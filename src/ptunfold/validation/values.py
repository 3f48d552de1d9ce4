"""Single values: choices, counts, indices of points."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from ptunfold.types import IntArray

GRAPH_KINDS = ("knn", "mutual", "radius")
TANGENTS = ("pca", "quadratic", "robust")
SURFACES = ("quadratic", "robust")
STEPS = ("projection", "chord", "arc")
BENT = ("arc",)  # those that follow the bend of the sheet, and so are longer than edges
SEARCHES = ("auto", "exact", "approximate")
SEAMS = ("auto", "cut", "leave")
PRUNES = ("auto", "shortcuts")
MDS = ("auto", "classical", "stress")
LANDMARK_SELECTIONS = ("maxmin", "random")
DISCONNECTED = ("bridge", "error", "largest", "separate")


def first_repeated(names: Iterable[Any]) -> Any:
    """Return the first name that came before, or None.

    Examples
    --------
    >>> first_repeated(["x", "y", "x"])
    'x'
    """
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def plain(value: Any) -> Any:
    """Return a number or word of NumPy as Python's own: small ones would overflow, not grow.

    Examples
    --------
    >>> plain(np.int8(100)) + 100
    200
    """
    return value.item() if isinstance(value, np.generic) else value


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Check an option against its possible values."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {known}")


def check_count(name: str, value: Any, *, or_auto: bool = False) -> None:
    """Check that a parameter is a positive whole number, or perhaps "auto"."""
    if or_auto and isinstance(value, str) and value == "auto":
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        auto = ', or "auto"' if or_auto else ""
        raise ValueError(f"{name}={value!r} is not a positive whole number; pass 1 or more{auto}")


def check_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Check that a parameter is a finite number within bounds, which belong to it or do not."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if (
        is_number
        and -np.inf < value < np.inf
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    ):
        return
    bounds = {"of at least": least, "above": above, "up to": most, "below": below}
    words = " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)
    raise ValueError(f"{name}={value!r} will not do; pass a finite number {words}".rstrip())


def check_coherence(coherence: Any) -> None:
    """Check how much is to be carried over every edge."""
    is_share = isinstance(coherence, Real) and not isinstance(coherence, bool)
    if not (is_share and 0 <= float(coherence) <= 1):
        raise ValueError(
            f"coherence={coherence!r} is not known; pass a number from 0, for lengths along the "
            'graph, to 1, for all that transport says, or "auto"'
        )


def check_index(index: Any, n_points: int) -> int:
    """Return the index of a point, counted from the front."""
    if not isinstance(index, Integral) or isinstance(index, bool):
        raise ValueError(f"{index!r} is not the index of a point; pass a whole number")
    if not -n_points <= int(index) < n_points:
        raise ValueError(f"point {index} does not exist; the indices go from 0 to {n_points - 1}")
    return int(index) % n_points


def check_flag(name: str, value: Any) -> None:
    """Check that something is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} is neither True nor False; pass one of them")


def check_verbose(value: Any) -> None:
    """Check whether progress is to be shown: yes or no, or a number as scikit-learn has it."""
    if not isinstance(value, bool | np.bool_ | Integral) or value < 0:
        raise ValueError(f"verbose={value!r} is not known; pass True or False")


def check_is_fitted(estimator: Any) -> None:
    """Check that there is something to answer from."""
    if not estimator.__sklearn_is_fitted__():
        name = type(estimator).__name__
        raise NotFittedError(f"this {name} is not fitted yet; call {name}.fit(X) first")


def check_seed(random_state: Any) -> np.random.RandomState:
    """Return a generator of random numbers."""
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} is no seed; pass a whole number from 0 to 2**32 - 1, a "
            "numpy.random.RandomState, or None"
        ) from error


def check_sources(sources: Any, n_points: int, name: str = "sources") -> IntArray:
    """Return a list of points as an array of indices."""
    try:
        sources = np.asarray(sources)
    except ValueError as error:
        raise ValueError(
            f"{name} is a list of lists of different lengths; pass a 1-D list of point indices"
        ) from error
    if sources.dtype == bool and sources.shape == (n_points,):
        sources = np.flatnonzero(sources)
    if sources.ndim != 1 or (len(sources) and sources.dtype.kind not in "iu"):
        raise ValueError(
            f"{name} must be a 1-D list of point indices (or a mask with one entry a point), but "
            f"has shape {sources.shape} and type {sources.dtype}; pass whole numbers below "
            f"{n_points}"
        )
    return np.array([check_index(index, n_points) for index in sources.tolist()], dtype=np.int64)


def check_n_jobs(n_jobs: Any) -> None:
    """Check the number of threads."""
    if n_jobs is None:
        return
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads; pass a positive whole number, or None "
            "for every core"
        )


def n_coefficients(dim: int) -> int:
    """Count the coefficients of a quadratic function of ``dim`` variables.

    Examples
    --------
    >>> n_coefficients(2)
    6
    """
    return 1 + dim + dim * (dim + 1) // 2


def plane_neighbors(dim: int, n_points: int) -> int:
    """Return how many neighbours determine a plane well."""
    # Measured: 10 is best on clean sheets by a little, but falls apart from 1.5 % noise on.
    return min(max(15, 3 * dim), n_points - 1)
