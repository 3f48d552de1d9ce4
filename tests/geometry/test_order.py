"""Points in another order, and back."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import s_with_hole
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.order import in_given_order, renumber, renumber_graph, sample, spatial_order
from ptunfold.types import Geometry

POINTS = s_with_hole(150).points
ORDER = np.random.default_rng(0).permutation(150)


def geometry_of(points, full):
    graph = build_graph(points, 8)
    graph = replace(graph, bridges=np.array([[0, graph.indices[0]]]) if full else None)
    tangent = "quadratic" if full else "pca"
    frames = estimate_frames(points, graph, 12, tangent=tangent)
    connection = connect(points, graph, frames)
    labels, torn = np.arange(len(points)) % 3, None
    if full:
        # What each point and edge has is made of its place, and so the same in any order.
        along, ends = points[:, 0], points[graph.tails, 0] + 2 * points[graph.indices, 1]
        frames = replace(frames, is_one_sided=along > 0)
        connection = replace(
            connection, coherence=ends, points=points, explained=along, curvature=2 * along
        )
        torn = np.array([[4, 9], [2, 5]])
    shortcuts = np.array([[0, 1], [8, 3]])
    return Geometry(
        graph, frames, connection, labels, points, points + 1, shortcuts, "smooth", torn=torn
    )


def assert_same(one, other):
    for field in fields(one):
        found, expected = getattr(one, field.name), getattr(other, field.name)
        if hasattr(expected, "__dataclass_fields__"):
            assert_same(found, expected)
        elif isinstance(expected, np.ndarray):
            np.testing.assert_allclose(found, expected, err_msg=field.name)
        else:
            assert found == expected, field.name


@pytest.mark.parametrize("full", [False, True])
def test_the_callers_order_is_given_back(full):
    expected = geometry_of(POINTS, full)
    number = np.argsort(ORDER)  # of the caller's points
    frames = expected.frames
    moved = Geometry(
        renumber_graph(expected.graph, number),
        replace(
            frames,
            **{
                name: None if getattr(frames, name) is None else getattr(frames, name)[ORDER]
                for name in (
                    "vectors",
                    "singular_values",
                    "residual",
                    "lift",
                    "is_one_sided",
                    "curvature",
                )
            },
        ),
        renumber(expected.connection, number),
        expected.labels[ORDER],
        expected.points[ORDER],
        expected.surface[ORDER],
        number[expected.shortcuts],
        "smooth",
        order=ORDER,
        torn=None if expected.torn is None else number[expected.torn],
    )
    # Edges are between the same points, with what belongs to them.
    graph = moved.connection.graph
    np.testing.assert_array_equal(graph.indices, moved.graph.indices)
    apart = np.linalg.norm(moved.points[graph.tails] - moved.points[graph.indices], axis=1)
    np.testing.assert_allclose(graph.lengths, apart)
    assert_same(in_given_order(moved), expected)
    assert in_given_order(expected) is expected


@pytest.mark.parametrize("n_features", [2, 3, 8])
def test_neighbours_are_near_in_the_list(n_features):
    points = np.random.default_rng(0).normal(size=(500, n_features)) * (
        [9, 9] + [1] * (n_features - 2)
    )
    order = spatial_order(points)
    np.testing.assert_array_equal(np.sort(order), np.arange(500))
    near = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
    assert np.median(near) < 0.4 * np.median(np.linalg.norm(np.diff(points, axis=0), axis=1))


def test_a_sample_goes_from_the_middle_to_the_rim():
    from_middle = np.linalg.norm(POINTS - POINTS.mean(axis=0), axis=1)
    chosen = sample(POINTS, 6)
    ranks = np.argsort(np.argsort(from_middle))[chosen]
    np.testing.assert_array_equal(ranks, [0, 29, 59, 89, 119, 149])
    np.testing.assert_array_equal(sample(POINTS, 999), np.argsort(from_middle, kind="stable"))
    # Whatever their order, and if only distances are known.
    assert {*ORDER[sample(POINTS[ORDER], 6)].tolist()} == {*chosen.tolist()}
    by_distances = sample(Matrix(cdist(POINTS, POINTS)), 6)
    assert len(by_distances) == 6
