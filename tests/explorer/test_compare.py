"""A second embedding on the page of the first."""

import json

import numpy as np
import pytest
from sklearn.manifold import Isomap

from ptunfold import PTU, quality
from ptunfold.datasets import s_with_hole
from tests.explorer.looking import screen, wait_until
from tests.explorer.test_page import unpack


@pytest.fixture(scope="module")
def fit():
    data = s_with_hole(700)
    model = PTU().fit(data.points)
    places = Isomap(n_neighbors=8).fit_transform(data.points)
    return model, places


@pytest.fixture(scope="module")
def both(fit):
    model, places = fit
    turned = -3 * places[:, ::-1] + [50, 7]
    return model.explore(compare={"Isomap": turned, "itself": 2 * model.embedding_})


def test_the_other_lies_on_the_first(both):
    meta, arrays = unpack(both)
    assert meta["others"] == ["Isomap", "itself"]
    first, other, itself = (
        arrays[name].reshape(-1, 2) for name in ("embedding", "other0", "other1")
    )
    np.testing.assert_allclose(itself, first, atol=1e-4)
    np.testing.assert_allclose(
        np.linalg.norm(other - other.mean(axis=0)),
        np.linalg.norm(first - first.mean(axis=0)),
        rtol=1e-5,
    )
    # No turn brings it nearer.
    off = np.linalg.norm(other - first)
    for angle in (0.05, -0.05):
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        assert np.linalg.norm(other @ turn - first) > off
    assert off < 0.5 * np.linalg.norm(first)


def test_quality_beside_quality(both, fit):
    model, places = fit
    meta, _ = unpack(both)
    for name, said in (("neighbors_kept", "neighbours kept"), ("trustworthiness",) * 2):
        ours, theirs, _ = meta["quality"][said]
        exact = quality(None, places, distances=model.distances())
        assert theirs == pytest.approx(getattr(exact, name), abs=0.05)
        assert ours > theirs
    ours, theirs, same = meta["quality"]["stress"]
    assert ours < 0.02 < theirs
    assert same == pytest.approx(ours, abs=1e-6)


def test_the_slider_moves_the_points(opened, both, screenshots):
    tab = opened(both)
    _, arrays = unpack(both)
    slider = tab.locator("#share")
    start = screen(tab, "right")
    left = screen(tab, "left")
    tab.evaluate("ptunfold.select([1, 2, 3])")
    slider.focus()
    slider.press("End")
    end = screen(tab, "right")
    assert tab.locator("#right-title").inner_text() == "embedding: Isomap"
    # Where it is told to be, as PTU's picture is.
    ones = np.column_stack((arrays["embedding"].reshape(-1, 2), np.ones(700)))
    to_screen, *_ = np.linalg.lstsq(ones, start, rcond=None)
    wanted = np.column_stack((arrays["other0"].reshape(-1, 2), np.ones(700))) @ to_screen
    np.testing.assert_allclose(end, wanted, atol=0.1)
    box = tab.locator("#right").bounding_box()
    inside = (end > [box["x"], box["y"]]) & (
        end < [box["x"] + box["width"], box["y"] + box["height"]]
    )
    assert inside.all()  # there is room for both
    tab.screenshot(path=screenshots / "explorer-compare.png")
    tab.evaluate("ptunfold.explorer.compare.set(0.5)")
    np.testing.assert_allclose(screen(tab, "right"), 0.5 * (start + wanted), atol=0.1)
    assert "from PTU to Isomap" in tab.locator("#right-title").inner_text()
    assert tab.evaluate("ptunfold.selection()") == [1, 2, 3]
    np.testing.assert_allclose(screen(tab, "left"), left)
    # What is pointed at is found where it is now.
    point = int(np.linalg.norm(wanted - start, axis=1).argmax())
    place = 0.5 * (start + wanted)[point]
    found = tab.evaluate(
        "([x, y]) => ptunfold.explorer.views.right.pick(x, y)", [*(place - [box["x"], box["y"]])]
    )
    assert np.linalg.norm(0.5 * (start + wanted)[found] - place) < 2
    tab.select_option("#other", "itself")
    tab.evaluate("ptunfold.explorer.compare.set(1)")
    np.testing.assert_allclose(screen(tab, "right"), start, atol=0.1)


def test_the_button_moves_them_there_and_back(opened, both):
    share = "ptunfold.explorer.compare.share"
    tab = opened(both)
    tab.click("#move")
    assert tab.evaluate(share) == 1  # at once: motion is not wanted
    tab.keyboard.press("c")
    assert tab.evaluate(share) == 0
    tab = opened(both, moves=True)
    tab.evaluate(  # frames that come every 50 ms, however slow the machine is
        """() => {
        const begin = performance.now(), { compare } = ptunfold.explorer;
        const set = compare.set.bind(compare);
        let n = 0;
        window.requestAnimationFrame = (draw) => setTimeout(draw, 0, begin + 50 * ++n);
        window.seen = [];
        compare.set = (share) => { seen.push(share); set(share); };
    }"""
    )
    tab.click("#move")
    wait_until(tab, lambda: tab.evaluate("seen.at(-1) === 1"))
    seen = tab.evaluate("seen")
    assert any(0 < one < 1 for one in seen)
    assert seen == sorted(seen)


def test_the_table_tells_which_is_better(opened, both):
    tab = opened(both)
    rows = [row.split("\t") for row in tab.locator("#quality").inner_text().split("\n")]
    assert rows[0][1:] == ["neighbours kept", "trustworthiness", "stress"]
    assert [row[0] for row in rows[1:]] == ["PTU", "Isomap"]
    assert tab.locator("#quality tr:nth-child(2) .best").count() == 3
    assert tab.locator("#quality tr:nth-child(3) .best").count() == 0


def test_names_are_shown_as_text(opened, fit):
    model, places = fit
    name = "<img src=x onerror=alert(1)>"
    tab = opened(model.explore(compare={name: places}))
    assert tab.locator("#other-name").inner_text() == name
    assert tab.locator("#quality img, #compare img").count() == 0


def test_pages_without_another_have_no_slider(opened, page):
    tab = opened(page)
    assert tab.locator("#compare").is_hidden()
    assert tab.locator("#right-title").inner_text() == "embedding"


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_three_components_and_points_left_out(opened):
    rng = np.random.default_rng(0)
    points = np.vstack((rng.random((200, 4)), rng.random((20, 4)) + 50))
    with pytest.warns(UserWarning, match="20 points get NaN"):
        model = PTU(3, disconnected="largest", n_neighbors=8).fit(points)
    other = rng.random((220, 3))
    other[~np.isfinite(model.embedding_).all(axis=1)] = np.nan
    page = model.explore(compare={"noise": other})
    meta, arrays = unpack(page)
    assert np.isfinite(arrays["other0"].reshape(-1, 3)[:200]).all()
    json.dumps(meta["quality"], allow_nan=False)
    tab = opened(page)
    tab.evaluate("ptunfold.explorer.compare.set(1)")
    assert tab.evaluate("ptunfold.explorer.compare.share") == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((300, 2)), "compare is ndarray, not names with embeddings"),
        ({"a": np.zeros((299, 2))}, r"has shape \(299, 2\), but there are 300 points"),
        ({"a": np.zeros(300)}, r"has shape \(300,\)"),
        ({"a": np.zeros((300, 3))}, "has 3 coordinates a point, but the embedding has 2"),
        ({"a": np.full((300, 2), np.nan)}, "has no finite place for 300 of 300 points"),
        ({"a": [["x", "y"]] * 300}, "is no array of numbers"),
    ],
)
def test_mistakes_get_a_sentence(given, message):
    model = PTU().fit(s_with_hole(300).points)
    with pytest.raises(ValueError, match=message) as caught:
        model.explore(compare=given)
    assert "; pass" in str(caught.value)
