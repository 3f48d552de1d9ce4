"""Batches of sources, against SciPy and against one tree at a time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold.geodesics.distances import OneWayRows
from ptunfold.kernels import batches
from ptunfold.kernels.development import new_unfolding, one_way_row
from ptunfold.kernels.inputs import Owners, connection_arrays
from ptunfold.kernels.lanes import ALL_LANES, LANES
from tests.oracle import random_connection

N, DIM = 60, 3
*_, CONNECTION = random_connection(DIM, seed=1, n_points=N)
LAID = OneWayRows(CONNECTION, np.arange(N)).laid


def searched(per_width):
    batch = batches.new_batch(N, DIM, 0)
    batch.sources[:] = np.arange(LANES) * 2
    return batch, batches.shortest_paths(LAID.graph, LAID.back, per_width, batch)


@pytest.mark.parametrize("per_width", [1e-9, LAID.per_width, 1e9])
def test_labels_are_lengths_whatever_the_buckets(per_width):
    """One bucket for all, some, or each edge so long that it has to wait."""
    batch, _ = searched(per_width)
    expected = dijkstra(CONNECTION.graph.to_sparse())[:, batch.sources]
    np.testing.assert_allclose(batch.labels, expected, rtol=1e-14)
    assert (batch.queue.first == -1).all()  # fit for the next batch
    assert (batch.queue.bucket == -1).all()


def test_parents_are_next_on_the_way():
    graph, (batch, _) = CONNECTION.graph, searched(LAID.per_width)
    for lane, source in enumerate(batch.sources):
        others = np.flatnonzero(np.arange(N) != source)
        edges = graph.indptr[others] + batch.parents[others, lane]
        assert (edges < graph.indptr[others + 1]).all()
        reached = batch.labels[graph.indices[edges], lane] + graph.lengths[edges]
        np.testing.assert_allclose(batch.labels[others, lane], reached, rtol=1e-14)


def test_a_list_of_visits_that_is_cut_short():
    batch, n_visits = searched(LAID.per_width)
    results = []
    for n_kept in (n_visits, 10, 0):
        batch.vectors[:] = np.nan
        batches.develop(LAID, batch, n_kept)
        assert (batch.ready == ALL_LANES).all()
        results.append(batch.vectors.copy())
    assert np.isfinite(results[0]).all()
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("is_part", [True, False])
def test_rows_go_to_their_owners(is_whole, is_part):
    """All rows of a matrix in any order, or, if they are sorted, those of the sources alone."""
    rng = np.random.default_rng(0)
    connection = replace(CONNECTION, points=rng.normal(size=(N, 2)))
    if not is_whole:
        graph, kept = connection.graph, rng.random(connection.graph.n_edges)
        kept = np.where(graph.tails < graph.indices, kept, kept[graph.reverse])
        connection = replace(connection, coherence=kept)
    position = rng.permutation(np.r_[np.arange(N), rng.integers(0, N, 20)])  # some of them twice
    if is_part:
        position.sort()
    rows_of = OneWayRows(connection, position)
    owners = Owners(position, rows_of.owners, rows_of.owned)
    start, stop = 5, 41  # two batches, and one that is not full
    first, last = (rows_of.owned[start], rows_of.owned[stop]) if is_part else (0, len(position))
    rows = np.full((last - first, len(position)), np.nan)
    batch = batches.new_batch(N, DIM + 2 * (not is_whole), 2)
    batches.batch_rows(rows_of.laid, owners, start, stop, batch, rows, first)
    row, arrays = np.empty(N), connection_arrays(connection)
    unfolding = new_unfolding(arrays)
    for source, found in zip(position[first:last], rows, strict=True):
        one_way_row(arrays, source, unfolding, row)
        expected = row[position] if start <= source < stop else np.nan
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
