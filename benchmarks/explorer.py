"""How large the explorer's pages are, and how quick they are in a browser.

Writes ``benchmarks/results/explorer.md``. Drawing is by software here, as on a machine without a
graphics card. Plotly, if it is installed, makes a page of the same points for comparison.
"""

import importlib.util
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from ptunfold import PTU
from ptunfold.datasets import s_with_hole
from ptunfold.explorer.page import make_page

OPTIONS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
REPEATS = 7
# Reading a pixel back waits until all of them are there.
DRAW = """for (const v of Object.values(ptunfold.explorer.views)) {
    v.drawNow();
    const gl = v.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}"""
ACTS = {
    "draw both views": DRAW,
    "find the point under the pointer, after a turn": (
        "{ const v = ptunfold.explorer.views.left; v.seen = null; v.pick(300, 250) }"
    ),
    "find it again": "ptunfold.explorer.views.left.pick(310, 250)",
    "select a quarter, draw both": (
        "ptunfold.explorer.select(ptunfold.explorer.views.right.inside("
        "[[0, 0], [320, 0], [320, 260], [0, 260]])); " + DRAW
    ),
    "colour by another column": (
        "ptunfold.explorer.colourBy(ptunfold.explorer.columns[Math.floor(2 * Math.random())])"
    ),
}
PATH = (
    "ptunfold.explorer.setEnds(Math.floor(Math.random() * ptunfold.explorer.n), "
    "Math.floor(Math.random() * ptunfold.explorer.n))"
)


def middle(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def timed(tab, act):
    """Milliseconds, several times."""
    script = f"() => {{ const start = performance.now(); {act}; return performance.now() - start }}"
    tab.evaluate(script)
    return [tab.evaluate(script) for _ in range(REPEATS)]


def load(browser, file, ready):
    seconds, tab = [], None
    for _ in range(3):
        if tab is not None:
            tab.close()  # or what moves on it would take its share
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        start = time.perf_counter()
        tab.goto(file.as_uri())
        tab.evaluate(ready)
        seconds.append(time.perf_counter() - start)
    return tab, seconds


def plotly_page(points, places, file):
    from plotly.subplots import make_subplots

    figure = make_subplots(1, 2, specs=[[{"type": "scene"}, {"type": "xy"}]])
    marker = {"size": 2, "color": places[:, 0]}
    figure.add_scatter3d(
        x=points[:, 0], y=points[:, 1], z=points[:, 2], mode="markers", marker=marker
    )
    figure.add_scattergl(x=places[:, 0], y=places[:, 1], mode="markers", marker=marker)
    figure.write_html(file, include_plotlyjs=True)


def main(folder):
    lines = ["# The explorer's pages", "", "Medians (least to most) of seven; pages load thrice."]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        for n_points in (10_000, 100_000, 1_000_000):
            sheet = s_with_hole(n_points)
            if n_points <= 100_000:
                model = PTU(n_jobs=-1, landmarks=100).fit(sheet.points)
                pages = {
                    "with paths": model.explore(paths=True),
                    "without paths": model.explore(paths=False),
                }
            else:
                names = ["x", "y", "z"]
                page = make_page(sheet.points, sheet.coordinates, title="", names=names, columns=[])
                pages = {"coordinates only": page}
            for kind, page in pages.items():
                file = folder / "page.html"
                page.save(file)
                tab, seconds = load(browser, file, "ptunfold.ready")
                lines += ["", f"## {n_points} points, {kind}", "", "| what | |", "| --- | --- |"]
                lines.append(f"| size, MB | {len(page.html) / 1e6:.1f} |")
                lines.append(f"| open until ready, s | {middle(seconds)} |")
                acts = ACTS | (
                    {"shortest path, unfold, show": PATH} if kind == "with paths" else {}
                )
                for name, act in acts.items():
                    lines.append(f"| {name}, ms | {middle(timed(tab, act))} |")
                tab.close()
            if importlib.util.find_spec("plotly") and n_points <= 100_000:
                file = folder / "plotly.html"
                plotly_page(sheet.points, sheet.coordinates, file)
                drawn = "() => new Promise((go) => requestAnimationFrame(() => go()))"
                _, seconds = load(browser, file, drawn)
                lines += [
                    "",
                    f"Plotly, {n_points} points: {file.stat().st_size / 1e6:.1f} MB, "
                    f"{middle(seconds)} s until ready.",
                ]
        browser.close()
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name("results").joinpath("explorer.md").write_text(text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(Path(folder)))
