"""Points placed by those around them, against the formulas."""

import numpy as np
import pytest

from ptunfold.kernels.blending import Ways, blend, local_moments
from tests.kernels.graphs import random_graph

GRAPH = random_graph(n_points=30, n_edges=60, n_apart=1)  # the last one is alone
RNG = np.random.default_rng(0)


def blended(ways, nearest, queries):
    results, gaps = np.empty((len(queries), ways.others.shape[1])), np.empty(len(queries))
    blend(ways, nearest, queries, results, gaps)
    return results, gaps


def random_ways(dim=2, dtype=np.float64):
    shapes = ((30, 4), (30, 4, dim), (30, 3, dim), (30, 3))
    anchors, inner, outer, others = (RNG.normal(size=shape) for shape in shapes)
    return Ways(GRAPH.indptr, GRAPH.indices, anchors.astype(dtype), inner, outer, others)


def test_moments_are_sums_over_neighbours():
    steps, coordinates = RNG.normal(size=(GRAPH.n_edges, 2)), RNG.normal(size=(30, 3))
    moments, products = np.empty((30, 2, 2)), np.empty((30, 2, 3))
    local_moments(GRAPH.indptr, GRAPH.indices, steps, coordinates, moments, products)
    for node in range(30):
        edges = np.arange(GRAPH.indptr[node], GRAPH.indptr[node + 1])
        np.testing.assert_allclose(moments[node], steps[edges].T @ steps[edges], atol=1e-13)
        differences = coordinates[GRAPH.indices[edges]] - coordinates[node]
        np.testing.assert_allclose(products[node], steps[edges].T @ differences, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_are_weighted_by_their_distances(dtype):
    ways = random_ways(dtype=dtype)
    queries, nearest = RNG.normal(size=(50, 4)), RNG.integers(0, 30, 50)
    results, gaps = blended(ways, nearest, queries)
    for query, middle, result, gap in zip(queries, nearest, results, gaps, strict=True):
        near = GRAPH.indices[GRAPH.indptr[middle] : GRAPH.indptr[middle + 1]]
        nodes = np.concatenate(([middle], near))
        offsets = query - ways.anchors[nodes].astype(float)
        distances = np.linalg.norm(offsets, axis=1)
        weights = (1.001 * distances.max() - distances) ** 2 / distances
        tangents = np.einsum("nAd,nA->nd", ways.inner[nodes], offsets)
        told = ways.others[nodes] + np.einsum("nBd,nd->nB", ways.outer[nodes], tangents)
        np.testing.assert_allclose(result, weights @ told / weights.sum(), rtol=1e-11)
        assert gap == pytest.approx(distances[0], rel=1e-14)


def test_a_query_on_a_node_gets_what_it_has():
    ways, nodes = random_ways(), np.arange(30)
    results, gaps = blended(ways, nodes, ways.anchors)
    np.testing.assert_array_equal(results, ways.others)
    np.testing.assert_array_equal(gaps, 0)
    nearly, _ = blended(ways, nodes, ways.anchors + 1e-9)
    np.testing.assert_allclose(nearly, ways.others, atol=1e-6)
