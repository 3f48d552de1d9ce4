"""What a first fit compiles, compiled before it by several processes at once.

One process after another takes the next kernel that none has taken, and leaves its code in Numba's
cache, where the fit finds it. Numba itself compiles one kernel at a time.

    python -m ptunfold.kernels.ahead FOLDER DTYPE DIM

is such a process; a file in the folder tells which kernels are taken.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import boolean, config, float64, from_dtype, int32, int64, types, uint16
from numba.core.dispatcher import Dispatcher

from ptunfold.kernels import (
    bending,
    cones,
    detours,
    development,
    lengths,
    medians,
    nearby,
    principal,
    queues,
    surfaces,
    tiles,
    trees,
    triangles,
    zipping,
)
from ptunfold.kernels.compiling import can_keep, is_kept, is_watched, loading
from ptunfold.kernels.inputs import BatchArrays, ConnectionArrays, GraphArrays, Owners
from ptunfold.progress import stage

_FEW = 8  # kernels: a process that compiles them takes longer to start
_MOST = 7  # processes: none takes less than the longest kernel
_A_PROCESS = 4e8  # bytes: 124 MB of libraries, and what compiling takes
_LONG = 2.0  # seconds, after which there is a word about what one waits for


@cache
def compile_ahead(dtype: str, dim: int, n_jobs: int, room: Callable[[], float]) -> None:
    """Compile what most fits need and no process has compiled yet; once a process.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        Of the points.
    dim : int
        Intrinsic dimension.
    n_jobs : int
        The number of processes, this one included.
    room : callable
        Tells how many bytes of memory they may take.
    """
    n_others = min(n_jobs - 1, _MOST)
    # Programs that Python is built into are not to be started once more.
    is_python = Path(sys.executable or "").stem.lower().startswith("py")
    if n_others < 1 or not is_python or config.DISABLE_JIT:
        return
    graph_and_sheet = kernels_of_any_fit(dtype, dim)
    n_missing = sum(not is_kept(kernel, arguments) for kernel, arguments in graph_and_sheet)
    if n_missing < _FEW or not can_keep(graph_and_sheet[0][0]):
        return
    n_others = min(n_others, int(room() // _A_PROCESS))
    needed = kernels_of_a_fit(dtype, dim)
    # Where no folder can be written to, or no process started, the fit compiles by itself.
    with suppress(OSError), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", __name__, folder, dtype, str(dim)]
        paths = os.pathsep.join(filter(None, sys.path))
        others: list[subprocess.Popen[bytes]] = []
        what = "ptunfold is compiled for this machine, once"
        bar = stage(what, len(needed), "kernels", is_watched(), delay=_LONG)
        try:
            for _ in range(n_others):
                others.append(
                    subprocess.Popen(
                        command,
                        env=os.environ | {"PYTHONPATH": paths},
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                )
            with bar:
                n_seen = 0
                for _ in compile_share(folder, needed):
                    n_taken = len(list(Path(folder).iterdir()))
                    bar.update(n_taken - n_seen)
                    n_seen = n_taken
                for other in others:
                    other.wait()
        finally:  # of Ctrl-C too
            for other in others:
                other.kill()
                other.wait()


def compile_share(folder: str, needed: list[tuple[Dispatcher, tuple[Any, ...]]]) -> Iterator[None]:
    """Compile one after another those that no other process has taken."""
    for kernel, arguments in needed:
        with suppress(FileExistsError):
            Path(folder, f"{kernel.__module__}.{kernel.__name__}").touch(exist_ok=False)
            kernel.compile(arguments)
            yield


def kernels_of_a_fit(dtype: str, dim: int) -> list[tuple[Dispatcher, tuple[Any, ...]]]:
    """Return the kernels that a fit of a sheet calls, and the types they are called with.

    Those that take long come first, so that no process is left alone with one.
    """
    # Not before: half a second goes into trying vector instructions.
    with loading:
        from ptunfold.kernels import batches

    some, wide, row, table = int64[::1], int32[::1], float64[::1], float64[:, ::1]
    given = from_dtype(np.dtype(dtype))[:, ::1]
    graph, queue = _record(GraphArrays, some, wide, row), _queue()
    laid = _record(BatchArrays, graph, uint16[::1], float64, table, row, row, table, row)
    owners = _record(Owners, some, some, some)
    places = uint16[:, ::1]
    batch = _record(batches.Batch, queue, some, table, places, wide, some, table, table, table)
    return [
        (batches.batch_rows, (laid, owners, int64, int64, batch, given, int64)),
        *kernels_of_any_fit(dtype, dim),
        (batches.new_batch, (int64, int64, int64)),
    ]


def _record(kind: Any, *fields: Any) -> Any:
    return types.BaseTuple.from_types(fields, kind)


def _queue() -> Any:
    wide = int32[::1]
    return _record(queues.Queue, wide, wide, wide, wide, float64[::1])


def kernels_of_any_fit(dtype: str, dim: int) -> list[tuple[Dispatcher, tuple[Any, ...]]]:
    """Return those that are not about all distances at once."""
    some, wide = int64[::1], int32[::1]
    row, table, stack = float64[::1], float64[:, ::1], float64[:, :, ::1]
    number = from_dtype(np.dtype(dtype))
    given = number[:, ::1]
    marks = boolean[::1]
    graph, queue = _record(GraphArrays, some, wide, row), _queue()
    connection = _record(ConnectionArrays, graph, wide, wide, stack, table, row, table, row)
    tree = _record(trees.Tree, row, wide, wide, wide, queue, float64)
    unfolding = _record(development.Unfolding, tree, table, table, stack, table, row)
    axes = types.UniTuple(int64, dim)
    sight = _record(development.Sight, tree, table, row, row, axes)
    edges = _record(bending.Laid, stack, table, table, row)
    zipper = _record(zipping.Zipper, some, wide, wide, marks)
    return [
        (trees.grow_tree, (graph, int64, tree)),
        (detours.count_detours, (graph, wide, wide, some, row, int64, some)),
        (development.develop_both_ways, (connection, int64, unfolding)),
        (development.inward_row, (connection, int64, sight, number[::1])),
        (zipping.shut_short_loops, (zipper, some, int64)),
        (surfaces.fit_surfaces, (stack, some, stack, int64, float64, stack, row, table, row)),
        (surfaces.principal_axes, (stack, table, stack)),
        (zipping.join_open_edges, (zipper, int64, some)),
        (triangles.turn_around_triangles, (connection, some, table)),
        (detours.ways_by_two, (graph, marks, some, some, row)),
        (bending.nearest_orthogonal, (stack, marks)),
        (nearby.graph_neighborhoods, (graph, some, some, int64[:, ::1], some)),
        (principal.gather_offsets, (given, int64[:, ::1], some, stack, row)),
        (bending.write_in_frames, (given, stack, wide, wide, stack, table, table, row)),
        (bending.bend_edges, (table, table, stack, stack, row, row, table)),
        (zipping.triangles_of_open_edges, (zipper, some, int64[:, ::1])),
        (medians.neighbor_medians, (some, wide, row, row)),
        (bending.shortest_shadows, (given, stack, wide, wide, row, row)),
        (bending.fit_arcs, (some, wide, stack, row, float64, row, table, table, table, edges)),
        (bending.mark_nearest, (some, row, int64, marks)),
        (bending.lay_edges, (some, wide, stack, table, table, edges)),
        (bending.note_shadows, (some, wide, table, table, row, edges)),
        (zipping.zip_up, (zipper, some, int64)),
        (bending.favor_edges, (table, table, float64, stack)),
        (tiles.add_rows, (given, int64, given, int64)),
        (development.ways_agree, (connection,)),
        (cones.mark_one_sided, (some, table, float64, marks)),
        (development.look_across, (connection, unfolding, some, table, stack)),
        (development.mark_matches, (connection, unfolding, float64, float64, int64, int64, marks)),
        (queues.new_queue, (row,)),
        (surfaces.distances_from_planes, (stack, stack, some, row)),
        (tiles.square_means, (given,)),
        (lengths.squared_lengths, (given, some, some, row)),
    ]


if __name__ == "__main__":
    _, shared, of_points, of_sheet = sys.argv
    for _ in compile_share(shared, kernels_of_a_fit(of_points, int(of_sheet))):
        pass
