"""A real browser, which opens pages from files with the network refused."""

import os
import shutil

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole

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
def complaints():
    """What pages complain of, or ask for; a test that expects some clears the list."""
    return []


@pytest.fixture
def opened(browser, tmp_path, complaints):
    """Open pages; whatever they complain of fails the test in the end.

    Nothing moves by itself, unless a test wants to see it.
    """

    def open_page(
        page, name="page.html", *, size=(1280, 720), theme="light", moves=False, touch=False
    ):
        file = tmp_path / name
        page.save(file)
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            offline=True,
            color_scheme=theme,
            reduced_motion="no-preference" if moves else "reduce",
            accept_downloads=True,
            has_touch=touch,
            is_mobile=touch,
        )
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        tab.on("popup", lambda other: complaints.append(f"another page: {other.url}"))
        own = (file.as_uri(), "blob:", "data:")
        tab.on(
            "request",
            lambda asked: None if asked.url.startswith(own) else complaints.append(asked.url),
        )
        tab.goto(file.as_uri())
        tab.evaluate("window.ptunfold?.ready")
        contexts.append(context)
        return tab

    contexts = []
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def sheet():
    data = s_with_hole(1500)
    return data, PTU().fit(data.points)


@pytest.fixture(scope="module")
def page(sheet):
    data, model = sheet
    side = np.where(data.points[:, 2] > 0, "upper, or 'top'", "lower")
    return model.explore(columns={"arc": data.color, "side": side}, title="S with a hole")
