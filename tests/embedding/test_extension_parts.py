"""Edges and maps of the extension, by themselves."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import build_graph
from ptunfold.embedding import extension
from ptunfold.embedding.extension import fit_maps, proper_edges
from ptunfold.geometry.neighbors import distinct_places

POINTS = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("together", [1 << 16, 7])
def test_proper_edges_are_the_nearest_that_are_no_bridges(dim, together, monkeypatch):
    monkeypatch.setattr(extension, "_POINTS_TOGETHER", together)
    points = np.concatenate((POINTS, POINTS[:3], [[40.0, 0, 0]]))  # copies, and one far away
    graph = build_graph(points, 14)
    places = distinct_places(points)
    geometry = SimpleNamespace(
        graph=graph, surface=points, seen=None, frames=SimpleNamespace(intrinsic_dim=dim)
    )
    expected = []
    for node in range(len(points)):
        edges = [
            edge
            for edge in range(graph.indptr[node], graph.indptr[node + 1])
            if places[node] == node
            and places[graph.indices[edge]] == graph.indices[edge]
            and graph.lengths[edge] > 0
        ]
        edges.sort(key=lambda edge: graph.lengths[edge])
        if edges:
            longest = 5 * graph.lengths[edges[len(edges) // 2]]
            near = edges[: max(10, 3 * dim)]
            expected += sorted(edge for edge in near if graph.lengths[edge] <= longest)
    assert proper_edges(geometry, places, 1).tolist() == expected


def test_maps_take_steps_to_the_embedding():
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(40, 2))
    graph = build_graph(flat, 6)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    steps = flat[graph.indices] - flat[graph.tails]
    for stretch, held in ((1.0, 1.0), (1.1, 1.1), (3.0, 1.25), (0.2, 0.8)):
        maps, inverses = fit_maps(graph.indptr, graph.indices, steps, stretch * flat @ turn.T)
        np.testing.assert_allclose(maps, np.broadcast_to(held * turn, maps.shape), atol=1e-9)
        back = np.einsum("ncd,nce->nde", inverses, maps)
        np.testing.assert_allclose(back, np.broadcast_to(np.eye(2), back.shape), atol=1e-9)
