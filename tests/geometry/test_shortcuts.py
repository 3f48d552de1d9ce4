"""Edges that jump, planted and grown by noise."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree

from ptunfold import PTU, build_graph, find_shortcuts
from ptunfold.datasets import petals, s_uneven, s_with_hole, spherical_cap, swiss_roll
from ptunfold.geometry.graph import graph_from_edges, without_edges

CLEAN = {
    "roll": swiss_roll(2000),
    "noisy roll": swiss_roll(2000, noise=0.02),
    "S": s_with_hole(2000),
    "uneven S": s_uneven(2000),
    "petals": petals(1600),
    "cap": spherical_cap(700),
}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("n_neighbors", [6, 10, 20])
def test_few_good_edges_are_taken_for_shortcuts(name, n_neighbors):
    graph = build_graph(CLEAN[name].points, n_neighbors)
    tails, _ = find_shortcuts(graph)
    assert len(tails) <= 0.005 * graph.n_edges / 2


@pytest.mark.parametrize("seed", range(3))
def test_planted_shortcuts_are_found(seed):
    """One per cent of edges between windings, at least three times as far along the sheet."""
    data = swiss_roll(2000, seed=seed)
    graph = build_graph(data.points)
    pairs = cKDTree(data.points).query_pairs(7.5, output_type="ndarray")
    spans = [
        np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
        for places in (data.points, data.coordinates)
    ]
    is_wrong = spans[1] > 3 * spans[0]
    n_planted = graph.n_edges // 200
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(is_wrong), n_planted, replace=False)
    once = graph.tails < graph.indices
    planted = graph_from_edges(
        2000,
        np.concatenate((graph.tails[once], pairs[chosen, 0])),
        np.concatenate((graph.indices[once], pairs[chosen, 1])),
        np.concatenate((graph.lengths[once], spans[0][chosen])),
    )
    tails, heads = find_shortcuts(planted)
    np.testing.assert_array_equal((tails, heads), find_shortcuts(planted, n_jobs=3))
    keys = {tuple(pair) for pair in np.sort(pairs[chosen], axis=1).tolist()}
    found = set(zip(tails.tolist(), heads.tolist(), strict=True))
    assert len(keys & found) >= 0.95 * len(keys)
    assert len(found - keys) <= 0.005 * graph.n_edges / 2
    pruned = without_edges(planted, tails, heads)
    assert pruned.n_edges == planted.n_edges - 2 * len(tails)


def jumps_of(data, graph, far=8.0):
    """List the edges between windings and the others, as sets of pairs."""
    once = graph.tails < graph.indices
    tails, heads = graph.tails[once], graph.indices[once]
    apart = np.linalg.norm(data.coordinates[tails] - data.coordinates[heads], axis=1)
    pairs = np.column_stack((tails, heads))
    return [set(map(tuple, pairs[chosen].tolist())) for chosen in (apart > far, apart <= far)]


@pytest.mark.parametrize(("n_neighbors", "noise"), [(20, 0.032), (25, 0.028), (40, 0.02)])
def test_bundles_of_shortcuts_are_found(n_neighbors, noise):
    """With many neighbours each has many ways around it, over the others."""
    n_jumps, n_found, n_good, n_wrong = 0, 0, 0, 0
    for seed in range(5):
        data = swiss_roll(2000, noise=noise, seed=seed)
        graph = build_graph(data.points, n_neighbors)
        jumps, good = jumps_of(data, graph)
        tails, heads = find_shortcuts(graph)
        np.testing.assert_array_equal((tails, heads), find_shortcuts(graph, n_jobs=3))
        found = set(zip(tails.tolist(), heads.tolist(), strict=True))
        n_jumps, n_found = n_jumps + len(jumps), n_found + len(found & jumps)
        n_good, n_wrong = n_good + len(good), n_wrong + len(found & good)
        left = without_edges(graph, tails, heads)
        assert left.component_labels.max() == graph.component_labels.max()
    assert n_jumps > 100
    assert n_found >= 0.8 * n_jumps
    assert n_wrong <= 0.0005 * n_good


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("n_neighbors", [15, 25])
def test_clean_sheets_lose_nothing_with_many_neighbors(name, n_neighbors):
    graph = build_graph(CLEAN[name].points, n_neighbors)
    assert len(find_shortcuts(graph)[0]) <= 0.0005 * graph.n_edges / 2


def test_bundles_are_found_within_a_radius():
    data = swiss_roll(2000, noise=0.028, seed=0)
    graph = build_graph(data.points, graph="radius", radius=3.8)
    jumps, good = jumps_of(data, graph)
    found = set(map(tuple, np.transpose(find_shortcuts(graph)).tolist()))
    assert len(jumps) > 10
    assert len(found & jumps) >= 0.8 * len(jumps)
    assert len(found & good) <= 0.001 * len(good)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_neighbors", [15, 25, 40])
def test_rings_stay_closed_where_points_are_few(n_neighbors, seed):
    """A hoop, 15 times as dense on one side as on the other."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 4000)
    angle = angle[rng.random(4000) < (1 + 0.875 * np.cos(angle)) / 1.875][:1000]
    hoop = np.column_stack((np.cos(angle), np.sin(angle), rng.uniform(0, 0.5, 1000)))
    graph = build_graph(hoop + 0.01 * rng.standard_normal(hoop.shape), n_neighbors)
    left = without_edges(graph, *find_shortcuts(graph))
    farthest = [shortest_path(one.to_sparse(), directed=False).max() for one in (graph, left)]
    assert farthest[1] < 1.1 * farthest[0]


def joined(points, pairs):
    """Build the graph of neighbours with some edges more."""
    graph = build_graph(points)
    once = graph.tails < graph.indices
    tails, heads = np.transpose(pairs)
    return graph_from_edges(
        len(points),
        np.concatenate((graph.tails[once], tails)),
        np.concatenate((graph.indices[once], heads)),
        np.concatenate(
            (graph.lengths[once], np.linalg.norm(points[tails] - points[heads], axis=1))
        ),
    )


def test_the_only_way_is_no_shortcut():
    angle, across = np.random.default_rng(0).uniform((0.5, 0), (5.8, 1), (500, 2)).T
    angle.sort()
    band = np.column_stack((np.cos(angle), np.sin(angle), across))
    assert [0, 499] in np.transpose(find_shortcuts(joined(band, [(0, 499)]))).tolist()
    band[250:, 0] += 2  # two halves, with nothing else between them
    assert [0, 499] not in np.transpose(find_shortcuts(joined(band, [(0, 499)]))).tolist()


@pytest.mark.parametrize("noise", [0.028, 0.032])
def test_noise_that_breaks_everything_else(noise):
    errors = {"plain": [], "default": []}
    paper = {"n_neighbors": 10, "tangent": "pca", "step": "chord", "denoise": 0, "prune": None}
    for seed in range(3):
        data = swiss_roll(2000, noise=noise, seed=seed)
        for name, options in (("plain", {**paper, "tangent_neighbors": 40}), ("default", {})):
            model = PTU(n_jobs=2, **options).fit(data.points)
            exact = data.coordinates - data.coordinates.mean(axis=0)
            left, _, right = np.linalg.svd(model.embedding_.T @ exact)
            off = np.linalg.norm(model.embedding_ @ left @ right - exact)
            errors[name].append(off / np.linalg.norm(exact))
    assert np.median(errors["default"]) < 0.05
    assert max(errors["default"]) < 0.15
    assert max(errors["plain"]) > 0.5


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_they_are_reported_whether_dropped_or_not():
    points = swiss_roll(2000, noise=0.032, seed=2).points
    kept, dropped = (
        PTU(n_neighbors=10, prune=prune, denoise=0, landmarks=10).fit(points)
        for prune in (None, "auto")
    )
    np.testing.assert_array_equal(kept.shortcuts_, dropped.shortcuts_)
    lengths = kept.graph_.to_sparse()[*kept.shortcuts_.T]
    assert len(lengths) > 5
    assert (lengths > 0).all()
    assert dropped.graph_.to_sparse()[*kept.shortcuts_.T].sum() == 0


def test_a_graph_of_ones_own_is_kept_unless_asked():
    points = swiss_roll(1000, noise=0.032, seed=2).points
    graph = build_graph(points)
    kept = PTU(landmarks=10).fit(points, graph=graph)
    assert kept.graph_.n_edges == graph.n_edges
    pruned = PTU(landmarks=10, prune="shortcuts").fit(points, graph=graph)
    assert pruned.graph_.n_edges == graph.n_edges - 2 * len(kept.shortcuts_)


def test_wrong_value():
    with pytest.raises(
        ValueError, match='prune=\'all\' is not known; pass "auto", "shortcuts", or None'
    ):
        PTU(prune="all").fit(s_with_hole(100).points)


def test_copies_do_not_hide_shortcuts():
    points = swiss_roll(1000, noise=0.03).points
    once, twice = (
        find_shortcuts(build_graph(np.concatenate([points] * n_copies))) for n_copies in (1, 2)
    )
    np.testing.assert_array_equal(once, twice)
