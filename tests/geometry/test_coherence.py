"""How much is carried over edges: all on sheets, nothing where planes say nothing."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from ptunfold import (
    PTU,
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    graph_distances,
    transport_distances,
    unfold_path,
    with_coherence,
)
from ptunfold.datasets import annulus, s_with_hole, spherical_cap, swiss_roll
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geometry.connection import leading_axes
from ptunfold.geometry.graph import graph_from_matrix
from ptunfold.types import Frames

OVERLAPS = pytest.mark.filterwarnings("ignore:unfolded in 2 dimensions")
ROUGH = pytest.mark.filterwarnings("ignore:the tangent planes explain")


def laid(points, dim=2, step="arc", tangent="quadratic"):
    graph = build_graph(points)
    frames = estimate_frames(points, graph, 18, dim, tangent=tangent)
    return connect(points, graph, frames, step)


def partly(points, seed=0, **how):
    """A connection with a random coherence, the same both ways."""
    connection = laid(points, **how)
    kept = np.random.default_rng(seed).uniform(0, 1, connection.graph.n_edges)
    kept = np.minimum(kept, kept[connection.graph.reverse])
    return replace(connection, coherence=kept)


def by_hand(connection, source, kept):
    """The definition, one path at a time, in the tangent space of the far end."""
    graph = connection.graph
    found = np.zeros(graph.n_points)
    for node in range(graph.n_points):
        nodes = unfold_path(connection, source, node).nodes
        seen, lost = np.zeros(connection.intrinsic_dim), 0.0
        for before, after in pairwise(nodes):
            start, stop = graph.indptr[after], graph.indptr[after + 1]
            edge = start + np.searchsorted(graph.indices[start:stop], before)
            half = np.sqrt(kept[edge])
            lost += (1 - half) * np.linalg.norm(seen)
            seen = connection.steps[edge] + half * connection.rotations[edge] @ seen
            lost += (1 - half) * np.linalg.norm(seen)
            seen = half * seen
        found[node] = np.linalg.norm(seen) + lost
    return found


def test_development_by_its_definition():
    connection = partly(swiss_roll(150, noise=0.01).points)
    expected = by_hand(connection, 7, connection.coherence)
    np.testing.assert_allclose(transport_distances(connection, [7])[0], expected, rtol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_batches_are_the_mean_of_both_ends(dim):
    points = np.random.default_rng(dim).normal(size=(120, 4))
    connection = partly(points, dim=dim, tangent="pca")
    rows = transport_distances(connection, list(range(120)))
    np.testing.assert_allclose(transport_distances(connection), 0.5 * (rows + rows.T), rtol=1e-10)


def test_nothing_carried_is_the_graph_and_all_is_transport():
    points = swiss_roll(300, noise=0.01).points
    connection = laid(points)
    graph = graph_distances(connection.graph)
    none, everything = (transport_distances(with_coherence(connection, share)) for share in (0, 1))
    np.testing.assert_allclose(none, graph, rtol=1e-12)
    np.testing.assert_array_equal(everything, transport_distances(connection))
    half = transport_distances(with_coherence(connection, 0.5))
    assert (half <= none * (1 + 1e-12)).all()
    assert everything.mean() < half.mean() < none.mean()


def test_an_edge_that_is_not_believed_bends_nothing():
    """Neither where it begins nor where it ends: its own direction says as little as its turn."""
    points = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1.2]])  # around two corners
    chain = graph_from_matrix(csr_array(np.diag([1.0, 1, np.hypot(1, 0.2)], 1)), 4)
    frames = Frames(np.tile(np.eye(2), (4, 1, 1)), np.ones((4, 2)), np.zeros(4))
    connection = connect(points, chain, frames)
    kept = np.where((chain.tails + chain.indices) == 3, 0.0, 1.0)  # the edge in the middle
    found = transport_distances(replace(connection, coherence=kept))
    np.testing.assert_allclose(found[0, 3], 2 + np.hypot(1, 0.2), rtol=1e-8)
    np.testing.assert_allclose(found[0, 2], 2, rtol=1e-8)
    whole = transport_distances(connection)
    np.testing.assert_allclose(whole[0, 3], 1.2, rtol=1e-12)


def test_a_path_tells_its_coherence_and_keeps_its_unfolded_points():
    connection = partly(swiss_roll(300, noise=0.01).points)
    path = unfold_path(connection, 3, 250)
    whole = unfold_path(replace(connection, coherence=None), 3, 250)
    np.testing.assert_array_equal(path.points, whole.points)
    assert path.coherence.shape == (len(path.nodes) - 1,)
    assert (path.coherence < 1).any()
    assert (whole.coherence == 1).all()
    assert path.distance == pytest.approx(transport_distances(connection, [3])[0, 250], rel=1e-12)


@pytest.mark.parametrize(
    "points",
    [
        annulus(800).points,
        s_with_hole(1500).points,
        swiss_roll(1500).points,
        spherical_cap(700, angle=40).points,
    ],
    ids=["flat", "S", "roll", "cap"],
)
def test_everything_is_carried_on_clean_sheets(points):
    model = PTU(landmarks=10).fit(points)
    assert model.connection_.coherence is None
    assert model.transport_.coherence == 1
    assert model.transport_.explained > 0.95
    assert str(model.transport_).endswith("distances are unfolded")


def test_nothing_is_carried_where_planes_say_nothing():
    points = np.random.default_rng(0).normal(size=(600, 10))
    with pytest.warns(UserWarning, match=r"explain \d\d% of the edges; distances are mostly leng"):
        model = PTU().fit(points)
    assert model.texture_ == "rough"
    assert model.transport_.coherence < 0.05
    assert 0.2 < model.transport_.explained < 0.5
    np.testing.assert_allclose(
        model.distances([5]), graph_distances(model.graph_, [5]), rtol=2e-2, atol=1e-9
    )
    assert (model.scores()["coherence"] < 0.2).all()


def bumps(n_points, seed=0):
    plane = np.random.default_rng(seed).uniform(-1, 1, (n_points, 2))
    return np.column_stack((plane, 0.12 * np.sin(9 * plane[:, 0]) * np.cos(8 * plane[:, 1])))


def test_some_is_carried_on_bumps():
    shares = PTU(landmarks=10).fit(bumps(2500)).connection_.coherence
    assert 0.4 < shares.mean() < 0.95
    assert shares.min() >= 0
    assert shares.max() <= 1


def test_a_constant_curvature_takes_nothing():
    """Turns that are the same everywhere are left out: a thin sample of a sphere is coherent."""
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(40_000, 4))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    ball = ball[ball[:, 0] > 0.5][:1200]
    exact = np.arccos(np.clip(ball @ ball.T, -1, 1))[:10]
    found = geodesic_distances(ball, sources=list(range(10)), intrinsic_dim=3)
    is_far = exact > 0.1
    assert np.abs(found - exact)[is_far].mean() < 0.01 * exact[is_far].mean()


def test_the_order_of_the_points_does_not_matter():
    points = bumps(700)
    order = np.random.default_rng(1).permutation(700)
    found = [
        with_coherence(replace(laid(mixed), points=leading_axes(mixed))).coherence.mean()
        for mixed in (points, points[order])
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize("value", [-0.1, 1.1, "some", True, None])
def test_what_is_no_coherence_is_refused(value):
    with pytest.raises(ValueError, match=r"coherence=.*pass a number from 0"):
        PTU(coherence=value).fit(bumps(100))


@OVERLAPS
def test_no_distance_is_below_its_chord():
    """A curve that is unfolded in two dimensions winds up, its ends come out next to each other."""
    angle = np.linspace(0, 12, 800)
    helix = np.column_stack((np.cos(angle), np.sin(angle), 0.3 * angle))
    chords = np.linalg.norm(helix[:, None] - helix, axis=2)
    all_pairs = geodesic_distances(helix, intrinsic_dim=2)
    some = geodesic_distances(helix, intrinsic_dim=2, sources=[0, 400])
    assert (all_pairs >= chords * (1 - 1e-9)).all()
    assert (some >= chords[[0, 400]] * (1 - 1e-9)).all()
    connection = replace(laid(helix), points=leading_axes(helix))
    row = np.empty(800)
    MeanRows(connection).write(0, row)
    assert (row >= chords[0] * (1 - 1e-9)).all()
    assert unfold_path(connection, 0, 799).distance >= chords[0, 799]


@ROUGH
def test_chords_of_many_features_are_bounded_by_their_leading_axes():
    points = np.random.default_rng(0).normal(size=(300, 40)) * np.geomspace(3, 0.03, 40)
    axes = leading_axes(points)
    assert axes.shape == (300, 16)
    inside = np.linalg.norm(axes[:, None] - axes, axis=2)
    outside = np.linalg.norm(points[:, None] - points, axis=2)
    assert (inside <= outside + 1e-12).all()
    assert inside.mean() > 0.95 * outside.mean()
    assert (PTU(coherence=1).fit(points).distances() >= inside * (1 - 1e-6)).all()


@OVERLAPS
def test_a_curve_is_unfolded_as_one():
    angle = np.random.default_rng(0).uniform(0, 12, 800)
    helix = np.column_stack((np.cos(angle), np.sin(angle), 0.3 * angle))
    model = PTU(2).fit(helix)
    assert model.connection_.intrinsic_dim == 1
    exact = np.abs(angle - angle[:1]) * np.sqrt(1.09)
    assert np.abs(model.distances([0])[0] - exact).max() < 0.01
    assert PTU(2, intrinsic_dim=2, landmarks=10).fit(helix).connection_.intrinsic_dim == 2


def test_units_do_not_matter():
    """Curvature is no number without a unit: what it is taken for must not depend on one."""
    points = spherical_cap(400, seed=1).points
    points += 0.01 * np.random.default_rng(0).standard_normal(points.shape)
    found = [with_coherence(laid(scale * points)).coherence for scale in (1, 1000, 0.001)]
    assert 0 < found[0].min() < found[0].mean() < 0.995
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-6)
