"""Distances and scaling on one GPU; needs CuPy."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.engines.base import Engine
from ptunfold.engines.cuda_geometry import MOST_TOGETHER, DeviceGeometry
from ptunfold.geodesics.arrangement import Arrangement, merge_copies, order_by_beacons, restrict
from ptunfold.geodesics.distances import MOST_NEIGHBORS, fold_directions, owners_of
from ptunfold.geodesics.squares import Squares
from ptunfold.kernels.inputs import chords_of, curvature_of, kept_of
from ptunfold.memory import NoRoomError, free_bytes, in_words
from ptunfold.needs import Needs, bytes_of_all_distances
from ptunfold.progress import stage
from ptunfold.threads import Run, cut
from ptunfold.types import Connection, FloatArray, Graph, IntArray, Settings

LANES = 32
_THREADS = {LANES: 1024, 1: 1024}  # of a block
_BLOCKS_A_PROCESSOR = {LANES: 2, 1: 1}
_VISITS_KEPT = 4  # for each node
_ROUNDS_KEPT = 1 << 16
_BUCKET_WIDTH = 0.5  # of the median edge length
_SPARE = 0.06  # of the memory of the device, for what else is there
_SPILLED = 1 << 30  # bytes of rows that are on their way to the host
_ROWS_TOGETHER = 4096  # of a product
_FOR_ROWS = 0.25  # of the memory of the device that is free
_ROUNDS_A_LAUNCH = 4  # of every block; the bar moves in between


class CudaEngine(Engine):
    """One GPU. Distances are kept in 32 bits, on the device as long as they fit there."""

    name = "cuda"
    most_full = 100_000

    def __init__(self) -> None:
        self.cupy = _cupy()

    def geometry(self, points: FloatArray, settings: Settings) -> DeviceGeometry | None:
        """Prepare frames of points; None if threads do them best."""
        n_members = settings.tangent_neighbors + 1
        if min(points.shape[1], n_members) > MOST_TOGETHER:
            return None
        return DeviceGeometry(self.cupy, points)

    def arrange(self, connection: Connection, nodes: IntArray) -> Arrangement:
        """Take a component out of a connection; its order does not matter on the device."""
        return Arrangement(*merge_copies(restrict(connection, nodes)))

    def squares(
        self, connection: Connection, position: IntArray, dtype: DTypeLike, run: Run
    ) -> Squares:
        """Estimate all squared distances in an arranged component, and keep them."""
        _check_neighbors(connection.graph)
        paths = DevicePaths(self.cupy, connection)
        n_rows = len(position)
        needed = 4 * n_rows**2 * (1 if n_rows == connection.graph.n_points else 2)
        if needed + paths.bytes_of_space(LANES, is_both=False) > paths.free_bytes():
            spilled = SpilledRows(paths, position)
            in_memory = bytes_of_all_distances(n_rows, 4)
            if in_memory > free_bytes():
                raise NoRoomError(
                    f"the distances between all {n_rows} points need {in_words(needed)} of the "
                    f"GPU, or {in_words(in_memory)} of memory; pass landmarks, or a store"
                )
            return fold_directions(spilled, np.float32, run)
        return device_squares(paths, position, verbose=run.verbose)

    def bytes_of_all(self, needs: Needs) -> float:
        """Tell how much memory a fit by all distances needs here."""
        return needs.on_device()

    def blocks(self, connection: Connection, position: IntArray) -> SpilledRows:
        """Prepare one-way distances in an arranged component, block by block."""
        _check_neighbors(connection.graph)
        return SpilledRows(DevicePaths(self.cupy, connection), position)

    def rows(self, connection: Connection) -> DeviceRows:
        """Prepare distances from single sources in a connected graph."""
        _check_neighbors(connection.graph)
        return DeviceRows(self.cupy, connection)

    def close(self) -> None:
        """Give the memory of the device back."""
        self.cupy.get_default_memory_pool().free_all_blocks()


class DevicePaths:
    """A connection on the device, and the kernels that unfold its shortest paths.

    It is connected, and its edges are longer than rounding.
    """

    def __init__(self, cupy: Any, connection: Connection) -> None:
        graph, points = connection.graph, chords_of(connection)
        self.cupy = cupy
        self.n_points, self.dim = graph.n_points, connection.intrinsic_dim
        self.width = np.float32(_BUCKET_WIDTH * np.median(graph.lengths) if graph.n_edges else 1)
        self._arrays = (
            cupy.asarray(graph.indptr, dtype=np.int32),
            cupy.asarray(graph.indices, dtype=np.int32),
            cupy.asarray(graph.lengths, dtype=np.float64),
            cupy.asarray(graph.reverse, dtype=np.int32),
            cupy.asarray(connection.rotations, dtype=np.float32),
            cupy.asarray(connection.steps, dtype=np.float32),
            cupy.asarray(kept_of(connection), dtype=np.float32),
            cupy.asarray(points - points.mean(axis=0), dtype=np.float32),
            cupy.asarray(curvature_of(connection), dtype=np.float32),
        )
        self.is_partly, self.n_axes = connection.coherence is not None, points.shape[1]
        self.is_curved = connection.curvature is not None

    def free_bytes(self) -> int:
        """Return the memory of the device that can be used."""
        free, total = self.cupy.cuda.runtime.memGetInfo()
        kept = self.cupy.get_default_memory_pool().free_bytes()
        return int(free + kept - _SPARE * total)

    def bytes_of_space(self, lanes: int, *, is_both: bool) -> int:
        """Return the workspace of a block of threads, as paths.cu cuts it up."""
        wide = self.n_points * lanes
        sizes = [wide * max(8, 4 * self.dim)]
        if is_both:
            sizes += [4 * wide * self.dim, 4 * wide * self.dim**2]
        if self.is_partly:
            sizes += (2 if is_both else 1) * [4 * wide]
        if self.is_curved:
            sizes.append(4 * wide)
        sizes += [2 * wide, *(6 * [4 * self.n_points])]
        sizes += [4 * _VISITS_KEPT * self.n_points, 4 * (_ROUNDS_KEPT + 1)]
        return sum(-(-size // 256) * 256 for size in sizes)

    def plan(self, n_sources: int, lanes: int, *, is_both: bool) -> tuple[int, int]:
        """Decide how many blocks of threads work at a time, and how many sources go together."""
        n_batches = -(-n_sources // lanes)
        processors = self.cupy.cuda.Device().attributes["MultiProcessorCount"]
        room = self.free_bytes() // self.bytes_of_space(lanes, is_both=is_both)
        if room < 1:
            raise NoRoomError(
                f"the GPU has {in_words(max(self.free_bytes(), 0))} free, too few for paths "
                f"between {self.n_points} points; use another engine, or fewer points"
            )
        n_blocks = int(min(n_batches, processors * _BLOCKS_A_PROCESSOR[lanes], room))
        return n_blocks, n_blocks * lanes * _ROUNDS_A_LAUNCH

    def neighborly_order(self) -> IntArray:
        """Order the nodes so that those near on the graph are near in the list, (n_points,)."""

        def measure(source: int) -> FloatArray:
            row = self.cupy.empty((1, self.n_points), dtype=np.float32)
            self.measure(self.cupy.asarray([source], dtype=np.int32), row, lanes=1)
            found: FloatArray = self.cupy.asnumpy(row)[0]
            return found

        return order_by_beacons(measure, self.n_points)

    def measure(
        self,
        sources: Any,
        rows: Any,
        *,
        targets: Any = None,
        lanes: int | None = None,
        is_both: bool = False,
        verbose: bool = False,
    ) -> None:
        """Write the distances from ``sources`` into ``rows`` (n_rows, n_points), on the device.

        Those from ``sources[i]`` go to the row ``targets[i]``, or i by default. With ``is_both``
        they are the means of both directions, else those towards the source. Neighbouring sources
        should follow each other where there are several lanes.
        """
        cupy, lanes = self.cupy, lanes or LANES
        is_both = is_both and not self.is_curved  # both are the same
        n_blocks, together = self.plan(len(sources), lanes, is_both=is_both)
        n_bytes = self.bytes_of_space(lanes, is_both=is_both)
        if targets is None:
            targets = cupy.arange(len(sources), dtype=np.int32)
        space = cupy.empty(n_blocks * n_bytes, dtype=np.uint8)
        trouble = cupy.zeros(1, dtype=np.int32)
        kernel = _kernel(
            "paths.cu",
            "batches",
            LANES=lanes,
            DIM=self.dim,
            BOTH=int(is_both),
            PARTLY=int(self.is_partly),
            CURVED=int(self.is_curved),
            AXES=self.n_axes,
            THREADS=_THREADS[lanes],
            BLOCKS=_BLOCKS_A_PROCESSOR[lanes],
        )
        with stage("distances", len(sources), "sources", verbose) as bar:
            for block in cut(len(sources), together):
                kernel(
                    (n_blocks,),
                    (_THREADS[lanes],),
                    (
                        np.int32(self.n_points),
                        *self._arrays,
                        sources[block],
                        targets[block],
                        np.int32(block.stop - block.start),
                        self.width,
                        space,
                        np.int64(n_bytes),
                        np.int32(_VISITS_KEPT * self.n_points),
                        np.int32(_ROUNDS_KEPT),
                        rows,
                        trouble,
                    ),
                )
                if verbose:
                    cupy.cuda.Device().synchronize()
                bar.update(block.stop - block.start)
        if int(trouble[0]):
            raise RuntimeError("a path could not be unfolded; please report it, with the data")


class DeviceSquares:
    """Squared distances (n_points, n_points) float32 on the device."""

    def __init__(self, cupy: Any, matrix: Any) -> None:
        self.cupy, self.matrix = cupy, matrix
        self.dtype = np.dtype(np.float32)
        self.n_points = len(matrix)

    def near(self, vectors: FloatArray) -> Any:
        """Bring vectors to the device."""
        return self.cupy.asarray(vectors)

    def here(self, vectors: Any) -> FloatArray:
        """Bring vectors back."""
        found: FloatArray = self.cupy.asnumpy(vectors)
        return found

    def multiply(self, factor: Any, n_jobs: int | None = None) -> Any:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64, on the device."""
        total = self.cupy.zeros(factor.shape, dtype=np.float64)
        for rows in cut(self.n_points, _ROWS_TOGETHER):
            # The matrix is symmetric: sums of this many terms in 32 bits, their total in 64.
            total += self.matrix[rows].T @ factor[rows]
        return total

    def rows(self, chosen: IntArray) -> FloatArray:
        """Return some rows, (n_chosen, n_points) float32."""
        return self.here(self.matrix[self.cupy.asarray(chosen)])

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        return self.here(self.matrix).astype(np.float64)


def device_squares(paths: DevicePaths, position: IntArray, *, verbose: bool) -> DeviceSquares:
    """Estimate all squared distances, on the device."""
    cupy, n_points = paths.cupy, paths.n_points
    matrix = cupy.empty((n_points, n_points), dtype=np.float32)
    order = cupy.asarray(paths.neighborly_order(), dtype=np.int32)
    paths.measure(order, matrix, targets=order, verbose=verbose)
    if len(position) > n_points:  # copies have rows of their own
        nodes = cupy.asarray(position)
        whole = cupy.empty((len(position), len(position)), dtype=np.float32)
        for rows in cut(len(position), _ROWS_TOGETHER):
            whole[rows] = matrix[nodes[rows]][:, nodes]
        matrix = whole
    side = -(-len(matrix) // 32)
    kernel = _kernel("squares.cu", "square_means")
    kernel((side, side), (256,), (matrix, np.int64(len(matrix))))
    return DeviceSquares(cupy, matrix)


class SpilledRows:
    """Rows that are computed on the device and kept elsewhere: `Blocks` by a device."""

    def __init__(self, paths: DevicePaths, position: IntArray) -> None:
        self.paths, self.position = paths, position
        self.owners, self.owned = owners_of(position, paths.n_points)
        n_together = max(_SPILLED // (4 * paths.n_points * LANES), 1) * LANES
        self.blocks = cut(paths.n_points, n_together)
        self.dtype = np.dtype(np.float32)

    def n_threads(self, n_jobs: int | None) -> int:
        """Tell how many threads may write blocks at a time, on one device."""
        return 1

    def write(self, block: slice, rows: FloatArray, first_row: int) -> None:
        """Write the rows of a block of nodes into ``rows``, which begins at ``first_row``."""
        cupy = self.paths.cupy
        on_device = cupy.empty((block.stop - block.start, self.paths.n_points), dtype=np.float32)
        self.paths.measure(cupy.arange(block.start, block.stop, dtype=np.int32), on_device)
        found = cupy.asnumpy(on_device)
        for node in range(block.start, block.stop):
            owners = self.owners[self.owned[node] : self.owned[node + 1]]
            rows[owners - first_row] = found[node - block.start, self.position]


class DeviceRows:
    """Distances from single sources, the mean of both directions, by a device."""

    def __init__(self, cupy: Any, connection: Connection) -> None:
        merged, copy_of = merge_copies(connection)
        self.paths = DevicePaths(cupy, merged)
        self.copy_of = copy_of
        self.columns = cupy.asarray(copy_of) if merged.graph.n_points < len(copy_of) else None

    def fill(self, sources: IntArray, rows: FloatArray, run: Run) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""
        cupy, n_nodes = self.paths.cupy, self.paths.n_points
        n_bytes = 4 * (n_nodes + len(self.copy_of) * (self.columns is not None))
        # As many as there is room for, beside the workspace of the search for paths.
        together = max(int(self.paths.free_bytes() * _FOR_ROWS) // n_bytes, 1)
        for block in cut(len(sources), together):
            nodes = cupy.asarray(self.copy_of[sources[block]], dtype=np.int32)
            found = cupy.empty((len(nodes), n_nodes), dtype=np.float32)
            self.paths.measure(nodes, found, lanes=1, is_both=True, verbose=run.verbose)
            rows[block] = cupy.asnumpy(found if self.columns is None else found[:, self.columns])


def _check_neighbors(graph: Graph) -> None:
    most = int(np.diff(graph.indptr).max(initial=0))
    if most >= MOST_NEIGHBORS - 1:
        raise ValueError(
            f'a point with {most} neighbours is too much for engine="cuda", which numbers them in '
            "16 bits; drop edges, or use another engine"
        )


@cache
def _kernel(file: str, name: str, **values: int) -> Any:
    """Compile a kernel, once for each set of values."""
    source = files("ptunfold.engines").joinpath(file).read_text(encoding="utf-8")
    options = tuple(f"-D{key}={value}" for key, value in values.items())
    return _cupy().RawKernel(source, name, options=("--std=c++14", *options))


def _cupy() -> Any:
    """Import CuPy, and find out whether there is a GPU for it."""
    try:
        import cupy
        import cupy.cuda  # a folder of the same name has none
    except ImportError as error:
        raise ValueError(
            'engine="cuda" needs CuPy; pip install cupy-cuda12x or cupy-cuda13x, after the version '
            "of CUDA that nvidia-smi names"
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise ValueError(
            f'engine="cuda" finds no GPU ({error}); use engine="threads", or look what nvidia-smi '
            "says"
        ) from error
    if not n_devices:
        raise ValueError('engine="cuda" finds no GPU; use engine="threads"')
    if int(cupy.cuda.Device().compute_capability) < 80:
        raise ValueError(
            f'engine="cuda" needs a GPU of compute capability 8.0 or more (Ampere), and this one '
            f'has {cupy.cuda.Device().compute_capability}; use engine="threads"'
        )
    return cupy
