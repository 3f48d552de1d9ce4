"""The explorer's page, in a real browser, opened from a file with the network refused."""

import base64
import csv
import io
import os
import shutil

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.explorer.page import make_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Software rendering, so that machines without a graphics card draw too.
OPTIONS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = f"no browser on this machine: none of {', '.join(BROWSERS)} is on the path"
        if os.environ.get("PTUNFOLD_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    if os.environ.get("PTUNFOLD_BROWSER") != "required":
        pytest.importorskip("playwright.sync_api")
    from playwright import sync_api as playwright

    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def screenshots(pytestconfig):
    folder = pytestconfig.rootpath / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages; whatever they complain of fails the test in the end."""
    complaints = []

    def open_page(page, name="page.html", *, size=(1280, 720), theme="light"):
        file = tmp_path / name
        page.save(file)
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            offline=True,
            color_scheme=theme,
            accept_downloads=True,
        )
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda asked: complaints.append(asked.url) if _leaves(asked) else None)
        tab.goto(file.as_uri())
        tab.evaluate("ptunfold.ready")
        contexts.append(context)
        return tab

    contexts = []
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _leaves(request):
    return not request.url.startswith(("file:", "blob:", "data:"))


@pytest.fixture(scope="module")
def sheet():
    data = s_with_hole(1500)
    return data, PTU().fit(data.points)


@pytest.fixture(scope="module")
def page(sheet):
    data, model = sheet
    side = np.where(data.points[:, 2] > 0, "upper, or 'top'", "lower")
    return model.explore(columns={"arc": data.color, "side": side}, title="S with a hole")


def screen(tab, view):
    """Where all points are in a view, in pixels of the page: (n_points, 2)."""
    box = tab.locator(f"#{view}").bounding_box()
    return np.reshape(tab.evaluate(f"ptunfold.screen('{view}')"), (-1, 3))[:, :2] + [
        box["x"],
        box["y"],
    ]


def alone(places, n_wanted, box):
    """Points with no other near them, well inside the view."""
    inside = (places[:, 0] > box["x"] + 30) & (places[:, 0] < box["x"] + box["width"] - 30)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    lonely = np.argsort(-np.where(inside, gaps.min(axis=1), 0))
    return lonely[:n_wanted].tolist()


def shade(tab, view):
    """The share of pixels of a view that are not its background."""
    return tab.evaluate(
        """(name) => {
        const view = ptunfold.explorer.views[name];
        view.drawNow();
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: view.canvas.width, height: view.canvas.height });
        const pen = canvas.getContext("2d");
        pen.drawImage(view.canvas, 0, 0);
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 4; i < data.length; i += 4) {
          if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) count++;
        }
        return count / (data.length / 4);
    }""",
        view,
    )


def pixels(tab, view, layer):
    """The pixels of a layer of a view, the points or what lies over them, (height, width, 4)."""
    wide, high, data = tab.evaluate(
        """([name, layer]) => {
        const view = ptunfold.explorer.views[name];
        view.drawNow();
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: view[layer].width, height: view[layer].height });
        const pen = canvas.getContext("2d");
        pen.drawImage(view[layer], 0, 0);
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        let text = "";
        for (let i = 0; i < data.length; i += 32768) {
          text += String.fromCharCode(...data.subarray(i, i + 32768));
        }
        return [canvas.width, canvas.height, btoa(text)];
    }""",
        [view, layer],
    )
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(high, wide, 4)


def near(tab, view, layer, point, reach=12):
    """The pixels of a layer around a point."""
    x, y = np.reshape(tab.evaluate(f"ptunfold.screen('{view}')"), (-1, 3))[point, :2]
    dense = tab.evaluate("ptunfold.explorer.views.left.dense")
    x, y, reach = round(x * dense), round(y * dense), round(reach * dense)
    picture = pixels(tab, view, layer)
    return picture[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]


def click(tab, place):
    tab.mouse.click(*place)


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


def test_two_clicks_show_the_path_and_its_lengths(opened, page, sheet, screenshots):
    data, model = sheet
    tab = opened(page)
    places = screen(tab, "right")
    start, end = alone(places, 2, tab.locator("#right").bounding_box())
    click(tab, places[start])
    assert "other end" in tab.locator("#hint").inner_text()
    click(tab, places[end])
    path = model.path(start, end)
    straight = np.linalg.norm(data.points[start] - data.points[end])
    shown = {
        name: float(tab.locator(f"#{name}").inner_text())
        for name in ("chord", "ptu", "graph", "ratio")
    }
    wanted = {
        "chord": straight,
        "ptu": path.distance,
        "graph": path.graph_length,
        "ratio": path.graph_length / path.distance,
    }
    assert shown == pytest.approx(wanted, rel=1e-4)
    assert tab.evaluate("ptunfold.explorer.path.nodes") == path.nodes.tolist()
    # The path is drawn in both views, over the points.
    for view in ("left", "right"):
        assert _accent_at(tab, view, path.nodes) > 0.9
    tab.screenshot(path=screenshots / "explorer-path.png")


def _accent_at(tab, view, nodes):
    """The share of the nodes at which the overlay of a view has the colour of paths."""
    return tab.evaluate(
        """([name, nodes]) => {
        const view = ptunfold.explorer.views[name];
        const copy = document.createElement("canvas");
        Object.assign(copy, { width: view.over.width, height: view.over.height });
        const pen = copy.getContext("2d", { willReadFrequently: true });
        pen.drawImage(view.over, 0, 0);
        const seen = view.screen;
        const hits = nodes.filter((node) => {
          const [x, y] = [0, 1].map((axis) => Math.round(seen[3 * node + axis] * view.dense));
          const { data } = pen.getImageData(x - 1, y - 1, 3, 3);
          for (let i = 0; i < data.length; i += 4) {
            if (data[i] > 150 && data[i + 1] < 90 && data[i + 3] > 100) return true;
          }
          return false;
        });
        return hits.length / nodes.length;
    }""",
        [view, nodes.tolist()],
    )


def test_slider_unfolds_edge_by_edge(opened, page, sheet):
    _, model = sheet
    tab = opened(page)
    tab.fill("#from", "3")
    tab.fill("#to", "1200")
    tab.press("#to", "Enter")
    path = model.path(3, 1200)
    slider = tab.locator("#edge")
    assert slider.get_attribute("max") == str(len(path.nodes) - 1)
    slider.focus()
    slider.press("Home")
    seen = []
    for edge in range(1, len(path.nodes)):
        slider.press("ArrowRight")
        said = tab.locator("#so-far").inner_text()
        assert said.startswith(f"edge {edge} of {len(path.nodes) - 1}")
        straight = float(said.split(": ")[1].split()[0])
        assert straight == pytest.approx(np.linalg.norm(path.points[edge]), rel=1e-3)
        seen.append(tab.locator("#plane .done").get_attribute("points").count(","))
    assert seen == list(range(2, len(path.nodes) + 1))
    slider.press("Home")
    tab.click("#play")
    tab.wait_for_timeout(300)
    assert int(slider.input_value()) > 0
    tab.locator("#play", has_text="▶").wait_for()
    assert int(slider.input_value()) == len(seen)


def test_any_pair_agrees_with_python(opened, sheet):
    roll = swiss_roll(800)
    for model in (PTU(step="chord", tangent="pca", denoise=0).fit(roll.points), sheet[1]):
        tab = opened(model.explore())
        rng = np.random.default_rng(0)
        off = []
        for start, end in rng.integers(0, 800, (60, 2)).tolist():
            mine = tab.evaluate("([a, b]) => ptunfold.unfold(a, b)", [start, end])
            path = model.path(start, end)
            assert mine["graph"] == pytest.approx(path.graph_length, rel=1e-5, abs=1e-12)
            assert mine["forward"] == pytest.approx(path.forward, rel=1e-4, abs=1e-9)
            assert mine["backward"] == pytest.approx(path.backward, rel=1e-4, abs=1e-9)
            off.append(mine["nodes"] != path.nodes.tolist())
        assert np.mean(off) == 0


@pytest.mark.parametrize("dim", [1, 3])
def test_other_dimensions(opened, dim, screenshots):
    rng = np.random.default_rng(0)
    if dim == 1:
        angle = np.sort(rng.uniform(0, 4, 300))
        points = np.column_stack((np.cos(angle), np.sin(angle)))
    else:
        points = np.column_stack((rng.random((900, 3)), np.zeros(900)))
        points[:, 3] = np.sin(points[:, 0])
    model = PTU(dim).fit(points)
    tab = opened(model.explore())
    path = model.path(3, 200)
    found = tab.evaluate("ptunfold.unfold(3, 200)")
    assert found["distance"] == pytest.approx(path.distance, rel=1e-4)
    assert shade(tab, "right") > 0.002
    tab.screenshot(path=screenshots / f"explorer-{dim}d.png")


def test_lengths_of_the_callers_own(opened):
    """Steps do not go by the lengths of a graph of one's own."""
    points = np.random.default_rng(0).random((300, 2))
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(points, 8)
    graph = graph.maximum(graph.T) * 1e-3
    model = PTU().fit(points, graph=graph)
    tab = opened(model.explore())
    path = model.path(0, 200)
    found = tab.evaluate("ptunfold.unfold(0, 200)")
    assert found["distance"] == pytest.approx(np.linalg.norm(points[0] - points[200]), rel=1e-4)
    assert found["graph"] == pytest.approx(path.graph_length, rel=1e-4)


def test_export_has_the_right_rows(opened, page, sheet, tmp_path):
    data, model = sheet
    tab = opened(page)
    chosen = [3, 77, 1499]
    tab.evaluate(f"ptunfold.select({chosen})")
    with tab.expect_download() as waiting:
        tab.click("#csv")
    assert waiting.value.suggested_filename == "S-with-a-hole.csv"
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(), newline="")))
    assert [int(row["id"]) for row in rows] == chosen
    for row, point in zip(rows, chosen, strict=True):
        assert float(row["arc"]) == pytest.approx(data.color[point], rel=1e-6)
        assert row["side"] == ("upper, or 'top'" if data.points[point, 2] > 0 else "lower")
        for axis in range(3):
            assert float(row[f"x{axis}"]) == np.float32(data.points[point, axis])
        for axis in range(2):
            assert float(row[f"ptu{axis}"]) == np.float32(model.embedding_[point, axis])
        assert float(row["local distortion"]) == pytest.approx(
            model.scores()["local distortion"][point], rel=1e-6
        )
    tab.click("#clear")
    with tab.expect_download() as waiting:
        tab.keyboard.press("e")
    assert len(waiting.value.path().read_text().split("\n")) == 1500 + 2


def test_picture(opened, page):
    from matplotlib.image import imread

    tab = opened(page)
    with tab.expect_download() as waiting:
        tab.click("#png")
    picture = imread(waiting.value.path(), format="png")
    for half in np.array_split(picture[30:, :, :3], 2, axis=1):
        assert 0.02 < np.mean((half != half[0, 0]).any(axis=2)) < 0.9


def test_colours_and_theme(opened, page, screenshots):
    tab = opened(page, theme="dark")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    names = tab.locator("#colour option").all_inner_texts()
    assert names == [
        "arc",
        "side",
        "x0",
        "x1",
        "x2",
        "ptu0",
        "ptu1",
        "local distortion",
        "disagreement",
    ]
    tab.select_option("#colour", "side")
    assert "upper, or 'top'" in tab.locator("#legend").inner_text()
    tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))
    assert len(np.unique(tints, axis=0)) == 2
    tab.select_option("#colour", "local distortion")
    tab.screenshot(path=screenshots / "explorer-dark.png")
    tab.keyboard.press("t")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"


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
    before = screen(tab, "left")
    tab.mouse.move(300, 300)
    tab.mouse.down()
    tab.mouse.move(380, 330, steps=4)
    tab.mouse.up()
    assert np.abs(screen(tab, "left") - before).max() > 20
    assert tab.evaluate("ptunfold.explorer.ends") == [-1, -1]  # a drag is no click


def test_images(opened, screenshots):
    from ptunfold.datasets import letter_a

    data = letter_a(300)
    side = int(np.sqrt(data.points.shape[1]))
    model = PTU().fit(data.points)
    tab = opened(model.explore(images=(side, side), title="letter A"))
    tab.evaluate("ptunfold.explorer.hover(5)")
    shown = tab.evaluate(
        """() => {
        const canvas = document.querySelector("#card canvas");
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        return [height, width, Array.from(data).filter((_, i) => i % 4 === 0)];
    }"""
    )
    picture = np.reshape(shown[2], shown[:2])
    assert picture.shape[0] <= 48
    image = data.points[5].reshape(side, side)
    rows = np.linspace(0, side - 1, shown[0]).round().astype(int)
    assert np.corrcoef(image[np.ix_(rows, rows)].ravel(), picture.ravel())[0, 1] > 0.9
    tab.screenshot(path=screenshots / "explorer-images.png")
    assert tab.locator("#pictures").is_checked()


def test_tablet(opened, page, screenshots):
    tab = opened(page, size=(768, 1024))
    for name in ("left", "right", "path"):
        box = tab.locator(f"#{name}").bounding_box()
        assert box["width"] > 700
        assert box["height"] > 180
    assert tab.evaluate("document.documentElement.scrollWidth") <= 768
    tab.screenshot(path=screenshots / "explorer-tablet.png")


def test_points_left_out(opened):
    rng = np.random.default_rng(0)
    points = np.vstack((rng.random((200, 3)), rng.random((20, 3)) + 50))
    with pytest.warns(UserWarning, match="20 points get NaN"):
        model = PTU(disconnected="largest", n_neighbors=6).fit(points)
    tab = opened(model.explore())
    assert shade(tab, "right") > 0.005
    tab.fill("#from", "0")
    tab.fill("#to", "210")
    tab.press("#to", "Enter")
    assert "No path" in tab.locator("#hint").inner_text()


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


def test_three_coordinates_and_strange_names(opened):
    points = np.random.default_rng(0).standard_normal((120, 5))
    names = ["</script><script>alert(1)</script>", "b"]
    model = PTU(3, n_neighbors=10).fit(points)
    page = model.explore(columns={name: np.arange(120) for name in names}, title="<b>&")
    tab = opened(page)
    assert tab.locator("#title").inner_text() == "<b>&"
    assert names[0] in tab.locator("#colour option").all_inner_texts()
    assert "principal components" in tab.locator("#left-title").inner_text()
    notebook = page._repr_html_()
    assert notebook.startswith("<iframe srcdoc=")
    assert notebook.count("<iframe") == 1


def test_shows_itself_in_a_notebook(browser, page, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(f"<html><body>{page._repr_html_()}</body></html>")
    tab = browser.new_page(offline=True)
    tab.goto(file.as_uri())
    frame = tab.frame_locator("iframe")
    frame.locator('html[data-ready="yes"]').wait_for(state="attached")
    assert frame.locator("#title").inner_text() == "S with a hole"
    tab.close()


def test_what_is_pointed_at_is_ringed_in_both_views(opened, page):
    tab = opened(page)
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


def test_scale_and_legend_go_the_same_way(opened, page, sheet):
    data, _ = sheet
    tab = opened(page)
    low, high = tab.locator("#legend .ends span").all_inner_texts()
    assert float(low) < float(high)
    assert float(high) == pytest.approx(np.quantile(data.color, 0.99), rel=0.01)
    tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))
    # The scale goes from dark violet to yellow.
    order = np.argsort(data.color)
    assert tints[order[:20], 1].mean() < 40 < 180 < tints[order[-20:], 1].mean()
    assert tints[order[:20], 2].mean() > tints[order[-20:], 2].mean()


def test_rare_values_gaps_and_many_kinds(opened, sheet):
    _, model = sheet
    rare = np.zeros(1500)
    rare[7] = 1
    holes = np.arange(1500.0)
    holes[3] = np.nan
    columns = {
        "rare": rare,
        "holes": holes,
        "kinds": [f"k{point % 10}" for point in range(1500)],
        "year": 2019 + np.arange(1500) % 5,
        "stamp": 1_700_000_000 + np.arange(1500),
    }
    tab = opened(model.explore(columns=columns))

    def tints(name):
        tab.select_option("#colour", name)
        return np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))[:, :3]

    assert (tints("rare")[7] != tints("rare")[8]).any()
    assert (tints("holes")[3] == 150).all()
    assert "grey: no value" in tab.locator("#legend").inner_text()
    assert len(np.unique(tints("kinds"), axis=0)) == 10
    tab.select_option("#colour", "year")
    assert tab.locator("#legend .ends span").all_inner_texts() == ["2019", "2023"]
    tab.evaluate("ptunfold.explorer.hover(9)")
    lines = tab.locator("#card").inner_text().split("\n")
    assert lines[lines.index("stamp") + 1] == "1700000009"
    assert lines[lines.index("kinds") + 1] == "k9"
    tab.evaluate("ptunfold.select([3, 9])")
    with tab.expect_download() as waiting:
        tab.click("#csv")
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(), newline="")))
    assert rows[0]["holes"] == ""
    assert rows[1]["stamp"] == "1700000009"


def test_words_are_quoted_in_the_table(opened, sheet):
    _, model = sheet
    words = ['say "hi", twice', "two\nlines", "plain"]
    tab = opened(model.explore(columns={"word": [words[point % 3] for point in range(1500)]}))
    tab.evaluate("ptunfold.select([0, 1, 2])")
    with tab.expect_download() as waiting:
        tab.click("#csv")
    text = waiting.value.path().read_bytes().decode()
    assert [row["word"] for row in csv.DictReader(io.StringIO(text, newline=""))] == words


def test_theme_repaints_the_views(opened, page):
    tab = opened(page)
    light = pixels(tab, "right", "canvas")[0, 0, :3]
    tab.click("#theme")
    dark = pixels(tab, "right", "canvas")[0, 0, :3]
    assert light.min() > 250
    assert dark.max() < 40


def test_two_directions_and_a_path_that_bends(opened):
    roll = swiss_roll(800, noise=0.01)
    model = PTU(step="chord", tangent="pca", denoise=0).fit(roll.points)
    tab = opened(model.explore())
    path = model.path(3, 700)
    tab.evaluate("ptunfold.explorer.setEnds(3, 700)")
    gap = abs(path.forward - path.backward) / path.distance
    shown = tab.locator("#gap").inner_text()
    assert float(shown.removesuffix(" %")) / 100 == pytest.approx(gap, rel=0.1)
    ptu = float(tab.locator("#ptu").inner_text())
    assert ptu == pytest.approx(path.distance, rel=1e-4)
    drawn = tab.locator("#plane .done").get_attribute("points").split()
    places = np.array([[float(x) for x in place.split(",")] for place in drawn])
    # As Python has it, turned so that the chord lies level, and larger.
    expected = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    found = np.linalg.norm(np.diff(places, axis=0), axis=1)
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), atol=2e-3)
    assert np.ptp(places[:, 1]) > 1
    # The slider moves the mark in the views too.
    before = pixels(tab, "right", "over")
    tab.locator("#edge").focus()
    tab.locator("#edge").press("Home")
    assert (pixels(tab, "right", "over") != before).any()
    tab.keyboard.press("Escape")
    assert tab.evaluate("ptunfold.explorer.path") is None
    assert tab.locator("#lengths").is_hidden()


def test_ends_that_are_no_points(opened, page):
    tab = opened(page)
    tab.fill("#from", "5")
    for wrong in ("99999", "-5", "2.5"):
        tab.fill("#to", wrong)
        tab.press("#to", "Enter")
        assert "points 0 to 1499" in tab.locator("#hint").inner_text()
    assert tab.evaluate("[ptunfold.unfold(0, 99999), ptunfold.unfold(-1, 3)]") == [None, None]
    tab.fill("#to", "5")
    tab.press("#to", "Enter")
    assert tab.locator("#play").is_disabled()
    assert tab.locator("#ptu").inner_text() == "0"
    tab.fill("#from", "")
    tab.press("#from", "Enter")
    places = screen(tab, "right")
    point = alone(places, 1, tab.locator("#right").bounding_box())[0]
    click(tab, places[point])
    assert tab.evaluate("ptunfold.explorer.ends") == [point, 5]
    tab.focus("#from")
    tab.keyboard.press("r")  # a letter into a field is no command
    assert tab.locator("input[value=look]").is_checked()


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
            tab.wait_for_timeout(100)
            assert np.ptp(screen(tab, view), axis=0).max() > 1.05 * np.ptp(before, axis=0).max()
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


def test_four_components(opened):
    points = np.random.default_rng(0).standard_normal((300, 5))
    model = PTU(4, n_neighbors=12).fit(points)
    tab = opened(model.explore())
    seen = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.views.right.positions)"), (-1, 3))
    off = seen - seen.mean(axis=0)
    wanted = model.embedding_[:, :3] - model.embedding_[:, :3].mean(axis=0)
    scale = np.linalg.norm(wanted) / np.linalg.norm(off)
    np.testing.assert_allclose(scale * off, wanted, atol=1e-4 * np.abs(wanted).max())


def test_pictures_on_the_embedding(opened):
    images = np.random.default_rng(0).random((200, 6, 6))
    points = np.random.default_rng(1).random((200, 2))
    model = PTU().fit(points)
    tab = opened(model.explore(images=images))
    inked = pixels(tab, "right", "over")[..., 3] > 0
    assert 0.05 < inked.mean() < 0.9
    # Pointing at a picture means its point, also off the middle.
    left, top, wide, tall, point = tab.evaluate("ptunfold.explorer.images.boxes[3]")
    box = tab.locator("#right").bounding_box()
    tab.mouse.move(box["x"] + left + 0.9 * wide, box["y"] + top + 0.9 * tall)
    tab.wait_for_selector(f'#card[data-id="{point}"]')
    tab.mouse.move(10, 10)
    tab.evaluate("ptunfold.select([150])")
    faint = pixels(tab, "right", "over")[..., 3]
    assert tab.evaluate("ptunfold.explorer.images.boxes[0][4]") == 150
    assert np.median(faint[faint > 0]) < 100
    tab.evaluate("ptunfold.select([])")
    tab.click("#pictures")
    assert not pixels(tab, "right", "over")[..., 3].any()
    assert "x0" in tab.locator("#colour option").all_inner_texts()


def test_far_from_the_origin(opened):
    data = s_with_hole(400)
    model = PTU().fit(data.points)
    far = PTU().fit(data.points + [5e5, 5e6, 0])
    chords, seen = [], []
    for one in (model, far):
        tab = opened(one.explore())
        tab.evaluate("ptunfold.explorer.setEnds(3, 4)")
        chords.append(float(tab.locator("#chord").inner_text()))
        seen.append(tab.evaluate("Array.from(ptunfold.explorer.views.left.positions)"))
    assert chords[1] == pytest.approx(chords[0], rel=1e-4)
    np.testing.assert_allclose(seen[1], seen[0], atol=1e-5)
