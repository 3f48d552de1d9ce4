"""Where one looks: the note at the pointer, the search, the legend, the table, names on the map."""

import numpy as np
import pytest

from ptunfold.explorer.measures import SCORES
from tests.explorer.looking import alone, draw_now, pixels, screen, wait_until

LONG = "a kind whose name is much too long for any legend, and for any map"


@pytest.fixture(scope="module")
def columns(sheet):
    data, _ = sheet
    quarter = 4 * np.argsort(np.argsort(data.color)) // 1500
    kinds = np.array(["one", "two", "three", LONG])[quarter]
    return {
        "kind": kinds,
        "arc": data.color,
        "name": [f"cell {point}" for point in range(1500)],
        "phase": np.linspace(0, 6.28, 1500),
        "fold change": np.linspace(-1, 3, 1500),
    }


@pytest.fixture(scope="module")
def page(sheet, columns):
    return sheet[1].explore(columns=columns, color="kind", title="looking up")


def chosen(tab):
    return tab.evaluate("ptunfold.selection()")


def names(tab):
    """The names that are written on the embedding."""
    draw_now(tab, "right")
    return tab.evaluate("ptunfold.explorer.names.shown")


def settled(tab):
    travelling = "Object.values(ptunfold.explorer.views).some((view) => view.travelling)"
    wait_until(tab, lambda: not tab.evaluate(travelling))


def middle_of(tab, view):
    box = tab.locator(f"#{view}").bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def test_a_note_at_the_pointer(opened, page, columns):
    tab = opened(page)
    tip = tab.locator("#tip")
    assert tip.is_hidden()
    for view in ("left", "right"):
        places = screen(tab, view)
        point = alone(places, 1, tab.locator(f"#{view}").bounding_box())[0]
        tab.mouse.move(*places[point])
        tab.wait_for_selector(f'#card[data-id="{point}"]')
        lines = [line for line in tip.inner_text().split("\n") if line]
        assert columns["kind"][point].startswith(lines[0].removesuffix("…"))
        assert lines[2:4] == [columns["name"][point], f"point {point}"]
        box = tip.bounding_box()
        near = np.clip(places[point], [box["x"], box["y"]], [box["x"] + 280, box["y"] + 200])
        assert np.abs(near - places[point]).max() < 20
    tab.mouse.move(5, 5)
    tab.wait_for_selector("#tip", state="hidden")


def test_search_finds_and_goes_there(opened, page, columns):
    tab = opened(page)
    start = {view: screen(tab, view) for view in ("left", "right")}
    tab.keyboard.press("/")
    tab.keyboard.type("cell 77")
    options = tab.locator("#results [role=option]")
    assert options.first.inner_text().split("\n") == ["cell 77", "name"]
    assert options.count() == 6
    assert tab.get_attribute("#search", "aria-expanded") == "true"
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    marked = tab.get_attribute("#search", "aria-activedescendant")
    assert tab.get_attribute(f"#{marked}", "aria-selected") == "true"
    tab.keyboard.press("Enter")
    settled(tab)
    for view in ("left", "right"):
        assert np.abs(screen(tab, view)[77] - middle_of(tab, view)).max() < 2
    assert tab.get_attribute("#card", "data-id") == "77"
    assert "cell 77" in tab.locator("#tip").inner_text()
    # A kind is chosen in the legend, and all of it is seen.
    tab.fill("#search", "thr")
    options.first.click()
    settled(tab)
    assert chosen(tab) == np.flatnonzero(columns["kind"] == "three").tolist()
    assert tab.locator("#legend [aria-pressed=true]").inner_text().startswith("three")
    # A number of a point; Escape leaves the selection as it is.
    tab.fill("#search", "1499")
    assert options.first.inner_text().strip() == "point 1499"
    tab.keyboard.press("Escape")
    assert tab.input_value("#search") == ""
    assert len(chosen(tab)) > 100
    # What is looked for no more leaves the views as they were.
    settled(tab)
    for view, before in start.items():
        np.testing.assert_allclose(screen(tab, view), before, atol=0.5)
    tab.fill("#search", "no such thing")
    assert tab.locator("#results").inner_text() == "Nothing of that name."
    tab.keyboard.press("Enter")
    # A value: the nearest of a column.
    tab.fill("#search", "phase 3.14")
    wanted = int(np.argmin(np.abs(columns["phase"] - 3.14)))
    assert f"point {wanted}" in options.first.inner_text()


def test_a_kind_alone_and_more_of_them(opened, page, columns):
    tab = opened(page)
    two, three = (tab.locator("#legend li button", has_text=word) for word in ("two", "three"))
    assert two.inner_text().split("\n")[-1] == str((columns["kind"] == "two").sum())
    two.click()
    assert chosen(tab) == np.flatnonzero(columns["kind"] == "two").tolist()
    assert two.get_attribute("aria-pressed") == "true"
    three.click(modifiers=["Control"])
    assert chosen(tab) == np.flatnonzero(np.isin(columns["kind"], ["two", "three"])).tolist()
    three.click()
    assert chosen(tab) == np.flatnonzero(columns["kind"] == "three").tolist()
    three.focus()
    tab.keyboard.press("Enter")
    assert chosen(tab) == []
    assert three.get_attribute("aria-pressed") == "false"
    # What is chosen otherwise is not said to be a kind.
    two.click()
    tab.evaluate("ptunfold.select([1, 2])")
    assert two.get_attribute("aria-pressed") == "false"
    two.click()
    tab.select_option("#colour", "arc")
    assert chosen(tab) == []
    # A click in the legend is none on the points behind it.
    assert tab.evaluate("ptunfold.explorer.hovered") == -1


def test_many_kinds_are_grouped_by_size(opened, sheet):
    rng = np.random.default_rng(0)
    words = np.array([f"w{k:02d}" for k in range(40)])[rng.geometric(0.1, 1500).clip(1, 40) - 1]
    tab = opened(sheet[1].explore(columns={"word": words}))
    kinds, sizes = np.unique(words, return_counts=True)
    ranked = kinds[np.argsort(-sizes, kind="stable")]
    names = tab.locator("#legend li span").all_inner_texts()
    assert names == [*ranked[:19], f"{len(kinds) - 19} others"]
    tab.locator("#legend li button").last.click()
    assert chosen(tab) == np.flatnonzero(~np.isin(words, ranked[:19])).tolist()


def test_histogram_chooses_values(opened, page, columns):
    tab = opened(page)
    tab.select_option("#colour", "arc")
    box = tab.locator(".histogram").bounding_box()
    y = box["y"] + box["height"] / 2
    before = tab.evaluate("ptunfold.explorer.views.left.camera.position.toArray()")

    def drag(start, end):
        tab.mouse.move(box["x"] + start * box["width"], y)
        tab.mouse.down()
        tab.mouse.move(box["x"] + end * box["width"], y, steps=5)
        tab.mouse.up()

    low, high = tab.evaluate("ptunfold.explorer.colour.range")
    tab.keyboard.press("r")  # which draws no rectangle on the points behind
    drag(0.25, 0.5)
    share = (columns["arc"] - low) / (high - low)
    wanted = np.flatnonzero((share >= 0.25) & (share <= 0.5))
    assert len(np.setxor1d(chosen(tab), wanted)) < 0.03 * len(wanted)
    assert len(wanted) > 50
    word, start, _, end = tab.locator("#legend .ends").inner_text().split()
    assert word == "chosen:"
    ends = np.array([float(start), float(end)])
    assert ends == pytest.approx(
        low + np.array([0.25, 0.5]) * (high - low), abs=0.02 * (high - low)
    )
    # The view behind did not turn.
    assert tab.evaluate("ptunfold.explorer.views.left.camera.position.toArray()") == before
    # The keyboard moves the ends of the window.
    upper = tab.get_by_role("slider", name="Largest value shown of arc")
    upper.focus()
    tab.keyboard.press("End")
    wanted = np.flatnonzero(share >= 0.25)  # with what is beyond the end of the scale
    assert len(np.setxor1d(chosen(tab), wanted)) < 0.03 * len(wanted)
    assert float(upper.get_attribute("aria-valuenow")) == pytest.approx(high)
    tab.mouse.click(box["x"] + 5, y)
    assert chosen(tab) == []
    assert [text[0] for text in tab.locator("#legend .ends span").all_inner_texts()] == ["≤", "≥"]


def test_table_of_the_selection(opened, page, columns):
    tab = opened(page)
    tab.click("#table-tab")
    rows = tab.locator("#table tbody tr[data-place]")
    assert tab.get_attribute("#table table", "aria-rowcount") == "1501"
    assert 3 < rows.count() < 60  # of 1500: only what is seen
    tab.evaluate("document.getElementById('table').scrollTo(0, 1e9)")
    tab.locator('#table tr[data-place="1499"]').wait_for()
    assert rows.count() < 60
    tab.locator("#legend li button", has_text="two").click()
    two = np.flatnonzero(columns["kind"] == "two")
    assert tab.get_attribute("#table table", "aria-rowcount") == str(len(two) + 1)
    assert rows.first.locator("td, th").all_inner_texts()[:2] == [str(two[0]), "two"]
    rows.nth(2).click()
    settled(tab)
    assert tab.evaluate("ptunfold.explorer.hovered") == two[2]
    assert np.abs(screen(tab, "right")[two[2]] - middle_of(tab, "right")).max() < 2
    tab.focus("#table")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("ptunfold.explorer.hovered") == two[3]
    tab.keyboard.press("End")
    assert tab.evaluate("ptunfold.explorer.hovered") == two[-1]
    assert tab.locator("#table tr.meant th").inner_text() == str(two[-1])
    tab.click("#card-tab")
    assert tab.locator("#card").is_visible()


def test_the_table_sorts(opened, page, columns):
    tab = opened(page)
    tab.click("#table-tab")
    tab.locator("#legend li button", has_text="two").click()
    two = np.flatnonzero(columns["kind"] == "two")
    head = tab.locator("#table thead th", has_text="x0")
    first = tab.locator("#table tbody tr[data-place] th").first
    column = "ptunfold.explorer.columns.find((one) => one.name === 'x0')"
    values = np.array(tab.evaluate(f"Array.from({column}.values)"))[two]
    for order, best in (("ascending", values.argmin()), ("descending", values.argmax())):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        assert first.inner_text() == str(two[best])
    head.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    assert first.inner_text() == str(two[0])
    head.locator("button").press("Enter")
    assert first.inner_text() == str(two[values.argmin()])
    meant = tab.evaluate("ptunfold.explorer.hovered")
    tab.keyboard.press("End")  # a key of the table, not of its head: it may scroll, but means none
    assert tab.evaluate("ptunfold.explorer.hovered") == meant != two[values.argmax()]


def test_names_on_the_map(opened, page):
    tab = opened(page)
    tab.click("#clear")
    shown = names(tab)
    assert len(shown) >= 3
    assert all(len(name["text"]) < 40 for name in shown)
    for index, one in enumerate(shown):
        for other in shown[:index]:
            apart = abs(one["x"] - other["x"]) >= (one["wide"] + other["wide"]) / 2
            assert apart or abs(one["y"] - other["y"]) >= one["tall"]
    assert pixels(tab, "right", "over")[..., 3].any()
    # Nothing is written where a score says no.
    tab.select_option("#colour", "rim")
    assert len(names(tab)) == 1
    tab.select_option("#colour", "kind")
    tab.keyboard.press("n")
    assert tab.get_attribute("#names", "aria-pressed") == "false"
    assert not pixels(tab, "right", "over")[..., 3].any()
    tab.select_option("#colour", "arc")
    assert tab.locator("#names").is_hidden()


def test_scales_by_name(opened, page):
    tab = opened(page)

    def ends(name):
        tab.select_option("#colour", name)
        tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))[:, :3]
        return tints.astype(int), tab.locator("#legend .ends span").all_inner_texts()

    tints, texts = ends("phase")
    assert texts == ["0", "2π"]
    assert np.abs(tints[0] - tints[-1]).max() < 4  # a turn ends where it began
    assert np.abs(tints[0] - tints[750]).max() > 50
    tints, _ = ends("fold change")
    assert np.ptp(tints[375]) < 12  # zero is grey
    assert tints[0, 2] > tints[0, 0] + 30  # below it is blue
    assert tints[-1, 0] > tints[-1, 2] + 30


def test_tools_are_buttons(opened, page):
    tab = opened(page)
    for key, tool in (("r", "rectangle"), ("l", "lasso"), ("v", "look")):
        tab.keyboard.press(key)
        pressed = tab.locator("#tools [aria-pressed=true]")
        assert pressed.count() == 1
        assert pressed.get_attribute("data-tool") == tool
    tab.focus("#tools [data-tool=look]")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("ptunfold.explorer.views.left.tool") == "rectangle"
    unnamed = tab.evaluate(
        """() => [...document.querySelectorAll("button, input, select")]
        .filter((e) => !e.hidden && !(e.ariaLabel || e.textContent.trim() || e.labels?.length))
        .map((e) => e.id)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("touch", [False, True])
def test_phone(opened, page, screenshots, touch):
    tab = opened(page, size=(390, 844), touch=touch)
    tops = tab.evaluate(
        """() => [...document.querySelectorAll("header > *")]
        .filter((e) => !["what", "explained"].includes(e.id) && e.getClientRects().length)
        .map((e) => e.getBoundingClientRect().top)"""
    )
    assert np.ptp(tops) < 8  # one row of tools
    assert tab.locator("header").bounding_box()["height"] < 110
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.locator("#csv").is_hidden()
    tab.click("#more")
    assert tab.get_attribute("#more", "aria-expanded") == "true"
    box = tab.locator("#extras").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    with tab.expect_download():
        tab.click("#csv")
    tab.click("#more")
    name = tab.locator("#legend .name")
    assert name.get_attribute("aria-expanded") == "false"
    name.click()
    assert tab.locator("#legend li").first.is_visible()
    tab.screenshot(path=screenshots / "explorer-phone.png")


def test_fingers_reach_everything(opened, page, screenshots):
    tab = opened(page, size=(390, 844), touch=True)
    tab.tap("#more")
    heights = tab.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("button, select, input")]
        .filter((e) => e.getClientRects().length && e.type !== "checkbox")
        .map((e) => [e.id || e.outerHTML, e.offsetHeight]))"""
    )
    assert len(heights) > 20
    assert min(heights.values()) >= 44
    tab.tap("#more")
    tab.select_option("#colour", "fold change")

    def covered(part):
        places = screen(tab, "left")
        box = tab.locator(part).bounding_box()
        corner = [box["x"], box["y"]]
        inside = (places > corner) & (places < np.add(corner, [box["width"], box["height"]]))
        return inside.all(axis=1).any()

    for part in ("#legend", "#left-title"):
        wait_until(tab, lambda part=part: not covered(part))
    assert tab.evaluate(
        """[...document.querySelectorAll("#card dd.number")]
        .every((e) => e.offsetHeight < 26 && e.scrollWidth <= e.clientWidth)"""
    )
    tab.screenshot(path=screenshots / "explorer-fingers.png")
    # The table of what is selected.
    tab.evaluate("ptunfold.select([5, 8])")
    assert tab.locator("#selection").inner_text() == "2 selected"
    tab.tap("#selection")
    row = tab.locator("#table tbody tr", has_text="cell 8")
    row.wait_for()
    assert row.bounding_box()["y"] + row.bounding_box()["height"] < 844
    tab.tap("#table tbody tr:nth-child(2)")
    assert tab.get_attribute("#card", "data-id") == "5"


def test_a_phone_on_its_side(opened, page, screenshots):
    tab = opened(page, size=(740, 360), touch=True)
    tab.screenshot(path=screenshots / "explorer-landscape.png")
    for view in ("left", "right"):
        assert tab.locator(f"#{view}").bounding_box()["height"] > 180
    hidden = tab.evaluate(
        """() => [...document.querySelectorAll(
          "header button, select, input, .view, #card, #plane, #play, #fold")]
        .filter((e) => e.getClientRects().length)
        .filter((e) => {
          e.scrollIntoView({ block: "nearest" });
          const { x, y, width, height } = e.getBoundingClientRect();
          const found = document.elementFromPoint(x + width / 2, y + height / 2);
          return !(e.contains(found) || found?.contains(e));
        }).map((e) => e.id)"""
    )
    assert hidden == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 740


def test_colours_are_explained(opened, page):
    tab = opened(page)
    tab.evaluate("ptunfold.select([5])")
    tab.select_option("#colour", "stretch")
    tab.focus("#colour")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.get_attribute("#explain", "aria-expanded") == "true"
    assert tab.locator("#meaning").inner_text() == f"stretch: {SCORES['stretch']}"
    tab.keyboard.press("Escape")
    assert tab.locator("#meaning").is_hidden()
    assert chosen(tab) == [5]
    told = tab.evaluate("ptunfold.explorer.columns.map(({ about }) => about)")
    assert all(sentence.endswith(".") for sentence in told)


def test_long_labels_and_titles(opened, sheet, columns):
    title = "a title of many words that tell what was measured, where, when, and by whom it was"
    page = sheet[1].explore(columns=columns, color="kind", title=title)
    tab = opened(page, size=(1280, 720))
    entry = tab.locator("#legend li button", has_text="a kind whose name")
    assert entry.get_attribute("title") == LONG
    assert entry.locator("span").evaluate("e => e.scrollWidth > e.clientWidth")
    assert tab.get_attribute("#title", "title") == title
    assert tab.evaluate("document.querySelector('header').scrollWidth") <= 1280
    # The title gives way only when everything else that can has done so.
    for wide in (1280, 1150, 900):
        tab.set_viewport_size({"width": wide, "height": 720})
        box, search = (tab.locator(f"#{name}").bounding_box() for name in ("title", "search-box"))
        assert box["width"] >= 400 or search["width"] <= 97


def test_points_are_beside_a_long_legend(opened, sheet):
    words = [f"a kind of the number {point % 14}" for point in range(1500)]
    tab = opened(sheet[1].explore(columns={"kind": words}))

    def covered():
        legend = tab.locator("#legend").bounding_box()
        places = screen(tab, "left")
        inside = (places > [legend["x"], legend["y"]]) & (
            places < [legend["x"] + legend["width"], legend["y"] + legend["height"]]
        )
        return inside.all(axis=1).mean()

    assert covered() == 0
    places = screen(tab, "left")
    box = tab.locator("#left").bounding_box()
    assert places[:, 0].max() < box["x"] + box["width"]
    point = alone(places, 1, box)[0]
    tab.mouse.move(*places[point])
    tab.wait_for_selector(f'#card[data-id="{point}"]')
    # Folded, it leaves the middle to them.
    tab.click("#legend .name")
    middle = places[:, 0].mean()
    wait_until(tab, lambda: middle - screen(tab, "left")[:, 0].mean() > 40)
