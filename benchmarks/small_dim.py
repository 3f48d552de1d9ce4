"""Where code for a fixed small dimension pays: rotations on edges, and the development.

Writes ``benchmarks/results/small_dim.md``.
"""

import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.kernels import batches
from ptunfold.kernels.bending import nearest_orthogonal
from ptunfold.kernels.lanes import LANES

REPEATS = 21
N_POINTS, N_EDGES = 5000, 20_000


def median_seconds(work):
    """Median over runs, the first one, which compiles, not counted."""
    work()
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def for_one_dimension(dim, folder):
    """Import a copy of the batch kernels in which d is a constant."""
    text = Path(batches.__file__).read_text().replace("dim = steps.shape[1]", f"dim = {dim}")
    file = Path(folder) / f"batches_{dim}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def rotations(dim, rng):
    """Nanoseconds an edge: closed form or Newton, and a batched SVD."""
    frames, _ = np.linalg.qr(rng.normal(size=(N_EDGES, dim, dim)))
    overlaps = frames + 0.05 * rng.normal(size=frames.shape)
    is_done = np.empty(N_EDGES, dtype=bool)
    scale = 1e9 / N_EDGES
    own = median_seconds(lambda: nearest_orthogonal(overlaps.copy(), is_done))
    library = median_seconds(lambda: np.linalg.svd(overlaps))
    return own * scale, library * scale


def development(dim, rng, folder):
    """Nanoseconds a (source, node): paths, development for any d, development for this d."""
    points = rng.random((N_POINTS, dim + 1)) * [*[1.0] * dim, 0.01]
    graph = build_graph(points)
    connection = connect(points, graph, estimate_frames(points, graph, 15, dim))
    connection = arrange(connection, np.arange(N_POINTS)).connection
    laid = OneWayRows(connection, np.arange(N_POINTS)).laid
    batch = batches.new_batch(N_POINTS, dim, 0)
    batch.sources[:] = np.arange(LANES)

    def find_paths():
        return batches.shortest_paths(laid.graph, laid.back, laid.per_width, batch)

    n_visits = find_paths()
    fixed = for_one_dimension(dim, folder)

    def develop(module):
        return lambda: module.develop(laid, batch, n_visits)

    scale = 1e9 / (N_POINTS * LANES)
    works = (find_paths, develop(batches), develop(fixed))
    return [median_seconds(work) * scale for work in works]


def main():
    lines = [
        f"One thread, medians of {REPEATS}.\n",
        "Rotations, ns an edge:\n",
        "| d | own | batched SVD | ratio |",
        "| --- | --- | --- | --- |",
    ]
    rng = np.random.default_rng(0)
    for dim in (1, 2, 3):
        own, library = rotations(dim, rng)
        lines.append(f"| {dim} | {own:.0f} | {library:.0f} | {library / own:.0f} |")
    lines += [
        "\nDevelopment, ns a (source, node), beside the search for the paths:\n",
        "| d | paths | development, any d | d a constant | gain of both |",
        "| --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for dim in (1, 2, 3):
            paths, general, fixed = development(dim, rng, folder)
            gain = (general - fixed) / (paths + general)
            lines.append(f"| {dim} | {paths:.1f} | {general:.1f} | {fixed:.1f} | {gain:.0%} |")
    lines.append(
        "\nRotations have code of their own up to d = 3. The development has not: with d as a "
        "constant\n(the length of a tuple, known to the compiler), a whole run of "
        "`squared_distances` took 30-32 ns\nbefore and after, the difference within noise, and "
        "every d would have to be compiled by itself."
    )
    text = "\n".join(lines) + "\n"
    print(text)
    (Path(__file__).parent / "results" / "small_dim.md").write_text(text)


if __name__ == "__main__":
    main()
