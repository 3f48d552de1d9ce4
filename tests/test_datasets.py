"""The generators: sizes, seeds, and truths against closed forms and fine paths."""

from urllib.error import URLError

import numpy as np
import pytest
from scipy.io import savemat

from ptunfold import PTU, build_graph, datasets, graph_distances
from ptunfold.datasets import images as image_sets
from ptunfold.datasets.landscapes import follow_geodesics
from tests.sentences import check_is_own

IMAGES = {"letter_a", "light_stage", "digit_zero", "faces"}
NAMES = sorted(set(datasets.__all__) - {"Dataset"} - IMAGES)
ROUNDED = {"two_hills": 1e-6, "curved_torus": 1e-6}  # geodesics that are followed numerically


@pytest.mark.parametrize("name", NAMES)
def test_size_seed_and_dimension(name):
    make = getattr(datasets, name)
    data = make(150, n_features=9, seed=5)
    assert data.points.shape == (150, 9)
    assert data.color.shape == (150,)
    np.testing.assert_array_equal(data.points, make(150, n_features=9, seed=5).points)
    assert not np.array_equal(data.points, make(150, n_features=9, seed=6).points)


@pytest.mark.parametrize("name", NAMES)
def test_geodesics_are_no_shorter_than_chords(name):
    data = getattr(datasets, name)(8 if name in ROUNDED else 150, seed=1)
    chords = np.linalg.norm(data.points[:, None] - data.points[None], axis=2)
    if data.true_rows is None:
        with pytest.raises(ValueError, match="true distances of these points are not known"):
            data.distances()
        return
    exact = data.distances()
    assert (exact >= chords - 1e-12 - ROUNDED.get(name, 0) * exact).all()
    np.testing.assert_allclose(exact, exact.T, rtol=ROUNDED.get(name, 1e-12), atol=1e-12)
    np.testing.assert_array_equal(data.distances([3, 4]), exact[[3, 4]])


@pytest.mark.parametrize("name", ["s_uneven", "s_with_hole", "swiss_roll"])
def test_sheets_are_isometric(name):
    """Close pairs are as far apart in space as in the unrolled plane."""
    data = getattr(datasets, name)(4000, seed=0)
    exact = data.distances()
    chords = np.linalg.norm(data.points[:, None] - data.points[None], axis=2)
    close = (exact > 0) & (exact < 0.01 * exact.max())
    assert close.sum() > 1000
    np.testing.assert_allclose(chords[close], exact[close], rtol=5e-3)


@pytest.mark.parametrize("name", ["s_with_hole", "swiss_roll"])
def test_holes_are_empty(name):
    data = getattr(datasets, name)(3000, hole=0.4)
    low, high = data.coordinates.min(axis=0), data.coordinates.max(axis=0)
    unit = (data.coordinates - low) / (high - low)
    assert not (np.abs(unit - 0.5) < 0.19).all(axis=1).any()


def test_density_varies():
    along = datasets.s_uneven(20_000, ratio=30).coordinates[:, 0]
    counts, _ = np.histogram(along, 40)
    assert 20 < counts[-1] / counts[0] < 45
    for ratio in (0.5, 1, np.inf):
        with pytest.raises(ValueError, match="will not do; pass a finite number above 1"):
            datasets.s_uneven(ratio=ratio)


def test_annulus_and_l_shape_are_not_full():
    radius = np.linalg.norm(datasets.annulus(1000, inner=0.6).coordinates, axis=1)
    assert 0.6 <= radius.min() < 0.62
    corner = (datasets.l_shape(1000).coordinates > 0.5).all(axis=1)
    assert not corner.any()


def test_torus_is_solid_and_has_a_hole():
    solid = datasets.filled_torus(2000, inner=0.4).coordinates
    from_ring = np.hypot(np.hypot(solid[:, 0], solid[:, 1]) - 1, solid[:, 2])
    assert from_ring.max() <= 0.4
    # Uniform in volume: half of it within 1/√2 of the thickness.
    assert np.mean(from_ring < 0.4 / np.sqrt(2)) == pytest.approx(0.5, abs=0.05)


def test_sphere_distances_are_arcs():
    data = datasets.spherical_cap(200, sampling="random")
    cosine = np.clip(data.points @ data.points.T, -1, 1)
    np.testing.assert_allclose(data.distances(), np.arccos(cosine), atol=1e-7)
    assert data.graph is None


def test_noise_is_along_the_normal_and_of_the_right_size():
    clean, noisy = datasets.petals(2000, seed=1), datasets.petals(2000, noise=0.03, seed=1)
    radius = np.linalg.norm(noisy.points, axis=1)
    assert np.std(radius) == pytest.approx(0.03, rel=0.1)
    np.testing.assert_allclose(noisy.points / radius[:, None], clean.points, atol=1e-12)
    clean, noisy = datasets.swiss_roll(2000), datasets.swiss_roll(2000, noise=0.02)
    shift = np.linalg.norm(noisy.points - clean.points, axis=1)
    box = np.ptp(clean.points, axis=0).max()
    assert np.sqrt(np.mean(shift**2)) == pytest.approx(0.02 * box, rel=0.1)
    np.testing.assert_array_equal(noisy.points[:, 1], clean.points[:, 1])


def test_triangulation_has_the_right_number_of_edges():
    data = datasets.spherical_cap(700)
    assert 2.7 * 700 < data.graph.nnz < 3 * 700 - 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.flat_square(n_features=1), "n_features=1 is too few"),
        (lambda: datasets.swiss_roll(hole=1), "hole=1 will not do; pass a finite number of at"),
        (lambda: datasets.swiss_roll(50, outliers=1.5), "outliers=1.5 will not do; .* up to 1"),
        (lambda: datasets.swiss_roll(50, noise=np.nan), "noise=nan will not do; .* at least 0"),
        (lambda: datasets.annulus(30, inner=1.5), "inner=1.5 will not do"),
        (lambda: datasets.filled_torus(30, inner=0), "inner=0 will not do; .* above 0"),
        (lambda: datasets.curved_torus(30, inner=np.inf), "inner=inf will not do"),
        (lambda: datasets.moebius_band(30, width="x"), "width='x' will not do"),
        (lambda: datasets.klein_bottle(30, thickness=-1), "thickness=-1 will not do"),
        (lambda: datasets.spherical_cap(30, angle=0), "angle=0 will not do; .* and up to 180"),
        (lambda: datasets.spherical_cap(2), "n_points=2 make no triangle; pass 3 or more"),
        (lambda: datasets.letter_a(5, size=8.0), "size=8.0 is not a positive whole number"),
        (lambda: datasets.letter_a(5, missing="no"), "missing='no' is neither True nor False"),
        (lambda: datasets.light_stage(5, height=0), "height=0 is not a positive whole number"),
        (lambda: datasets.spherical_cap(sampling="odd"), "sampling='odd' is not known"),
    ],
)
def test_impossible_requests(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    check_is_own(caught.value)


@pytest.mark.parametrize("name", [*NAMES, "letter_a", "light_stage", "digit_zero"])
@pytest.mark.parametrize("count", [0, -1, 2.5, "3", None, True])
def test_numbers_of_points_that_are_none(name, count):
    with pytest.raises(
        ValueError, match=r"is not a positive whole number; pass 1 or more"
    ) as caught:
        getattr(datasets, name)(count)
    check_is_own(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_dimensions_that_are_none(name):
    make = getattr(datasets, name)
    for seed in (-1, 1.5, "x"):
        with pytest.raises(ValueError, match="is no seed; pass a whole number") as caught:
            make(30, seed=seed)
        check_is_own(caught.value)
    for width in (4.5, "9", None):
        with pytest.raises(ValueError, match=r"n_features=.* is not a positive whole") as caught:
            make(30, n_features=width)
        check_is_own(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_sources_are_the_same_for_every_set(name):
    data = getattr(datasets, name)(6)
    if data.true_rows is None:
        return
    np.testing.assert_array_equal(data.distances([-1, 3]), data.distances(np.array([5, 3])))
    is_third = np.arange(6) % 3 == 0
    expected = data.distances([0, 3])
    np.testing.assert_array_equal(data.distances(is_third), expected)
    np.testing.assert_array_equal(data.distances(is_third.tolist()), expected)
    assert data.distances([]).shape == (0, 6)
    for wrong in (3, "x", [1.5], [[1, 2]], [12], [True]):
        with pytest.raises(ValueError, match=r"point indices|not exist; the indices") as caught:
            data.distances(wrong)
        check_is_own(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_sets_of_a_single_point(name):
    data = getattr(datasets, name)(3 if name == "spherical_cap" else 1)
    assert np.isfinite(data.points).all()
    if data.true_rows is not None:
        assert not np.diagonal(data.distances()).any()


def test_outliers_of_a_roll():
    clean, data = datasets.swiss_roll(1000), datasets.swiss_roll(1000, outliers=0.1)
    side = np.ptp(clean.points, axis=0).max()
    moved = np.abs(data.points - clean.points).max(axis=1)
    assert data.is_outlier.sum() == 100
    np.testing.assert_array_equal(moved > 0, data.is_outlier)
    assert 0.06 * side < moved.max() <= 0.08 * side
    assert clean.is_outlier.sum() == 0


def sphere_over_the_plane(x, y):
    height = np.sqrt(4 - x**2 - y**2)
    bends = [-1 / height - x**2 / height**3, -x * y / height**3, -1 / height - y**2 / height**3]
    return height, np.stack((-x, -y)) / height, np.stack(bends)


def test_followed_geodesics_are_those_of_a_sphere():
    plane = np.random.default_rng(0).uniform(-0.9, 0.9, (300, 2))
    points = np.column_stack((plane, sphere_over_the_plane(*plane.T)[0])) / 2
    for source in (0, 7):
        exact = 2 * np.arccos(np.clip(points @ points[source], -1, 1))
        found = follow_geodesics(sphere_over_the_plane, plane, source)
        np.testing.assert_allclose(found, exact, atol=1e-7)


def test_the_way_back_over_the_hills_is_as_long():
    data = datasets.two_hills(16, seed=4)
    there = data.distances()
    off = np.abs(there - there.T) / np.where(there > 0, there, 1)
    assert np.quantile(off, 0.99) < 1e-6
    assert off.max() < 2e-3  # next to where two ways are as long


def test_paths_along_the_hills_are_no_shorter():
    """Paths wander; only what chords cut off at the steepest places may make them shorter."""
    data = datasets.two_hills(1500, seed=2)
    along = graph_distances(build_graph(data.points, 30), [3, 9])
    exact = data.distances([3, 9])
    ratios = along[exact > 0.1] / exact[exact > 0.1]
    assert ratios.min() > 0.985
    assert 1 < np.median(ratios) < 1.02


def test_the_curved_torus_is_the_flat_one_bent():
    flat, bent = datasets.filled_torus(200), datasets.curved_torus(200)
    np.testing.assert_array_equal(bent.points[:, :3], flat.coordinates)
    np.testing.assert_allclose(bent.points[:, 3], 0.5 * (bent.points[:, :2] ** 2).sum(axis=1))
    assert (bent.distances([0]) >= flat.distances([0]) - 1e-3).all()


def test_the_flat_torus_is_flat_and_closed():
    data = datasets.flat_torus(400, seed=1)
    np.testing.assert_allclose(np.linalg.norm(data.points, axis=1), np.sqrt(2))
    exact = data.distances()
    assert np.pi < exact.max() <= np.pi * np.sqrt(2)
    chords = np.linalg.norm(data.points[:, None] - data.points[None], axis=2)
    close = (exact > 0) & (exact < 0.3)
    np.testing.assert_allclose(chords[close], exact[close], rtol=0.01)


@pytest.mark.parametrize(
    ("name", "is_orientable"),
    [("sphere", True), ("flat_torus", True), ("moebius_band", False), ("klein_bottle", False)],
)
def test_sides(name, is_orientable):
    model = PTU(landmarks=20, seams="leave").fit(getattr(datasets, name)(1500, seed=1).points)
    assert model.orientation_.is_orientable == is_orientable
    assert (model.orientation_.loop is None) == is_orientable


def test_letters():
    data = datasets.letter_a(60, size=40, seed=3)
    assert data.points.shape == (60, 1600)
    assert data.parameters.shape == (60, 2)
    assert data.points.min() >= 0
    assert 0.5 < data.points.max() <= 1
    # The ink grows with the square of the size, and does not depend on the angle.
    ink = data.points.sum(axis=1) / data.parameters[:, 1] ** 2
    assert ink.std() < 0.02 * ink.mean()
    # Upright letters are symmetric, with their apex above their feet.
    upright = data.points[np.argmin(np.abs(data.parameters[:, 0]))].reshape(40, 40)
    assert np.abs(upright - upright[:, ::-1]).mean() < 0.2 * upright.mean()
    assert (upright[:20].sum(axis=0) > 0.5).sum() < (upright[20:].sum(axis=0) > 0.5).sum()
    part = datasets.letter_a(60, size=40, missing=True, seed=3)
    np.testing.assert_array_equal(part.points, data.points[part.kept])
    assert 20 < len(part.kept) < 55
    assert not np.array_equal(data.points, datasets.letter_a(60, size=40, seed=4).points)


def test_lights():
    data = datasets.light_stage(50, height=60, width=45)
    assert data.points.shape == (50, 60 * 45 * 3)
    assert data.points.dtype == np.float32
    assert data.points.min() >= 0
    assert data.points.max() <= 1
    images = data.points.reshape(50, *data.shape).sum(axis=3)
    # Light from the right makes the right half brighter.
    balance = images[:, :, 22:].sum(axis=(1, 2)) - images[:, :, :22].sum(axis=(1, 2))
    assert np.corrcoef(balance, data.parameters[:, 0])[0, 1] > 0.9
    balance = images[:, :30].sum(axis=(1, 2)) - images[:, 30:].sum(axis=(1, 2))
    assert np.corrcoef(balance, data.parameters[:, 1])[0, 1] > 0.9


def test_digits_from_a_file_and_without(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (30, 28, 28), dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=np.arange(30) % 3)
    data = datasets.digit_zero(path=tmp_path / "mnist.npz")
    np.testing.assert_allclose(data.points, images[::3].reshape(10, -1) / 255)
    assert data.shape == (28, 28)
    assert len(datasets.digit_zero(4, path=tmp_path / "mnist.npz").points) == 4
    np.savez(tmp_path / "other.npz", images=images)
    with pytest.raises(ValueError, match="has the arrays images; x_train and y_train are needed"):
        datasets.digit_zero(path=tmp_path / "other.npz")
    np.save(tmp_path / "one.npy", images)
    np.savez(tmp_path / "ones.npz", x_train=images, y_train=np.ones(30))
    np.savez(tmp_path / "few.npz", x_train=images, y_train=np.zeros(5))
    wrong = {"one.npy": "is no npz file", "ones.npz": "no zeros", "few.npz": "one digit for each"}
    for name, message in wrong.items():
        with pytest.raises(ValueError, match=message) as caught:
            datasets.digit_zero(path=tmp_path / name)
        check_is_own(caught.value)
    with pytest.raises(FileNotFoundError):
        datasets.digit_zero(path=tmp_path / "none.npz")

    def refuse(*args, **options):
        raise URLError("no network")

    monkeypatch.setattr(image_sets, "fetch_openml", refuse)
    assert datasets.digit_zero().points.shape == (178, 64)


def test_faces_from_a_file_and_without(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.random((4096, 7))
    savemat(tmp_path / "face_data.mat", {"images": images, "poses": rng.random((2, 7))})
    data = datasets.faces(tmp_path / "face_data.mat")
    np.testing.assert_array_equal(data.points, images.T)
    assert data.parameters.shape == (7, 2)
    assert data.shape == (64, 64)
    savemat(tmp_path / "other.mat", {"faces": images})
    with pytest.raises(ValueError, match="has the arrays faces; images is needed"):
        datasets.faces(tmp_path / "other.mat")
    whole = (tmp_path / "face_data.mat").read_bytes()
    broken = (b"", b"a,b\n1,2\n" * 50, b"MATLAB 7.3 MAT-file" + bytes(105) + b"\0\2IM")
    for content in (*broken, whole[:200], whole[: len(whole) // 2]):
        (tmp_path / "broken.mat").write_bytes(content)
        with pytest.raises(ValueError, match=r"broken\.mat is no MAT-file that SciPy reads; pass"):
            datasets.faces(tmp_path / "broken.mat")
    assert datasets.faces().points.shape == (1797, 64)
