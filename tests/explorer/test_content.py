"""Colours, cards, images, and what is saved."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.explorer import palette
from ptunfold.explorer.palette import KINDS
from tests.explorer.looking import pixels

VIEWS = ("left", "right")


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
    # The embedding of this sheet lies below the data.
    heights = np.cumsum([tab.locator(f"#{view}").bounding_box()["height"] for view in VIEWS])
    *views, band = np.split(picture, heights.astype(int))
    for view in views:
        assert 0.02 < np.mean((view[..., :3] != 1).any(axis=2)) < 0.9
    # What is said stands below, on the ground alone.
    assert 80 < len(band) < 140
    assert 0.005 < np.mean((band[..., :3] < 0.9).any(axis=2)) < 0.2
    assert (band[:8, :, :3] == 1).all()


def test_a_path_is_saved_whole(opened, page):
    from matplotlib.image import imread

    tab = opened(page)
    last = tab.evaluate("ptunfold.explorer.panel.edge")
    pictures = []
    for edge in (last, 2):
        tab.evaluate(f"ptunfold.explorer.panel.show({edge})")
        with tab.expect_download() as waiting:
            tab.click("#png")
        pictures.append(imread(waiting.value.path(), format="png"))
        assert tab.evaluate("ptunfold.explorer.panel.edge") == edge
    np.testing.assert_array_equal(*pictures)


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
        "coherence",
        "stretch",
        "curvature",
        "error bar",
        "rim",
        "landmark",
        "void",
    ]
    tab.select_option("#colour", "side")
    assert "upper, or 'top'" in tab.locator("#legend").inner_text()
    tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))
    assert len(np.unique(tints, axis=0)) == 2
    tab.select_option("#colour", "local distortion")
    tab.screenshot(path=screenshots / "explorer-dark.png")
    tab.keyboard.press("t")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"


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
    assert tab.get_attribute("#pictures", "aria-pressed") == "true"


def test_scale_and_legend_go_the_same_way(opened, page, sheet):
    data, _ = sheet
    tab = opened(page)
    ends = tab.locator("#legend .ends span").all_inner_texts()
    low, high = (float(text.lstrip("≤≥")) for text in ends)
    assert low < high
    assert high == pytest.approx(np.quantile(data.color, 0.99), rel=0.01)
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


def test_pictures_on_the_embedding(opened):
    images = np.random.default_rng(0).random((200, 6, 6))
    points = np.random.default_rng(1).random((200, 2))
    model = PTU().fit(points)
    tab = opened(model.explore(images=images))
    tab.click("#clear")  # the path
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


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
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


def test_kinds_have_colours_of_their_own_and_names(opened, sheet, screenshots):
    _, model = sheet
    cells = [f"cells of kind {point % 10}" for point in range(1500)]
    names = [f"name {point}" for point in range(1500)]
    columns = {"cells": cells, "names": names, "digits": np.arange(1500) % 10}
    columns["count"] = columns["digits"]
    tab = opened(model.explore(columns=columns, title="cells"), size=(1280, 720))
    tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))[:, :3]
    found = ["#{:02x}{:02x}{:02x}".format(*tint) for tint in tints]
    assert found == [KINDS[point % 10] for point in range(1500)]
    legend = tab.locator("#legend")
    assert legend.locator("li span").all_inner_texts() == [f"cells of kind {k}" for k in range(10)]
    shown = legend.locator("i").evaluate_all("all => all.map(one => one.style.background)")
    assert shown[9] == "rgb({}, {}, {})".format(*bytes.fromhex(KINDS[9][1:]))
    tab.screenshot(path=screenshots / "explorer-kinds.png")
    tab.select_option("#colour", "names")
    assert legend.locator("li span").all_inner_texts()[-1] == "1,481 others"
    tab.select_option("#colour", "digits")
    assert legend.locator("li span").all_inner_texts() == [str(k) for k in range(10)]
    tab.select_option("#colour", "count")
    assert legend.locator(".ends span").all_inner_texts() == ["0", "9"]
    tab.select_option("#colour", "cells")
    with tab.expect_download() as saving:
        tab.keyboard.press("p")
    saving.value.save_as(screenshots / "explorer-kinds-saved.png")


def test_pages_and_figures_have_the_same_palette():
    source = (Path(__file__).parents[2] / "explorer/src/palette.js").read_text()
    for name in ("KINDS", "DIVERGING", "CYCLIC"):
        light = source.split(f"const {name} = {{")[1].split("dark:")[0]
        assert re.findall(r"#\w{6}", light) == getattr(palette, name)
    assert f'OTHERS = {{ light: "{palette.OTHERS}"' in source
    assert f'GAP = "{palette.GAP}"' in source
