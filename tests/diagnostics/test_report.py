"""Reports say what the single diagnostics say, advise what is right, and run nothing."""

import base64
import hashlib
import html
import io
import json
import pickle
import re
import sys
import warnings
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from ptunfold import PTU, Report, quality
from ptunfold.datasets import flat_torus, s_with_hole, sphere, spherical_cap, swiss_roll
from ptunfold.report.figures import figure
from ptunfold.report.words import number, percent, plural, with_error

SUBJECTS = (
    *("data", "transport", "sure", "shape", "holes", "curvature", "distortion", "rim", "distances"),
    *("neighbours", "eigenvalues", "advice"),
)


def fitted(points, **parameters):
    with warnings.catch_warnings(action="ignore"):
        return PTU(**parameters).fit(points)


@pytest.fixture(scope="module")
def sheet():
    return fitted(s_with_hole(1500).points)


@pytest.fixture(scope="module")
def report(sheet):
    return sheet.diagnose()


@pytest.fixture(scope="module")
def cap():
    return fitted(spherical_cap(1000, angle=60).points)


def test_ten_lines_or_so(report):
    lines = str(report).splitlines()
    assert [line.split()[0] for line in lines] == list(SUBJECTS)
    assert lines[0].endswith(
        "1,500 points of 3 features in 2 dimensions, texture smooth, in one piece"
    )
    assert "a sheet with 1 hole; two-sided" in lines[3]
    assert re.search(r"1, the largest of radius 1\.0\d around x0 = ", lines[4])
    assert lines[-1].endswith(
        "new points at voids()[0].samples would tell whether the hole is real"
    )
    assert "1500 points in 2 dimensions" in repr(report)
    with pytest.raises(FrozenInstanceError):
        report.texture = "rough"


def test_it_says_what_the_single_methods_say(sheet, report):
    said = report.as_dict()
    assert said["transport"]["coherence"] == sheet.transport_.coherence
    assert said["transport"]["explained"] == sheet.transport_.explained
    assert said["topology"]["said"] == str(sheet.topology_)
    assert said["topology"]["is_orientable"] == sheet.orientation_.is_orientable
    (void,) = sheet.voids()
    (told,) = said["holes"]["largest"]
    assert (told["radius"], told["missing_points"]) == (void.radius, void.n_missing)
    assert told["center"] == void.center.tolist()
    bent = sheet.curvature()
    assert said["curvature"]["total"] == bent.total
    assert said["curvature"]["bound"] == bent.bound
    assert said["curvature"]["median"] == pytest.approx(np.nanmedian(bent.values), rel=1e-12)
    stretched = sheet.stretch()
    assert said["distortion"]["median"] == stretched.median
    assert said["distortion"]["share_beyond_10_percent"] == stretched.share
    assert said["rim"]["points"] == sheet.rim().sum()
    assert said["rim"]["share"] == sheet.rim().mean()


def test_distances_are_judged_along_the_data(cap):
    report = cap.diagnose()
    all_ = quality(None, cap.embedding_, distances=cap.distances())
    assert report.quality.n_sources < all_.n_sources
    for name in ("residual_variance", "stress", "trustworthiness", "continuity", "neighbors_kept"):
        told = report.as_dict()["quality"][name]
        assert 0 < told["error"] < 0.02
        assert abs(told["value"] - getattr(all_, name)) < 4 * told["error"]
    # Straight distances would give another answer.
    straight = quality(cap._fitted.points, cap.embedding_)
    assert abs(straight.stress - all_.stress) > 20 * report.quality.errors["stress"]
    line = report.lines["distances"]
    assert re.fullmatch(
        r"residual variance \S+ ± \S+, stress \S+ ± \S+, Spearman \S+ ± \S+ "
        r"\(from 500 of 1,000 points\)",
        line,
    )


def test_eigenvalues_are_those_of_the_fit(cap):
    report = cap.diagnose()
    centred = -0.5 * np.square(cap.distances())
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    values = np.linalg.eigvalsh(0.5 * (centred + centred.T))[::-1]
    np.testing.assert_allclose(report.spectrum[:3], values[:3] / np.abs(values).sum(), rtol=0.1)
    assert report.gap == report.spectrum[1] / report.spectrum[2]
    assert 15 < report.gap < 40


def test_worst_places_are_the_worst_and_apart(cap):
    report = cap.diagnose()
    assert len(report.worst) == 3
    assert report.worst[0] == report.stretch.worst[0]
    places = cap.embedding_[list(report.worst)]
    lengths = np.linalg.norm(places[[0, 1, 2]] - places[[1, 2, 0]], axis=1)
    assert lengths.min() > 0.1 * np.ptp(cap.embedding_, axis=0).max()
    # Of the worst, those next to each other count once.
    by_place = np.argsort(cap.embedding_[:, 0])
    one_side = replace(report.stretch, worst=by_place, distortion=np.full(len(by_place), 2.0))
    first, second, _ = replace(report, stretch=one_side).worst
    assert first == by_place[0]
    assert np.linalg.norm(cap.embedding_[first] - cap.embedding_[second]) > 0.3
    flat = replace(report.stretch, distortion=np.ones(len(cap.embedding_)))
    assert replace(report, stretch=flat).worst == ()


def advice(points, **parameters):
    return fitted(points, **parameters).diagnose().advice


def test_advice_follows_what_is_wrong(report):
    rng = np.random.default_rng(0)
    flat = np.column_stack((rng.random((400, 2)), np.zeros(400)))
    assert advice(flat) == ()
    assert fitted(flat).diagnose().lines["advice"] == "nothing to change"
    (said,) = advice(spherical_cap(600, angle=60).points)
    assert "factor of 1.2" in said
    assert "atlas()" in said
    (said,) = advice(flat_torus(900).points)
    assert "cut open" in said
    (said,) = advice(sphere(700).points)
    assert "closed, so that no flat map shows them whole: see atlas()" in said
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    (said,) = advice(ring)
    assert said == "the data close upon themselves: topology_ has the periods"
    noise = rng.normal(size=(300, 12))
    assert advice(noise)[0] == (
        "distances are mostly along the graph: raise n_components or intrinsic_dim"
    )
    assert "there are 20 points only" in advice(flat[:20])[0]
    # The area around a point may be unknown, which is no curvature.
    few = fitted(swiss_roll(300).points).diagnose()
    areas = np.where(np.arange(300) == 7, np.nan, few.curvature.areas)
    few = replace(few, curvature=replace(few.curvature, areas=areas))
    few.curvature.std[:] = 0  # of all the rest rounding is known for sure
    assert not any("curved" in said for said in few.advice)


def test_planes_that_do_not_agree_say_nothing_of_lengths():
    noise = np.random.default_rng(0).normal(size=(300, 12))
    report = fitted(noise).diagnose()
    assert report.lines["distortion"].startswith("unknown, because the tangent planes do not agree")
    found = report.as_dict()["distortion"]
    assert found == {"median": None, "share_beyond_10_percent": None, "worst_points": []}
    drawn = figure(report).axes[0]
    assert "unknown" in drawn.get_title()
    assert not len(drawn.patches)
    assert [len(points.get_offsets()) for points in drawn.collections] == [300, 0]
    assert "unknown" not in fitted(swiss_roll(300).points).diagnose().lines["distortion"]


def test_what_has_no_further_dimension_is_shown_as_it_is():
    plane = np.random.default_rng(0).random((300, 2))
    assert "texture flat, shown as they are, in" in fitted(plane).diagnose().lines["data"]
    bent = np.column_stack((plane, plane[:, 0] ** 2))
    assert "as they are" not in fitted(bent).diagnose().lines["data"]


def test_further_coordinates_are_asked_for_where_they_count():
    rng = np.random.default_rng(0)
    flat = fitted(np.column_stack((rng.random((300, 2)), np.zeros(300)))).diagnose()
    (said,) = replace(flat, spectrum=np.array([0.5, 0.3, 0.15, 0.05])).advice
    assert (
        said == "a further coordinate would add 50% of what the last one does: raise n_components"
    )
    assert replace(flat, spectrum=np.array([0.6, 0.35, 0.05])).advice == ()
    assert replace(flat, spectrum=np.array([0.96, 0.02, 0.02])).advice == ()


def test_a_loop_is_no_hole_to_fill():
    """A Möbius band that is left closed lies around a hole of the picture alone."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 60, endpoint=False), (-0.3, 0, 0.31))
    radius = 2 + v * np.cos(u / 2)
    band = np.stack((radius * np.cos(u), radius * np.sin(u), v * np.sin(u / 2)), axis=-1)
    report = fitted(band.reshape(-1, 3), seams="leave").diagnose()
    assert report.voids
    assert report.lines["holes"].endswith("what the data close around may count as one")
    assert report.lines["shape"].endswith("(a Möbius band); one-sided")
    assert report.advice == (
        "the data close upon themselves: topology_ has the periods",
        "left becomes right along orientation_.loop",
    )


def test_advice_on_pieces():
    rng = np.random.default_rng(0)
    flat = np.column_stack((rng.random((300, 2)), np.zeros(300)))
    apart = np.concatenate((flat[:180], flat[180:] + 50))
    assert "in 2 pieces, distances between them hang on the bridges" in advice(apart)[0]
    assert "in 2 pieces, shown apart" in advice(apart, disconnected="separate")[0]
    left_out = fitted(apart, disconnected="largest").diagnose()
    assert left_out.advice[0].startswith("120 points left out")
    assert left_out.lines["data"].endswith("in one piece; 120 left out")
    assert left_out.as_dict()["pieces"] == 1
    assert fitted(apart).diagnose().as_dict()["piece_sizes"] == [180, 120]


def test_dimensions_that_are_not_shown():
    cube = np.random.default_rng(0).random((500, 3))
    report = fitted(cube, n_components=2, intrinsic_dim=3).diagnose()
    assert "3 dimensions are shown in 2: raise n_components to see them" in report.advice
    assert report.as_dict()["distortion"]["median"] == "infinite"
    assert "not shown at 100% of the points" in report.lines["distortion"]
    assert report.lines["holes"].startswith("unknown")


def test_a_tile_is_judged_across_its_cut():
    torus = fitted(flat_torus(700).points)
    report = torus.diagnose()
    assert report.is_cut
    assert report.lines["distances"].endswith("points, across the cut too)")
    assert report.quality.continuity < 0.99 < report.quality.trustworthiness
    # Within the tile nothing is missing.
    assert report.spectrum[:2].sum() > 0.99
    assert report.as_dict()["topology"]["periods"] == pytest.approx([2 * np.pi] * 2, rel=0.01)


def test_programs_read_it(report):
    said = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert said == report.as_dict()
    assert said["advice"] == list(report.advice)
    unknown = replace(report, quality=None, spectrum=np.empty(0)).as_dict()
    assert unknown["quality"] is None
    assert unknown["eigenvalues"]["gap"] is None


def test_points_keep_their_numbers_in_any_order(monkeypatch):
    points = spherical_cap(700, angle=60, sampling="random").points
    points = points[np.linalg.norm(points - [0.5, 0, 0.87], axis=1) > 0.25]
    plain = fitted(points).diagnose()
    monkeypatch.setattr("ptunfold.geometry.stages.MOST_UNORDERED", 0)
    ordered = fitted(points)
    assert ordered._fitted.geometry.order is not None
    report = ordered.diagnose()
    np.testing.assert_array_equal(report.is_rim, plain.is_rim)
    np.testing.assert_allclose(report.curvature.values, plain.curvature.values, rtol=1e-6)
    np.testing.assert_allclose(report.curvature.areas, plain.curvature.areas, rtol=1e-6)
    np.testing.assert_allclose(report.stretch.distortion, plain.stretch.distortion, rtol=1e-6)
    np.testing.assert_allclose(report.stretch.factors, plain.stretch.factors, rtol=1e-6)
    np.testing.assert_array_equal(report.stretch.worst[:10], plain.stretch.worst[:10])
    assert sorted(report.voids[0].rim) == sorted(plain.voids[0].rim)
    assert report.quality.stress == pytest.approx(plain.quality.stress, rel=1e-6)
    np.testing.assert_allclose(report.spectrum, plain.spectrum, rtol=1e-6, atol=1e-9)


def test_it_can_be_kept(report):
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


@pytest.mark.filterwarnings("ignore")
def test_names_are_words_and_nothing_else(tmp_path):
    name = "<script>alert('x')</script>\x1b[2J\ud800\n\"&"
    points = s_with_hole(900).points
    frame = pd.DataFrame(points, columns=pd.Index([name, "y", "z"], dtype=object))
    report = PTU().fit(frame).diagnose()
    assert "<script>alert('x')</script> [2J" in str(report)
    assert len(str(report).splitlines()) == len(SUBJECTS)
    assert "\x1b" not in str(report)
    report.save(tmp_path / "report.html", title=name)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for part in (page, report._repr_html_()):
        assert "<script" not in part.lower()
        assert "&lt;script&gt;" in part


def test_a_page_that_needs_and_runs_nothing(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    report.save(path, title="a sheet")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>a sheet</title>" in page
    for line in report.lines.values():
        assert html.escape(line) in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    style = re.search(r"<style>(.*?)</style>", page, flags=re.DOTALL)[1]
    seal = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; img-src data:; style-src 'sha256-{seal}'")
    bare = re.sub(r"base64,[A-Za-z0-9+/=]*", "", page)
    assert not re.search(r"https?://|<script|<link|\bstyle=|\bon\w+=", bare)
    pictures = re.findall(r'src="([^"]*)"', page)
    assert len(pictures) == 1
    assert pictures[0].startswith("data:image/png;base64,")
    image = Image.open(io.BytesIO(base64.b64decode(pictures[0].partition(",")[2])))
    assert image.size == (1100, 850)
    with pytest.raises(ValueError, match="there is no folder"):
        report.save(tmp_path / "nowhere" / "report.html")


def test_pictures_show_what_is_told(report):
    distortion, curvature, shepard, spectrum = figure(report).axes[:4]
    assert len(distortion.collections[1].get_offsets()) == 1500
    np.testing.assert_allclose(
        distortion.collections[1].get_array(), 100 * (report.stretch.distortion - 1)
    )
    ellipses = distortion.patches
    assert len(ellipses) == 30
    places = np.array([ellipse.center for ellipse in ellipses])
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
    assert apart.min() > 1.9 * ellipses[0].width / 2  # so that they can be told apart
    cross = curvature.lines[0]
    np.testing.assert_allclose(cross.get_xydata()[0], report.voids[0].center_embedding)
    assert len(curvature.lines[1].get_xydata()) == len(report.voids[0].samples)
    assert len(shepard.collections) == 1
    heights = [bar.get_height() for bar in spectrum.patches]
    np.testing.assert_allclose(heights, 100 * report.spectrum)


def test_ellipses_are_those_of_the_map(report):
    """An embedding that is twice as wide shows circles as ellipses that are."""
    wide = fitted(np.random.default_rng(0).random((500, 2)))
    stretched = replace(
        wide.diagnose().stretch,
        factors=np.tile([2.0, 1.0], (500, 1)),
        directions=np.tile([0.6, 0.8], (500, 1)),
    )
    for ellipse in figure(replace(wide.diagnose(), stretch=stretched)).axes[0].patches:
        assert ellipse.width == pytest.approx(2 * ellipse.height)
        assert ellipse.angle == pytest.approx(np.degrees(np.arctan2(0.8, 0.6)))


def test_without_matplotlib(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = report._repr_html_()
    assert "pictures need matplotlib; install it with pip install" in page
    assert "<img" not in page
    assert html.escape(report.lines["shape"]) in page


def test_words():
    assert [number(value) for value in (np.nan, -0.0, 1234.5)] == ["unknown", "0", "1.23e+03"]
    assert [percent(share) for share in (np.nan, 0, 0.0001, 0.004, 0.5, 0.996, 0.99999, 1)] == [
        *("unknown", "0%", "under 0.1%", "0.4%", "50%", "99.6%", "over 99.9%", "100%"),
    ]
    assert with_error(np.nan, 1) == "unknown"
    assert with_error(1.5, np.nan) == "1.5 ± unknown"
    assert with_error(6.74, 22) == "6.74 ± 22"
    assert with_error(1.5, 0) == "1.5"
    assert (plural(1, "place"), plural(2000, "place")) == ("1 place", "2,000 places")


def test_it_is_public_and_the_same_each_time(sheet, report):
    assert isinstance(report, Report)
    again = PTU(n_jobs=1).fit(s_with_hole(1500).points).diagnose()
    assert str(again) == str(report)
    with pytest.raises(ValueError, match="not fitted"):
        PTU().diagnose()
