"""Pictures that classical scaling folds."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from ptunfold import PTU, classical_mds, find_shortcuts
from ptunfold.datasets import petals, swiss_roll
from ptunfold.embedding import judging, pieces
from ptunfold.embedding.alignment import embedding_error
from ptunfold.embedding.relaxation import is_strained, relax, tolerable_strain
from ptunfold.geometry.graph import build_graph, graph_from_edges


def stress(places, exact):
    return np.linalg.norm(cdist(places, places) - exact) / np.linalg.norm(exact)


def cloud(n_points, dim, seed=0):
    points = np.random.default_rng(seed).normal(size=(n_points, dim))
    return points, cdist(points, points)


@pytest.mark.parametrize("seed", range(3))
def test_more_dimensions_than_are_shown(seed):
    """Eight groups, all as far from each other: distances are truer, and groups stay apart."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(8), 50)
    points = 4 * np.eye(8)[group] + rng.normal(size=(400, 8))
    exact = cdist(points, points)

    def told(places):
        return cross_val_score(KNeighborsClassifier(10), places, group).mean()

    flat = classical_mds(exact).coordinates
    for step, some in ((1, 0.75), (5, 0.8)):
        found = relax(exact[::step], np.arange(0, 400, step), flat)
        assert stress(found, exact) < some * stress(flat, exact)
        assert told(found) > told(flat) + 0.1


def test_true_pictures_stay():
    _, exact = cloud(200, 2)
    flat = classical_mds(exact).coordinates
    found = relax(exact, np.arange(200), flat)
    np.testing.assert_allclose(cdist(found, found), exact, atol=1e-9)
    assert not is_strained(exact, np.arange(200), flat)
    _, of_many = cloud(200, 5)
    assert is_strained(of_many, np.arange(200), classical_mds(of_many).coordinates)


def test_loops_stay_round():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    apart = np.abs(angle - angle[:, None])
    exact = np.minimum(apart, 2 * np.pi - apart)
    found = relax(exact, np.arange(100), classical_mds(exact).coordinates)
    radii = np.linalg.norm(found, axis=1)
    assert radii.std() < 1e-6 * radii.mean()


def test_the_same_by_any_threads():
    """float32 and any number of threads give the same picture."""
    _, exact = cloud(5000, 4)
    anchors, rows = np.arange(0, 5000, 50), exact[::50]
    flat = np.random.default_rng(1).normal(size=(5000, 2))
    found = relax(rows, anchors, flat)
    np.testing.assert_array_equal(relax(rows, anchors, flat, n_jobs=2), found)
    single = relax(rows.astype(np.float32), anchors, flat.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, found, atol=0.02)


def test_points_on_a_line_find_the_plane():
    """Where classical scaling shows a line, nothing would draw points off it."""
    _, exact = cloud(50, 3)
    line = np.column_stack((np.arange(50.0), np.zeros(50)))
    assert np.ptp(relax(exact, np.arange(50), line)[:, 1]) > 1


def patches_with_an_edge(n_points, seed, noise=0.1):
    """Patches of 9 by 9 pixels with an edge, at any angle and distance from the middle."""
    rng = np.random.default_rng(seed)
    angles, offsets = rng.uniform(0, 2 * np.pi, n_points), rng.uniform(-0.5, 0.5, n_points)
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    across = np.cos(angles)[:, None] * x.ravel() + np.sin(angles)[:, None] * y.ravel()
    patches = np.tanh((across - offsets[:, None]) / 0.35)
    return patches + noise * rng.standard_normal(patches.shape), offsets


def guessed(values, places):
    """Tell how much of values ten nearest neighbours know."""
    _, near = cKDTree(places).query(places, 11)
    return 1 - (values - values[near[:, 1:]].mean(axis=1)).var() / values.var()


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_what_is_near_stays_near_where_there_is_no_room_for_long_distances(seed, monkeypatch):
    """A band that is closed, which long distances fold flat."""
    patches, offsets = patches_with_an_edge(700, seed)
    found = PTU().fit_transform(patches)
    monkeypatch.setattr(pieces, "judge_of_places", lambda _: None)
    assert guessed(offsets, found) > guessed(offsets, PTU().fit_transform(patches)) + 0.15


def test_the_nearer_picture_is_taken_only_if_it_tells_more():
    _, exact = cloud(400, 5)
    flat = classical_mds(exact).coordinates
    plain = relax(exact, np.arange(400), flat)
    kept = relax(exact, np.arange(400), flat, lambda *_: False)
    np.testing.assert_array_equal(kept, plain)
    nearer = relax(exact, np.arange(400), flat, lambda *_: True)
    is_near = (exact > 0) & (exact < np.quantile(exact, 0.05))
    off = [np.abs(cdist(places, places) - exact)[is_near].mean() for places in (nearer, plain)]
    assert off[0] < 0.95 * off[1]


def test_a_picture_that_tells_more():
    points, _ = cloud(300, 3)
    is_truer = judging.judge_of_places(points)
    shuffled = np.random.default_rng(0).permutation(points[:, :2])
    assert is_truer(points[:, :2], shuffled)
    assert not is_truer(shuffled, points[:, :2])
    assert not is_truer(points[:, :2], points[:, :2])


def test_strain_that_is_tolerable():
    """Rough data have no noise that would be fitted; curvature strains any flat picture."""
    rough, sheet, curved = (
        tolerable_strain(PTU().fit(points)._fitted.geometry)
        for points in (patches_with_an_edge(400, 0)[0], swiss_roll(500).points, petals(600).points)
    )
    assert rough < sheet < curved


def test_models():
    """Data that need more dimensions are relaxed, by all distances and by landmarks; sheets not."""
    points, _ = cloud(600, 6)
    for options in ({}, {"landmarks": 80}):
        with pytest.warns(UserWarning, match="tangent planes"):
            found = PTU(**options).fit(points)
        with pytest.warns(UserWarning, match="tangent planes"):
            flat = PTU(mds="classical", **options).fit(points)
        exact = found.distances()
        assert stress(found.embedding_, exact) < 0.85 * stress(flat.embedding_, exact)
        np.testing.assert_array_equal(found.eigenvalues_, flat.eigenvalues_)
        near = np.linalg.norm(found.transform(points) - found.embedding_, axis=1)
        assert np.median(near) < 1e-6
    for sheet in (swiss_roll(1000).points, petals(1000).points):
        for options in ({}, {"landmarks": 50}):
            np.testing.assert_array_equal(
                PTU(**options).fit_transform(sheet),
                PTU(mds="classical", **options).fit_transform(sheet),
            )


def test_parts_that_are_embedded_apart():
    points = np.concatenate((cloud(300, 6)[0], 100 + cloud(200, 6, 1)[0], np.full((1, 6), 300.0)))
    with pytest.warns(UserWarning, match="tangent planes"):
        model = PTU(disconnected="separate").fit(points)
    assert np.isfinite(model.embedding_).all()


def test_the_graph_whose_picture_tells_more():
    """Edges between places that are far apart bring strangers together in the picture."""
    points = np.random.default_rng(0).normal(size=(500, 4)) * [4, 2, 1, 1]
    good = build_graph(points, 10)
    ends = np.sort(np.random.default_rng(1).integers(500, size=(250, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    is_once = good.tails < good.indices
    bad = graph_from_edges(
        500,
        np.concatenate((good.tails[is_once], ends[:, 0])),
        np.concatenate((good.indices[is_once], ends[:, 1])),
        np.concatenate((good.lengths[is_once], np.full(len(ends), 0.1))),
    )
    tell = judging.teller(points, 2)
    assert judging.is_truer([good], [bad], tell)
    assert not judging.is_truer([bad], [good], tell)
    assert not judging.is_truer([good], [good], tell)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_what_closes_a_ring_is_kept():
    """Few measurements on one side of a building: the edges there have few ways around them."""
    rng = np.random.default_rng(11)
    angles = rng.uniform(0, 2 * np.pi, 220)
    is_thin = (np.abs(angles - np.pi) < 0.6) & (rng.random(220) < 0.75)
    angles = angles[~is_thin]
    places = np.column_stack((20 * np.cos(angles), 12 * np.sin(angles)))
    places += 0.5 * rng.standard_normal(places.shape)
    apart = cdist(places, rng.uniform(-1, 1, (24, 2)) * [24, 15])
    signals = -35 - 30 * np.log10(np.maximum(apart, 1)) + 2.5 * rng.standard_normal(apart.shape)
    assert len(find_shortcuts(build_graph(signals))[0])
    model = PTU().fit(signals)
    assert len(model.shortcuts_) == 0
    around = np.abs(np.exp(1j * angles)[:, None] - np.exp(1j * angles))
    shown = cdist(model.embedding_, model.embedding_)
    assert np.corrcoef(around.ravel(), shown.ravel())[0, 1] > 0.9  # without them 0.81


def test_how_many_fewer_neighbours():
    assert [judging.fewer_neighbors(n) for n in (4, 30, 100, 149, 150, 5000)] == [3, 5, 6, 9, 5, 5]


def ring_with_copies(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 100)
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    return np.concatenate((ring, ring[:10]))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_picture_does_not_depend_on_rounding(seed):
    """What is added to distances that are too short is not added to those that are 0."""
    points = ring_with_copies(seed)
    places = PTU().fit_transform(points)
    order = np.random.default_rng(seed).permutation(len(points))
    shuffled = np.empty_like(places)
    shuffled[order] = PTU().fit_transform(points[order])
    turned = PTU().fit_transform(points @ [[0.6, 0.8], [-0.8, 0.6]])
    assert embedding_error(shuffled, places) < 1e-9
    assert embedding_error(turned, places) < 1e-9
    np.testing.assert_allclose(places[100:], places[:10], atol=1e-12)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_what_is_bent_more_than_noisy_is_not_denoised():
    patches, offsets = patches_with_an_edge(1500, 0)
    model = PTU().fit(patches)
    assert model._fitted.geometry.texture == "rough"
    assert guessed(offsets, model.embedding_) > 0.5  # denoised 0.19
