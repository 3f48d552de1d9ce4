"""Plan blocks of sources and run them on threads; one block is the unit of all work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from joblib import effective_n_jobs

from ptunfold.kernels.lanes import LANES
from ptunfold.kernels.tiles import TILE
from ptunfold.progress import stage

_MOST_SOURCES = 32
_MOST_BATCHES = 8
_MOST_VALUES = 1 << 22


def plan_blocks(n_sources: int, n_points: int) -> list[slice]:
    """Cut a list of sources into blocks, each small enough to take well under a second."""
    size = min(max(_MOST_VALUES // n_points, 1), _MOST_SOURCES)
    return [slice(start, min(start + size, n_sources)) for start in range(0, n_sources, size)]


def plan_batches(n_points: int) -> list[slice]:
    """Cut all points into blocks of whole batches."""
    batches = min(max(_MOST_VALUES // (n_points * LANES), 1), _MOST_BATCHES)
    size = batches * LANES
    return [slice(start, min(start + size, n_points)) for start in range(0, n_points, size)]


def plan_tiles(n_points: int) -> list[slice]:
    """Cut the rows of a square matrix into blocks of whole tiles."""
    return [slice(start, min(start + TILE, n_points)) for start in range(0, n_points, TILE)]


def run_blocks(
    work: Callable[[slice], None],
    blocks: Sequence[slice],
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Call ``work`` on each block; it has to release the GIL to use several threads.

    Parameters
    ----------
    work : callable
        Handles one block and keeps its results; blocks must not touch each other's.
    blocks : sequence of slice
        The blocks, in any order of execution.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar that advances with every block.
    """
    total = sum(block.stop - block.start for block in blocks)
    with (
        stage("distances", total, "sources", progress) as bar,
        ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool,
    ):

        def run(block: slice) -> None:
            work(block)
            bar.update(block.stop - block.start)

        futures = [pool.submit(run, block) for block in blocks]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            # After Ctrl-C or a failure only the blocks in flight are finished.
            for future in futures:
                future.cancel()
        for future in done:
            future.result()
