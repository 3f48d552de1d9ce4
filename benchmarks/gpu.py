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
        model, seconds = timed(points, repeats, engine="cuda", n_landmarks=None)
        own = off = faster = "-"
        if n_points <= 100_000:
            other, slow = timed(points, 3 if n_points <= 10_000 else 1, n_landmarks=None)
            own, off = middle(slow), embedding_error(model.embedding_, other.embedding_)
            off = f"{off:.1e}"
            faster = f"{statistics.median(slow) / statistics.median(seconds):.1f}"
        error = embedding_error(model.embedding_, sheet.coordinates)
        matrix = 4 * n_points**2
        moved = (1 + 2 + PASSES) * matrix
        lines.append(
            f"| {n_points} | {middle(seconds)} | {own} | {faster} | {matrix / 1e9:.1f} | "
            f"{moved / 1e9:.0f} | {moved / rate:.3f} | {off} | {100 * error:.3f} % |"
        )
        print(lines[-1], flush=True)
        (RESULTS / "gpu_full.md").write_text("\n".join(lines) + "\n")


def landmarks():
    lines = [
        "# Landmarks on a GPU",
        "",
        where(),
        "",
        "| points | landmarks | GPU, s | cores, s | times as fast | difference of embeddings | "
        "error |",
        "|" + " --- |" * 7,
    ]
    sizes = ((1_000_000, 1000, True), (1_000_000, 100, True), (10_000_000, 100, False))
    for n_points, n_landmarks, is_compared in sizes[: int((sys.argv[2:] or [3])[0])]:
        sheet = swiss_roll(n_points, hole=0.4)
        points = sheet.points.astype(np.float32)
        repeats = 2 if n_points <= 1_000_000 else 1
        model, seconds = timed(points, repeats, engine="cuda", n_landmarks=n_landmarks)
        own = off = faster = "-"
        if is_compared:
            other, slow = timed(points, 1, n_landmarks=n_landmarks)
            own = middle(slow)
            off = f"{embedding_error(model.embedding_, other.embedding_):.1e}"
            faster = f"{statistics.median(slow) / statistics.median(seconds):.1f}"
        error = embedding_error(model.embedding_, sheet.coordinates)
        lines.append(
            f"| {n_points} | {n_landmarks} | {middle(seconds)} | {own} | {faster} | {off} | "
            f"{100 * error:.3f} % |"
        )
        print(lines[-1], flush=True)
        (RESULTS / "gpu_landmarks.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    small = swiss_roll(2000).points.astype(np.float32)
    for options in ({}, {"n_landmarks": 20}):  # compiles everything
        for engine in ("threads", "cuda"):
            PTU(engine=engine, n_jobs=-1, **options).fit(small)
    {"full": full, "landmarks": landmarks}[sys.argv[1]]()
