"""Landmark fits of 10⁴ to 10⁶ points (10⁷ on request), by stages; new points against Isomap.

Writes ``benchmarks/results/large.md``. Each fit is a fresh process; ``large.py 10000000`` adds a
size.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.manifold import Isomap
from truth import embedding_error

from ptunfold import PTU, attempts, pipeline
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.embedding import pieces

RESULTS = Path(__file__).parent / "results"
REPEATS = 3
LANDMARKS = 100
STAGES = {
    "order": (pipeline, "prepare"),
    "graph": (attempts, "proximity_graph"),
    "frames": (pipeline, "tangent_frames"),
    "connection": (pipeline, "connected"),
    "distances": (pieces, "farthest_landmarks"),
    "embedding": (pieces, "landmark_mds"),
}


def peak_gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def one_fit(n_points, n_features, seed):
    """Time a fit and its stages; memory is the peak of the whole process."""
    PTU(landmarks=9).fit(swiss_roll(500).points.astype(np.float32))  # a warm cache
    data = swiss_roll(n_points, hole=0.4, n_features=n_features, seed=seed)
    points, exact = data.points.astype(np.float32), data.coordinates
    del data
    seconds = dict.fromkeys(STAGES, 0.0)

    def watch(stage, work):
        def timed(*args, **options):
            start = time.perf_counter()
            result = work(*args, **options)
            seconds[stage] += time.perf_counter() - start
            return result

        return timed

    for stage, (module, name) in STAGES.items():
        setattr(module, name, watch(stage, getattr(module, name)))
    start = time.perf_counter()
    model = PTU(landmarks=LANDMARKS, n_jobs=-1).fit(points)
    wall = time.perf_counter() - start
    return {
        "wall": wall,
        "gigabytes": peak_gigabytes(),
        "error": embedding_error(model.embedding_, exact),
        **seconds,
    }


def new_points(seed):
    """Place 100 000 new points with both methods, fitted to the same 5 000."""
    data = s_with_hole(105_000, seed=seed)
    fitted, new = data.points[:5000], data.points[5000:]
    result = {}
    for name, model in (
        ("ptu", PTU(n_neighbors=10, n_jobs=-1)),
        ("isomap", Isomap(n_neighbors=10, n_jobs=-1)),
    ):
        model.fit(fitted)
        model.transform(new[:10])  # compiled and searched once
        start = time.perf_counter()
        found = model.transform(new)
        result[name] = time.perf_counter() - start
        exact, center = data.coordinates, model.embedding_.mean(axis=0)
        middle = exact[:5000].mean(axis=0)
        left, _, right = np.linalg.svd((model.embedding_ - center).T @ (exact[:5000] - middle))
        size = np.linalg.norm(exact[:5000] - middle) / math.sqrt(5000)
        for what, places, true in (
            ("fitted", model.embedding_, exact[:5000]),
            ("new", found, exact[5000:]),
        ):
            off = (places - center) @ left @ right + middle - true
            result[f"{name} {what}"] = np.linalg.norm(off) / math.sqrt(len(off)) / size
        if name == "ptu":
            start = time.perf_counter()
            back = model.inverse_transform(found)
            result["back"] = time.perf_counter() - start
            result["off"] = float(np.linalg.norm(back - new) / math.sqrt(len(new)))
    return result


def measure(*arguments):
    """Run this script for one measurement in a fresh process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(sizes):
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    cores = len(os.sched_getaffinity(0))
    say(
        f"Swiss roll with a hole, float32, {LANDMARKS} landmarks, {cores} cores, warm cache; "
        f"medians of {REPEATS} fits in fresh processes (one from 10⁷ on). Memory is the peak of "
        "the process, data included.\n"
    )
    say("| n | D | seconds | spread | peak GB | error | " + " | ".join(STAGES) + " |")
    say("|" + " --- |" * (6 + len(STAGES)))
    walls = {}
    for n_points in sizes:
        for n_features in (3, 50) if n_points < 10**7 else (3,):
            repeats = REPEATS if n_points < 10**7 else 1
            runs = [measure("--fit", n_points, n_features, seed) for seed in range(repeats)]
            middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
            times = [run["wall"] for run in runs]
            walls[n_points, n_features] = middle["wall"]
            cells = " | ".join(f"{middle[stage]:.1f}" for stage in STAGES)
            say(
                f"| {n_points} | {n_features} | {middle['wall']:.1f} | {min(times):.1f} - "
                f"{max(times):.1f} | {middle['gigabytes']:.2f} | {middle['error']:.4%} | {cells} |"
            )
    for n_features in (3, 50):
        known = [(math.log(n), math.log(w)) for (n, d), w in walls.items() if d == n_features]
        if len(known) > 1:
            slope = np.polyfit(*np.array(known).T, 1)[0]
            say(f"\nIn D = {n_features} the time grows as n^{slope:.2f}.")
    runs = [measure("--new", seed) for seed in range(REPEATS)]
    middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    ratios = [run["isomap"] / run["ptu"] for run in runs]
    say(
        f"\n100 000 new points of the S with a hole, 5 000 fitted: PTU {middle['ptu']:.2f} s, "
        f"Isomap {middle['isomap']:.1f} s, {statistics.median(ratios):.0f} times as fast "
        f"({min(ratios):.0f} - {max(ratios):.0f}); error of fitted and new points "
        f"{middle['ptu fitted']:.3%} and {middle['ptu new']:.3%}, with Isomap "
        f"{middle['isomap fitted']:.2%} and {middle['isomap new']:.2%}. Back in space after "
        f"{middle['back']:.2f} s, {middle['off']:.4f} off (the S is 3π long)."
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "large.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", nargs=3, type=int)
    parser.add_argument("--new", type=int)
    parser.add_argument("more", nargs="*", type=int)
    options = parser.parse_args()
    if options.fit:
        print(json.dumps(one_fit(*options.fit)))
    elif options.new is not None:
        print(json.dumps(new_points(options.new)))
    else:
        main([10_000, 100_000, 1_000_000, *options.more])
