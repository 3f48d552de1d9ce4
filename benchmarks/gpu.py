"""Whole fits on a GPU against the same fits on the cores of the same machine.

``python benchmarks/gpu.py full`` for all distances, ``python benchmarks/gpu.py landmarks`` for
landmarks. Each writes a part of ``benchmarks/results/gpu.md``, or of the folder in ``OUT``.
Neighbours, frames and everything else are included.
"""

import os
import platform
import statistics
import sys
import time
import warnings
from pathlib import Path

import cupy
import numpy as np

from ptunfold import PTU
from ptunfold.datasets import swiss_roll
from ptunfold.embedding.alignment import embedding_error
from ptunfold.engines.cuda import LANES, DevicePaths
from ptunfold.geodesics.arrangement import arrange

RESULTS = Path(os.environ.get("OUT") or Path(__file__).with_name("results"))
PASSES = 7  # of the eigensolver over the matrix, in these runs


def bandwidth():
    """Bytes a second that a copy on the device reads and writes."""
    source = cupy.ones(1 << 30, dtype=np.float32)
    target = cupy.empty_like(source)
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        cupy.copyto(target, source)
        cupy.cuda.Device().synchronize()
        rates.append(2 * source.nbytes / (time.perf_counter() - start))
    return statistics.median(rates)


def timed(points, repeats, **options):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = PTU(n_jobs=-1, **options).fit(points)
        seconds.append(time.perf_counter() - start)
    return model, seconds


def middle(seconds):
    spread = f" ({min(seconds):.2f} to {max(seconds):.2f})" if len(seconds) > 1 else ""
    return f"{statistics.median(seconds):.2f}{spread}"


def largest():
    """Find how many points have distances that fit on the device, in thousands."""
    connection = PTU().fit(swiss_roll(2000).points).connection_
    paths = DevicePaths(cupy, arrange(connection, np.arange(2000)).connection)
    a_point = paths.bytes_of_space(LANES, is_both=False) / 2000
    n_points = 1000
    while 4 * (n_points + 1000) ** 2 + 40 * a_point * (n_points + 1000) < paths.free_bytes():
        n_points += 1000
    return n_points


def where():
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return (
        f"{name}, CuPy {cupy.__version__}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}; against "
        f"{os.cpu_count()} cores ({platform.machine()}) of the same machine. Swiss roll with a "
        "hole in R³, float32, default settings; medians (least to most)."
    )


def full():
    rate = bandwidth()
    lines = [
        "# All distances on a GPU",
        "",
        where(),
        "",
        "The floor is what the memory of the device takes for the matrix alone: written once, "
        f"read and written once to be squared, and read {PASSES} times by the eigensolver, at "
        f"{rate / 1e12:.2f} TB/s as measured by a copy.",
        "",
        "| points | GPU, s | cores, s | times as fast | matrix, GB | bytes moved, GB | floor, s "
        "| difference of embeddings | error |",
        "|" + " --- |" * 9,
    ]
    for n_points in (10_000, 50_000, 100_000, largest()):
        sheet = swiss_roll(n_points, hole=0.4)
        points = sheet.points.astype(np.float32)
        repeats = 3 if n_points <= 100_000 else 1
        model, seconds = timed(points, repeats, engine="cuda", landmarks=None)
        other, slow = timed(points, 3 if n_points <= 10_000 else 1, landmarks=None)
        off = embedding_error(model.embedding_, other.embedding_)
        faster = statistics.median(slow) / statistics.median(seconds)
        error = embedding_error(model.embedding_, sheet.coordinates)
        matrix = 4 * n_points**2
        moved = (1 + 2 + PASSES) * matrix
        lines.append(
            f"| {n_points} | {middle(seconds)} | {middle(slow)} | {faster:.1f} | "
            f"{matrix / 1e9:.1f} | {moved / 1e9:.0f} | {moved / rate:.3f} | {off:.1e} | "
            f"{100 * error:.3f} % |"
        )
        print(lines[-1], flush=True)
        (RESULTS / "gpu_full.md").write_text("\n".join(lines) + "\n")


def bytes_of_landmarks(connection, n_landmarks):
    """Count what has to be moved at least, where no cache holds the graph."""
    n_points, dim = connection.graph.n_points, connection.intrinsic_dim
    graph = connection.graph.n_edges * (4 + 8)  # neighbours and lengths
    tree = n_points * 4 * (dim + dim**2)  # a step and a rotation for every point but one
    label = n_points * 8
    row = n_points * 4
    # A label is written and read once, a row written once, and read for the choice and the scaling.
    return n_landmarks * (graph + tree + 2 * label + 3 * row)


def landmarks():
    rate = bandwidth()
    lines = [
        "# Landmarks on a GPU",
        "",
        where(),
        "",
        "The floor is what the memory of the device takes if every landmark reads the graph and "
        "the edges of its tree once, writes and reads every label once, and its row is written "
        f"once and read twice, at {rate / 1e12:.2f} TB/s as measured by a copy. Neighbours are "
        "found by the cores in both cases.",
        "",
        "| points | landmarks | GPU, s | cores, s | times as fast | bytes moved, GB | floor, s | "
        "difference of embeddings | error |",
        "|" + " --- |" * 9,
    ]
    sizes = {
        "1000": (1_000_000, 1000),
        "100": (1_000_000, 100),
        "ten-million": (10_000_000, 100),
    }
    for name in sys.argv[2:] or sizes:
        n_points, n_landmarks = sizes[name]
        sheet = swiss_roll(n_points, hole=0.4)
        points = sheet.points.astype(np.float32)
        repeats = 2 if n_points <= 1_000_000 else 1
        model, seconds = timed(points, repeats, engine="cuda", landmarks=n_landmarks)
        error = embedding_error(model.embedding_, sheet.coordinates)
        moved = bytes_of_landmarks(model.connection_, n_landmarks)
        found, model = model.embedding_, None
        print(f"{n_points} points, {n_landmarks} landmarks: GPU {middle(seconds)}", flush=True)
        other, slow = timed(points, 1, landmarks=n_landmarks)
        off = embedding_error(found, other.embedding_)
        faster = statistics.median(slow) / statistics.median(seconds)
        lines.append(
            f"| {n_points} | {n_landmarks} | {middle(seconds)} | {middle(slow)} | {faster:.1f} | "
            f"{moved / 1e9:.0f} | {moved / rate:.3f} | {off:.1e} | {100 * error:.3f} % |"
        )
        print(lines[-1], flush=True)
        (RESULTS / "gpu_landmarks.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    small = swiss_roll(2000).points.astype(np.float32)
    for options in ({}, {"landmarks": 20}):  # compiles everything
        for engine in ("threads", "cuda"):
            PTU(engine=engine, n_jobs=-1, **options).fit(small)
    {"full": full, "landmarks": landmarks}[sys.argv[1]]()
