"""Where the distances are computed, and where they are kept: what is asked for, and who does it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptunfold.engines.base import Engine

__all__ = [
    "ENGINES",
    "Disk",
    "Engine",
    "check_engine",
    "engine_name",
    "has_distances",
    "make_engine",
]

ENGINES = ("threads", "cuda", "dask")


@dataclass(frozen=True)
class Disk:
    """All distances in a folder while they are computed, instead of memory.

    They take 1.5 numbers for each ordered pair of points at most. A fit that was stopped, however
    it was, can go on with what is there.

    Parameters
    ----------
    folder : str or path
        Made if it is not there.
    resume : bool, default=False
        Go on with the fit whose distances are in the folder. Those of other data or parameters
        are refused.
    engine : {"threads", "cuda", "dask"}, default="threads"
        What computes them.

    Examples
    --------
    >>> import tempfile
    >>> from ptunfold import PTU, Disk
    >>> from ptunfold.datasets import s_with_hole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = PTU(engine=Disk(folder)).fit(s_with_hole(300).points)
    >>> model.embedding_.shape
    (300, 2)
    """

    folder: Any
    resume: bool = False
    engine: str = "threads"


def check_engine(engine: Any) -> None:
    """Check where a user wants distances to be computed and kept."""
    if isinstance(engine, Disk):
        _check_folder(engine)
        engine = engine.engine
    if not (isinstance(engine, str) and engine in ENGINES):
        named = ", ".join(f'"{name}"' for name in ENGINES)
        raise ValueError(f"engine={engine!r} is not known; pass {named}, or Disk(folder)")


def _check_folder(disk: Disk) -> None:
    if not isinstance(disk.folder, str | os.PathLike) or not os.fspath(disk.folder):
        raise ValueError(f"Disk({disk.folder!r}) does not name a folder; pass one")
    if not isinstance(disk.resume, bool):
        raise ValueError(f"resume={disk.resume!r} is neither True nor False; pass one of them")
    folder = Path(os.fsdecode(disk.folder))
    place = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    if not place.is_dir():
        raise ValueError(f"{place} is a file, not a folder for distances; pass another name")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ValueError(f"nothing can be written to {place}; pass another folder for distances")
    if not disk.resume and has_distances(folder):
        raise ValueError(
            f"{folder} has distances in it already; pass Disk(..., resume=True) to go on with "
            "them, or another folder"
        )


def has_distances(folder: Path) -> bool:
    """Tell whether a fit has kept distances in a folder."""
    return any(folder.glob("component-*/store.json"))


def engine_name(engine: Any) -> str:
    """Name what computes; where distances were kept while they were is of no use later."""
    return str(engine.engine if isinstance(engine, Disk) else engine)


def make_engine(engine: Any, n_jobs: int | None = None) -> Engine:
    """Make the engine that a user asks for, checked; nothing is started before it is entered."""
    if isinstance(engine, Disk):
        from ptunfold.engines.disk import StoreEngine

        return StoreEngine(make_engine(engine.engine, n_jobs), engine.folder, resume=engine.resume)
    if engine == "cuda":
        from ptunfold.engines.cuda import CudaEngine

        return CudaEngine()
    if engine == "dask":
        from ptunfold.engines.cluster import ClusterEngine

        return ClusterEngine(n_jobs)
    return Engine()
