"""Data that are no sheets, or hardly: never behind Isomap."""

import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, rotate
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.datasets import load_digits, load_sample_images
from sklearn.manifold import Isomap
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ptunfold import PTU, attempts, build_graph, geodesic_distances
from ptunfold.datasets import s_with_hole, sphere, swiss_roll
from ptunfold.embedding import judging
from ptunfold.embedding.alignment import embedding_error

pytestmark = pytest.mark.filterwarnings(
    "ignore:the tangent planes explain", "ignore:the neighbour graph has"
)


def isomap(points, n_neighbors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Isomap(n_neighbors=n_neighbors).fit_transform(points)


def test_digits():
    """Kinds of digits by ten neighbours in the plane, beside the better of two Isomaps."""
    data = load_digits()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def score(places):
        return cross_val_score(KNeighborsClassifier(10), places, data.target, cv=folds).mean()

    # Five neighbours show them best, though a few digits are cut off by that.
    model = PTU().fit(data.data)
    assert score(model.embedding_) > max(score(isomap(data.data, k)) for k in (5, 10)) + 0.1
    assert build_graph(data.data, 5).component_labels.max() > 0
    assert model.graph_.bridges is None


def loop_of_images(n_images, seed):
    """A bright spot that goes round, with another that goes round twice as fast."""
    angle = np.linspace(0, 2 * np.pi, n_images, endpoint=False)
    x, y = np.meshgrid(np.linspace(-2, 2, 16), np.linspace(-2, 2, 16))
    reach = np.random.default_rng(seed).uniform(0.6, 1.2, 2)
    images = [
        np.exp(-4 * ((x - np.cos(a)) ** 2 + (y - np.sin(a)) ** 2))
        + np.exp(-4 * ((x - reach[0] * np.cos(2 * a)) ** 2 + (y - reach[1] * np.sin(2 * a)) ** 2))
        for a in angle
    ]
    return np.reshape(images, (n_images, -1)), angle


def test_loops_of_few_images_come_out_as_rings():
    """On single loops of 72 images chance is worth more than the difference."""
    behind = []
    for seed in range(8):
        images, angle = loop_of_images(72, seed)
        circle = np.column_stack((np.cos(angle), np.sin(angle)))
        order = np.random.default_rng(seed).permutation(72)

        def score(places, order=order, circle=circle):
            model = KNeighborsRegressor(5).fit(places[order[:50]], circle[order[:50]])
            return model.score(places[order[50:]], circle[order[50:]])

        best = max(score(isomap(images, k)) for k in (5, 10))
        behind.append(best - score(PTU().fit_transform(images)))
    assert np.mean(behind) < 0.02


def turned_views(seed, side=200, kept=16):
    """Views of a photo that turns, at random angles, so that there are gaps."""
    photo = load_sample_images().images[seed % 2].mean(axis=2)
    angles = np.sort(np.random.default_rng(seed).uniform(0, 360, 126))
    top, left = (size // 2 - side // 2 for size in photo.shape)
    piece = gaussian_filter(photo, side / kept / 2)[top : top + side, left : left + side]
    grid = ((np.arange(kept) + 0.5) * side / kept).astype(int)
    disc = np.hypot(*np.meshgrid(grid - side / 2, grid - side / 2)) < side / 2 - 2
    views = [rotate(piece, angle, reshape=False, order=1) for angle in angles]
    return np.array(views)[:, grid[:, None], grid][:, disc]


# All of the first sixteen but the seventh, over whose gap no edge leads.
@pytest.mark.parametrize("seed", [0, 1, 11, 12, 14])
def test_a_ring_with_gaps_is_not_torn(seed):
    """Few edges lead over a gap, as if they were shortcuts."""
    views = turned_views(seed)
    around = np.arange(len(views))
    distances = geodesic_distances(views, sources=around)
    # From each view to the next, and to that on the other side.
    assert distances[around, around - 1].max() < 0.5 * distances[around, around - 63].mean()


def test_few_points_have_fewer_neighbors_unless_they_fall_apart_by_that():
    rng = np.random.default_rng(0)
    images, _ = loop_of_images(72, 0)
    assert PTU().fit(images + 0.05 * rng.standard_normal(images.shape)).graph_.n_edges < 72 * 10
    clumps = np.repeat(8 * np.eye(9), 8, axis=0) + rng.standard_normal((72, 9))
    assert build_graph(clumps, 5).component_labels.max() > 0
    assert build_graph(clumps, 10).component_labels.max() == 0
    assert PTU().fit(clumps).graph_.n_edges > 72 * 10


@pytest.mark.parametrize(
    ("told", "chosen"),
    [
        ({10: 0.5, 7: 0.7, 5: 0.6}, 7),
        ({10: 0.5, 7: 0.7, 5: 0.8}, 5),
        ({10: 0.5, 7: 0.4, 5: 0.8}, 5),
        ({10: 0.5, 7: 0.4, 5: 0.504}, 10),
        ({10: 0.5, 7: 0.5004, 5: 0.5004}, 10),
    ],
)
def test_of_ten_seven_and_five_neighbors_those_whose_picture_tells_most(told, chosen, monkeypatch):
    points = np.random.default_rng(0).standard_normal((300, 12))
    edges = {k: build_graph(points, k).n_edges for k in told}
    counts = np.array(list(edges.values()))

    def tell(graph):
        return told[list(edges)[np.abs(counts - graph.n_edges).argmin()]]

    monkeypatch.setattr(attempts, "teller", lambda *_: tell)
    model = PTU().fit(points)
    assert model.texture_ == "rough"
    assert abs(model.graph_.n_edges / edges[chosen] - 1) < 0.05


@pytest.mark.parametrize("seed", [5, 6, 12])
def test_few_points_have_ten_neighbors_if_their_picture_tells_much_more(seed, monkeypatch):
    """Over gaps in a ring of 63 views fewer neighbours do not lead."""
    views = turned_views(seed)[::2]
    around = np.arange(len(views))

    def is_round():
        distances = geodesic_distances(views, sources=around)
        return distances[around, around - 1].max() < 0.5 * distances[around, around - 31].mean()

    assert is_round()
    monkeypatch.setattr(judging, "_CLEARLY_OF_FEW", 1.0)
    assert not is_round()


@pytest.mark.parametrize("seed", range(3))
def test_noise_in_many_dimensions_is_taken_out_if_that_leaves_a_sheet(seed):
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 2, (1500, 2))
    waves = np.cos(phases @ rng.normal(size=(2, 30)) + rng.uniform(0, 6, 30))
    points = waves + 0.15 * rng.normal(size=waves.shape)
    model = PTU().fit(points)
    assert model.texture_ in ("noisy", "very noisy")
    assert model.transport_.explained > 0.95
    exact = PTU().fit_transform(waves)
    assert embedding_error(model.embedding_, exact) < 0.15
    assert embedding_error(isomap(points, 10), exact) > 0.5


def responses(n_neurons, seed, noise):
    """Draw what neurons say that like one direction each, and the directions: a ring."""
    rng = np.random.default_rng(seed)
    angle, liked = rng.uniform(0, 2 * np.pi, 1000), rng.uniform(0, 2 * np.pi, n_neurons)
    most = rng.lognormal(-0.3, 1, n_neurons)
    tuned = most * np.exp(12 * (np.cos(angle[:, None] - liked) - 1))
    points = np.sqrt(tuned + 0.05)
    return points + noise * rng.standard_normal(points.shape), angle


def test_a_thick_ring_is_no_noisy_sheet():
    """Unfolded it would be less flat than lengths along the graph, which it is not on sheets."""
    points, angle = responses(25, 0, noise=0.04)
    model = PTU().fit(points)
    assert model.texture_ == "rough"
    true = pdist(np.column_stack((np.cos(angle), np.sin(angle))))
    assert spearmanr(pdist(model.embedding_), true).statistic > 0.8  # 0.73 if it is denoised


def test_unfolded_sheets_are_flatter_than_graphs_and_thick_rings_are_not(monkeypatch):
    monkeypatch.setattr(attempts, "share_below_chords", lambda *_: 0.0)  # which sees the ring too
    noise = 0.3 * np.random.default_rng(0).standard_normal((1000, 3))
    sheet = PTU().fit(swiss_roll(1000, hole=0.4).points + noise)
    assert sheet.texture_ in ("noisy", "very noisy")
    assert not judging.is_less_flat(sheet.connection_, dim=2)
    ring = PTU(denoise=3).fit(responses(25, 0, noise=0.04)[0])
    assert judging.is_less_flat(ring.connection_, dim=2)


@pytest.mark.filterwarnings("ignore:the data are closed like a sphere")
@pytest.mark.parametrize("seed", range(2))
def test_noise_of_a_sphere_is_taken_out_though_no_picture_shows_it(seed):
    exact = sphere(500, seed=seed)
    noise = 0.06 * np.random.default_rng(seed).standard_normal((500, 3))
    model = PTU().fit(exact.points + noise)
    assert model.texture_ == "noisy"
    sources = np.arange(0, 500, 25)
    true = exact.true_rows(sources)
    off = np.abs(model.distances(sources) - true)[true > 0] / true[true > 0]
    assert off.mean() < 0.07


@pytest.mark.parametrize("n_points", [100, 200, 400])
def test_few_points_of_a_sheet_are_not_smoothed_away(n_points):
    """As true as the better of Isomap and the plain form, in the middle of five seeds."""
    errors = []
    plain = {"n_neighbors": 10, "tangent": "pca", "step": "chord", "denoise": 0, "coherence": 1}
    for seed in range(5):
        data = s_with_hole(n_points, seed=seed)
        noise = np.random.default_rng(seed).normal(size=data.points.shape)
        points = data.points + 0.01 * np.ptp(data.points) * noise
        found = [PTU().fit_transform(points), PTU(**plain, prune=None).fit_transform(points)]
        found += [isomap(points, k) for k in (5, 10)]
        errors.append([embedding_error(places, data.coordinates) for places in found])
    ours, *others = np.median(errors, axis=0)
    assert ours < 1.1 * min(others)


def test_thick_noise_on_a_roll():
    data = swiss_roll(3000, seed=0)
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(3000, 3))
    ball *= 2 * rng.random((3000, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    found = PTU().fit_transform(data.points + ball)
    assert embedding_error(found, data.coordinates) < 0.1


@pytest.mark.parametrize("width", [0.02, 0.05])
def test_a_strip_no_wider_than_its_noise_is_a_curve(width):
    rng = np.random.default_rng(0)
    along, across = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, 1500), rng.uniform(0, width, 1500)
    points = np.column_stack((np.sin(along), across, np.sign(along) * (np.cos(along) - 1)))
    points += width * rng.normal(size=points.shape)
    exact = np.column_stack((along, across))
    model = PTU().fit(points)
    assert model.connection_.intrinsic_dim == 1
    error = embedding_error(model.embedding_, exact)
    assert error < 0.03
    assert error < 0.5 * min(embedding_error(isomap(points, k), exact) for k in (5, 10))
