"""PTU beside the field: distances, embeddings, real data, noise, time and memory.

``make field`` runs it whole, about half an hour on two cores, and writes ``results/field.md`` with
a picture for each question. ``field.py noise time --methods PTU Isomap`` asks some of some, and
keeps what earlier runs found. Methods that are not installed are named with the reason.
"""

import argparse
import contextlib
import json
import os
import platform
import queue
import subprocess
import sys
import threading
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from field_methods import METHODS, ptu_distances
from field_report import write_report
from truth import distance_error, embedding_error

HERE = Path(__file__).parent
KEPT = HERE.parent / "build" / "field.json"  # every measurement, so that runs can be continued
MOST_SECONDS = 60  # for a fit
SLOW_SECONDS = 20  # one seed is enough of a fit that takes longer
START_SECONDS = 60  # for imports and compilation
N_SEEDS = 3
MARK = "FIELD "  # lines of the worker that are its own: methods print what they like


def roll_with_hole(n_points, seed):
    from ptunfold.datasets import swiss_roll

    return swiss_roll(n_points, hole=0.4, seed=seed)


def flat_sets():
    from ptunfold.datasets import s_uneven, swiss_roll

    return {
        "swiss roll": lambda seed: swiss_roll(1000, seed=seed),
        "roll with a hole": lambda seed: roll_with_hole(1000, seed),
        "S, density 1:30": lambda seed: s_uneven(1000, seed=seed),
    }


def curved_sets():
    from ptunfold.datasets import s_with_hole, spherical_cap, swiss_roll

    return {
        "swiss roll": lambda seed: swiss_roll(1000, seed=seed),
        "spherical cap": lambda seed: spherical_cap(1000, angle=60, sampling="random", seed=seed),
        "S with a hole": lambda seed: s_with_hole(1000, seed=seed),
    }


def noisy_sets():
    from ptunfold.datasets import swiss_roll

    sets = {
        f"noise {noise:.0%}": lambda seed, noise=noise: swiss_roll(1000, noise=noise, seed=seed)
        for noise in (0.01, 0.03)
    }
    sets["10 % outliers"] = lambda seed: swiss_roll(1000, noise=0.004, outliers=0.1, seed=seed)
    return sets


def sized_sets():
    return {f"{n}": lambda seed, n=n: roll_with_hole(n, seed) for n in (1000, 5000)}


def real_sets():
    from real_carried import blood_cells, digit_sets, mnist_digits, progenitors
    from sklearn.datasets import load_digits

    def mnist(which):
        return list(digit_sets("mnist", *mnist_digits(), n_most=2000))[which]

    return {
        "digits": lambda seed: next(digit_sets("digits", *load_digits(return_X_y=True))),
        "mnist": lambda seed: mnist(0),
        "mnist_zeros": lambda seed: mnist(2),
        "pbmc68k": lambda seed: blood_cells(),
        "krumsiek11": lambda seed: progenitors(),
    }


def scaled_error(found, exact):
    """Measure the error after the one factor that helps most, in per cent."""
    apart = exact > 0
    ratio = np.sort(found[apart] / exact[apart])
    # |s r - 1| has its least mean at a weighted median: the factor is one over some ratio.
    weight = np.cumsum(ratio)
    best = ratio[np.searchsorted(weight, weight[-1] / 2)]
    return distance_error(found / best, exact)


def rank_of(found, exact):
    from scipy.stats import spearmanr

    upper = np.triu_indices(len(exact), 1)
    some = np.random.default_rng(0).choice(len(upper[0]), 200_000)
    return spearmanr(found[upper][some], exact[upper][some]).statistic


def measure_distances(name, data, seed):
    method, points = METHODS[name], data.points
    found = ptu_distances(points, seed) if name == "PTU" else method.embed(points, 2, seed)[1]
    exact = data.distances()
    scores = {"scaled": scaled_error(found, exact), "rank": rank_of(found, exact)}
    if method.keeps_lengths:
        scores["error"] = distance_error(found, exact)
    return scores


def measure_embedding(name, data, seed):
    places = places_of(name, data.points, seed)
    exact, kept = data.coordinates, np.ones(len(places), dtype=bool)
    if data.is_outlier is not None:
        kept = ~data.is_outlier
    return {
        "rigid": 100 * embedding_error(places[kept], exact[kept]),
        "linear": 100 * embedding_error(places[kept], exact[kept], is_affine=True),
    }


def measure_real(name, data, seed):
    from real import knn_score, rank_score

    places = places_of(name, data.X.astype(float), seed, data.n_components)
    scores = {"knn": knn_score(places, data), "rank": rank_score(places, data)}
    return {key: score for key, score in scores.items() if np.isfinite(score)}


def measure_time(name, data, seed):
    from one_fit import resident_bytes, timed

    # What is compiled depends on the size too, so the first fit, not counted, is as large.
    places_of(name, roll_with_hole(len(data.points), seed + 1000).points.astype(np.float32), seed)
    points, before = data.points.astype(np.float32), resident_bytes()
    forget_peak()
    _, seconds, cpu = timed(lambda: places_of(name, points, seed))
    return {"seconds": seconds, "cpu": cpu, "megabytes": max(0, peak_bytes() - before) / 1e6}


def forget_peak():
    """Let the peak of resident memory begin again, which Linux alone can do."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes():
    """Read the peak of resident memory since it began."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status has no VmHWM")


def places_of(name, points, seed, n_components=2):
    places = np.asarray(METHODS[name].embed(points, n_components, seed)[0], dtype=float)
    if not np.isfinite(places).all():
        raise ValueError("NaN in the embedding")
    return places


QUESTIONS = {
    "distances": (curved_sets, measure_distances),
    "embedding": (flat_sets, measure_embedding),
    "noise": (noisy_sets, measure_embedding),
    "real": (real_sets, measure_real),
    "time": (sized_sets, measure_time),
}


def asked(question, name):
    return question != "distances" or METHODS[name].gives_distances


def jobs_of(question, n_seeds):
    if question == "real":  # these sets are what they are
        n_seeds = 1
    return [(of, seed) for of in QUESTIONS[question][0]() for seed in range(n_seeds)]


def work(question, name, jobs):
    """Do jobs in this process, and print what was found, a line each."""
    warnings.simplefilter("ignore")
    sets, measure = QUESTIONS[question]
    sets = sets()
    print(MARK, flush=True)  # imports of this file are done
    slow = set()
    for of, seed in jobs:
        if of in slow:
            print(MARK + "{}", flush=True)
            continue
        data = sets[of](seed)
        start = time.perf_counter()
        try:
            with contextlib.redirect_stdout(sys.stderr):
                found = measure(name, data, seed)
            found = {key: float(value) for key, value in found.items()}
        except ImportError as error:
            found = {"failed": f"not installed: {error}"}
        except Exception as error:
            # Rivals may raise anything; what they say is a result.
            found = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:100]}
        found["wall"] = time.perf_counter() - start
        # The first fit compiles; real sets have one seed.
        if found["wall"] > SLOW_SECONDS and (of, seed) != tuple(jobs[0]):
            slow.add(of)
        print(MARK + json.dumps(found), flush=True)


def run(question, name, jobs):
    """Do jobs in a process of their own; it ends when one of them takes too long."""
    command = [sys.executable, __file__, question, "--work", name, "--jobs", json.dumps(jobs)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    lines = queue.Queue()

    def listen():
        for line in process.stdout:
            if line.startswith(MARK):
                lines.put(line.removeprefix(MARK).strip())
        lines.put(None)

    threading.Thread(target=listen, daemon=True).start()
    found = []
    try:
        if lines.get(timeout=START_SECONDS) is None:
            return [{"failed": "its process did not start"}]
        for number in range(len(jobs)):
            # The first fit imports and compiles.
            line = lines.get(timeout=MOST_SECONDS + (START_SECONDS if number == 0 else 0))
            if line is None:
                return [*found, {"failed": f"its process ended with {process.wait()}"}]
            found.append(json.loads(line))
    except queue.Empty:
        found.append({"failed": f"more than {MOST_SECONDS} s"})
    finally:
        process.kill()
        process.wait()
    return found


def ask(question, name, n_seeds):
    """Return what was found for each job; a set that fails once is not tried again."""
    left = jobs_of(question, n_seeds)
    runs = {}
    while left:
        now = left[:1] if question == "time" else left
        found = run(question, name, now)
        for (of, seed), one in zip(now, found, strict=False):
            if one:
                runs[f"{of}|{seed}"] = one
        left = left[len(found) :]
        if question == "time" and found[-1].get("seconds", 0) > SLOW_SECONDS:
            left = [(of, seed) for of, seed in left if of != now[0][0]]
        if "failed" in found[-1]:
            last = now[len(found) - 1][0]
            left = [(of, seed) for of, seed in left if of != last]
            if found[-1]["failed"].startswith("not installed"):
                break
            if question == "time" and found[-1]["failed"].startswith("more than"):
                runs |= {f"{of}|0": found[-1] for of, _ in left}  # larger ones take longer
                break
    return runs


def versions():
    names = ("ptunfold", "scikit-learn", "tapkee", "pyLDLE2", "dtne", "heatgeo", "phate")
    found = {}
    for name in (*names, "umap-learn", "pacmap", "pymde"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"machine": machine, "load": os.getloadavg()[2], "packages": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="*", help=f"some of {', '.join(QUESTIONS)}; all if none")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--report", action="store_true", help="write what was found before")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.questions[0], given.work, given.jobs)
        return
    goes_on = (given.questions or given.report) and KEPT.exists()
    kept = json.loads(KEPT.read_text()) if goes_on else {}
    KEPT.parent.mkdir(exist_ok=True)
    for question in given.questions or ([] if given.report else QUESTIONS):
        for name in given.methods:
            if asked(question, name):
                start = time.perf_counter()
                found = ask(question, name, given.seeds)
                kept.setdefault(question, {})[name] = found
                KEPT.write_text(json.dumps(kept, indent=1))
                seconds = time.perf_counter() - start
                print(f"{question}, {name}: {seconds:.0f} s", *_told(found), flush=True)
    limits = (
        f"A fit may take {MOST_SECONDS} s, and {START_SECONDS} s more if a process begins with it;"
        f" one that takes more than\n{SLOW_SECONDS} s is made with one seed."
    )
    write_report(kept, versions(), limits, HERE / "results")


def _told(found):
    for job, one in found.items():
        if "failed" in one:
            yield f"\n    {job}: {one['failed']}"


if __name__ == "__main__":
    main()
