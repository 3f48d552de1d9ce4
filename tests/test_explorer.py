"""The explorer's page, in a real browser, opened from a file with the network refused."""

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
    playwright = pytest.importorskip("playwright.sync_api")
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
