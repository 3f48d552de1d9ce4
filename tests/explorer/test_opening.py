"""What a page shows before anything is asked for: a path, a sentence, and panes that fold."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import flat_torus, s_with_hole, swiss_roll
from ptunfold.explorer.example import example_pair
from tests.explorer.looking import shade, wait_until


def test_opens_with_a_path_around_the_hole(opened, page, sheet):
    _, model = sheet
    tab = opened(page)
    start, end = tab.evaluate("ptunfold.explorer.ends")
    path = model.path(start, end)
    assert path.graph_length > 3 * path.distance
    assert tab.evaluate("ptunfold.explorer.path.nodes") == path.nodes.tolist()
    assert "An example" in tab.locator("#hint").inner_text()
    # Where motion is not wanted it is unfolded at once.
    assert tab.locator("#edge").input_value() == str(len(path.nodes) - 1)
    drawn = tab.locator("#plane .done").get_attribute("points")
    assert drawn.count(",") == len(path.nodes)
    assert tab.locator("#card").get_attribute("data-id") == str(end)


def test_the_straight_way_is_drawn_across_the_hole(opened, page):
    """In the embedding, where no points are: the line that the path comes to."""
    tab = opened(page)
    shades = """(() => {
        const e = ptunfold.explorer, v = e.views.right;
        const [a, b] = e.ends.map((id) => [v.screen[3 * id], v.screen[3 * id + 1]]);
        const at = (t) => [0, 1].map((k) => Math.round(v.dense * (a[k] + t * (b[k] - a[k]))));
        const copy = new OffscreenCanvas(v.over.width, v.over.height);
        const pen = copy.getContext("2d", { willReadFrequently: true });
        pen.drawImage(v.over, 0, 0);
        const shade = (_, i) => pen.getImageData(...at(0.3 + (0.4 * i) / 60), 1, 1).data[3];
        return Array.from({ length: 60 }, shade);
    })()"""
    seen = tab.evaluate(shades)
    assert max(seen) > 200
    assert min(seen) == 0  # between the dashes
    tab.evaluate("ptunfold.explorer.panel.isGraph = true; ptunfold.explorer.redecorate()")
    assert max(tab.evaluate(shades)) == 0


def test_on_a_phone_what_unfolds_is_seen_without_scrolling(opened, page):
    tab = opened(page, size=(390, 844), touch=True)
    box = tab.locator("#plane").bounding_box()
    assert box["y"] + box["height"] <= tab.locator("footer").bounding_box()["y"]


def test_the_path_unfolds_by_itself(opened, page):
    tab = opened(page, moves=True)
    slider = tab.locator("#edge")
    last = int(slider.get_attribute("max"))
    first = int(slider.input_value())
    assert first < last
    wait_until(tab, lambda: tab.evaluate("!ptunfold.explorer.panel.timer"))
    assert int(slider.input_value()) == last


def test_the_pair_that_differs_most():
    for data in (s_with_hole(1200), swiss_roll(1000)):
        model = PTU().fit(data.points)
        geometry = model._fitted.as_given
        pair = example_pair(geometry, model.embedding_, model.voids())
        assert pair == example_pair(geometry, model.embedding_, model.voids())
        rng = np.random.default_rng(0)
        others = [model.path(*ends) for ends in rng.integers(0, 1000, (200, 2)).tolist()]
        best = model.path(*pair)
        longer = [path.graph_length - path.distance for path in others]
        assert best.graph_length - best.distance > np.quantile(longer, 0.95)


@pytest.mark.filterwarnings("ignore:the sheet closes")
def test_cut_data_say_so_and_their_example_is_not_torn(opened):
    model = PTU().fit(flat_torus(800).points)
    tab = opened(model.explore())
    assert model.diagnose().lines["shape"] in tab.locator("#said").inner_text()
    assert tab.evaluate("ptunfold.explorer.path.nodes.length") > 2
    assert tab.evaluate("ptunfold.explorer.tears(ptunfold.explorer.views.right).size") == 0


def test_points_without_paths_have_no_example():
    rng = np.random.default_rng(0)
    model = PTU(disconnected="separate", n_neighbors=4).fit(
        np.vstack((rng.random((40, 2)), rng.random((30, 2)) + 9))
    )
    geometry = model._fitted.as_given
    start, end = example_pair(geometry, model.embedding_)
    assert geometry.labels[start] == geometry.labels[end]
    assert example_pair(geometry, np.full((70, 2), np.nan)) is None


def test_says_what_the_report_says_first(opened, page, sheet):
    _, model = sheet
    lines = model.diagnose().lines
    said = opened(page).locator("#said").inner_text()
    assert said == lines["data"]
    assert said.startswith("1,500 points of 3 features in 2 dimensions")


def test_panes_fold_and_that_is_remembered(opened, page):
    tab = opened(page)
    views = ("left", "right")

    def area():
        boxes = [tab.locator(f"#{view}").bounding_box() for view in views]
        return sum(box["width"] * box["height"] for box in boxes)

    before = area()
    button = tab.locator("#fold")
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert tab.locator("#path").is_hidden()
    assert button.get_attribute("aria-expanded") == "false"
    assert area() > 1.2 * before
    tab.reload()
    tab.evaluate("ptunfold.ready")
    assert tab.locator("#path").is_hidden()
    for view in views:
        assert shade(tab, view) > 0.02
    tab.keyboard.press("b")
    assert tab.locator("#path").is_visible()
    assert area() == before


def test_wide_embeddings_lie_below_the_data(opened, screenshots):
    rng = np.random.default_rng(0)
    for sides, is_stacked in (([6, 1], True), ([1, 1], False)):
        flat = rng.random((500, 2)) * sides
        angle = flat[:, 0] / 2
        points = np.column_stack((2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]))
        tab = opened(PTU().fit(points).explore())
        left, right = (tab.locator(f"#{view}").bounding_box() for view in ("left", "right"))
        assert (right["y"] >= left["y"] + left["height"]) == is_stacked
        assert (right["x"] >= left["x"] + left["width"]) != is_stacked
        tab.screenshot(path=screenshots / f"explorer-stacked-{is_stacked}.png")
        with tab.expect_download() as saving:
            tab.keyboard.press("p")
        from matplotlib.image import imread

        picture = imread(saving.value.path(), format="png")
        wanted = (
            (left["height"] + right["height"], left["width"])
            if is_stacked
            else (left["height"], left["width"] + right["width"])
        )
        band, wider = np.array(picture.shape[:2]) - wanted
        assert 80 < band < 140  # the caption below
        assert abs(wider) <= 2


@pytest.mark.parametrize("size", [(390, 844), (768, 1024), (1280, 720), (1920, 1080)])
def test_nothing_is_cut_off(opened, page, size):
    tab = opened(page, size=size)
    assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]
    for part in ("#ends", "#unfolding", "#play-bar"):
        tab.locator(part).scroll_into_view_if_needed()
        inner, outer = (tab.locator(one).bounding_box() for one in (part, "#path"))
        assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
    plane = tab.locator("#plane").bounding_box()
    assert plane["height"] > 40
    shown = tab.locator("#plane .done").bounding_box()
    assert shown["y"] >= plane["y"] - 1
    assert shown["y"] + shown["height"] <= plane["y"] + plane["height"] + 1


def test_data_that_are_no_sheet_say_so(opened):
    points = np.random.default_rng(0).normal(size=(300, 10))
    with pytest.warns(UserWarning, match="the data are no sheet"):
        model = PTU().fit(points)
    tab = opened(model.explore())
    assert "mostly lengths along the graph" in tab.locator("#said").inner_text()
    tab.fill("#from", "3")
    far = int(model.distances([3])[0].argmax())
    tab.fill("#to", str(far))
    tab.press("#to", "Enter")
    assert len(model.path(3, far).nodes) > 2
    assert "that along the graph" in tab.locator("#hint").inner_text()
    assert "straight" not in tab.locator("#so-far").inner_text()
    assert tab.locator("#plane .straight").count() == 0
