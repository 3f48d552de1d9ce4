"""Isomap on a neighbour graph without shortcuts, found by Ollivier-Ricci curvature (ORC-ManL).

Written after Saidi, Hickok and Blumberg, "Recovering manifold structure using Ollivier-Ricci
curvature" (ICLR 2025), whose code is no package. An edge is a candidate where its curvature is
very negative; it goes if without all candidates its ends are far from each other.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, triu
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import kneighbors_graph

# As the paper recommends.
N_NEIGHBORS = 20
DELTA = 0.8
LAMBDA = 0.01


def neighbour_graph(points, n_neighbors=N_NEIGHBORS):
    """Return a symmetric matrix of lengths: an edge wherever one of two is near to the other."""
    graph = kneighbors_graph(points, n_neighbors, mode="distance")
    return graph.maximum(graph.T).tocsr()


def curvatures(graph):
    """Return the edges (n_edges, 2) and how much closer neighbours are than their edge is long.

    Every edge counts as one step. Mass is spread evenly over the neighbours of an end, the other
    end left out; moving it along the edge takes at most three steps, so that 1 - cost >= -2.
    """
    edges = np.column_stack(triu(graph).nonzero())
    n_steps = _steps(graph)
    near = np.split(graph.indices, graph.indptr[1:-1])
    found = np.ones(len(edges))
    for number, (one, other) in enumerate(edges):
        left, right = near[one][near[one] != other], near[other][near[other] != one]
        if len(left) and len(right):
            found[number] = 1 - transport(n_steps[np.ix_(left, right)].astype(float))
    return edges, found


def transport(costs):
    """Return the least cost of moving mass spread evenly over rows to columns, likewise."""
    try:
        from ot import emd2
    except ImportError:  # some ten times slower
        n_rows, n_columns = costs.shape
        sums = np.vstack(
            (
                np.kron(np.eye(n_rows), np.ones(n_columns)),
                np.kron(np.ones(n_rows), np.eye(n_columns)),
            )
        )
        shares = np.repeat((1 / n_rows, 1 / n_columns), costs.shape)
        return linprog(costs.ravel(), A_eq=sums, b_eq=shares).fun
    return emd2([], [], costs)  # no weights are even ones


def _steps(graph):
    """Count steps between points, 3 for all that are further apart."""
    linked = csr_matrix((np.ones(graph.nnz, np.float32), graph.indices, graph.indptr), graph.shape)
    steps = np.full(graph.shape, 3, np.uint8)
    steps[(linked @ linked).nonzero()] = 2
    steps[linked.nonzero()] = 1
    np.fill_diagonal(steps, 0)
    return steps


def prune(graph, delta=DELTA, lam=LAMBDA):
    """Return the graph without its shortcuts."""
    edges, found = curvatures(graph)
    candidates = edges[found < -1 + 4 * (1 - delta)]
    if not len(candidates):
        return graph
    without = _without(graph, candidates)
    mean_length = np.asarray(graph.sum(axis=1)).ravel() / np.diff(graph.indptr)
    reach = np.maximum(*mean_length[candidates.T])
    most = (1 - lam) * np.pi**2 / (2 * np.sqrt(24 * lam)) * reach
    starts, rows = np.unique(candidates[:, 0], return_inverse=True)
    around = dijkstra(without, directed=False, indices=starts)[rows, candidates[:, 1]]
    # What the candidates alone hold to the rest is no shortcut.
    degree = np.diff(without.indptr)
    held = (degree[candidates] == 0).any(axis=1)
    return _without(graph, candidates[(around > most) & ~held])


def _without(graph, edges):
    left = graph.tolil()
    left[edges[:, 0], edges[:, 1]] = 0
    left[edges[:, 1], edges[:, 0]] = 0
    left = left.tocsr()
    left.eliminate_zeros()
    return left
