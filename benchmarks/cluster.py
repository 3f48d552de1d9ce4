"""A Dask cluster of processes on this machine against threads, with the same number of cores.

``python benchmarks/cluster.py [points]`` writes ``benchmarks/results/cluster.md``. The paper's
plain form, so that distances are most of the work; workers have compiled everything before.
"""

import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

PLAIN = {
    "n_neighbors": 10,
    "tangent_neighbors": 15,
    "tangent": "pca",
    "step": "chord",
    "denoise": 0,
    "prune": None,
    "n_landmarks": None,
}
REPEATS = 9


def timed(points, n_cores):
    """Fit by turns with threads and on a cluster, so that a busy minute hits both."""
    found, seconds = {}, {"threads": [], "dask": []}
    with (
        LocalCluster(n_workers=n_cores, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        for repeat in range(REPEATS + 1):
            for engine in seconds:
                start = time.perf_counter()
                model = PTU(**PLAIN, n_jobs=n_cores, engine=engine).fit(points)
                if repeat:  # the first one compiles
                    seconds[engine].append(time.perf_counter() - start)
                found[engine] = model.embedding_
    return seconds, np.array_equal(*found.values())


def middle(seconds):
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


def main(sizes):
    lines = [
        "# A cluster of processes with one thread each, against threads",
        "",
        f"Seconds for a whole fit, float32, medians (least to most) of {REPEATS}, by turns.",
        "",
        "| points | cores | threads | cluster | cluster / threads | same bits |",
        "|" + " --- |" * 6,
    ]
    for n_points in sizes:
        points = swiss_roll(n_points).points.astype(np.float32)
        speed = {}
        for n_cores in (1, 2):
            seconds, is_same = timed(points, n_cores)
            speed[n_cores] = statistics.median(seconds["dask"])
            ratios = sorted(
                there / here
                for there, here in zip(seconds["dask"], seconds["threads"], strict=True)
            )
            ratio = speed[n_cores] / statistics.median(seconds["threads"])
            lines.append(
                f"| {n_points} | {n_cores} | {middle(seconds['threads'])} | "
                f"{middle(seconds['dask'])} | {ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | "
                f"{'yes' if is_same else 'NO'} |"
            )
            print(lines[-1], flush=True)
        lines.append(
            f"| {n_points} | 2 against 1 | | {speed[1] / speed[2]:.2f} times as fast | | |"
        )
        print(lines[-1], flush=True)
    Path(__file__).with_name("results").joinpath("cluster.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main([int(size) for size in sys.argv[1:]] or [10_000, 20_000])
