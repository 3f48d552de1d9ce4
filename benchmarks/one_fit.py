"""One fit in a fresh process: prints wall and CPU seconds and peak memory as JSON."""

import argparse
import json
import resource
import time

import numpy as np

from ptunfold import PTU
from ptunfold.datasets import swiss_roll


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=["ptu", "isomap"])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--features", type=int, default=3)
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    from sklearn.manifold import Isomap  # imported for both, so that both start from the same

    data = swiss_roll(options.points, hole=0.4, n_features=options.features, seed=options.seed)
    points = data.points.astype(options.dtype)
    PTU().fit(points[:100])  # a warm cache: compiling is measured on its own
    if options.method == "ptu":
        model = PTU(n_neighbors=10, n_jobs=options.jobs)
    else:
        model = Isomap(n_neighbors=10, n_jobs=options.jobs)
    before = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(points)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = model.embedding_.astype(np.float64)
    exact = data.coordinates - data.coordinates.mean(axis=0)
    turn = np.linalg.svd(found.T @ exact)
    error = np.linalg.norm(found @ turn[0] @ turn[2] - exact) / np.linalg.norm(exact)
    print(
        json.dumps(
            {
                **vars(options),
                "wall": wall,
                "cpu": cpu,
                "peak_bytes": peak_bytes() - before,
                "error": error,
            }
        )
    )


if __name__ == "__main__":
    main()
