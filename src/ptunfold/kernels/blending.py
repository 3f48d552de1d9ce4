"""Points placed by the frames of those around them, in space or in the embedding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def local_moments(indptr, indices, steps, coordinates, moments, products):
    """Sum up, at each node, products of the steps to its neighbours.

    ``moments`` (n, d, d) of steps with themselves, ``products`` (n, d, c) of steps with the
    differences of ``coordinates`` (n, c).
    """
    dim, n_components = steps.shape[1], coordinates.shape[1]
    for node in range(len(indptr) - 1):
        for row in range(dim):
            for column in range(dim):
                moments[node, row, column] = 0.0
            for column in range(n_components):
                products[node, row, column] = 0.0
        for edge in range(indptr[node], indptr[node + 1]):
            head = indices[edge]
            for row in range(dim):
                step = steps[edge, row]
                for column in range(dim):
                    moments[node, row, column] += step * steps[edge, column]
                for column in range(n_components):
                    difference = np.float64(coordinates[head, column]) - coordinates[node, column]
                    products[node, row, column] += step * difference


class Ways(NamedTuple):
    """How nodes lead from one space to the other, and which are next to each other.

    ``anchors`` (n, A) are the nodes in the one space, ``others`` (n, B) in the other, ``inner``
    (n, A, d) and ``outer`` (n, B, d) the maps into the tangent space of each and out of it.
    """

    indptr: Any
    indices: Any
    anchors: Any
    inner: Any
    outer: Any
    others: Any


@compiled()
def blend(ways, nearest, queries, results, gaps):
    """Predict for each query what ``others`` would be there, from the nodes around it.

    A node predicts ``others[node] + outer[node] @ t`` with ``t = inner[node].T @ (query -
    anchors[node])``, its tangent coordinates of the query. The predictions of the nearest node and
    of its neighbours are blended, weighted by (R - r)² / r with r the distance from the query and
    R that of the farthest of them: a query on a node gets what the node has.

    ``queries`` are (q, A), ``nearest`` (q,). ``results`` (q, B) get the predictions, ``gaps`` (q,)
    the distance to the nearest node.
    """
    indptr, indices, anchors, inner, outer, others = ways
    n_query, dim = inner.shape[1:]
    n_result = others.shape[1]
    tangent = np.empty(dim)
    for query in range(len(queries)):
        middle = nearest[query]
        start, stop = indptr[middle], indptr[middle + 1]
        farthest = 0.0
        for index in range(start - 1, stop):
            node = middle if index < start else np.int64(indices[index])
            square = 0.0
            for axis in range(n_query):
                square += (queries[query, axis] - np.float64(anchors[node, axis])) ** 2
            farthest = max(farthest, np.sqrt(square))
            if index < start:
                gaps[query] = np.sqrt(square)
        for row in range(n_result):
            results[query, row] = others[middle, row] if gaps[query] == 0.0 else 0.0
        if gaps[query] == 0.0:
            continue
        total = 0.0
        for index in range(start - 1, stop):
            node = middle if index < start else np.int64(indices[index])
            square = 0.0
            for column in range(dim):
                tangent[column] = 0.0
            for axis in range(n_query):
                offset = queries[query, axis] - np.float64(anchors[node, axis])
                square += offset * offset
                for column in range(dim):
                    tangent[column] += inner[node, axis, column] * offset
            distance = np.sqrt(square)
            # A little beyond the farthest, so that a node without neighbours counts too.
            weight = (1.001 * farthest - distance) ** 2 / max(distance, 1e-12 * farthest)
            total += weight
            for row in range(n_result):
                value = np.float64(others[node, row])
                for column in range(dim):
                    value += outer[node, row, column] * tangent[column]
                results[query, row] += weight * value
        for row in range(n_result):
            results[query, row] /= total
