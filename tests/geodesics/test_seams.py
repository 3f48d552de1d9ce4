"""Sheets that close upon themselves: what they are, and how they are cut open."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import (
    annulus,
    flat_torus,
    klein_bottle,
    moebius_band,
    s_with_hole,
    sphere,
    swiss_roll,
)
from ptunfold.geodesics import cutting
from ptunfold.geodesics.cutting import has_no_rim, length_of_most_rim

TURN = 2 * np.pi
pytestmark = pytest.mark.filterwarnings("ignore:the sheet closes", "ignore:the data are closed")


def ring(n_points=300, seed=0):
    angle = np.random.default_rng(seed).uniform(0, TURN, n_points)
    return angle, np.column_stack((np.cos(angle), np.sin(angle), np.sin(2 * angle) / 5))


def cylinder(n_points=1200, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    angle, height = rng.uniform(0, TURN, n_points), rng.uniform(0, 3, n_points)
    points = np.column_stack((np.cos(angle), np.sin(angle), height))
    return angle, height, points + noise * rng.normal(size=points.shape)


def cap(n_points=1000, seed=0):
    rng = np.random.default_rng(seed)
    height, angle = rng.uniform(0.5, 1, n_points), rng.uniform(0, TURN, n_points)
    radius = np.sqrt(1 - height**2)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), height))


def three_torus(n_points=2000, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, TURN, (n_points, 3))
    points = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
    return points + noise * rng.normal(size=points.shape)


def noisy_torus():
    points = flat_torus(1000).points
    return points + 0.06 * np.random.default_rng(0).normal(size=points.shape)


def noisy_knot(n_points, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, TURN, n_points)
    points = np.column_stack(
        (
            np.sin(angle) + 2 * np.sin(2 * angle),
            np.cos(angle) - 2 * np.cos(2 * angle),
            -np.sin(3 * angle),
        )
    )
    return points + 0.03 * np.ptp(points, axis=0).max() * rng.normal(size=points.shape)


@pytest.mark.parametrize(
    ("points", "dim", "name", "n_seams", "euler"),
    [
        (lambda: ring()[1], 1, "a ring", 1, None),
        (lambda: swiss_roll(300).points[:, :1], 1, "a curve", 0, None),
        (lambda: cylinder()[2], 2, "a cylinder", 1, 0),
        (lambda: cylinder(noise=0.03)[2], 2, "a cylinder", 1, 0),
        (lambda: flat_torus(1000).points, 2, "a torus", 2, 0),
        (noisy_torus, 2, "a torus", 2, 0),
        (lambda: moebius_band(1500).points, 2, "a Möbius band", 1, 0),
        (lambda: moebius_band(1500, seed=2).points, 2, "a Möbius band", 1, 0),
        (lambda: klein_bottle(2000).points, 2, "a Klein bottle", 2, 0),
        (lambda: sphere(1000).points, 2, "a sphere", 0, 2),
        (cap, 2, "a sheet", 0, 1),
        (lambda: swiss_roll(1000).points, 2, "a sheet", 0, 1),
        (lambda: s_with_hole(1000).points, 2, "a sheet with 1 hole", 0, 0),
        (three_torus, 3, "a 3-torus", 3, None),
    ],
)
def test_what_it_is(points, dim, name, n_seams, euler):
    model = PTU(dim, landmarks=50, seams="cut").fit(points())
    topology = model.topology_
    assert (topology.name, len(topology.seams), topology.euler) == (name, n_seams, euler)
    assert name in str(topology)
    assert topology.is_orientable == (name not in ("a Möbius band", "a Klein bottle"))
    assert (len(topology.edges) > 0) == (n_seams > 0) == (len(model.images([0])) > 0)


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
@pytest.mark.parametrize("seed", [1, 16, 36, 49])
def test_ends_of_a_noisy_ring_meet(seed):
    """The last point of an end lies anywhere across: by one alone these stayed open."""
    assert PTU(1).fit(noisy_knot(3000, seed)).topology_.name == "a ring"


@pytest.mark.parametrize(("n_points", "seed"), [(1000, 0), (1000, 1), (3000, 0)])
def test_a_noisy_solid_closes(n_points, seed):
    """Few neighbours, or tangent planes that agree by 0.7, made it a sheet."""
    model = PTU(3, landmarks=50).fit(three_torus(n_points, seed, 0.06))
    assert model.topology_.name == "a 3-torus"
    assert model.topology_.is_sure
    assert [seam.kind for seam in model.topology_.seams] == ["period"] * 3
    assert len(model.images([0])) > 0


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_solid_ball_has_a_rim(noise):
    rng = np.random.default_rng(0)
    ways = rng.normal(size=(1500, 3))
    ball = (
        ways / np.linalg.norm(ways, axis=1, keepdims=True) * rng.uniform(size=(1500, 1)) ** (1 / 3)
    )
    points = np.column_stack((ball, np.zeros((1500, 2)))) + noise * rng.normal(size=(1500, 5))
    topology = PTU(3, landmarks=50).fit(points).topology_
    assert topology.has_rim
    assert not topology.seams


def test_a_hole_in_a_plane_is_not_cut():
    model = PTU().fit(annulus(1000).points)
    assert model.topology_.name.startswith("a sheet with")
    assert len(model.images()) == 0


@pytest.mark.parametrize("seed", range(3))
def test_periods_of_a_torus(seed):
    topology = PTU(landmarks=50).fit(flat_torus(1000, seed=seed).points).topology_
    assert [seam.kind for seam in topology.seams] == ["period", "period"]
    for seam in topology.seams:
        assert seam.length == pytest.approx(TURN, rel=5e-3)
        assert seam.std < 0.01 * seam.length
        assert seam.loop[0] == seam.loop[-1]
        assert TURN < seam.loop_length < 1.1 * TURN
    first, second = (seam.shift for seam in topology.seams)
    assert abs(first @ second) < 0.01 * TURN**2
    assert "2 directions: periods 6.28" in str(topology)


def test_a_moebius_band_glides():
    rng = np.random.default_rng(0)
    around, across = rng.uniform(0, TURN, 1500), rng.uniform(-0.5, 0.5, 1500)
    sine, cosine = 2 * np.sin(across / 2), 2 * np.cos(across / 2)
    flat = np.column_stack(  # in R⁵ there is room for a flat one
        (
            sine * np.cos(around / 2),
            sine * np.sin(around / 2),
            cosine * np.cos(around) / 2,
            cosine * np.sin(around) / 2,
            np.sqrt(0.75) * cosine,
        )
    )
    model = PTU().fit(flat)
    (seam,) = model.topology_.seams
    assert seam.kind == "glide"
    assert np.linalg.det(seam.turn) == pytest.approx(-1)
    assert seam.length == pytest.approx(TURN, rel=5e-3)
    tails, heads = seam.edges.T
    near = np.linalg.norm(model.embedding_[tails] - model.images(heads), axis=2).min(axis=0)
    edges = np.linalg.norm(flat[tails] - flat[heads], axis=1)
    np.testing.assert_allclose(near, edges, rtol=0.1)


def modulo(model, sources):
    """Distances in the embedding, the short way over the seams."""
    tiles = np.concatenate((model.embedding_[None], model.images()))
    return np.linalg.norm(model.embedding_[None, sources, None] - tiles[:, None], axis=3).min(0)


def test_a_cut_torus_lies_flat_and_its_distances_go_across():
    data = flat_torus(1500)
    model = PTU().fit(data.points)
    sources = np.arange(0, 1500, 50)
    exact = data.distances(sources)
    for found in (modulo(model, sources), model.distances(sources)):
        assert np.linalg.norm(found - exact) < 1e-3 * np.linalg.norm(exact)
    tails, heads = model.topology_.edges.T
    apart = np.linalg.norm(model.embedding_[tails] - model.embedding_[heads], axis=1)
    assert apart.min() > 0.6 * TURN
    near = np.linalg.norm(model.embedding_[tails] - model.images(heads), axis=2).min(axis=0)
    np.testing.assert_allclose(near, exact_edges(data, tails, heads), rtol=0.1)
    assert model.scores()["local distortion"].max() < 0.1


def exact_edges(data, tails, heads):
    pairs = zip(tails, heads, strict=True)
    return np.array([data.distances([tail])[0, head] for tail, head in pairs])


def test_new_points_at_the_seam_are_on_one_side():
    angle, height, points = cylinder(2000)
    model = PTU().fit(points[:1500])
    placed = model.transform(points[1500:])
    tiles = np.concatenate((placed[None], model._fitted.images(placed)))
    shown = np.linalg.norm(model.embedding_[None, None] - tiles[:, :, None], axis=3).min(axis=0)
    apart = np.abs(angle[1500:, None] - angle[None, :1500])
    exact = np.hypot(np.minimum(apart, TURN - apart), height[1500:, None] - height[None, :1500])
    assert np.abs(shown - exact).max() < 0.03
    back = model.inverse_transform(placed)
    assert np.abs(back - points[1500:]).max() < 0.03


def test_angles():
    angle, points = ring()
    for n_components in (1, 2):
        found = PTU(n_components).fit(points).intrinsic_coordinates_
        assert found.shape == (300, 1)
        turned = np.exp(1j * (found[:, 0] - angle)), np.exp(1j * (found[:, 0] + angle))
        assert max(abs(one.mean()) for one in turned) > 0.99
    angle, height, points = cylinder()
    around, along = PTU().fit(points).intrinsic_coordinates_.T
    assert np.abs(np.corrcoef(along, height)[0, 1]) > 0.9999
    turned = np.exp(1j * (around - angle)), np.exp(1j * (around + angle))
    assert max(abs(one.mean()) for one in turned) > 0.9999
    plain = PTU().fit(swiss_roll(500).points)
    assert plain.intrinsic_coordinates_.shape == (500, 2)


def test_a_ring_has_room_in_the_plane():
    _, points = ring()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PTU(2).fit(points)
    assert len(model.images()) == 0
    assert model.topology_.name == "a ring"
    ends = model.embedding_[model.topology_.edges]
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max() < 0.7


def test_what_is_asked_for():
    points = flat_torus(800).points
    with pytest.warns(UserWarning, match="closes upon itself along 2 directions: periods"):
        cut = PTU().fit(points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        left = PTU(seams="leave").fit(points)
        roomy = PTU(4, intrinsic_dim=2).fit(points)
        asked = PTU(4, intrinsic_dim=2, seams="cut").fit(points)
    assert len(cut.images([0])) == 8
    assert len(left.images([0])) == len(roomy.images([0])) == 0
    assert left.topology_.name == "a torus"
    assert len(asked.images([0])) == 8
    with pytest.warns(UserWarning, match="closed like a sphere"):
        PTU().fit(sphere(800).points)
    with pytest.raises(ValueError, match="seams='tear' is not known"):
        PTU(seams="tear").fit(points)


def test_a_curved_sheet_is_cut_only_if_asked(monkeypatch):
    """No cut lays a torus of revolution flat; one that is flat but noisy is cut."""
    rng = np.random.default_rng(0)
    around, across = rng.uniform(0, 2 * np.pi, (2, 1500))
    radius = 1 + 0.4 * np.cos(across)
    points = np.column_stack(
        (radius * np.cos(around), radius * np.sin(around), 0.4 * np.sin(across))
    )
    with pytest.warns(UserWarning, match=r"but is curved, so that no cut lays it flat"):
        model = PTU().fit(points)
    assert model.topology_.name == "a torus"
    assert len(model.images([0])) == 0
    assert len(PTU(seams="cut").fit(points).images([0])) > 0
    monkeypatch.setattr(cutting, "_SAME", 0)  # looked at, though periods are the same
    with pytest.warns(UserWarning, match="is cut open there"):
        noisy = PTU().fit(cylinder(noise=0.1)[2])
    assert len(noisy.images([0])) > 0


@pytest.mark.parametrize("seed", range(4))
def test_what_jumps_closes_nothing(seed):
    """Of few points on a roll, or with noise, windings are joined; edges there carry nothing."""
    model = PTU(landmarks=30).fit(swiss_roll(200, seed=seed).points)
    assert not model.topology_.seams
    noisy = PTU(landmarks=30).fit(swiss_roll(1000, noise=0.028, seed=[97, 28, 31, 0][seed]).points)
    assert not noisy.topology_.seams


def test_components_are_cut_apart():
    one = flat_torus(800, seed=1).points
    model = PTU(disconnected="separate").fit(np.concatenate((one, one[:700] + 20)))
    torn = model._fitted.as_given.torn
    assert {int(label) for label in model.component_labels_[torn[:, 0]]} == {0, 1}
    # Each lies flat by itself.
    assert model.scores()["local distortion"].max() < 0.2


def test_many_points_in_an_order_of_their_own():
    data = flat_torus(21_000)
    model = PTU(landmarks=60).fit(data.points)
    sources = np.arange(0, 21_000, 1000)
    exact = data.distances(sources)
    assert np.linalg.norm(modulo(model, sources) - exact) < 2e-3 * np.linalg.norm(exact)


def test_a_saved_model_is_cut(tmp_path):
    model = PTU().fit(cylinder(600)[2])
    model.save(tmp_path / "model")
    loaded = PTU.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.images(), model.images())
    new = cylinder(100, seed=1)[2]
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert str(loaded.topology_) == str(model.topology_)


@pytest.mark.parametrize(
    ("points", "dim", "expected"),
    [
        (lambda: swiss_roll(1000).points, 2, True),
        (lambda: s_with_hole(1000).points, 2, True),
        (lambda: annulus(1000).points, 2, True),
        (lambda: 1e-6 * swiss_roll(1000).points, 2, True),
        (lambda: 1e6 * cylinder()[2], 2, False),
        (lambda: swiss_roll(300).points[:, :1], 1, True),
        (lambda: ring()[1], 1, False),
        (lambda: cylinder()[2], 2, False),
        (lambda: cylinder(n_points=400)[2], 2, False),
        (lambda: moebius_band(1500).points, 2, False),
        (lambda: flat_torus(1000).points, 2, False),
        (lambda: sphere(1000).points, 2, False),
        (three_torus, 3, False),
    ],
)
def test_sheets_that_lie_flat_are_not_looked_at_any_further(points, dim, expected, monkeypatch):
    looked_at = []

    def find(*part, **options):
        looked_at.append(part)
        return found(*part, **options)

    found = cutting.find_from
    monkeypatch.setattr(cutting, "find_from", find)
    model = PTU(dim, landmarks=50, seams="cut").fit(points())
    assert bool(looked_at) != expected
    assert expected == (model.topology_.has_rim and not model.topology_.seams)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
@pytest.mark.parametrize("seed", range(3))
def test_a_sheet_taken_for_a_curve_is_not_cut(seed):
    """Lines explain little of it, and what closes is chance."""
    points = swiss_roll(600, noise=0.2, seed=seed).points
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the sheet closes")
        model = PTU(1).fit(points)
    assert not model.topology_.is_sure


@pytest.mark.parametrize(
    ("points", "dim"),
    [(lambda: ring()[1], 1), (lambda: cylinder()[2], 2), (lambda: flat_torus(600).points, 2)],
)
def test_the_order_of_points_does_not_matter_for_the_cut(points, dim):
    points = points()
    order = np.random.default_rng(0).permutation(len(points))
    pair = [PTU(dim, landmarks=None, seams="cut").fit(each) for each in (points, points[order])]
    torn = [model.topology_.edges for model in pair]
    assert len(torn[0])
    cuts = [set(map(frozenset, edges.tolist())) for edges in (torn[0], order[torn[1]])]
    assert cuts[0] == cuts[1]
    np.testing.assert_allclose(*(model.eigenvalues_ for model in pair), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
@pytest.mark.parametrize("seed", range(6))
def test_a_cloud_is_no_ring(seed):
    """Denoised as a curve, it goes around somewhere, over edges that nothing is carried over."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(50, 100), rng.integers(2, 6)))
    model = PTU(1, denoise=3).fit(points)
    assert len(model.images()) == 0
    assert not (model.topology_.seams and model.topology_.is_sure)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
@pytest.mark.parametrize("seed", range(4))
def test_a_track_that_crosses_itself_has_no_period_of_nothing(seed):
    """At the crossing it may come back turned, which no ring does."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(-1.4, 1.4, 400)
    points = np.column_stack((turn**2, turn**3 - turn)) + 0.1 * rng.normal(size=(400, 2))
    seams = PTU(1).fit(points).topology_.seams
    assert all(seam.kind == "period" and seam.length > 0 for seam in seams)


def star(lengths, seed, noise=0.0):
    """Make points of straight arms that meet in one place."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, len(lengths), 200 * len(lengths))
    along = rng.uniform(0, 1, len(arm)) * np.asarray(lengths)[arm]
    return along[:, None] * np.eye(len(lengths))[arm] + noise * rng.normal(
        size=(len(arm), len(lengths))
    )


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
@pytest.mark.filterwarnings("ignore:the curve branches")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("lengths", "noise"), [((1, 1, 1), 0.0), ((1, 1, 1), 0.01), ((1, 1, 0.3), 0.0)]
)
def test_a_curve_that_parts_branches(lengths, noise, seed):
    points = star(lengths, seed, noise)
    model = PTU(1).fit(points)
    assert model.topology_.name == "a branching curve"
    assert "a branching curve" in model.diagnose().lines["shape"]
    bent = star(lengths[:2], seed, noise)
    copied = np.repeat(bent[:130], 3, axis=0)
    for curve in (bent, copied):
        assert PTU(1).fit(curve).topology_.name == "a curve"


def test_coordinates_of_branches_are_not_taken_in_silence():
    with pytest.warns(UserWarning, match="the curve branches, and points of several branches have"):
        assert len(PTU(1).fit(star((1, 1, 1), 0)).intrinsic_coordinates_) == 600


def test_what_is_closed_is_said_once():
    rng = np.random.default_rng(0)
    sphere_of_three = rng.normal(size=(1500, 4))
    sphere_of_three /= np.linalg.norm(sphere_of_three, axis=1)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        topology = PTU(4, intrinsic_dim=3).fit(sphere_of_three).topology_
    assert str(topology).startswith("closed, as no rim was found: no flat map can show it whole")
    around = PTU(1).fit(ring()[1]).topology_.seams[0]
    loops = tuple(replace(around, length=length, std=0.1) for length in (1, 2))
    two = replace(topology, dim=1, seams=loops, is_sure=True)
    assert str(two) == "a curve with 2 loops, 1 ± 0.1 and 2 ± 0.1 long"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("sizes", "is_closed"), [((201, 199), True), ((200, 200), False)])
def test_most_of_the_data_is_more_than_half(sizes, is_closed):
    balls = [sphere(size, seed=seed).points + 10 * seed for seed, size in enumerate(sizes)]
    geometry = PTU().fit(np.concatenate(balls))._fitted.geometry
    assert has_no_rim(geometry) == is_closed
    assert np.isfinite(length_of_most_rim(geometry)) == is_closed


@pytest.mark.filterwarnings("ignore")
def test_curves_have_no_rim_that_counts():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = PTU(n_components=1).fit(np.column_stack((np.cos(angle), np.sin(angle))))
    assert not has_no_rim(ring._fitted.geometry)
    assert length_of_most_rim(ring._fitted.geometry) == np.inf
