"""A Dask cluster of processes on this machine against threads, with the same number of cores.

``python benchmarks/cluster.py [points]`` writes ``benchmarks/results/cluster_C_cores.md``, with C
the cores of the machine: scheduler and client need some too. The paper's plain form, so that
distances are most of the work; workers have compiled everything before.
"""

import logging
import os
import random
import statistics
import sys
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from distributed import Client, Nanny, Scheduler, SpecCluster

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

PLAIN = {
    "n_neighbors": 10,
    "tangent_neighbors": 15,
    "tangent": "pca",
    "step": "chord",
    "denoise": 0,
    "coherence": 1,
    "prune": None,
    "landmarks": None,
}


KINDS = {
    ("threads", 1): "threads",
    ("threads", 2): "threads",
    ("cluster", 1): "dask",
    ("cluster", 2): "dask",
}


def cluster_of(n_cores, folder):
    """Start processes with one thread each."""
    workers = {
        index: {
            "cls": Nanny,
            "options": {
                "nthreads": 1,
                "local_directory": folder,
                "silence_logs": logging.ERROR,
            },
        }
        for index in range(n_cores)
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False}}
    return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.ERROR)


def timed(points, repeats):
    """Fit by turns with threads and on clusters, so that a busy minute hits all of them."""
    seconds = {kind: [] for kind in KINDS}
    found = []
    with ExitStack() as stack:
        clients = {}
        for kind, n_cores in KINDS:
            if kind != "threads":
                folder = stack.enter_context(TemporaryDirectory())
                cluster = stack.enter_context(cluster_of(n_cores, folder))
                clients[kind, n_cores] = stack.enter_context(Client(cluster))
        for repeat in range(repeats + 1):
            turns = list(KINDS.items())
            random.shuffle(turns)  # what comes first may find memory that is better prepared
            for (kind, n_cores), engine in turns:
                with ExitStack() as here:
                    if engine == "dask":
                        here.enter_context(clients[kind, n_cores].as_current())
                    start = time.perf_counter()
                    model = PTU(**PLAIN, n_jobs=n_cores, engine=engine).fit(points)
                    stop = time.perf_counter()
                if repeat:  # the first one compiles
                    seconds[kind, n_cores].append(stop - start)
                found.append(model.embedding_)
    return seconds, all(np.array_equal(one, found[0]) for one in found)


def middle(seconds):
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


def ratio(seconds, others):
    """Compare two ways, and each turn of them."""
    each = [one / other for one, other in zip(seconds, others, strict=True)]
    all_in_all = statistics.median(seconds) / statistics.median(others)
    return f"{all_in_all:.2f} ({min(each):.2f} to {max(each):.2f})"


def main(sizes):
    results = Path(__file__).with_name("results")
    lines = [
        "# A cluster of processes with one thread each, against threads",
        "",
        "Seconds for a whole fit, float32, medians (least to most) of 15 by turns, 7 from 20 000 "
        f"points on. The machine has {os.cpu_count()} cores for workers, scheduler and client.",
        "",
        "| points | cores | threads | cluster | cluster / threads | same bits |",
        "|" + " --- |" * 6,
    ]
    for n_points in sizes:
        points = swiss_roll(n_points).points.astype(np.float32)
        seconds, is_same = timed(points, 15 if n_points < 20_000 else 7)
        for kind, n_cores in list(KINDS)[2:]:
            own, there = seconds["threads", n_cores], seconds[kind, n_cores]
            lines.append(
                f"| {n_points} | {n_cores} | {middle(own)} | {middle(there)} | "
                f"{ratio(there, own)} | {'yes' if is_same else 'NO'} |"
            )
        faster = [ratio(seconds[kind, 1], seconds[kind, 2]) for kind in ("threads", "cluster")]
        lines.append(f"| {n_points} | 1 / 2 | {faster[0]} | {faster[1]} | | |")
        print("\n".join(lines[-3:]), flush=True)
        results.joinpath(f"cluster_{os.cpu_count()}_cores.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main([int(size) for size in sys.argv[1:]] or [10_000, 20_000])
