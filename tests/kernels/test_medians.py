"""Medians over neighbours, against sorting."""

import numpy as np

from ptunfold.kernels.medians import neighbor_medians
from tests.kernels.graphs import random_graph


def test_each_is_the_upper_median_of_the_neighbours():
    graph = random_graph(n_apart=1)  # the last one has no neighbour
    values, found = np.random.default_rng(0).normal(size=60), np.empty(60)
    neighbor_medians(graph.indptr, graph.indices, values, found)
    counts = np.diff(graph.indptr)
    assert counts[-1] == 0
    for node in range(60):
        near = np.sort(values[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]])
        assert found[node] == (near[len(near) // 2] if len(near) else values[node])
