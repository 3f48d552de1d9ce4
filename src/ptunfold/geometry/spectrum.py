"""Graphs judged by the spectrum of their distances."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.components import component_labels, resolve_components
from ptunfold.geometry.order import sample, spatial_order
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray, Graph, IntArray

_SAMPLE = 400
# A share is this much larger: on 30 sets of images, cells, sensors and spectra, the graph with the
# larger share was the truer one wherever it was so by a tenth, but for two.
_CLEARLY = 1.1
_FEW_POINTS, _POINTS_A_NEIGHBOR, _FEWER = 150, 15, 5


def fewer_neighbors(n_points: int) -> int:
    """Return how many neighbours are tried instead of ten."""
    if n_points < _FEW_POINTS:
        return min(max(n_points // _POINTS_A_NEIGHBOR, _FEWER), n_points - 1)
    return _FEWER


def is_truer(
    points: FloatArray, one: Graph, other: Graph, dim: int, *, n_jobs: int | None = None
) -> bool:
    """Tell whether the lengths along a graph of fewer neighbours are to be preferred.

    Edges that jump bend all distances, and much of their spectrum is then spread over many
    dimensions, negative ones among them. The graph whose distances fit clearly better into few
    dimensions is the truer one. With few points it is the one of fewer neighbours without a look:
    of a loop of 72 views, ten neighbours would span a seventh. It must not fall into more pieces.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    one, other : Graph
        Two graphs on them.
    dim : int
        The number of dimensions.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    """
    if component_labels(one).max() > component_labels(other).max():
        return False
    if len(points) < _FEW_POINTS:
        return True
    some = sample(points, _SAMPLE)
    some = some[spatial_order(points[some])]  # neighbours have nearly the same paths
    shares = [_share(points, graph, some, dim, n_jobs) for graph in (one, other)]
    return shares[0] > _CLEARLY * shares[1]


def _share(points: FloatArray, graph: Graph, some: IntArray, dim: int, n_jobs: int | None) -> float:
    """Measure the share of the largest eigenvalues in the sum of all, by their sizes."""
    from ptunfold.kernels.batches import new_batch, shortest_paths  # they are tried when imported

    # Who takes the graph is told about its components.
    graph, _ = resolve_components(points, graph, "bridge", n_jobs, say=lambda _: None)
    lengths = np.empty((len(some), len(some)))
    ends = graph.indptr, graph.indices, graph.lengths
    places = np.zeros(graph.n_edges, dtype=np.uint16)  # nobody asks for the paths
    per_width = 1 / max(float(np.median(graph.lengths)), np.finfo(float).tiny)

    def measure(block: slice) -> None:
        *queue, labels, parents, _, _, visits, _, _ = new_batch(graph.n_points, 0, 0)
        sources = np.resize(some[block], LANES)
        shortest_paths(*ends, places, sources, per_width, *queue, labels, parents, visits)
        lengths[block] = labels[some, : block.stop - block.start].T

    run_blocks(measure, cut(len(some), LANES), n_jobs=n_jobs)
    squares = np.square(0.5 * (lengths + lengths.T))
    means = squares.mean(axis=0)
    values = np.linalg.eigvalsh(-0.5 * (squares - means - means[:, None] + means.mean()))
    return float(values[-dim:].sum() / np.abs(values).sum())
