"""The two views: hovering, selecting, moving."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.explorer.page import make_page
from tests.explorer.looking import alone, near, pixels, screen, shade, wait_until


def test_draws_both_views(opened, page, screenshots):
    tab = opened(page)
    assert tab.title() == "S with a hole – ptunfold"
    for view in ("left", "right"):
        assert 0.02 < shade(tab, view) < 0.9
    tab.screenshot(path=screenshots / "explorer.png")


def test_hovering_shows_the_right_point(opened, page, sheet):
    data, model = sheet
    tab = opened(page)
    for view in ("left", "right"):
        places = screen(tab, view)
        for point in alone(places, 5, tab.locator(f"#{view}").bounding_box()):
            tab.mouse.move(*places[point])
            tab.wait_for_selector(f'#card[data-id="{point}"]')
            card = tab.locator("#card").inner_text()
            assert f"point {point}" in card
            lines = card.split("\n")
            for name, value in (("arc", data.color), ("ptu0", model.embedding_[:, 0])):
                shown = float(lines[lines.index(name) + 1])
                assert shown == pytest.approx(value[point], rel=1e-5)


@pytest.mark.parametrize("view", ["left", "right"])
def test_lasso_and_rectangle_select_the_same_in_both_views(opened, page, view):
    tab = opened(page)
    places = screen(tab, view)
    centre = places[alone(places, 1, tab.locator(f"#{view}").bounding_box())[0]]
    corners = centre + 90 * np.array([[-1, -0.6], [0.9, -1], [0.8, 0.7], [0.1, 1]])
    tab.keyboard.down("Shift")
    tab.mouse.move(*corners[0])
    tab.mouse.down()
    for corner in (*corners[1:], corners[0]):
        tab.mouse.move(*corner, steps=5)
    tab.mouse.up()
    tab.keyboard.up("Shift")
    lassoed = tab.evaluate("ptunfold.selection()")
    from matplotlib.path import Path

    assert lassoed == np.flatnonzero(Path(corners).contains_points(places)).tolist()
    assert 3 < len(lassoed) < 1400
    # Faded in both views: one and the same array of colours tells which.
    shared = "ptunfold.explorer.views.left.tint.array === ptunfold.explorer.views.right.tint.array"
    assert tab.evaluate(shared)
    for name in ("left", "right"):
        tints = tab.evaluate(f"Array.from(ptunfold.explorer.views.{name}.tint.array)")
        full = np.flatnonzero(np.reshape(tints, (-1, 4))[:, 3] == 255)
        assert full.tolist() == lassoed
    assert tab.locator("#selection").inner_text() == f"{len(lassoed)} selected"

    tab.keyboard.press("r")
    low, high = centre - 60, centre + [70, 50]
    tab.mouse.move(*low)
    tab.mouse.down()
    tab.mouse.move(*high, steps=4)
    tab.mouse.up()
    wanted = np.flatnonzero(((places > low) & (places < high)).all(axis=1)).tolist()
    assert tab.evaluate("ptunfold.selection()") == wanted
    tab.keyboard.press("Escape")
    assert tab.evaluate("ptunfold.selection()") == []


def test_keyboard_moves_the_views(opened, page):
    tab = opened(page)
    for view in ("left", "right"):
        before = screen(tab, view)
        tab.focus(f"#{view}")
        for key in ("ArrowLeft", "ArrowUp", "+"):
            tab.keyboard.press(key)
            after = screen(tab, view)
            assert np.abs(after - before).max() > 5
            before = after


def test_dragging_turns_the_data(opened, page):
    tab = opened(page)
    tab.click("#clear")
    before = screen(tab, "left")
    tab.mouse.move(300, 300)
    tab.mouse.down()
    tab.mouse.move(380, 330, steps=4)
    tab.mouse.up()
    assert np.abs(screen(tab, "left") - before).max() > 20
    assert tab.evaluate("ptunfold.explorer.ends") == [-1, -1]  # a drag is no click


def test_tablet(opened, page, screenshots):
    tab = opened(page, size=(768, 1024))
    for name in ("left", "right", "path"):
        box = tab.locator(f"#{name}").bounding_box()
        assert box["width"] > 700
        assert box["height"] > 180
    assert tab.evaluate("document.documentElement.scrollWidth") <= 768
    tab.screenshot(path=screenshots / "explorer-tablet.png")


@pytest.mark.long
def test_a_million_points(opened, screenshots):
    rng = np.random.default_rng(0)
    flat = rng.random((1_000_000, 2)) * [4, 1]
    points = np.column_stack((np.sin(flat[:, 0]), flat[:, 1], np.cos(flat[:, 0])))
    page = make_page(points, flat, title="a million", names=["x", "y", "z"], columns=[])
    assert len(page.html) < 25e6
    tab = opened(page)
    assert "1,000,000 points" in tab.locator("#size").inner_text()
    for view in ("left", "right"):
        assert shade(tab, view) > 0.05
    # The whole embedding has a known shape, so a rectangle of the screen has a known content.
    ends = tab.evaluate(
        """() => [[0, 0], [4, 1]].map(([x, y]) => {
        const { positions, screen } = ptunfold.explorer.views.right;
        let best = 0;
        for (let i = 0; i < positions.length; i += 3) {
          const along = (k) => positions[k] * (x - 2) + positions[k + 1] * (y - 0.5);
          if (along(i) > along(best)) best = i;
        }
        return [screen[best], screen[best + 1]];
    })"""
    )
    box = tab.locator("#right").bounding_box()
    (left, bottom), (right, top) = np.array(ends) + [box["x"], box["y"]]
    low = np.array([0.3 * left + 0.7 * right, 0.5 * (bottom + top)])
    high = np.array([right + 10, bottom + 10])
    tab.keyboard.press("r")
    tab.mouse.move(*low)
    tab.mouse.down()
    tab.mouse.move(*high, steps=2)
    tab.mouse.up()
    chosen = np.array(tab.evaluate("ptunfold.selection()"))
    wanted = np.flatnonzero((flat[:, 0] > 0.7 * 4) & (flat[:, 1] < 0.5))
    assert len(np.setxor1d(chosen, wanted)) < 0.02 * len(wanted)  # a pixel at the edges
    tab.screenshot(path=screenshots / "explorer-million.png")


def test_what_is_pointed_at_is_ringed_in_both_views(opened, page):
    tab = opened(page)
    tab.click("#clear")
    tab.evaluate("ptunfold.explorer.hover(40)")
    for view in ("left", "right"):
        assert near(tab, view, "over", 40)[..., 3].max() > 200
    tab.evaluate("ptunfold.explorer.hover(-1)")
    for view in ("left", "right"):
        clear = False
        for _ in range(10):  # a canvas may be read a frame late
            clear = clear or not pixels(tab, view, "over")[..., 3].any()
        assert clear
    assert tab.locator("#card").get_attribute("data-id") == "-1"


def test_selection_fades_the_rest_in_both_views(opened, page):
    tab = opened(page)
    before = {view: pixels(tab, view, "canvas") for view in ("left", "right")}
    tab.evaluate("ptunfold.select([40])")
    for view in ("left", "right"):
        after = pixels(tab, view, "canvas")
        inked = (before[view][..., :3] < 250).any(axis=2)
        assert after[inked][:, :3].mean() > before[view][inked][:, :3].mean() + 40
        assert near(tab, view, "canvas", 40, 1)[..., :3].min() < 160  # as dark as it was


def test_control_adds_to_the_selection(opened, page):
    tab = opened(page)
    places = screen(tab, "right")
    tab.keyboard.press("r")

    def drag(low, high):
        tab.mouse.move(*low)
        tab.mouse.down()
        tab.mouse.move(*high, steps=3)
        tab.mouse.up()

    def within(low, high):
        return set(np.flatnonzero(((places > low) & (places < high)).all(axis=1)).tolist())

    one = (places.min(axis=0) - 5, places.min(axis=0) + 60)
    two = (places.max(axis=0) - 60, places.max(axis=0) + 5)
    drag(*one)
    tab.keyboard.down("Control")
    drag(*two)
    tab.keyboard.up("Control")
    assert set(tab.evaluate("ptunfold.selection()")) == within(*one) | within(*two)
    drag(*two)
    assert set(tab.evaluate("ptunfold.selection()")) == within(*two)


def test_wheel_zooms_with_any_tool_and_there_is_a_way_back(opened, page):
    tab = opened(page)
    start = {view: screen(tab, view) for view in ("left", "right")}
    for tool in ("v", "l"):
        tab.keyboard.press(tool)
        for view in ("left", "right"):
            before = screen(tab, view)
            box = tab.locator(f"#{view}").bounding_box()
            tab.mouse.move(box["x"] + 200, box["y"] + 200)
            tab.mouse.wheel(0, -300)

            def larger(view=view, before=before):
                now = screen(tab, view)
                return np.ptp(now, axis=0).max() > 1.05 * np.ptp(before, axis=0).max()

            wait_until(tab, larger)
    tab.click("#whole")
    for view in ("left", "right"):
        np.testing.assert_allclose(screen(tab, view), start[view], atol=0.5)


def test_size_of_the_points(opened, page):
    tab = opened(page)
    before = shade(tab, "right")
    tab.locator("#dot").fill("14")
    assert shade(tab, "right") > 1.5 * before


def test_embedding_keeps_its_proportions(opened, page, sheet):
    _, model = sheet
    places = screen(opened(page), "right")
    found, wanted = np.ptp(places, axis=0), np.ptp(model.embedding_, axis=0)
    assert found[0] / found[1] == pytest.approx(wanted[0] / wanted[1], rel=1e-3)


def test_dense_screens(browser, page, tmp_path):
    page.save(tmp_path / "page.html")
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, device_scale_factor=2, offline=True
    )
    tab = context.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    tab.evaluate("ptunfold.ready")
    width = tab.evaluate("ptunfold.explorer.views.right.canvas.width")
    assert width == 2 * round(tab.evaluate("ptunfold.explorer.views.right.width"))
    tab.evaluate("ptunfold.explorer.hover(40)")
    assert near(tab, "right", "over", 40)[..., 3].max() > 200
    context.close()


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_four_components(opened):
    points = np.random.default_rng(0).standard_normal((300, 5))
    model = PTU(4, n_neighbors=12).fit(points)
    tab = opened(model.explore())
    seen = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.views.right.positions)"), (-1, 3))
    off = seen - seen.mean(axis=0)
    wanted = model.embedding_[:, :3] - model.embedding_[:, :3].mean(axis=0)
    scale = np.linalg.norm(wanted) / np.linalg.norm(off)
    np.testing.assert_allclose(scale * off, wanted, atol=1e-4 * np.abs(wanted).max())
