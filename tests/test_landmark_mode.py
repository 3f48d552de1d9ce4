"""PTU with landmarks, with many points, and with little memory."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import PTU, geodesic, geodesic_distances, memory, pipeline, planning
from ptunfold.datasets import petals, s_uneven, s_with_hole, spherical_cap, swiss_roll
from ptunfold.embedding import pieces
from ptunfold.embedding.alignment import embedding_error
from ptunfold.engines import Engine
from ptunfold.geometry import stages
from ptunfold.geometry.decisions import resolve_auto
from ptunfold.geometry.texture import Texture
from ptunfold.needs import needs_of
from ptunfold.validation.settings import check_options


def difference(first, second):
    """Frobenius distance after the best rigid motion, relative to the second."""
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    left, _, right = np.linalg.svd(first.T @ second)
    return np.linalg.norm(first @ left @ right - second) / np.linalg.norm(second)


@pytest.mark.parametrize(
    ("make", "counts"), [(petals, (9, 19)), (s_uneven, (10, 20))], ids=["petals", "uneven S"]
)
@pytest.mark.parametrize("seed", range(3))
def test_few_landmarks_come_close_to_all_distances(make, counts, seed):
    points = make(1600 if make is petals else 2000, seed=seed).points
    full = PTU(landmarks=None).fit_transform(points)
    for count in counts:
        model = PTU(landmarks=count).fit(points)
        assert len(model.landmarks_) == count
        assert difference(model.embedding_, full) < 0.02


def test_both_directions_are_used():
    """On a sheet with uneven sampling one direction alone is off by more."""
    data = s_uneven(1000)
    model = PTU(landmarks=12).fit(data.points)
    rows = model.distances(model.landmarks_)
    np.testing.assert_allclose(rows[:, model.landmarks_], rows[:, model.landmarks_].T, rtol=1e-2)
    all_distances = geodesic_distances(data.points)
    np.testing.assert_allclose(rows, all_distances[model.landmarks_], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_flat_points_come_back_exactly(dtype):
    plane = np.random.default_rng(0).random((3000, 2))
    points = np.column_stack((plane, plane @ [0.3, 0.4])).astype(dtype)
    exact = points @ np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:2].T
    found = PTU(landmarks=15, n_jobs=2).fit_transform(points)
    assert found.dtype == dtype
    assert difference(found.astype(float), exact) < (1e-5 if dtype == np.float32 else 1e-9)


def test_ways_to_name_landmarks():
    points = s_with_hole(600).points
    assert len(PTU(landmarks=0.02).fit(points).landmarks_) == 12
    chosen = [5, 17, 100, 250, 330, 599]
    model = PTU(landmarks=chosen).fit(points)
    np.testing.assert_array_equal(model.landmarks_, chosen)
    mask = np.isin(np.arange(600), chosen)
    np.testing.assert_array_equal(PTU(landmarks=mask).fit(points).landmarks_, chosen)
    random = [
        PTU(landmarks=9, landmark_selection="random", random_state=seed).fit(points).landmarks_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(random[0], random[1])
    assert not np.array_equal(random[1], random[2])
    assert len(PTU(landmarks=None).fit(points).landmarks_) == 0
    assert len(PTU(landmarks=600).fit(points).landmarks_) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (2, "need between 3 and 600; 9 are a good start"),
        (601, "asks for 601 points"),
        (-0.5, "not known; pass a number"),
        (1.5, "not known"),
        ("some", "not known"),
        ([1, 2], "asks for 2 points"),
        ([1, 2, 600], "point 600 does not exist"),
        ([0.5, 1.0], "landmarks must be a 1-D list"),
        (True, "not known"),
    ],
)
def test_wrong_numbers_of_landmarks(wrong, message):
    with pytest.raises(ValueError, match=message):
        PTU(landmarks=wrong).fit(s_with_hole(600).points)


def test_wrong_choice():
    with pytest.raises(
        ValueError, match="landmark_selection='all' is not known; choose one of \"maxmin\""
    ):
        PTU(landmark_selection="all").fit(s_with_hole(100).points)


def test_components_share_the_landmarks():
    points = s_with_hole(900).points
    both = np.concatenate((points, points[:300] + [50, 0, 0], points[:8] + [100, 0, 0]))
    model = PTU(landmarks=40, n_neighbors=6, disconnected="separate").fit(both)
    parts = model.component_labels_[model.landmarks_]
    # The smallest component is embedded by all its distances.
    assert (np.bincount(parts) == [round(40 * 900 / 1208), round(40 * 300 / 1208)]).all()
    assert np.isfinite(model.embedding_).all()
    alone = PTU(landmarks=model.landmarks_[parts == 0], n_neighbors=6).fit(points)
    assert difference(model.embedding_[:900], alone.embedding_) < 1e-9
    with pytest.raises(ValueError, match="0 of the landmarks lie in a component of 300 points"):
        PTU(landmarks=[0, 1, 2, 3], n_neighbors=6, disconnected="separate").fit(both)
    with (
        pytest.warns(UserWarning, match="only the largest"),
        pytest.warns(UserWarning, match="1 of the 5 landmarks lie in parts of the data"),
    ):
        PTU(landmarks=[0, 1, 2, 3, 1000], n_neighbors=6, disconnected="largest").fit(both)
    with pytest.warns(UserWarning, match="only the largest"):
        largest = PTU(landmarks=40, n_neighbors=6, disconnected="largest").fit(both)
    assert (largest.landmarks_ < 900).all()
    assert np.isnan(largest.embedding_[900:]).all()


def test_a_component_of_copies_needs_no_landmarks():
    points = np.concatenate((s_with_hole(400).points, np.repeat([[50.0, 0, 0]], 30, axis=0)))
    model = PTU(landmarks=20, radius=5, disconnected="separate").fit(points)
    assert np.isfinite(model.embedding_).all()
    assert (model.landmarks_ < 400).all()
    assert np.ptp(model.embedding_[400:], axis=0).max() == 0


def test_files_in_the_cache_leave_room(monkeypatch, tmp_path):
    for name, text in {
        "memory.max": f"{4 << 30}",
        "memory.current": f"{4 << 30}",
        "memory.stat": f"anon 5\ninactive_file {3 << 30}\nslab 7",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_groups", lambda: [tmp_path])
    assert min(3 << 30, memory.psutil.virtual_memory().available) == memory.free_bytes()
    (tmp_path / "memory.stat").write_text("")
    assert memory.free_bytes() == 100_000_000


def test_auto_takes_landmarks_for_many_points_and_says_so(monkeypatch):
    points = swiss_roll(600).points
    monkeypatch.setattr(Engine, "most_full", 300)
    said = "at most 100 landmarks are used, because the distances between"
    with pytest.warns(UserWarning, match=said):
        model = PTU().fit(points)
    assert len(model.landmarks_) == 32  # of a sheet
    monkeypatch.setattr(pieces, "_SETTLED", 0.0)
    with pytest.warns(UserWarning, match=said):
        assert len(PTU().fit(points).landmarks_) == 100
    monkeypatch.undo()
    monkeypatch.setattr(Engine, "most_full", 300)
    with pytest.warns(UserWarning, match=said):
        bent = PTU().fit(spherical_cap(400, angle=60, sampling="random").points)
    assert len(bent.landmarks_) == 100


def test_auto_takes_landmarks_where_memory_is_short(monkeypatch):
    points = s_with_hole(1500).points
    monkeypatch.setattr(planning, "free_bytes", lambda: 30_000_000)
    with pytest.warns(UserWarning, match="need about [23][0-9] MB, and 30 MB are free"):
        assert len(PTU().fit(points).landmarks_) == 32


def test_what_does_not_fit_is_said_before_the_work(monkeypatch):
    points = s_with_hole(2000).points
    monkeypatch.setattr(pipeline, "build_geometry", None)
    monkeypatch.setattr(planning, "free_bytes", lambda: 10_000_000)
    with pytest.raises(MemoryError, match=r"all 2000 points need about \d+ MB, but 10 MB") as error:
        PTU(landmarks=None).fit(points)
    assert "pass landmarks=100, or float32 points" in str(error.value)
    monkeypatch.setattr(planning, "free_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryError, match="20 landmarks of 2000 points need about"):
        PTU(landmarks=20).fit(points.astype(np.float32))


def test_a_radius_that_joins_everything_is_said_before_the_work(monkeypatch):
    points = s_with_hole(2000).points.astype(np.float32)
    monkeypatch.setattr(planning, "free_bytes", lambda: 100_000_000)
    PTU(graph="radius", radius=0.4).fit(points)
    monkeypatch.setattr(pipeline, "build_geometry", None)
    with pytest.raises(MemoryError, match=r"need about 0\.\d GB, but 0\.1 GB are free"):
        PTU(graph="radius", radius=50.0, landmarks=None).fit(points)


def test_a_matrix_that_does_not_fit_is_refused(monkeypatch):
    points = s_with_hole(500).points
    model = PTU().fit(points)
    monkeypatch.setattr(planning, "free_bytes", lambda: 1_000_000)
    message = "from 500 to 500 points need 2 MB, but 1 MB are free; pass fewer sources"
    with pytest.raises(MemoryError, match=message):
        model.distances()
    monkeypatch.setattr(geodesic, "build_geometry", None)
    with pytest.raises(MemoryError, match=r"need 6 MB, but 1 MB are free; pass fewer sources"):
        geodesic_distances(points)


def test_free_memory_is_known():
    assert 0 < planning.free_bytes() < 1e15


@pytest.mark.parametrize("landmarks", [None, 12])
@pytest.mark.parametrize("n_features", [3, 20])
def test_an_order_of_its_own_is_not_seen_from_outside(monkeypatch, landmarks, n_features):
    data = swiss_roll(800, n_features=n_features, seed=4)
    points = np.random.default_rng(0).permutation(data.points)
    options = {"n_neighbors": 12, "prune": None}
    plain = PTU(landmarks=landmarks, **options).fit(points)
    monkeypatch.setattr(stages, "MOST_UNORDERED", 10)
    ordered = PTU(landmarks=landmarks, **options).fit(points)
    assert ordered._fitted.geometry.order is not None
    for name in ("indptr", "indices", "lengths"):
        np.testing.assert_array_equal(getattr(ordered.graph_, name), getattr(plain.graph_, name))
    planes = [m.frames_.vectors @ m.frames_.vectors.swapaxes(1, 2) for m in (plain, ordered)]
    np.testing.assert_allclose(planes[1], planes[0], atol=1e-9)
    np.testing.assert_allclose(ordered.frames_.residual, plain.frames_.residual, atol=1e-9)
    np.testing.assert_allclose(
        *(np.linalg.norm(m.connection_.steps, axis=1) for m in (ordered, plain)), rtol=1e-9
    )
    np.testing.assert_array_equal(ordered.shortcuts_, plain.shortcuts_)
    if landmarks is None:
        np.testing.assert_allclose(ordered.embedding_, plain.embedding_, atol=1e-8)
    assert difference(ordered.embedding_, plain.embedding_) < 0.02
    assert difference(ordered.embedding_, data.coordinates[[0]] * 0 + plain.embedding_) < 0.02
    np.testing.assert_array_equal(ordered.path(3, 700).nodes, plain.path(3, 700).nodes)
    assert ordered.path(3, 700).distance == pytest.approx(plain.path(3, 700).distance, rel=1e-9)
    np.testing.assert_allclose(ordered.distances([5, 9]), plain.distances([5, 9]), rtol=1e-9)
    np.testing.assert_allclose(ordered.distances(), plain.distances(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        geodesic_distances(points, sources=[4], **options), plain.distances([4]), rtol=1e-9
    )
    matrix = plain.graph_.to_sparse()
    again = PTU(landmarks=landmarks).fit(points, graph=matrix)
    np.testing.assert_allclose(again.embedding_, ordered.embedding_, atol=1e-8)
    new = points[:40] + 0.01
    np.testing.assert_allclose(
        ordered.inverse_transform(ordered.transform(new)),
        plain.inverse_transform(plain.transform(new)),
        atol=0.02,
    )


def test_messages_name_the_callers_points(monkeypatch):
    rng = np.random.default_rng(0)
    plane = np.column_stack((rng.random((300, 2)), np.zeros(300)))
    line = np.column_stack((3 + np.arange(20) / 20, np.zeros(20), np.zeros(20)))
    points = np.concatenate((plane, line))
    monkeypatch.setattr(stages, "MOST_UNORDERED", 10)
    with (
        pytest.warns(UserWarning, match="components"),
        pytest.raises(ValueError, match=r"neighbours of point 3[01]\d span 1 of"),
    ):
        PTU(n_neighbors=5, tangent_neighbors=4).fit(points)


def test_left_out_points_in_an_order_of_its_own(monkeypatch):
    points = s_with_hole(300).points
    both = np.concatenate((points[:20] + [50, 0, 0], points))
    monkeypatch.setattr(stages, "MOST_UNORDERED", 10)
    with pytest.warns(UserWarning, match="only the largest"):
        model = PTU(disconnected="largest").fit(both)
    assert (model.component_labels_[:20] == -1).all()
    assert np.isnan(model.embedding_[:20]).all()
    assert np.isfinite(model.embedding_[20:]).all()
    assert np.isnan(model.distances([30])[0, :20]).all()


def test_memory_of_the_wider_graph_is_planned():
    points = swiss_roll(1000).points
    plain = {"n_components": 2, "radius": None, "graph": "knn", "intrinsic_dim": 2}
    plain |= {"tangent_neighbors": "auto", "tangent": "auto"}
    plain |= {"step": "auto", "denoise": "auto", "prune": "auto", "disconnected": "bridge"}
    plain |= {"search": "auto", "n_jobs": 1, "coherence": "auto", "may_shrink": True}
    needed = []
    for k in ("auto", 10, 24):
        settings = check_options(points, n_neighbors=k, **plain)
        settled = resolve_auto(settings, Texture("smooth", 1.0), 1000)
        how = {"n_components": 2, "n_given": 0, "n_jobs": 1}
        needed.append(needs_of(points, settled, "smooth", **how).geometry)
    auto, ten, more = needed
    assert ten < auto == more


def test_as_many_places_as_coordinates():
    points = np.repeat([[0.0, 0, 0], [3, 4, 0]], 20, axis=0)
    embedding = PTU(landmarks=10).fit_transform(points)
    np.testing.assert_allclose(cdist(embedding, embedding), cdist(points, points), atol=1e-9)


@pytest.mark.parametrize("make", [swiss_roll, s_with_hole])
def test_sheets_of_many_points_are_embedded_by_landmarks(make):
    data = make(1500, seed=1)
    found, all_of_them = PTU().fit(data.points), PTU(landmarks=None).fit(data.points)
    assert len(found.landmarks_) == 64
    assert len(all_of_them.landmarks_) == 0
    ours, theirs = (
        embedding_error(model.embedding_, data.coordinates) for model in (found, all_of_them)
    )
    assert ours < 1.05 * theirs


def test_few_points_or_none_of_a_sheet_are_embedded_by_all_distances():
    rough = np.random.default_rng(0).normal(size=(1200, 8))
    assert len(PTU().fit(swiss_roll(900).points).landmarks_) == 0
    with pytest.warns(match="no sheet"):
        assert len(PTU().fit(rough).landmarks_) == 0


def test_landmarks_that_tell_too_little_are_given_up(monkeypatch):
    monkeypatch.setattr(pieces, "_SETTLED", 0.0)
    points = swiss_roll(1100).points
    found = PTU().fit(points)
    assert len(found.landmarks_) == 0
    np.testing.assert_array_equal(found.embedding_, PTU(landmarks=None).fit(points).embedding_)


def test_strained_pictures_are_those_of_all_distances(monkeypatch):
    monkeypatch.setattr(pieces, "is_strained", lambda *_, **__: True)
    assert len(PTU().fit(swiss_roll(1100).points).landmarks_) == 0


def test_each_large_component_has_its_landmarks():
    one = swiss_roll(1100, seed=0).points
    other = swiss_roll(600, seed=1).points + 1000
    few = 20 * np.random.default_rng(0).random((300, 3)) * [1, 1, 0] - 1000
    model = PTU(disconnected="separate").fit(np.concatenate((one, other, few)))
    owners = np.searchsorted([1100, 1700], model.landmarks_, side="right")
    np.testing.assert_array_equal(np.bincount(owners), [64, 64])
