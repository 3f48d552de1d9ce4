"""One measurement in a fresh process, printed as JSON: a fit, its stages, or single steps."""

import argparse
import json
import resource
import time

import numpy as np
from scipy.sparse.csgraph import dijkstra
from sklearn.manifold import Isomap
from truth import embedding_error

from ptunfold import (
    PTU,
    build_graph,
    connect,
    estimate_frames,
    find_shortcuts,
    widen_graph,
)
from ptunfold.datasets import swiss_roll
from ptunfold.embedding.classical import scale_squares
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import OneWayRows, fold_directions
from ptunfold.geometry.shortcuts import without_edges
from ptunfold.geometry.texture import texture_of
from ptunfold.threads import Run

# What the paper does, with its length rescaling.
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


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def fit(model, data, points):
    """Time, memory beyond what the process has now, and error against the unrolled sheet."""
    before = resident_bytes()
    _, wall, cpu = timed(lambda: model.fit(points))
    memory = peak_bytes() - before
    error = embedding_error(model.embedding_, data.coordinates)
    return {"wall": wall, "cpu": cpu, "memory": memory, "error": error}


def all_distances(connection, points, jobs):
    """Do what a fit does between the connection and the embedding."""
    arrangement = arrange(connection, np.arange(len(points)))
    position = np.sort(arrangement.position)
    return fold_directions(OneWayRows(arrangement.connection, position), points.dtype, Run(jobs))


def stages(points, jobs):
    """Wall seconds of each stage of a default fit to smooth data, and the connection."""
    seconds = {}
    graph, seconds["graph"], _ = timed(lambda: build_graph(points, 10, n_jobs=jobs))
    shortcuts, seconds["shortcuts"], _ = timed(lambda: find_shortcuts(graph, n_jobs=jobs))
    graph = without_edges(graph, *shortcuts)
    texture, seconds["texture"], _ = timed(lambda: texture_of(points, graph, 2, n_jobs=jobs))
    assert texture.kind == "smooth"
    frames, seconds["frames"], _ = timed(
        lambda: estimate_frames(points, graph, 18, 2, tangent="quadratic", n_jobs=jobs)
    )
    wide, seconds["edges"], _ = timed(lambda: widen_graph(points, graph, frames, 24, n_jobs=jobs))
    connection, seconds["connection"], _ = timed(
        lambda: connect(points, wide, frames, "arc", n_jobs=jobs)
    )
    distances, seconds["distances"], _ = timed(lambda: all_distances(connection, points, jobs))
    _, seconds["embedding"], _ = timed(lambda: scale_squares(distances, 2, n_jobs=jobs))
    return seconds, connection


def per_pair(points, jobs):
    """Nanoseconds of CPU and wall time for a (source, node), beside SciPy's Dijkstra."""
    graph = build_graph(points, 10)
    connection = connect(points, graph, estimate_frames(points, graph, 15, 2))
    _, wall, cpu = timed(lambda: all_distances(connection, points, jobs))
    some = np.arange(len(points))[:: max(1, len(points) // 500)]
    matrix = graph.to_sparse()
    _, _, scipy_cpu = timed(lambda: dijkstra(matrix, indices=some))
    scale = 1e9 / len(points)
    return {
        "ns_cpu": cpu * scale / len(points),
        "ns_wall": wall * scale / len(points),
        "ns_scipy": scipy_cpu * scale / len(some),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ptu", "all", "plain", "isomap", "stages", "pairs"])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--features", type=int, default=3)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = swiss_roll(options.points, hole=0.4, n_features=options.features, seed=options.seed)
    points = data.points.astype(options.dtype)
    for landmarks in ("auto", None):  # a warm cache: compiling is measured on its own
        PTU(landmarks=landmarks).fit(swiss_roll(1200).points.astype(options.dtype))
    if options.what == "ptu":
        result = fit(PTU(n_jobs=options.jobs), data, points)
    elif options.what == "all":
        result = fit(PTU(n_jobs=options.jobs, landmarks=None), data, points)
    elif options.what == "plain":
        result = fit(PTU(n_jobs=options.jobs, **PLAIN), data, points)
    elif options.what == "isomap":
        result = fit(Isomap(n_neighbors=10, n_jobs=options.jobs), data, points)
    elif options.what == "stages":
        result, _ = stages(points, options.jobs)
    else:
        result = per_pair(points, options.jobs)
    print(json.dumps({**vars(options), **result}))


if __name__ == "__main__":
    main()
