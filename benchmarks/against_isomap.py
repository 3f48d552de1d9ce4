"""PTU against scikit-learn's Isomap: fresh processes, alternating, medians and spread.

``make bench`` runs it whole, about half an hour on two cores, and writes a table, a JSON file and
a picture to ``benchmarks/results``. Sizes can be given: ``against_isomap.py 1000 5000``.
"""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SIZES = [1000, 2000, 5000, 10_000, 20_000]
REPEATS = 3


def measure(what, **options):
    command = [sys.executable, str(HERE / "one_fit.py"), what]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None  # killed for memory, or a message that the caller reads as "does not fit"
    return json.loads(done.stdout.splitlines()[-1])


def free_bytes():
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def spread(runs, key):
    values = [run[key] for run in runs]
    return f"{min(values):.2f} - {max(values):.2f}"


def compare_fits(sizes, say):
    rows = []
    say(
        "| n | D | PTU s | spread | all s | spread | plain s | spread | Isomap s | spread | "
        "Isomap / PTU | Isomap / all | Isomap / plain | PTU CPU s | PTU MB | all MB | Isomap MB | "
        "PTU error | all error | plain error | Isomap error |"
    )
    say("|" + " --- |" * 21)
    for points in sizes:
        for features in (3, 50):
            runs = {"ptu": [], "all": [], "plain": [], "isomap": []}
            # Isomap holds the matrix of distances about three times, in float64.
            methods = ["ptu", "all", "plain"]
            if 30 * points**2 < free_bytes():
                methods.append("isomap")
            for seed in range(REPEATS):
                for method in methods:
                    run = measure(method, points=points, features=features, seed=seed)
                    if run is not None:
                        runs[method].append(run)
            row = {"points": points, "features": features, "runs": runs}
            theirs = runs["isomap"]
            own = [runs[method] for method in ("ptu", "all", "plain")]
            ratios = [
                median(theirs, "wall") / median(one, "wall") if theirs else None for one in own
            ]
            row["ratio"], row["all_ratio"], row["plain_ratio"] = ratios
            rows.append(row)
            cells = [f"{points}", f"{features}"]
            for one in own:
                cells += [f"{median(one, 'wall'):.2f}", spread(one, "wall")]
            cells += (
                [f"{median(theirs, 'wall'):.1f}", spread(theirs, "wall")] if theirs else ["", ""]
            )
            cells += [f"{ratio:.1f}" if theirs else "" for ratio in ratios]
            cells += [f"{median(own[0], 'cpu'):.2f}"]
            cells += [f"{median(one, 'memory') / 1e6:.0f}" for one in own[:2]]
            cells += [f"{median(theirs, 'memory') / 1e6:.0f}" if theirs else ""]
            cells += [f"{median(one, 'error'):.3%}" for one in own]
            cells += [f"{median(theirs, 'error'):.2%}" if theirs else ""]
            say("| " + " | ".join(cells) + " |")
    return rows


def compare_pairs(points, say):
    one = [measure("pairs", points=points, jobs=1, seed=seed) for seed in range(REPEATS)]
    two = [measure("pairs", points=points, jobs=2, seed=seed) for seed in range(REPEATS)]
    ours, theirs = median(one, "ns_cpu"), median(one, "ns_scipy")
    speedup = median(one, "ns_wall") / median(two, "ns_wall")
    say(
        f"\nDistances, n = {points}, one thread: {ours:.0f} ns of CPU a (source, node), unfolded "
        f"({spread(one, 'ns_cpu')}), SciPy's Dijkstra without {theirs:.0f} ns "
        f"({spread(one, 'ns_scipy')}): {theirs / ours:.1f} times cheaper. "
        f"Two threads are {speedup:.2f} times as fast as one."
    )
    return {"points": points, "one": one, "two": two}


def compare_stages(points, say):
    runs = [measure("stages", points=points, seed=seed) for seed in range(REPEATS)]
    names = ["graph", "shortcuts", "texture", "frames", "edges"]
    names += ["connection", "distances", "embedding"]
    seconds = {name: median(runs, name) for name in names}
    total = sum(seconds.values())
    say(
        f"\nStages, n = {points}, D = 3, float32: "
        + ", ".join(
            f"{name} {value:.2f} s ({value / total:.0%})" for name, value in seconds.items()
        )
        + "."
    )
    return {"points": points, "seconds": seconds}


def seconds_of(command, **environment):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", command], check=True, env={**os.environ, **environment})
    return time.perf_counter() - start


def compare_starts(say):
    imports = {}
    for module in ("sklearn.manifold", "ptunfold"):
        seconds_of(f"import {module}")
        imports[module] = statistics.median(seconds_of(f"import {module}") for _ in range(5))
    bare = statistics.median(seconds_of("pass") for _ in range(5))
    imports = {module: seconds - bare for module, seconds in imports.items()}
    first_fit = (
        "from ptunfold import PTU; from ptunfold.datasets import swiss_roll;"
        "PTU().fit(swiss_roll(500).points)"
    )
    cache = tempfile.mkdtemp()
    first = seconds_of(first_fit, NUMBA_CACHE_DIR=cache)
    second = seconds_of(first_fit, NUMBA_CACHE_DIR=cache)
    shutil.rmtree(cache)
    ratio = imports["ptunfold"] / imports["sklearn.manifold"]
    say(
        f"\nimport ptunfold: {imports['ptunfold']:.2f} s, {ratio:.2f} times import "
        f"sklearn.manifold ({imports['sklearn.manifold']:.2f} s). First fit ever, n = 500, empty "
        f"cache: {first:.1f} s; second process: {second:.1f} s."
    )
    return {"imports": imports, "first_fit": first, "second_process": second}


def growth(rows, method):
    sizes = [row["points"] for row in rows if row["features"] == 3 and row["runs"][method]]
    walls = [
        median(row["runs"][method], "wall")
        for row in rows
        if row["features"] == 3 and row["runs"][method]
    ]
    return sizes, walls, np.polyfit(np.log(sizes), np.log(walls), 1)[0] if len(sizes) > 1 else None


def draw(rows, path):
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    for method, name in (("isomap", "scikit-learn's Isomap"), ("ptu", "PTU")):
        sizes, walls, exponent = growth(rows, method)
        if exponent is not None:
            axes.loglog(sizes, walls, "o-", label=f"{name}, growth n^{exponent:.2f}")
    axes.set(
        xlabel="points", ylabel="seconds for a fit", title="swiss roll with a hole, D = 3, float32"
    )
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


def main(sizes):
    RESULTS.mkdir(exist_ok=True)
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    say(
        f"Swiss roll with a hole, float32, {len(os.sched_getaffinity(0))} cores "
        f"({platform.machine()}), warm cache; medians of {REPEATS}, each in a fresh process. PTU: "
        "as it comes. All: by all distances (landmarks=None). Plain: as in the paper, by all, "
        "10 neighbours, planes by principal components of 15, chords. Isomap: 10 neighbours.\n"
    )
    rows = compare_fits(sizes, say)
    largest = min(10_000, max(sizes))
    report = {
        "fits": rows,
        "stages": compare_stages(largest, say),
        "pairs": compare_pairs(largest, say),
        "starts": compare_starts(say),
    }
    for method, name in (("ptu", "PTU"), ("isomap", "Isomap")):
        _, _, exponent = growth(rows, method)
        if exponent is not None:
            say(f"\n{name} grows as n^{exponent:.2f} over these sizes, D = 3.")
    (RESULTS / "against_isomap.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / "against_isomap.md").write_text("\n".join(lines) + "\n")
    draw(rows, RESULTS / "against_isomap.png")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
