"""The memory that fits take, beside the estimate made before they start.

Writes ``benchmarks/results/memory.md``. Each fit is a fresh process that has made a small fit of
the same kind before; what counts is its largest resident size above what it has then, points
included. Linux only. ``memory.py NAME`` measures the cases with this name alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread

import numpy as np

NEWLINE = "\n"
RESULTS = Path(__file__).parent / "results"
STAGES = (
    "prepare",
    "proximity_graph",
    "prune",
    "look_at",
    "denoise",
    "is_truer",
    "tangent_frames",
    "widen",
    "connected",
    "embed_component",
)


def made(data, n_points, n_features, dim, dtype, seed=0):
    """Make points: a roll, clean or noisy, or rough ones."""
    rng = np.random.default_rng(seed)
    if data == "rough":
        return rng.standard_normal((n_points, n_features)).astype(dtype)
    from ptunfold.datasets import swiss_roll

    noise = 0.01 if data == "noisy" else 0.0
    if dim == 2:
        return swiss_roll(n_points, noise=noise, n_features=n_features, seed=seed).points.astype(
            dtype
        )
    flat = rng.random((n_points, dim))  # a part of a tube in as many dimensions
    sheet = np.column_stack((np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1:]))
    basis, _ = np.linalg.qr(rng.standard_normal((n_features, dim + 1)))
    points = sheet @ basis.T
    return (points + noise * rng.standard_normal(points.shape)).astype(dtype)


def given(points, how):
    """Return what is passed to a fit: the points, or their distances."""
    if how.get("metric") != "precomputed":
        return points
    from scipy.spatial.distance import cdist

    return cdist(points, points).astype(points.dtype)


def status(name):
    """Return a line of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise ValueError(name)


def worker_peak():
    """Return the largest resident size of this process."""
    return status("VmHWM")


def forget():
    """Start the mark of the largest size anew at the present one."""
    Path("/proc/self/clear_refs").write_text("5")


class Sampler(Thread):
    """The largest resident size without files, as seen every few milliseconds."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.is_over = 0, Event()

    def run(self):
        """Look until it is over."""
        while not self.is_over.wait(0.005):
            self.most = max(self.most, status("VmRSS") - status("RssFile"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.is_over.set()
        self.join()


class Watch:
    """The largest resident size, and the stage that had it."""

    def __init__(self):
        self.stages, self.peaks = ["start"], {}
        forget()

    def note(self):
        """Write down what the stage that is under way has had."""
        stage = self.stages[-1]
        self.peaks[stage] = max(self.peaks.get(stage, 0), status("VmHWM"))
        forget()

    @contextmanager
    def within(self, stage):
        """Watch a stage."""
        self.note()
        self.stages.append(stage)
        try:
            yield
        finally:
            self.note()
            self.stages.pop()

    def over(self, stage, work):
        """Watch what a function does."""

        def watched(*args, **options):
            with self.within(stage):
                return work(*args, **options)

        return watched


def measure(case):
    """Fit in this process; print the estimate and the peak."""
    from ptunfold import PTU, Disk, attempts, estimator, pipeline
    from ptunfold.engines.cluster import ClusterEngine

    warnings.simplefilter("ignore")
    how = dict(case["how"])
    dim = how.get("intrinsic_dim", 2)
    folder = tempfile.TemporaryDirectory(dir=os.environ.get("PTUNFOLD_STORES"))
    if how.pop("store", False):
        how["engine"] = Disk(f"{folder.name}/first")
    client = None
    if how.get("engine") == "dask":
        from dask.distributed import Client

        client = Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    shape = (case["n_features"], dim, case["dtype"])
    small = dict(how)
    if isinstance(small.get("landmarks"), int):
        small["landmarks"] = min(small["landmarks"], 50)
    n_small = min(1200, case["n_points"])
    PTU(**small).fit(given(made(case["data"], n_small, *shape, seed=1), how))
    if isinstance(how.get("engine"), Disk):
        how["engine"] = Disk(f"{folder.name}/second")
    points = given(made(case["data"], case["n_points"], *shape), how)
    np.save(f"{folder.name}/points.npy", points)
    del points
    import ctypes

    ctypes.CDLL(None).malloc_trim(0)
    points = np.load(f"{folder.name}/points.npy")
    watch, told = Watch(), {}
    plan_landmarks = estimator.plan_landmarks

    def planned(*args, **options):
        plan, check = plan_landmarks(*args, **options)

        def noted(*known):
            told["estimate"] = check(*known)

        return plan, noted

    estimator.plan_landmarks = planned
    check_room = ClusterEngine.check_room

    def checked(self, needs, n_landmarks):
        told["worker_estimate"] = needs.worker(1, n_landmarks)
        check_room(self, needs, n_landmarks)

    ClusterEngine.check_room = checked
    for stage in STAGES:
        module = pipeline if hasattr(pipeline, stage) else attempts
        setattr(module, stage, watch.over(stage, getattr(module, stage)))
    before, held = status("VmRSS"), status("VmRSS") - status("RssFile")
    if client is not None:
        client.run(forget)
    with Sampler() if client is not None else nullcontext() as sampler:
        model = PTU(**how).fit(points)
    watch.note()
    peaks = {stage: peak - before for stage, peak in watch.peaks.items()}
    where = max(peaks, key=peaks.get)
    peak = peaks[where]
    if client is not None:  # its rows are files that are mapped, and given back when asked for
        peak = sampler.most - held
        told["worker_peak"] = max(client.run(worker_peak).values())
    told |= {"peak": peak, "stage": where, "peaks": peaks, "texture": model.texture_}
    told["degree"] = model._fitted.geometry.graph.n_edges / len(points)
    print(json.dumps(told))
    sys.stdout.flush()
    if client is not None:
        client.close()
    folder.cleanup()


def cases():
    """List what is measured."""
    found = []

    def add(name, n_points, n_features=3, dtype="float64", data="clean", **how):
        found.append(
            {
                "name": name,
                "n_points": n_points,
                "n_features": n_features,
                "dtype": dtype,
                "data": data,
                "how": {"landmarks": None, "n_jobs": 2, **how},
            }
        )

    for n_points in (2000, 5000, 10_000, 20_000):
        for dtype in ("float32", "float64"):
            add("all", n_points, dtype=dtype)
    for data in ("clean", "noisy", "rough"):
        for n_features in (50, 500):
            for dim in (2, 5):
                dtype = "float32" if dim == 2 else "float64"
                add("wide", 10_000, n_features, dtype, data, intrinsic_dim=dim)
    add("wide", 5000, 500, data="noisy")
    add("wide", 20_000, 500, data="clean")
    add("wide", 20_000, 500, "float32", data="noisy")
    add("wide", 20_000, 50, data="rough")
    add("wide", 20_000, 3, data="noisy")
    add("wide", 2000, 10_000)
    add("wide", 500, 50_000)
    add("wide", 221, 200_000, "float32")
    add("wide", 221, 200_000, "float32", data="rough")
    for n_features in (50, 200):
        for data in ("clean", "noisy", "rough"):
            add("larger", 20_000, n_features, "float32", data)
    for n_points in (3000, 6000):
        for data in ("clean", "noisy", "rough"):
            add("distances", n_points, 10, data=data, metric="precomputed")
    add("distances", 6000, 10, "float32", data="noisy", metric="precomputed")
    add("mds", 2000, mds="stress")
    add("mds", 3000, mds="stress", dtype="float32")
    add("mds", 3000, mds="stress", step="chord")
    for n_points in (20_000, 100_000, 300_000, 1_000_000):
        for count in (50, 300):
            add("landmarks", n_points, dtype="float32", landmarks=count)
    add("landmarks", 100_000, landmarks=300)
    add("landmarks", 100_000, 50, data="rough", landmarks=50, intrinsic_dim=5)
    add("landmarks", 100_000, 50, data="clean", landmarks=50)
    add("landmarks", 100_000, 3, data="noisy", landmarks=50)
    add("landmarks", 30_000, 50, data="rough", dtype="float32", landmarks=100)
    add("landmarks", 30_000, 500, data="noisy", dtype="float32", landmarks=50)
    add("store", 10_000, store=True)
    add("store", 20_000, store=True)
    add("store", 20_000, dtype="float32", store=True)
    add("dask", 10_000, engine="dask")
    add("dask", 20_000, engine="dask", dtype="float32")
    add("dask", 300_000, engine="dask", landmarks=50)
    if find_spec("cupy"):
        for n_points in (10_000, 50_000):
            for dtype in ("float32", "float64"):
                add("cuda", n_points, dtype=dtype, engine="cuda")
        for data in ("clean", "noisy", "rough"):
            add("cuda", 20_000, 50, "float32", data, engine="cuda")
            add("cuda", 100_000, 50, "float32", data, engine="cuda", landmarks=50)
        add("cuda", 1_000_000, dtype="float32", engine="cuda", landmarks=100)
    return found


def words(case):
    """Say what is special about a case."""
    how = case["how"]
    said = [f"{how['landmarks']} landmarks" if how["landmarks"] else "all distances"]
    said += [f"{name}={how[name]}" for name in ("mds", "step", "engine", "metric") if name in how]
    return ", ".join(said + ["store"] * ("store" in how))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        measure(json.loads(asked.case))
        return
    rows, workers, ratios = [], [], []
    for case in cases():
        if asked.names and case["name"] not in asked.names:
            continue
        command = [sys.executable, __file__, "--case", json.dumps(case)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        told = json.loads(done.stdout.splitlines()[-1])
        ratio = told["estimate"] / told["peak"]
        if told["peak"] > 1e8:
            ratios.append(ratio)
        rows.append(
            f"| {words(case)} | {case['n_points']} | {case['n_features']} "
            f"| {case['how'].get('intrinsic_dim', 2)} | {case['dtype']} | {told['texture']} "
            f"| {told['estimate'] / 1e6:.0f} | {told['peak'] / 1e6:.0f} | {ratio:.2f} "
            f"| {told['stage']} |"
        )
        print(rows[-1], flush=True)
        if "worker_peak" in told:
            ratio = told["worker_estimate"] / told["worker_peak"]
            workers.append(
                f"| {words(case)} | {case['n_points']} | {case['dtype']} "
                f"| {told['worker_estimate'] / 1e6:.0f} | {told['worker_peak'] / 1e6:.0f} "
                f"| {ratio:.2f} |"
            )
            print(workers[-1], flush=True)
    text = f"""What fits on two threads take, and the estimate made before their distances begin.

Each fit is a fresh process that has made a small fit of the same kind. The peak is the largest
resident size above what the process has then, with the points; the fit's own copy of them is part
of both numbers. Files of a cluster that are mapped, and given back when memory is asked for, are
not counted. Where the peak is above 100 MB, the estimate is {min(ratios):.2f} to {max(ratios):.2f}
of it.

| fit | n | D | d | dtype | data | estimate MB | peak MB | ratio | peak at |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
{NEWLINE.join(rows)}

A worker of a cluster, one of two with a thread each: all of its resident size, libraries included.

| fit | n | dtype | estimate MB | peak MB | ratio |
| --- | --- | --- | --- | --- | --- |
{NEWLINE.join(workers)}

With a GPU the memory of the host is told; without one there are no such rows. There the engine asks
the device itself, when the connection lies on it: 4 n² bytes for the distances (8 n² with copies of
points) and the workspace of at least one block of threads have to be free, or rows go to memory,
half a number a pair.
"""
    if not asked.names:
        (RESULTS / "memory.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
