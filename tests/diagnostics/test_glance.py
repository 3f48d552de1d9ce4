"""A fitted model as a notebook shows it: a picture, what was found and a number, quickly."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from ptunfold import PTU
from ptunfold.datasets import flat_square, flat_torus, s_with_hole, spherical_cap
from ptunfold.diagnostics.stretch import distortion_at
from ptunfold.report import glance as glance_module


def dots(html):
    """Where the points are drawn, by their colours: (n_points, 2) each."""
    found = re.findall(r'<path stroke="(#\w+)" d="([^"]*)"/>', html)
    return {
        colour: np.array(re.findall(r"M(\d+) (\d+)h0", line), dtype=float) for colour, line in found
    }


def pieces():
    points = flat_square(300).points
    return np.concatenate((points, points + 9))


@pytest.mark.parametrize(
    ("points", "parameters"),
    [
        (s_with_hole(1000).points, {}),
        (flat_torus(1500).points, {}),  # with edges that are torn
        (pieces(), {}),  # with bridges
        (pieces(), {"disconnected": "separate"}),
        (s_with_hole(500).points, {"n_components": 1}),  # a direction that is not shown
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_distortion_at_some_points_is_that_of_all(points, parameters):
    model = PTU(**parameters).fit(points)
    fitted, all_of_them = model._fitted, model.stretch().distortion
    geometry = fitted.geometry
    nodes = np.random.default_rng(0).permutation(len(points))[:200]
    some = distortion_at(nodes, geometry, fitted.embedding)
    np.testing.assert_allclose(some, all_of_them[geometry.to_input(nodes)], rtol=1e-9)


def test_it_says_what_the_report_says():
    model = PTU().fit(spherical_cap(1200).points)
    html, found = model._repr_html_(), model.stretch()
    assert f"off by <b>{found.median - 1:.0%}</b> at the median point" in html
    assert f"by more than 10% at {found.share:.0%} of the points." in html
    assert "distances are unfolded." in html
    assert "1,200 points of 3 features" in html
    assert "diagnose()" in html


def test_the_picture_is_the_embedding():
    model = PTU().fit(s_with_hole(900).points)
    drawn = np.concatenate(list(dots(model._repr_html_()).values()))
    assert len(drawn) == 900
    wide, high = (np.ptp(model.embedding_, axis=0) / np.ptp(drawn, axis=0)).tolist()
    assert wide == pytest.approx(high, rel=0.02)  # as long as it is wide
    assert drawn.min() >= 0
    # Up is up.
    units = (model.embedding_ - model.embedding_.min(axis=0)) / wide * [1, -1]
    units += drawn.min(axis=0) - units.min(axis=0)
    apart = np.abs(units[:, None] - drawn[None]).max(axis=2).min(axis=1)
    assert apart.max() < 2


def test_colours_tell_where_lengths_are_off():
    (flat,) = dots(PTU().fit(flat_square(400).points)._repr_html_())
    cap = dots(PTU().fit(spherical_cap(1200, angle=100).points)._repr_html_())
    assert flat not in cap or len(cap[flat]) < 100
    assert len(cap) > 1


def test_planes_that_do_not_agree_say_nothing_of_lengths():
    noise = np.random.default_rng(0).normal(size=(300, 12))
    with pytest.warns(UserWarning, match="the data are no sheet"):
        html = PTU().fit(noise)._repr_html_()
    assert "How true lengths are is unknown." in html
    assert list(dots(html)) == ["#8a8f98"]


def test_it_is_bounded():
    model = PTU(landmarks=20).fit(flat_square(10_000).points)
    html = model._repr_html_()
    assert "(2,000 of 10,000 looked at)" in html
    assert sum(map(len, dots(html).values())) == 2000
    assert len(html) < 100_000
    # Nothing that grows with the points was made for it.
    made = {"as_given", "topology", "orientation", "_embedding_std", "_extension"}
    assert not made & set(vars(model._fitted))
    assert "embedding_std_" in dir(model)
    assert "_embedding_std" not in vars(model._fitted)


def test_it_never_fails(monkeypatch):
    def fail(*_):
        raise RuntimeError("no picture")

    model = PTU().fit(s_with_hole(300).points)
    monkeypatch.setattr(glance_module, "_picture", fail)
    assert "300 points of 3 features" in model._repr_html_()
    assert "<svg" not in model._repr_html_().split("</style>")[-1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_points", [1, 2, 3, 5])
def test_few_points_and_equal_ones(n_points):
    rng = np.random.default_rng(0)
    for points in (rng.random((n_points, 3)), np.ones((n_points + 1, 2))):
        try:
            model = PTU(1).fit(points)
        except ValueError:
            continue
        html = model._repr_html_()
        assert "ptunfold-glance" in html
        assert "nan" not in html.split("ptunfold-glance")[-1]


def test_points_that_are_left_out_are_counted():
    points = np.concatenate((flat_square(300).points, flat_square(30).points + 9))
    with pytest.warns(UserWarning, match="only the largest"):
        model = PTU(disconnected="largest").fit(points)
    html = model._repr_html_()
    assert "30 points left out." in html
    assert sum(map(len, dots(html).values())) == 300


def test_elsewhere_it_is_as_scikit_learn_has_it():
    model = PTU().fit(s_with_hole(300).points)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    assert "<svg" not in PTU()._repr_html_().split("</style>")[-1]
    piped = make_pipeline(PTU()).fit(s_with_hole(300).points)
    assert "PTU" in piped._repr_html_()
    assert "topology" not in vars(piped[0]._fitted)
