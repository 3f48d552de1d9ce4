"""Numbers in words; what is not known is called so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptunfold.types import FloatArray


def number(value: Any) -> str:
    """Say a number in three digits."""
    return "unknown" if np.isnan(value) else f"{float(value) + 0.0:.3g}"


def percent(share: Any) -> str:
    """Say a share, without taking nearly all for all or nearly nothing for nothing."""
    if np.isnan(share):
        return "unknown"
    value = round(100 * float(share), 9)
    if 0 < value < 0.1:
        return "under 0.1%"
    if 99.9 < value < 100:
        return "over 99.9%"
    return f"{value:.1f}%" if 0 < value < 1 or 99 < value < 100 else f"{value:.0f}%"


def with_error(value: float, error: float) -> str:
    """Say a number with its standard error, if it has one."""
    if np.isnan(value):
        return "unknown"
    if np.isnan(error):
        return f"{number(value)} ± unknown"
    if not error:
        return number(value)
    return f"{number(value)} ± {error:.0f}" if error >= 10 else f"{number(value)} ± {error:.1g}"


def plural(count: int, noun: str) -> str:
    """Say how many of something there are."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def either_or(is_one: bool, one: str, other: str) -> str:
    """Choose a word."""
    return one if is_one else other


def at_most(statistic: Callable[[FloatArray], Any], values: FloatArray) -> float:
    """Take a statistic of values; NaN if there are none."""
    return float(statistic(values)) if len(values) else float("nan")
