"""Many fits in one process: no memory, thread or file handle stays behind.

``python tests/fuzz/soak.py 500`` fits 500 times; resident memory after the last fit may be 5 %
above that after the first fifty, which compile and fill caches.
"""

import os
import sys
import threading
import warnings

import numpy as np

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll

WARM_UP = 50
MOST_GROWTH = 0.05


def fit_one(number, rng):
    """Fit, and use, one of several kinds of data and settings."""
    n_points = int(rng.choice([30, 100, 300, 800, 1500]))
    kind = number % 6
    if kind == 0:
        points, options = swiss_roll(n_points, seed=number).points, {}
    elif kind == 1:
        points, options = swiss_roll(n_points, noise=0.02, seed=number).points, {"n_jobs": 2}
    elif kind == 2:
        points, options = s_with_hole(n_points, seed=number).points, {"landmarks": 20}
    elif kind == 3:
        points, options = rng.normal(size=(n_points, 10)), {"n_jobs": 2}
    elif kind == 4:
        points, options = rng.normal(size=(n_points, 40)).astype(np.float32), {"n_components": 3}
    else:
        points = np.concatenate((rng.normal(size=(n_points, 3)), 50 + rng.normal(size=(40, 3))))
        options = {"disconnected": "largest"}
    model = PTU(**options).fit(points)
    model.transform(points[:10])
    model.scores()
    kept = np.flatnonzero(np.isfinite(model.embedding_[:, 0]))
    model.path(kept[0], kept[-1])


def resident():
    """Return the bytes of memory that the process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles():
    return len(os.listdir("/proc/self/fd"))


def soak(n_fits, warm_up=WARM_UP):
    """Fit many times; return memory, threads and handles after the first ones and at the end."""
    rng = np.random.default_rng(0)
    seen = []
    for number in range(n_fits):
        with warnings.catch_warnings(action="ignore"):
            fit_one(number, rng)
        if number + 1 in (warm_up, n_fits):
            seen.append((resident(), threading.active_count(), handles()))
    return seen


if __name__ == "__main__":
    (memory, threads, files), (memory_then, threads_then, files_then) = soak(int(sys.argv[1]))
    growth = memory_then / memory - 1
    print(
        f"{sys.argv[1]} fits: {memory_then / 1e6:.0f} MB, {growth:+.1%} since fit {WARM_UP}; "
        f"{threads_then} threads, {threads} then; {files_then} handles, {files} then"
    )
    sys.exit(growth > MOST_GROWTH or threads_then > threads or files_then > files)
