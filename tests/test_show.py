"""Figures: something is drawn, where it belongs."""

import warnings

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgba

from ptunfold import PTU, show
from ptunfold.datasets import (
    flat_torus,
    letter_a,
    light_stage,
    s_with_hole,
    spherical_cap,
    swiss_roll,
)
from ptunfold.explorer.palette import CYCLIC, DIVERGING, GAP, KINDS, OTHERS
from tests.sentences import check_is_own


@pytest.fixture(autouse=True)
def no_figures_left():
    plt.close("all")  # examples of figures leave some
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sheet():
    return s_with_hole(400)


@pytest.fixture(scope="module")
def model(sheet):
    return PTU().fit(sheet.points)


def offsets(ax):
    return np.asarray(ax.collections[0].get_offsets())


def test_embedding(model, sheet):
    ax = show.embedding(model, sheet.color)
    np.testing.assert_array_equal(offsets(ax), model.embedding_)
    np.testing.assert_array_equal(ax.collections[0].get_array(), sheet.color)
    assert ax.get_aspect() == 1
    _, given = plt.subplots()
    assert show.embedding(model.embedding_, ax=given, s=3) is given
    assert given.collections[0].get_sizes() == [3]
    show.embedding(model.embedding_[:, :1])


WORDS = np.array(["T cell", "B cell", "0"])[np.arange(400) % 3]


@pytest.mark.parametrize(
    "words",
    [
        WORDS.tolist(),
        WORDS,
        WORDS.astype(object),
        pd.Series(WORDS, index=np.arange(400) + 7),
        pd.Series(WORDS, dtype="category"),
        pl.Series(WORDS.tolist()),
    ],
    ids=["list", "array", "objects", "Series", "categories", "polars"],
)
def test_words_are_kinds_with_a_legend(model, sheet, words):
    for ax in (show.embedding(model, words), show.data(sheet.points, words)):
        named = {
            text.get_text(): to_hex(line.get_color())
            for text, line in zip(
                ax.get_legend().get_texts(), ax.get_legend().get_lines(), strict=True
            )
        }
        assert list(named) == ["0", "B cell", "T cell"]
        assert list(named.values()) == KINDS[:3]
    drawn = show.embedding(model, words).collections[0].get_facecolors()
    assert [to_hex(color) for color in drawn] == [named[word] for word in WORDS]


def test_orders_gaps_and_numbers_of_kinds(model):
    sizes = pd.Categorical(["small", None, "large", "small"] * 100, ["small", "large", "huge"])
    ax = show.embedding(model, pd.Series(sizes))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["small", "large"]
    assert to_hex(ax.collections[0].get_facecolors()[1]) == GAP
    many = [f"kind {i % 25}" for i in range(400)]
    ax = show.embedding(model, many)
    assert len(np.unique(ax.collections[0].get_facecolors(), axis=0)) == len(KINDS)
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "6 others"
    few = show.embedding(model, ["rare"] + [f"kind {i % 25}" for i in range(399)])
    assert to_hex(few.collections[0].get_facecolors()[0]) == OTHERS
    assert show.embedding(model, many, cmap="viridis").get_legend() is None
    ax = show.embedding(model, WORDS, cmap="Set1")
    assert to_hex(ax.collections[0].get_facecolors()[2]) == to_hex(plt.get_cmap("Set1")(0))
    is_even = np.arange(400) % 2 == 0
    assert len(show.embedding(model, is_even).get_legend().get_texts()) == 2
    two = show.embedding(model, ["0", "1"] * 200)
    assert to_hex(two.collections[0].get_facecolors()[1]) == KINDS[1]
    with pytest.raises(ValueError, match="one value for each"):
        show.embedding(model, WORDS[:7])


def test_scales(model):
    turn = np.linspace(-7, 7, 400)
    ax = show.embedding(model, turn, scale="diverging")
    drawn = ax.collections[0]
    assert drawn.get_clim() == (-7, 7)
    assert to_hex(drawn.cmap(0.0)) == DIVERGING[0]
    for color, scale in ((turn, 2 * np.pi), (pd.Series(turn % 6.283, name="phase"), None)):
        drawn = show.data(np.random.default_rng(0).random((400, 3)), color, scale=scale)
        drawn = drawn.collections[0]
        assert to_hex(drawn.cmap(1.0)) == CYCLIC[0] == CYCLIC[-1]
        assert np.ptp(drawn.get_clim()) == pytest.approx(2 * np.pi)
        np.testing.assert_allclose(np.cos(drawn.get_array()), np.cos(color), atol=1e-9)
    digits = pd.Series(np.arange(400) % 10, name="digit")
    assert len(show.embedding(model, digits).get_legend().get_texts()) == 10
    assert show.embedding(model, digits, scale="sequential").get_legend() is None
    norm = mpl.colors.LogNorm(1, 9)
    assert show.embedding(model, turn, scale="diverging", norm=norm).collections[0].norm is norm
    with pytest.raises(ValueError, match="the scale of color is 'rainbow'; pass one of kinds,"):
        show.embedding(model, turn, scale="rainbow")
    with pytest.raises(ValueError, match="for numbers and words"):
        show.embedding(model, scale="cyclic")


def test_a_legend_is_within_the_figure():
    places = np.random.default_rng(0).uniform(-1, 1, (300, 2)) * [1.15, 1]
    ax = show.embedding(places, [f"the kind {i % 10}" for i in range(300)])
    ax.figure.canvas.draw()
    box = ax.get_tightbbox(ax.figure.canvas.get_renderer())
    assert box.x0 >= 0
    assert box.x1 <= ax.figure.bbox.width


def test_colours_and_numbers_are_drawn_as_they_are(model):
    ax = show.embedding(model, ["red", "#00ff00"] * 200)
    assert ax.get_legend() is None
    assert to_hex(ax.collections[0].get_facecolors()[1]) == "#00ff00"
    ax = show.embedding(model, np.array([*range(399), None], dtype=object))
    assert ax.get_legend() is None
    np.testing.assert_array_equal(ax.collections[0].get_array()[:399], np.arange(399))
    ax = show.embedding(model, np.full((400, 3), 0.2))
    assert ax.get_legend() is None


@pytest.mark.parametrize("n_features", [2, 3, 10])
def test_data(n_features):
    points = np.random.default_rng(0).random((50, n_features))
    ax = show.data(points, points[:, 0])
    assert ax.name == "3d"
    drawn = np.stack(ax.collections[0]._offsets3d).T
    assert drawn.shape == (50, 3)
    if n_features == 3:
        np.testing.assert_allclose(drawn, points)


def test_error(sheet):
    exact = sheet.coordinates
    off = exact @ [[0, 1], [-1, 0]] + 3
    off[7] += 0.5
    ax = show.error(off, exact)
    errors = ax.collections[0].get_array()
    assert np.argmax(errors) == 7
    assert errors[7] == pytest.approx(50 * np.sqrt(2) / np.ptp(exact, axis=0).max(), rel=0.05)
    assert show.error(off, exact, largest=0.01).collections[0].get_clim() == (0, 1)


def test_path(model):
    ax = show.path(model, 3, 200)
    path = model.path(3, 200)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), path.points)
    assert f"straight: {path.distance:.4g}" in ax.get_legend_handles_labels()[1]
    line = np.linspace(0, 1, 30)[:, None] * [1.0, 2.0]
    show.path(PTU(1, n_neighbors=2).fit(line), 0, 29)


def test_shepard_is_on_the_diagonal_where_distances_are_kept(model):
    ax = show.shepard(model)
    centres = np.asarray(ax.collections[0].get_offsets())
    assert np.abs(centres[:, 0] - centres[:, 1]).max() < 0.05 * centres.max()


def test_no_straight_line_where_planes_do_not_agree():
    with pytest.warns(UserWarning, match="mostly lengths along the graph"):
        model = PTU().fit(np.random.default_rng(0).normal(size=(200, 8)))
    ax = show.path(model, 0, 5)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said[1] == f"distance: {model.path(0, 5).distance:.4g}, as planes do not agree here"
    assert len(ax.lines[1].get_xdata()) == 0
    assert len(show.path(model, 5, 5).lines) == 2  # no way at all


def test_residual_variance_of_the_picture_itself():
    """Of data that are no sheet it is another picture than that of classical scaling."""
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="mostly lengths along the graph"):
        model = PTU().fit(rng.normal(size=(300, 8)))
    scaled, own = show.residual_variance(model, most=3).lines
    rows = model.distances()
    shown = np.linalg.norm(model.embedding_[:, None] - model.embedding_, axis=2)
    exact = 1 - np.corrcoef(rows.ravel(), shown.ravel())[0, 1] ** 2
    assert own.get_xdata() == [2]
    assert own.get_ydata()[0] == pytest.approx(exact, rel=0.05)
    assert own.get_ydata()[0] < 0.9 * scaled.get_ydata()[1]


def test_spectrum_and_residual_variance(model):
    heights = [bar.get_height() for bar in show.spectrum(model).patches]
    assert len(heights) == 10
    assert sum(heights[:2]) > 94
    left = show.residual_variance(model).lines[0].get_ydata()
    assert left[0] > 10 * left[1]
    assert left[1] < 1e-3
    cap = PTU().fit(spherical_cap(300).points)
    assert len(show.residual_variance(cap, most=4).lines[0].get_ydata()) == 4


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_shares_of_a_spectrum_are_of_the_whole(monkeypatch):
    points = np.random.default_rng(0).normal(size=(300, 10))
    model = PTU().fit(points)
    distances = model.distances()
    squares = np.square(0.5 * (distances + distances.T))
    away = np.eye(300) - 1 / 300
    values = np.linalg.eigvalsh(-0.5 * away @ squares @ away)[::-1]
    ax = show.spectrum(model, n_values=4)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, 100 * values[:4] / np.abs(values).sum(), rtol=1e-9)
    assert "sum of all |eigenvalues|" in ax.get_ylabel()
    monkeypatch.setattr("ptunfold.show._MOST_SOURCES", 100)
    few = [bar.get_height() for bar in show.spectrum(model).patches]
    assert 2.5 * heights[0] > few[0] > heights[0]


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
def test_points_that_were_left_out():
    points = swiss_roll(400).points
    points[:5] += 500
    model = PTU(disconnected="largest").fit(points)
    for draw in (show.embedding, show.shepard, show.spectrum, show.residual_variance):
        assert draw(model) is not None


@pytest.mark.parametrize("make", [letter_a, light_stage])
def test_no_image_lies_over_another(make):
    size = {"size": 16} if make is letter_a else {"height": 24, "width": 16}
    data = make(200, **size)
    ax = show.thumbnails(PTU().fit(data.points), data.points, data.shape)
    boxes = np.array([image.get_extent() for image in ax.images])
    assert len(boxes) > 20
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            apart_x = one[0] >= other[1] or other[0] >= one[1]
            apart_y = one[2] >= other[3] or other[2] >= one[3]
            assert apart_x or apart_y


def test_tile():
    with warnings.catch_warnings(action="ignore"):  # which says that it is cut
        torus = PTU().fit(flat_torus(600).points)
    ax = show.tile(torus, np.arange(600))
    copies, own, rings = ax.collections[:8], ax.collections[8], ax.collections[9:]
    for copy, image in zip(copies, torus.images(), strict=True):
        np.testing.assert_array_equal(copy.get_offsets(), image)
    np.testing.assert_array_equal(own.get_offsets(), torus.embedding_)
    np.testing.assert_array_equal(own.get_array(), np.arange(600))
    assert len(rings) == len(torus.topology_.seams) == 2
    for ring, seam, color in zip(rings, torus.topology_.seams, KINDS, strict=False):
        border = torus.embedding_[np.unique(seam.edges)]
        np.testing.assert_array_equal(ring.get_offsets(), border)
        assert to_hex(ring.get_edgecolors()[0]) == to_hex(color)
    _, given = plt.subplots()
    assert show.tile(torus, ax=given) is given


def test_tile_of_what_was_not_cut(model):
    with pytest.raises(
        ValueError, match=r"nothing was cut open, .* \(found: a sheet with 1 hole\);"
    ):
        show.tile(model)
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = PTU().fit(np.column_stack((np.cos(angle), np.sin(angle))))
    with pytest.raises(
        ValueError, match=r"\(found: closes upon itself .*\); draw it with"
    ) as caught:
        show.tile(ring)
    check_is_own(caught.value)
    with pytest.raises(ValueError, match="4 coordinates cannot be drawn"):
        show.tile(PTU(4, intrinsic_dim=2).fit(s_with_hole(200).points))


def test_words_that_look_like_mathematics():
    ax = show.embedding(np.random.default_rng(0).random((4, 2)), ["$\\bad$", "b", "a", "$"])
    ax.figure.canvas.draw()


def left_out():
    """Fit a sheet, of whose points the last forty have no place."""
    points = s_with_hole(300).points
    with warnings.catch_warnings(action="ignore"):
        model = PTU(disconnected="largest").fit(np.vstack((points, points[:40] * 0.3 + 50)))
    assert np.isnan(model.embedding_[300:]).all()
    return model


def test_images_and_errors_of_points_that_were_left_out():
    model, rng = left_out(), np.random.default_rng(0)
    ax = show.thumbnails(model, rng.random((340, 16)), (4, 4))
    assert np.isfinite([image.get_extent() for image in ax.images]).all()
    exact = np.full((340, 2), 7.0)  # of the others there may be a truth or none
    exact[:300] = model.embedding_[:300] @ [[0, 1], [-1, 0]]
    errors = show.error(model, exact).collections[0].get_array()
    assert len(errors) == 300
    assert errors.max() < 1e-9
    exact[5] = np.nan
    assert len(show.error(model, exact).collections[0].get_array()) == 299


@pytest.mark.parametrize(("scale", "least"), [(None, -1), ("diverging", -2), ("cyclic", -np.pi)])
def test_points_without_a_value_are_drawn(scale, least):
    rng = np.random.default_rng(0)
    points, values = rng.random((50, 3)), np.linspace(-1, 2, 50)
    values[::5], values[1] = np.nan, np.inf
    points[7] = np.nan  # no place: nothing to draw
    flat = show.embedding(points[:, :2], values, scale=scale)
    solid = show.data(points, values, scale=scale)
    for ax, n_drawn in ((flat, 50), (solid, 49)):
        ax.figure.canvas.draw()
        drawn = ax.collections[0]
        colors = drawn.to_rgba(drawn.get_array())
        assert len(colors) == n_drawn
        assert (colors == to_rgba(GAP)).all(axis=1).sum() == 11
        assert drawn.norm.vmin == pytest.approx(least, abs=0.2)
    assert show.embedding(points[:, :2], np.full(50, np.nan)).collections[0].get_array().mask.all()


def test_a_colour_of_ones_own_for_points_without_a_value():
    own = plt.get_cmap("viridis").with_extremes(bad="red")
    ax = show.embedding(np.eye(2), [0.5, np.nan], cmap=own)
    drawn = ax.collections[0]
    assert to_hex(drawn.to_rgba(drawn.get_array())[1]) == to_hex("red")


@pytest.mark.parametrize("n_components", [1, 3, 4])
def test_images_and_errors_of_any_number_of_coordinates(n_components):
    rng = np.random.default_rng(0)
    places = rng.random((60, n_components))
    ax = show.thumbnails(places, rng.random((60, 16)), (4, 4))
    assert ax.images
    np.testing.assert_array_equal(offsets(ax)[:, 0], places[:, 0])
    ax = show.error(places, places + 5)
    np.testing.assert_allclose(offsets(ax)[:, 0], places[:, 0] + 5)
    if n_components == 1:
        assert not offsets(ax)[:, 1].any()


def test_few_points_gaps_and_points_in_one_place():
    ten = np.random.default_rng(0).random((5, 10))
    assert np.shape(show.data(ten[:1]).collections[0]._offsets3d) == (3, 1)
    ten[2] = np.nan
    drawn = np.stack(show.data(ten).collections[0]._offsets3d)
    assert np.isfinite(drawn).all(axis=0).sum() == 4
    assert len(show.thumbnails(np.ones((3, 2)), np.zeros((3, 16)), (4, 4)).images) == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: show.embedding(PTU()), "this PTU is not fitted yet; call"),
        (lambda: show.shepard(PTU()), "this PTU is not fitted yet; call"),
        (lambda: show.spectrum(np.ones((9, 2))), "not known to ndarray; pass the fitted PTU"),
        (lambda: show.path(np.ones((9, 2)), 0, 1), "not known to ndarray; pass the fitted PTU"),
        (lambda: show.tile(np.ones((9, 2))), "not known to ndarray; pass the fitted PTU"),
        (lambda: show.embedding(np.ones(9)), r"the coordinates have shape \(9,\), but one row"),
        (lambda: show.data(np.ones((0, 3))), r"the points have shape \(0, 3\), but one row"),
        (lambda: show.data([["a", "b"]]), "the points are of type <U1; pass numbers"),
        (lambda: show.embedding(np.ones((9, 2)), np.ones(5)), "there are 9 points; pass one value"),
        (lambda: show.embedding(np.ones((9, 2)), 3), "color is of type int and shape"),
        (lambda: show.embedding(np.ones((9, 2)), np.ones((9, 2))), "pass one value for each of"),
        (lambda: show.thumbnails(np.ones((9, 2)), np.ones((9, 16)), (4, 5)), "are not 9 of shape"),
        (lambda: show.thumbnails(np.ones((9, 2)), np.ones((5, 16)), (4, 4)), "are not 9 of shape"),
        (lambda: show.thumbnails(np.ones((9, 2)), np.ones((9, 16)), (16,)), "are not 9 of shape"),
        (lambda: show.thumbnails(np.ones((9, 2)), np.ones((9, 4)), (2, 2), size=0), "size=0 is no"),
        (lambda: show.error(np.ones((9, 2)), np.ones((9, 3))), r"\(9, 3\) and the embedding"),
        (lambda: show.error(np.ones((9, 2)), np.ones((9, 2))), "are the same; pass several"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(draw, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        draw()
    check_is_own(caught.value)


def test_numbers_of_what_is_drawn(model):
    for draw in (
        lambda: show.shepard(model, n_sources=0),
        lambda: show.spectrum(model, n_values=0),
        lambda: show.residual_variance(model, most=0),
    ):
        with pytest.raises(ValueError, match="=0 is not a positive whole number; pass 1 or more"):
            draw()


def test_categories_of_numbers_are_kinds_in_their_order(model):
    sizes = pd.Categorical([3, 1, 2, None] * 100, [3, 2, 1], ordered=True)
    for color in (sizes, pd.Series(sizes)):
        ax = show.embedding(model, color)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["3", "2", "1"]
        drawn = [to_hex(one) for one in ax.collections[0].get_facecolors()[:4]]
        assert drawn == [KINDS[0], KINDS[2], KINDS[1], GAP]


@pytest.mark.parametrize(
    "words",
    [
        pd.date_range("2020-01-01", periods=400),
        pd.to_timedelta(np.arange(400), unit="D"),
        [f"a T cell of some kind that has a long name, the {i % 20}th" for i in range(400)],
    ],
    ids=["dates", "spans", "long words"],
)
def test_a_legend_leaves_room_for_the_points(model, words):
    ax = show.embedding(model, words)
    ax.figure.canvas.draw()  # matplotlib would warn
    assert ax.get_window_extent().width > 0.2 * ax.figure.bbox.width
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(shown)) == len(KINDS)


def test_gaps_in_numbers_give_no_warning(model):
    masked = np.ma.masked_less(np.arange(400.0), 3)
    show.embedding(model, masked).figure.canvas.draw()
    infinite = np.where(masked.mask, np.inf, masked.data)
    drawn = show.embedding(model, infinite, scale=7.0).collections[0].get_array()
    assert np.ma.count(np.ma.masked_invalid(drawn)) == 397


def test_names_in_digits_and_lists_are_words(model):
    """Long whole numbers were rounded to one, and of lists no set could be made."""
    n_points = len(model.embedding_)
    ids = 1234567890123456789 + np.arange(n_points) % 3
    words = [str(1234567890123456789 + row) for row in range(3)]
    masked = np.ma.MaskedArray(ids, np.arange(n_points) == 0)
    for values in (ids, ids.astype(object), ids.astype(np.uint64), masked):
        legend = show.embedding(model, values).get_legend()
        assert [text.get_text() for text in legend.get_texts()] == words
    lists = np.fromiter([[row % 2] for row in range(n_points)], object, n_points)
    legend = show.embedding(model, lists).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["[0]", "[1]"]
    assert show.embedding(model, np.arange(n_points) * 2**53).get_legend() is None  # which fit
