"""Names, labels and values that nobody should write: text on the page, and nothing else."""

import csv
import io
import json
import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole
from ptunfold.explorer import Page
from ptunfold.paper import SECTIONS, write_report
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.sections import Extent

N_POINTS = 300
LONG = "W" * 10_000
STACKED = "a" + "\u0336\u0346\u034a" * 40
BACKWARDS = "\u202ebackwards \u2067"
NASTY = [
    "</script><script>window.__hacked = 1</script>",
    '<img src=x onerror="window.__hacked = 2">',
    "<!--<script>",
    "--><svg onload='window.__hacked = 3'>",
    "]]><iframe srcdoc='<script>parent.__hacked = 4</script>'>",
    "\"'`${window.__hacked = 5}`\\",
    "javascript:window.__hacked = 6",
    "&lt;b&gt; &amp;amp; {{7*7}}",
    "line\u2028and\u2029paragraph\r\n\tend",
    BACKWARDS,
    "עברית (abc) \u200f",
    "\ud800 half \udcff",
    "nul\x00\x01\x7f\ufeff\uffff",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    STACKED,
    LONG,
    "many words " * 1000,
    "__proto__",
    "constructor",
    "=1+1",
    " ",
    "",
]
# The page's own words, which must stand as ever.
OWN = "header button, header label, #size, #selection, #left-title, #right-title, #ends label"


def odd_numbers():
    """Columns of numbers that have no range, or hardly any, or more than a double holds."""
    rng = np.random.default_rng(0)
    drawn = rng.random(N_POINTS)
    low = np.arange(N_POINTS) < 9
    return {
        "all nan": np.full(N_POINTS, np.nan),
        "all inf": np.full(N_POINTS, np.inf),
        "both inf": np.where(drawn < 0.5, -np.inf, np.inf),
        "none": [None] * N_POINTS,
        "constant": np.full(N_POINTS, 7.5),
        "zero": np.zeros(N_POINTS),
        "one value": np.where(np.arange(N_POINTS) == 5, 1.5, np.nan),
        "mixed": np.where(low, np.nan, np.where(drawn < 0.5, np.inf, drawn)),
        "huge": np.where(drawn < 0.5, -1.7e308, 1.7e308),
        "tiny": np.where(drawn < 0.5, 0, 5e-324),
        "far": 1e15 + np.arange(N_POINTS) % 3,
        "integers": [10**400, -(10**400)] * (N_POINTS // 2),
        "everything": [1, "a", None, 2.5, True, b"\xff"] * (N_POINTS // 6),
    }


@pytest.fixture(scope="module")
def fitted():
    return PTU().fit(s_with_hole(N_POINTS).points)


@pytest.fixture(scope="module")
def odd_columns():
    words = (NASTY * N_POINTS)[: 2 * N_POINTS]
    named = {name: words[k : k + N_POINTS] for k, name in enumerate(NASTY)}
    objects = np.array(words[:N_POINTS], dtype=object)
    return {"labels": words[:N_POINTS]} | named | {"objects": objects} | odd_numbers()


@pytest.fixture(scope="module")
def odd_page(fitted, odd_columns):
    return fitted.explore(
        columns=odd_columns,
        title=" ".join(NASTY),
        feature_names=[NASTY[0] + "x", BACKWARDS + "y", LONG + "z"],
        color="labels",
    )


def heard(tab, expression):
    """A value from the page, with halves of characters as they are."""
    return json.loads(tab.evaluate(f"JSON.stringify({expression})"))


def texts(tab, selector):
    return heard(tab, f"[...document.querySelectorAll('{selector}')].map((e) => e.textContent)")


def point_at(tab, point):
    tab.evaluate(f"ptunfold.explorer.hover({point})")
    assert tab.locator("#card").get_attribute("data-id") == str(point)


def check_layout(tab):
    """Nothing is pushed out of the window, the page's words stand in it, and in their order."""
    assert tab.evaluate("window.__hacked") is None
    wide = tab.evaluate("innerWidth")
    assert tab.evaluate("document.documentElement.scrollWidth") <= wide
    pushed = tab.evaluate(
        """() => ["header", "main", "#path", "#card"].filter((name) => {
        const { scrollWidth, clientWidth } = document.querySelector(name);
        return scrollWidth > clientWidth;
    })"""
    )
    assert pushed == []
    outside = tab.evaluate(
        """(own) => [...document.querySelectorAll(own)].filter((e) => {
        const { left, right } = e.getBoundingClientRect();
        return left < 0 || right > innerWidth;
    }).map((e) => e.textContent)""",
        OWN,
    )
    assert outside == []
    turned = tab.evaluate(
        """(own) => [...document.querySelectorAll(own)].filter((e) => {
        const text = [...e.childNodes].find((n) => n.nodeType === 3 && n.data.trim().length > 1);
        if (!text || !e.clientWidth) return false;
        const x = (at) => {
          const range = document.createRange();
          range.setStart(text, at);
          range.setEnd(text, at + 1);
          return range.getBoundingClientRect().left;
        };
        return x(text.data.search(/\\S/)) >= x(text.data.trimEnd().length - 1);
    }).map((e) => e.textContent)""",
        OWN,
    )
    assert turned == []
    # The legend leaves most of the points to be seen.
    share = tab.evaluate(
        """() => {
        const [legend, view] = ["legend", "left"].map((id) => document.getElementById(id));
        const area = ({ scrollWidth, scrollHeight }) => scrollWidth * scrollHeight;
        return area(legend) / (view.clientWidth * view.clientHeight);
    }"""
    )
    assert share < 0.5


def test_text_stays_text(opened, odd_page, odd_columns, screenshots):
    tab = opened(odd_page)
    assert heard(tab, "document.getElementById('title').textContent") == " ".join(NASTY)
    point_at(tab, 4)
    names = texts(tab, "#card dt")
    assert names[: len(odd_columns)] == list(odd_columns)
    cells = dict(zip(names, texts(tab, "#card dd"), strict=True))
    assert cells["labels"] == NASTY[4]
    assert cells["objects"] == NASTY[4]
    assert (cells["all nan"], cells["all inf"], cells["none"]) == ("–", "Infinity", "–")
    assert cells["integers"] == str(10**400)
    legend = texts(tab, "#legend li span")
    assert set(legend[:-1]) < set(NASTY)
    assert (len(legend), legend[-1]) == (20, "3 others")
    titles = heard(tab, "[...document.querySelectorAll('#legend li button')].map((e) => e.title)")
    assert titles == legend
    made = tab.evaluate(
        "[...new Set([...document.querySelectorAll('h1 *, #card *, #legend *, #colour *')]"
        ".map((e) => e.localName))].sort()"
    )
    plain = ["dd", "div", "dl", "dt", "h2", "i", "li", "option", "ul"]
    assert made == sorted([*plain, "button", "small", "span"])
    # What is told at the pointer, what is found and what is in the table is text as well.
    assert texts(tab, "#tip b")[0].startswith(NASTY[4][:40])
    tab.click("#table-tab")
    assert NASTY[1] in texts(tab, "#table td")
    tab.fill("#search", "<")
    assert NASTY[2] in texts(tab, "#results span")
    assert tab.locator("#tip *, #table *, #results *").evaluate_all(
        "all => [...new Set(all.map((e) => e.localName))].sort()"
    ) == [
        "b",
        "button",
        "div",
        "i",
        "li",
        "p",
        "small",
        "span",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    ]
    assert tab.evaluate("window.__hacked") is None
    tab.fill("#search", "")
    tab.click("#card-tab")
    tab.screenshot(path=screenshots / "odd.png")


def test_every_column_colours(opened, odd_page):
    tab = opened(odd_page)
    count = tab.locator("#colour option").count()
    for place in range(count):
        tab.select_option("#colour", index=place)
        assert tab.evaluate("document.getElementById('legend').textContent.length") > 0
        assert not tab.evaluate("ptunfold.explorer.tints.some((x) => !Number.isInteger(x))")
        check_layout(tab)
    names = heard(tab, "ptunfold.explorer.columns.map((column) => column.name)")

    def legend(name):
        tab.select_option("#colour", index=names.index(name))
        return texts(tab, "#legend .note")

    assert legend("all nan") == legend("none") == ["grey: no value"]
    assert legend("all inf") == legend("both inf") == ["grey: no finite value"]
    assert legend("constant") == ["7.5 everywhere"]
    assert legend("mixed")[0] == "grey: no finite value"
    for name in ("huge", "tiny"):
        legend(name)
        colours = tab.evaluate("Array.from(ptunfold.explorer.tints)")
        assert len({tuple(colour) for colour in np.reshape(colours, (-1, 4)).tolist()}) == 2


@pytest.mark.parametrize("wide", [1280, 900, 400])
def test_layout_holds(opened, odd_page, wide, screenshots):
    tab = opened(odd_page, size=(wide, 720))
    for point in range(len(NASTY)):
        point_at(tab, point)
        check_layout(tab)
    tab.select_option("#colour", index=NASTY.index(LONG) + 1)
    point_at(tab, NASTY.index(LONG) - 1)
    tab.evaluate("document.getElementById('card').scrollTo(0, 500)")
    tab.screenshot(path=screenshots / f"odd-{wide}.png")
    for typed in ("W", "many"):
        tab.fill("#search", typed)
        assert tab.locator("#results").is_visible()
        box = tab.locator("#results").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= wide
        check_layout(tab)
    tab.screenshot(path=screenshots / f"odd-search-{wide}.png")
    tab.fill("#search", "")
    # The popup is as wide as its longest line, which nobody can scroll.
    assert max(map(len, texts(tab, "#colour option"))) <= 60


def test_everything_still_works(opened, odd_page, odd_columns):
    tab = opened(odd_page)
    tab.evaluate(
        """() => {
        window.drawn = [];
        const pen = CanvasRenderingContext2D.prototype, write = pen.fillText;
        pen.fillText = function (text, ...at) { drawn.push(text); write.call(this, text, ...at); };
    }"""
    )
    tab.evaluate("ptunfold.select([0, 3, 9])")
    assert tab.locator("#selection").inner_text() == "3 selected"
    tab.fill("#from", "3")
    tab.fill("#to", "200")
    tab.press("#to", "Enter")
    assert tab.locator("#lengths").is_visible()
    with tab.expect_download() as waiting:
        tab.click("#csv")
    assert re.fullmatch(r"[\w.-]{1,100}\.csv", waiting.value.suggested_filename)
    read = waiting.value.path().read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(read, newline=""), strict=True))
    seen = [name.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for name in NASTY]
    csv.field_size_limit(10**6)
    assert [row[1] for row in rows[1:]] == [seen[0], seen[3], seen[9]]
    assert {len(row) for row in rows} == {len(odd_columns) + 1 + 3 + 2 + 6}
    with tab.expect_download():
        tab.click("#png")
    drawn = heard(tab, "drawn")
    assert all(len(text) < 200 for text in drawn)
    # Marks that turn the writing end with the words that have them.
    for text in drawn:
        assert text.count("\u2068") == text.count("\u2069") > 0 or "\u202e" not in text
    assert any(BACKWARDS in text for text in drawn)
    tab.click("#theme")
    check_layout(tab)


def test_hundreds_of_columns(opened, fitted):
    columns = {f"{k} {NASTY[k % len(NASTY)]}": np.arange(N_POINTS) * k for k in range(200)}
    tab = opened(fitted.explore(columns=columns))
    assert tab.locator("#colour option").count() == 200 + 3 + 2 + 6
    tab.focus("#colour")
    tab.keyboard.press("End")
    assert "rim" in tab.locator("#legend").inner_text()
    tab.keyboard.type("199")
    assert texts(tab, "#legend .name")[0].startswith("199")
    point_at(tab, 3)
    assert "and 151 columns more" in tab.locator("#card").inner_text()
    check_layout(tab)


def test_no_columns(opened, fitted):
    tab = opened(fitted.explore(columns={}, title=""))
    assert texts(tab, "#colour option")[:3] == ["x0", "x1", "x2"]
    check_layout(tab)


def test_nothing_else_may_run_or_be_asked_for(opened, odd_page, complaints):
    """What the content policy refuses, once a page is open."""
    tab = opened(odd_page)
    refused = []
    tab.on("requestfailed", lambda asked: refused.append((asked.url, asked.failure)))
    policy = tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    tab.evaluate(
        """() => {
        const script = document.createElement("script");
        script.textContent = "window.__hacked = 7";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.__hacked = 8'>"
          + "<p id=styled style='position: fixed'></p><form action='https://example.org'></form>"
          + "<base href='https://example.org'>");
    }"""
    )
    ends = ".then(() => 'came', () => 'refused')"
    tricks = {
        "fetch": f"fetch('https://example.org'){ends}",
        "socket": """new Promise((end) => {
            const socket = new WebSocket('wss://example.org');
            socket.onopen = () => end('came');
            socket.onerror = () => end('refused');
        })""",
        "worker": """new Promise((end) => {
            const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
            worker.onmessage = () => end('came');
            worker.onerror = () => end('refused');
        }).catch(() => 'refused')""",
        "import": f"import('data:text/javascript,window.__hacked=9'){ends}",
    }
    assert {name: tab.evaluate(trick) for name, trick in tricks.items()} == dict.fromkeys(
        tricks, "refused"
    )
    tab.evaluate("document.forms[0].submit()")
    assert tab.evaluate("document.baseURI").startswith("file:")
    assert tab.evaluate("getComputedStyle(document.getElementById('styled')).position") == "static"
    tab.wait_for_timeout(300)
    assert tab.evaluate("window.__hacked") is None
    assert complaints
    left = [said for said in complaints if "Content Security Policy" not in said]
    assert [(url, "csp") for url in left] == refused
    complaints.clear()


def test_in_a_notebook(opened, odd_page):
    """The page in a frame of the notebook, whatever it is called."""
    tab = opened(Page(f"<!doctype html><body>{odd_page._repr_html_()}</body>"))
    frame = tab.frames[1]
    frame.evaluate("ptunfold.ready")
    assert frame.evaluate("ptunfold.explorer.n") == N_POINTS
    assert tab.evaluate("[window.__hacked, document.body.children.length]") == [None, 1]


@pytest.mark.parametrize(
    "name", [b"<img src=x onerror=alert(1)>\"'.csv", b"half \xff \xe2\x80\xae.csv"]
)
def test_file_names(opened, tmp_path, name):
    file = tmp_path / os.fsdecode(name)
    try:
        file.write_text("a,b\n" + "\n".join(f"{k % 7},{k // 7}" for k in range(49)))
    except OSError as error:
        pytest.skip(f"no such names here: {error}")
    page = tmp_path / "page.html"
    said = CliRunner().invoke(
        app, ["embed", str(file), "-o", str(tmp_path / "o.csv"), "--explore", str(page)]
    )
    assert said.exit_code == 0, said.output
    tab = opened(Page(page.read_text(encoding="utf-8")))
    assert heard(tab, "document.getElementById('title').textContent") == file.stem


def test_the_report(opened, tmp_path, monkeypatch):
    """The other page that the package writes."""
    nasty = [text for text in NASTY if text.isprintable()]
    claims = [Claim(text, text, text, is_met=True) for text in nasty]
    section = Section("odd", nasty[0], nasty[1], claims, nasty, [nasty])
    monkeypatch.setitem(SECTIONS, "odd", lambda extent: section)
    write_report(tmp_path, ["odd"], extent=Extent(is_quick=True), say=lambda line: None)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    tab = opened(Page(page))
    assert texts(tab, "table:first-of-type td:first-child")[: len(nasty)] == nasty
    assert tab.evaluate("window.__hacked") is None
