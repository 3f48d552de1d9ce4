"""Algorithm 2 of the paper as a textbook would write it: slow, plain, one SVD a visit."""

import heapq

import numpy as np

from ptunfold import connect, estimate_frames, graph_from_matrix


def random_connection(dim, seed, n_points=60, n_features=7, step="projection"):
    """Points, a random connected graph with random lengths (so paths are unique), frames."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, n_features))
    lengths = np.where(rng.random((n_points, n_points)) < 0.15, rng.random((n_points, n_points)), 0)
    ring = np.arange(n_points)
    lengths[ring, (ring + 1) % n_points] = rng.random(n_points)
    graph = graph_from_matrix(as_sparse(lengths), n_points)
    frames = estimate_frames(points, graph, 12, dim)
    return points, graph, frames, connect(points, graph, frames, step)


def as_sparse(dense):
    from scipy import sparse

    return sparse.coo_array(dense)


def algorithm_2(points, graph, frames, step="projection"):
    """Return the symmetrised distances, the one-way ones and the path lengths, each (n, n)."""
    n = graph.n_points
    one_way, lengths = np.full((n, n), np.inf), np.full((n, n), np.inf)
    for source in range(n):
        distance = {source: 0.0}
        predecessor = {}
        turn = {source: np.eye(frames.intrinsic_dim)}
        vector = {source: np.zeros(frames.intrinsic_dim)}
        settled = set()
        queue = [(0.0, source)]
        while queue:
            reach, r = heapq.heappop(queue)
            if r in settled:
                continue
            settled.add(r)
            if r != source:
                q = predecessor[r]
                T_q, T_r = frames.vectors[q], frames.vectors[r]
                U, _, Vt = np.linalg.svd(T_q.T @ T_r)
                turn[r] = turn[q] @ (U @ Vt)
                edge = points[r] - points[q]
                shadow = T_q.T @ edge
                if step == "chord":
                    shadow = shadow * np.linalg.norm(edge) / np.linalg.norm(shadow)
                vector[r] = vector[q] + turn[q] @ shadow
            for edge in range(graph.indptr[r], graph.indptr[r + 1]):
                j = int(graph.indices[edge])
                if reach + graph.lengths[edge] < distance.get(j, np.inf):
                    distance[j] = reach + graph.lengths[edge]
                    predecessor[j] = r
                    heapq.heappush(queue, (distance[j], j))
        for node in settled:
            one_way[source, node] = np.linalg.norm(vector[node])
            lengths[source, node] = distance[node]
    return (one_way + one_way.T) / 2, one_way, lengths
