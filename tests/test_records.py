"""Graphs, frames and connections of a caller's own: sound ones, or a sentence."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from ptunfold import (
    PTU,
    Graph,
    build_graph,
    connect,
    estimate_frames,
    find_shortcuts,
    geodesic_distances,
    graph_distances,
    graph_from_matrix,
    orient,
    transport_distances,
    unfold_path,
    widen_graph,
    with_coherence,
)
from ptunfold.datasets import swiss_roll
from ptunfold.validation.records import check_connection

POINTS = swiss_roll(60).points
GRAPH = build_graph(POINTS, 6)
FRAMES = estimate_frames(POINTS, GRAPH)
CONNECTION = with_coherence(connect(POINTS, GRAPH, FRAMES), 0.5)

OF_GRAPHS = {
    "estimate_frames": lambda graph: estimate_frames(POINTS, graph),
    "connect": lambda graph: connect(POINTS, graph, FRAMES),
    "find_shortcuts": find_shortcuts,
    "widen_graph": lambda graph: widen_graph(POINTS, graph, FRAMES, 12),
    "orient": lambda graph: orient(graph, FRAMES),
    "graph_distances": graph_distances,
    "graph_from_matrix": lambda graph: graph_from_matrix(graph, 60),
    "with_coherence": lambda graph: with_coherence(replace(CONNECTION, graph=graph)),
    "transport_distances": lambda graph: transport_distances(replace(CONNECTION, graph=graph)),
    "sources": lambda graph: transport_distances(replace(CONNECTION, graph=graph), [0]),
    "unfold_path": lambda graph: unfold_path(replace(CONNECTION, graph=graph), 0, 9),
    "fit": lambda graph: PTU().fit(POINTS, graph=graph),
    "geodesic_distances": lambda graph: geodesic_distances(POINTS, graph=graph),
}


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def unsorted(indices):
    return changed(indices, [0, 1], indices[[1, 0]])


BAD_GRAPHS = {
    "names 1 times a point that does not exist": (
        replace(GRAPH, indices=changed(GRAPH.indices, 5, 2**31 - 1)),
        replace(GRAPH, indices=changed(GRAPH.indices, 5, -1)),
        replace(GRAPH, indices=changed(GRAPH.indices.astype(np.int64), 5, 2**32)),
    ),
    "does not divide": (
        replace(GRAPH, indptr=changed(GRAPH.indptr, -1, 2**42)),
        replace(GRAPH, indptr=changed(GRAPH.indptr, 3, 10**6)),
        replace(GRAPH, indptr=GRAPH.indptr[:0]),
        replace(GRAPH, indices=GRAPH.indices[:-1], lengths=GRAPH.lengths[:-1]),
    ),
    "lengths has shape": (replace(GRAPH, lengths=GRAPH.lengths[:-1]),),
    "indices holds values of type float64": (replace(GRAPH, indices=GRAPH.lengths),),
    "no lengths of edges": tuple(
        GRAPH.with_lengths(changed(GRAPH.lengths, 4, value))
        for value in (np.nan, np.inf, -1.0, 1e200, 1e-310)
    ),
    "has edges that are not sorted": (
        replace(GRAPH, indices=unsorted(GRAPH.indices)),
        GRAPH.with_lengths(changed(GRAPH.lengths, 4, 9.0)),
        replace(GRAPH, indices=changed(GRAPH.indices, 0, GRAPH.indices[1])),
    ),
    "bridges names 1 times a point that does not exist": (
        replace(GRAPH, bridges=np.array([[0, 60]])),
        replace(GRAPH, bridges=np.array([[-1, 0]])),
    ),
    "bridges has shape": (replace(GRAPH, bridges=np.array([0, 1])),),
    "bridges are not all among its edges": (replace(GRAPH, bridges=np.array([[3, 3]])),),
    "from a point to itself": (Graph(np.arange(61), np.arange(60, dtype=np.int32), np.ones(60)),),
}


@pytest.mark.parametrize("stage", OF_GRAPHS)
@pytest.mark.parametrize("message", BAD_GRAPHS)
def test_a_graph_that_is_none_is_refused(stage, message):
    for graph in BAD_GRAPHS[message]:
        with pytest.raises(ValueError, match=message):
            OF_GRAPHS[stage](graph)


@pytest.mark.filterwarnings("ignore:the tangent planes")
@pytest.mark.parametrize("stage", OF_GRAPHS)
def test_graphs_of_other_types_do(stage):
    other = Graph(
        GRAPH.indptr.astype(np.int32),
        GRAPH.indices.astype(np.int64),
        np.asfortranarray(GRAPH.lengths),
    )
    found, wanted = OF_GRAPHS[stage](other), OF_GRAPHS[stage](GRAPH)
    if isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("stage", [*OF_GRAPHS][:9])
def test_other_things_are_no_graphs(stage):
    if stage != "graph_from_matrix":
        with pytest.raises(TypeError, match=r"a (ndarray|NoneType), but a ptunfold\.\w+ is needed"):
            OF_GRAPHS[stage](None if stage != "bridged" else POINTS)


BAD_FRAMES = {
    "frames are for points of shape": replace(FRAMES, vectors=FRAMES.vectors[:-1]),
    r"frames\.vectors\[3\] is not finite": replace(
        FRAMES, vectors=changed(FRAMES.vectors, 3, np.nan)
    ),
    "no unit vectors": replace(FRAMES, vectors=2 * FRAMES.vectors),
    "frames of 0 vectors": replace(FRAMES, vectors=FRAMES.vectors[:, :, :0]),
    r"residual has shape \(59,\)": replace(FRAMES, residual=FRAMES.residual[:-1]),
    "singular_values has 2 of 120": replace(
        FRAMES, singular_values=changed(FRAMES.singular_values, 4, np.inf)
    ),
}


@pytest.mark.parametrize("message", BAD_FRAMES)
def test_frames_that_are_none_are_refused(message):
    frames = BAD_FRAMES[message]
    stages = (
        lambda: connect(POINTS, GRAPH, frames),
        lambda: widen_graph(POINTS, GRAPH, frames, 12),
        lambda: orient(GRAPH, frames),
    )
    for stage in stages:
        with pytest.raises(ValueError, match=message):
            stage()


BAD_CONNECTIONS = {
    "steps has shape": replace(CONNECTION, steps=CONNECTION.steps[:-1]),
    "rotations has shape": replace(CONNECTION, rotations=CONNECTION.rotations[:, :, :1]),
    r"rotations\[7\] is not finite": replace(
        CONNECTION, rotations=changed(CONNECTION.rotations, 7, np.nan)
    ),
    r"rotations\[0\] is not finite, or its columns": replace(
        CONNECTION, rotations=3 * CONNECTION.rotations
    ),
    "steps has 2 of": replace(CONNECTION, steps=changed(CONNECTION.steps, 7, np.inf)),
    "coherence has 1 of": replace(CONNECTION, coherence=changed(CONNECTION.coherence, 7, 1.5)),
    r"points has shape \(59, 3\)": replace(CONNECTION, points=POINTS[:-1]),
    r"explained has shape \(59,\)": replace(CONNECTION, explained=np.ones(59)),
}


@pytest.mark.parametrize("message", BAD_CONNECTIONS)
def test_connections_that_are_none_are_refused(message):
    connection = BAD_CONNECTIONS[message]
    stages = (
        lambda: with_coherence(connection),
        lambda: transport_distances(connection),
        lambda: transport_distances(connection, [3]),
        lambda: unfold_path(connection, 0, 9),
    )
    for stage in stages:
        with pytest.raises(ValueError, match=message):
            stage()


def test_a_graph_is_checked_once_and_stays_itself():
    graph = build_graph(POINTS, 6)
    assert graph_from_matrix(graph, 60) is graph
    assert graph_from_matrix(graph, 60) is graph
    connection = connect(POINTS, graph, FRAMES)
    assert check_connection(connection) is connection
    again = pickle.loads(pickle.dumps(connection))
    assert "is_checked" in vars(connection)
    assert "is_checked" not in vars(again)
    assert "is_checked" not in vars(again.graph)


@pytest.mark.parametrize("coherence", [-0.1, 1.5, np.nan, "x", True])
def test_what_is_no_coherence_is_refused(coherence):
    with pytest.raises(ValueError, match="is not known; pass a number from 0"):
        with_coherence(CONNECTION, coherence)


def test_points_of_a_stage_are_finite():
    points = changed(POINTS, 3, np.nan)
    for stage in (
        lambda: estimate_frames(points, GRAPH),
        lambda: connect(points, GRAPH, FRAMES),
        lambda: widen_graph(points, GRAPH, FRAMES, 12),
    ):
        with pytest.raises(ValueError, match=r"points contains NaN in 1 of 60 rows"):
            stage()


def test_lengths_of_a_matrix_that_vanish_in_squares_are_refused():
    matrix = GRAPH.to_sparse()
    matrix.data = matrix.data * 1e-300
    with pytest.raises(ValueError, match="are no lengths of edges"):
        PTU().fit(POINTS, graph=matrix)
