"""Warnings that point at the line of the caller, which is the one that can be mended."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

# What stands between a caller and this package: it wraps methods, and runs pipelines. None is
# imported for it, since kernels are compiled by processes that need nothing else.
_NOT_THE_CALLER = tuple(
    f"{Path(spec.origin).parent.as_posix()}/"
    for spec in map(find_spec, ("ptunfold", "importlib", "sklearn", "joblib"))
    if spec is not None and spec.origin is not None
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
