"""Engines: a block of sources is the unit of work, and may be done anywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

from numpy.typing import DTypeLike

from ptunfold.geodesics.arrangement import Arrangement, arrange
from ptunfold.geodesics.distances import OneWayRows, squared_distances
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geodesics.squares import Squares
from ptunfold.types import Connection, FloatArray, IntArray, Settings

ENGINES = ("threads", "cuda", "dask")


class RowMaker(Protocol):
    """Distances from single sources to all points, the mean of both directions."""

    def new_rows(self, n_rows: int, dtype: DTypeLike) -> Any:
        """Make room for rows (n_rows, n_points) where they are to be kept."""

    def some(self, rows: Any, step: int) -> FloatArray:
        """Look at every ``step``-th column of rows that will be filled, in memory or a device."""

    def fill(
        self,
        sources: IntArray,
        rows: Any,
        at: slice = slice(None),
        *,
        n_jobs: int | None,
        progress: bool,
    ) -> None:
        """Write the distances from all ``sources`` into ``rows[at]`` (n_sources, n_points)."""

    def use(self, rows: Any, n_rows: int, work: Callable[[Any], Any]) -> Any:
        """Call ``work`` with the first ``n_rows`` of rows, an array of NumPy, CuPy or Dask."""


class Engine:
    """What a fit asks for, done by threads of this process and in its memory.

    Other engines do some of it elsewhere, and leave the rest as it is here.
    """

    def geometry(self, points: FloatArray, settings: Settings) -> Any:
        """Prepare frames and connection of points; None if threads do them best."""
        return None

    def arrange(self, connection: Connection, nodes: IntArray) -> Arrangement:
        """Take a component out of a connection, as `squares` wants it."""
        return arrange(connection, nodes)

    def squares(
        self, connection: Connection, position: IntArray, dtype: DTypeLike, **how: Any
    ) -> Squares:
        """Estimate all squared distances in an arranged component.

        Parameters
        ----------
        connection, position, dtype
            As in :func:`ptunfold.geodesics.distances.squared_distances`.
        how
            ``n_jobs`` and ``progress``, as there.
        """
        return squared_distances(connection, position, dtype=dtype, **how)

    def one_way_rows(self, connection: Connection, position: IntArray) -> Any:
        """Prepare one-way distances in an arranged component, block by block: `OneWayRows`."""
        return OneWayRows(connection, position)

    def rows(self, connection: Connection) -> RowMaker:
        """Prepare distances from single sources in a connected graph."""
        return MeanRows(connection)

    def close(self, *, is_broken: bool) -> None:
        """Let everything go; ``is_broken`` after an error, or Ctrl-C."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.close(is_broken=kind is not None)


def check_store(store: Any, resume: bool) -> None:
    """Check where distances are to be kept, before the work starts."""
    if not isinstance(store, str | os.PathLike) or not os.fspath(store):
        raise ValueError(f"store={store!r} is not the name of a folder; pass one, or None")
    folder = Path(os.fsdecode(store))
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"store={folder} is a file, not a folder; pass another name")
    if not resume and any(folder.glob("component-*/store.json")):
        raise ValueError(
            f"{folder} has a store of distances in it already; pass resume=True to go on with it, "
            "or another folder"
        )


def make_engine(
    engine: str, store: Any = None, *, resume: bool = False, n_jobs: int | None = None
) -> Engine:
    """Make the engine that a user asks for.

    Parameters
    ----------
    engine, store, resume, n_jobs
        As in :class:`ptunfold.PTU`.
    """
    if not isinstance(resume, bool):
        raise ValueError(f"resume={resume!r} is neither True nor False; pass one of them")
    if resume and store is None:
        raise ValueError("resume=True needs the store to go on with; pass store=its folder")
    if store is not None:
        check_store(store, resume)
    made = Engine()
    if engine == "cuda":
        from ptunfold.engines.cuda import CudaEngine

        made = CudaEngine()
    if engine == "dask":
        if store is not None:
            raise ValueError('engine="dask" keeps distances on the cluster; pass no store')
        from ptunfold.engines.cluster import ClusterEngine

        made = ClusterEngine(n_jobs)
    if store is None:
        return made
    from ptunfold.engines.disk import StoreEngine

    return StoreEngine(made, store, resume=resume)
