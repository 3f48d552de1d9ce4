from dataclasses import fields

import numpy as np
import pytest

from ptunfold import PTU, Frames, connect, transport_distances
from ptunfold.datasets import petals
from ptunfold.geodesics.arrangement import restrict
from ptunfold.geometry.graph import graph_from_edges


def test_a_part_has_all_that_the_whole_knows():
    whole = PTU().fit(petals(400).points).connection_
    nodes = np.flatnonzero(whole.points[:, 0] > 0)[::-1]
    part = restrict(whole, nodes)
    assert {field.name for field in fields(part)} == {field.name for field in fields(whole)}
    for name in ("points", "explained", "curvature"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[nodes])
    # Each edge with what it carries, by the ends it has in the whole.
    place = {
        ends: edge
        for edge, ends in enumerate(zip(whole.graph.tails, whole.graph.indices, strict=True))
    }
    ends = zip(nodes[part.graph.tails], nodes[part.graph.indices], strict=True)
    edges = np.array([place[pair] for pair in ends])
    for name in ("rotations", "steps"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[edges])
    np.testing.assert_array_equal(part.graph.lengths, whole.graph.lengths[edges])


def test_copies_may_have_frames_and_edges_of_their_own():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    tails, heads = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4])
    graph = graph_from_edges(5, tails, heads, np.array([1.0, 0.0, 0.0, 1.0]))
    angles = np.arange(5.0)
    vectors = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    frames = Frames(vectors.transpose(2, 0, 1), np.ones((5, 2)), np.zeros(5))
    connection = connect(points, graph, frames)
    found = transport_distances(connection)
    assert found[0, 4] == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(found, transport_distances(connection, range(5)), atol=1e-12)
