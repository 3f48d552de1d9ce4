"""Graphs whose shortest paths are unique, in two components, with their matrices of lengths."""

import numpy as np

from ptunfold.geometry.graph import graph_from_edges


def random_graph(n_points=60, n_edges=180, seed=0, n_apart=0):
    """Edges of random lengths; the last ``n_apart`` points are among themselves."""
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(0, n_points - n_apart, (2, n_edges))
    ring = np.arange(n_points - n_apart)
    tails, heads = np.r_[tails, ring[:-1]], np.r_[heads, ring[1:]]
    apart = np.arange(n_points - n_apart, n_points)
    tails, heads = np.r_[tails, apart[:-1]], np.r_[heads, apart[1:]]
    pairs = np.unique(np.sort(np.column_stack((tails, heads)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    return graph_from_edges(n_points, *pairs.T, 0.1 + rng.random(len(pairs)))


def dense(graph, is_kept=True):
    """Lengths as a matrix, infinite where there is no edge, or none that is kept."""
    lengths = np.full((graph.n_points, graph.n_points), np.inf)
    lengths[graph.tails, graph.indices] = np.where(is_kept, graph.lengths, np.inf)
    return lengths
