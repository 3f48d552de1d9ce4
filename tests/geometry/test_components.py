"""Graphs that fall apart."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from ptunfold import PTU, build_graph, geodesic_distances
from ptunfold.datasets import s_with_hole
from ptunfold.geometry import components, neighbors, stages
from ptunfold.geometry.components import join_components
from ptunfold.geometry.graph import without_bridges


def islands(sizes=(60, 40, 25), n_features=3, seed=0, gap=10.0):
    rng = np.random.default_rng(seed)
    flat = [rng.random((size, 2)) + [gap * place, 0] for place, size in enumerate(sizes)]
    lift, _ = np.linalg.qr(rng.normal(size=(n_features, 2)))
    return np.concatenate(flat) @ lift.T


def test_labels_go_by_size():
    points = islands((20, 60, 40))
    labels = build_graph(points, 5).component_labels
    assert np.bincount(labels).tolist() == [60, 40, 20]
    assert labels[0] == 2


def test_edges_of_length_zero_connect():
    graph = build_graph(np.repeat(islands((30,)), 2, axis=0), 4)
    copies = graph.lengths == 0
    assert copies.any()
    labels = graph.component_labels
    assert (labels[graph.tails[copies]] == labels[graph.indices[copies]]).all()


@pytest.mark.parametrize("n_features", [3, 30], ids=["tree", "brute"])
@pytest.mark.parametrize("sizes", [(60, 40, 25), (200, 150, 90, 12, 8, 7)])
def test_bridges_are_the_shortest_possible(sizes, n_features, monkeypatch):
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)
    points = islands(sizes, n_features)
    graph = build_graph(points, 5)
    before = graph.component_labels
    with pytest.warns(UserWarning, match=r"has 3 comp|has 6 comp"):
        bridged, labels = join_components(points, graph, "bridge")
    assert (labels == 0).all()
    assert bridged.component_labels.max() == 0
    closest = np.array(
        [
            [cdist(points[before == a], points[before == b]).min() for b in range(len(sizes))]
            for a in range(len(sizes))
        ]
    )
    across = before[bridged.tails] != before[bridged.indices]
    bridges = {
        tuple(sorted(before[pair])): length
        for *pair, length in zip(
            bridged.tails[across], bridged.indices[across], bridged.lengths[across], strict=True
        )
    }
    tree = {tuple(sorted(pair)) for pair in np.transpose(minimum_spanning_tree(closest).nonzero())}
    assert tree <= set(bridges)
    for pair, length in bridges.items():
        assert length == pytest.approx(closest[pair], rel=1e-12)
    # Beyond the tree, only where two large ones touch.
    large = closest + np.diag(np.full(len(sizes), np.inf))
    large = np.where(np.minimum.outer(sizes, sizes) >= 10, large, np.inf)
    for one, other in set(bridges) - tree:
        assert large[one, other] <= 3 * max(large[one].min(), large[other].min())


def test_a_ring_in_pieces_stays_a_ring():
    """A tree of bridges would leave it open, and its ends a whole round apart."""
    angle = np.concatenate([np.linspace(0, 0.8, 40) + k for k in range(6)]) * 2 * np.pi / 6
    points = np.column_stack((np.cos(angle), np.sin(angle)))
    with pytest.warns(UserWarning, match="has 6 components"):
        distances = geodesic_distances(points, n_neighbors=5, intrinsic_dim=1)
    assert distances[0, -1] < 0.3
    assert 2.9 < distances.max() < 3.3


def test_many_lone_points_are_bridged():
    points = np.random.default_rng(0).random((300, 3))
    graph = build_graph(points, graph="radius", radius=1e-9)
    assert graph.n_edges == 0
    with pytest.warns(UserWarning, match="has 300 components"):
        bridged, _ = join_components(points, graph, "bridge")
    assert bridged.n_edges == 2 * 299


def test_warning_names_sizes_and_remedy():
    with pytest.warns(UserWarning, match=r"3 components \(sizes 60, 40, 25\).*raise n_neighbors"):
        PTU(n_neighbors=5).fit(islands())


def test_error_names_sizes_and_remedy():
    with pytest.raises(ValueError, match=r"3 components \(sizes 60, 40, 25\).*raise n_neighbors"):
        PTU(n_neighbors=5, disconnected="error").fit(islands())


def test_bridged_flat_islands_are_still_exact():
    points = islands()
    with pytest.warns(UserWarning, match="joined by 3 edges"):
        distances = geodesic_distances(points, n_neighbors=5)
    np.testing.assert_allclose(distances, cdist(points, points), atol=1e-9 * np.ptp(points))


def test_largest_leaves_nan_and_says_so():
    points = islands((40, 60, 25))
    model = PTU(n_neighbors=5, disconnected="largest")
    with pytest.warns(UserWarning, match="the other 65 points get NaN"):
        model.fit(points)
    kept = model.component_labels_ == 0
    assert np.flatnonzero(kept).tolist() == list(range(40, 100))
    assert np.isnan(model.embedding_[~kept]).all()
    inside = model.embedding_[kept]
    exact = cdist(points[kept], points[kept])
    np.testing.assert_allclose(cdist(inside, inside), exact, atol=1e-9)
    assert model.path(40, 60).distance == pytest.approx(exact[0, 20], rel=1e-9)
    with pytest.raises(ValueError, match="different components"):
        model.path(0, 50)


def test_largest_ignores_flaws_of_what_it_leaves_out():
    line = np.column_stack((np.linspace(50, 51, 30), np.zeros(30), np.zeros(30)))
    points = np.concatenate((islands((60,)), line))
    with pytest.warns(UserWarning, match="get NaN"):
        PTU(n_neighbors=5, disconnected="largest").fit(points)
    with pytest.raises(ValueError, match="neighbours of point 60 span 1"):
        PTU(n_neighbors=5, disconnected="separate").fit(points)


def test_geodesic_distances_of_left_out_points_are_nan():
    points = islands((40, 60))
    with pytest.warns(UserWarning, match="get NaN"):
        distances = geodesic_distances(
            points, n_neighbors=5, disconnected="largest", sources=[3, 50]
        )
    assert np.isnan(distances[0]).all()
    assert np.isnan(distances[1, :40]).all()
    assert np.isfinite(distances[1, 40:]).all()


def test_separate_embeds_each_by_itself_without_overlap():
    points = islands((25, 60, 40))
    model = PTU(n_neighbors=5, disconnected="separate").fit(points)
    assert np.bincount(model.component_labels_).tolist() == [60, 40, 25]
    assert model.eigenvalues_.shape == (3, 2)
    ends = []
    for label in range(3):
        nodes = np.flatnonzero(model.component_labels_ == label)
        piece = model.embedding_[nodes]
        np.testing.assert_allclose(
            cdist(piece, piece), cdist(points[nodes], points[nodes]), atol=1e-9
        )
        ends.append((piece[:, 0].min(), piece[:, 0].max()))
    ends.sort()
    assert all(left[1] < right[0] for left, right in pairwise(ends))
    assert np.isinf(model.distances([0])[0, 30])


def test_bridges_say_nothing_about_tangents():
    """Two flat pieces that do not lie in one plane stay exact inside, whatever joins them."""
    rng = np.random.default_rng(0)
    floor = np.column_stack((rng.random((300, 2)), np.zeros(300)))
    wall = np.column_stack((np.full(15, 5.0), rng.random((15, 2))))
    with pytest.warns(UserWarning, match="2 components"):
        distances = geodesic_distances(np.vstack((floor, wall)), n_neighbors=4)
    np.testing.assert_allclose(distances[:300, :300], cdist(floor, floor), atol=1e-9)
    np.testing.assert_allclose(distances[300:, 300:], cdist(wall, wall), atol=1e-9)


def test_a_lone_outlier_borrows_its_frame():
    points = np.concatenate((islands((60,)), [[50.0, 50.0, 50.0]]))
    with pytest.warns(UserWarning, match=r"sizes 60, 1\)"):
        model = PTU(graph="radius", radius=1).fit(points)
    assert np.isfinite(model.embedding_).all()
    inside = model.embedding_[:60]
    np.testing.assert_allclose(cdist(inside, inside), cdist(points[:60], points[:60]), atol=0.5)


def test_bridges_make_no_cycle_where_distances_tie():
    corners = np.stack(np.meshgrid(np.arange(14.0), np.arange(14.0)), axis=-1).reshape(-1, 2)
    graph = build_graph(corners, graph="radius", radius=0.5)
    with pytest.warns(UserWarning, match="joined by 195 edges"):
        bridged, _ = join_components(corners, graph, "bridge")
    assert bridged.n_edges == 2 * 195


def test_copies_far_away_are_one_place():
    points = np.concatenate((islands((60,)), np.full((12, 3), 40.0)))
    alone = PTU(graph="radius", radius=1, disconnected="separate").fit(points)
    assert np.bincount(alone.component_labels_).tolist() == [60, 12]
    assert (np.ptp(alone.embedding_[60:], axis=0) == 0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_separate_takes_components_too_small_for_a_plane(size):
    rng = np.random.default_rng(1)
    tiny = 100 + rng.random((size, 5))
    if size == 4:
        tiny[:, 3:] = tiny[:, :1] + tiny[:, 1:2]  # flat, or the distances could not be exact
        tiny[:, 2] = 100
    points = np.concatenate((islands((50,), 5), tiny))
    model = PTU(graph="radius", radius=5, n_components=2, disconnected="separate").fit(points)
    piece = model.embedding_[50:]
    assert np.isfinite(piece).all()
    np.testing.assert_allclose(cdist(piece, piece), cdist(tiny, tiny), atol=1e-9)


def test_bridges_are_marked_and_lead_to_no_frames():
    points = s_with_hole(300).points
    points = np.concatenate((points, points[:150] + [0, 0, 9]))
    with pytest.warns(UserWarning, match="joined by"):
        model = PTU().fit(points)
    (bridge,) = model.graph_.bridges
    assert (bridge < 300).sum() == 1
    within = without_bridges(model.graph_)
    assert within.n_edges == model.graph_.n_edges - 2
    assert within.component_labels.max() == 1
    alone = PTU().fit(points[:300])
    np.testing.assert_allclose(model.frames_.residual[:300], alone.frames_.residual, rtol=1e-9)


def test_bridges_of_many_points_have_their_numbers(monkeypatch, tmp_path):
    monkeypatch.setattr(stages, "MOST_UNORDERED", 10)
    points = s_with_hole(300).points
    points = np.random.default_rng(0).permutation(
        np.concatenate((points, points[:150] + [0, 0, 9]))
    )
    with pytest.warns(UserWarning, match="joined by"):
        model = PTU().fit(points)
    ((one, other),) = model.graph_.bridges
    assert abs(points[one, 2] - points[other, 2]) > 3
    assert other in model.graph_.indices[model.graph_.indptr[one] : model.graph_.indptr[one + 1]]
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(PTU.load(tmp_path / "model").graph_.bridges, model.graph_.bridges)


def test_components_that_touch_are_those_that_a_plain_search_finds():
    rng = np.random.default_rng(0)
    # Pieces of a ring of all lengths, with gaps of all widths, and one far away.
    angle = np.sort(rng.uniform(0, 2 * np.pi, 3000))
    labels = np.searchsorted([0.5, 0.8, 2.0, 3.5, 3.6, 6.0], angle)
    angle += 0.05 * rng.random(7)[labels]
    points = np.column_stack((np.cos(angle), np.sin(angle), np.cos(3 * angle)))
    points[labels == 2] += 3
    labels = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))[labels]
    gaps = np.full((7, 7), np.inf)
    for one, other in combinations(range(7), 2):
        apart = cdist(points[labels == one], points[labels == other])
        gaps[one, other] = gaps[other, one] = apart.min()
    nearest = gaps.min(axis=1)
    touching = gaps <= 3 * np.maximum(nearest[:, None], nearest)
    pairs = components._closest_pairs(points, labels, 1)
    assert len(pairs) == touching.sum() / 2 > 6
    for ends in pairs:
        one, other = labels[ends]
        assert np.linalg.norm(np.subtract(*points[ends])) == pytest.approx(gaps[one, other])
        assert touching[one, other]
