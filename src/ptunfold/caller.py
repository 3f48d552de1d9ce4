"""Warnings that point at the line of the caller, which is the one that can be mended."""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path
from types import FrameType

import joblib
import sklearn

# What stands between a caller and this package: it wraps methods, and runs pipelines.
_NOT_THE_CALLER = tuple(
    f"{Path(file).parent.as_posix()}/"
    for file in (__file__, importlib.__file__, sklearn.__file__, joblib.__file__)
)


def warn(message: str) -> None:
    """Warn, in the name of the first line of code that is none of this package."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and (_is_import(frame) or _is_ours(frame)):
        level += not _is_import(frame)  # they are not counted below either
        frame = frame.f_back
    warnings.warn(message, stacklevel=level)


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib.")


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.replace("\\", "/").startswith(_NOT_THE_CALLER)
