"""Neighbourhoods on the graph, which keep to the sheet where those in space may not."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.trees import graph_neighborhoods
from ptunfold.types import Graph, IntArray


def find_members(
    graph: Graph, places: IntArray, nodes: IntArray, n_neighbors: int
) -> tuple[IntArray, IntArray]:
    """List each node and its neighbours on the graph, nearest first.

    For each point ``places`` has the first one at the same place; others do not count. Returns
    members (n_nodes, n_neighbors + 1), the node itself first, and again where there are fewer
    neighbours, and the number of neighbours found, (n_nodes,).
    """
    found = np.empty((len(nodes), n_neighbors), dtype=np.int64)
    counts = np.empty(len(nodes), dtype=np.int64)
    graph_neighborhoods(graph.indptr, graph.indices, graph.lengths, places, nodes, found, counts)
    is_found = np.arange(n_neighbors) < counts[:, None]
    return np.column_stack((nodes, np.where(is_found, found, nodes[:, None]))), counts
