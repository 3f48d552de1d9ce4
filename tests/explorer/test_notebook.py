"""The widget in a real JupyterLab: ``make notebook``."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.explorer.looking import wait_until

NEEDED = ("jupyterlab", "anywidget")
MISSING = [name for name in NEEDED if find_spec(name) is None]
if MISSING and os.environ.get("PTUNFOLD_NOTEBOOK") != "required":
    pytest.skip(
        f"{MISSING[0]} is not installed; make notebook runs these tests", allow_module_level=True
    )

CELLS = [
    "from ptunfold import PTU\nfrom ptunfold.datasets import swiss_roll\n\n"
    "roll = swiss_roll(800)\nmodel = PTU().fit(roll.points)\nmodel",
    'widget = model.explore(columns={"along": roll.color}, title="a roll").widget()\nwidget',
]
# A notebook without a kernel would ask for one, and commands are for the one that has the focus.
RUN_ALL = """async () => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
  let notebook;
  while (notebook?.sessionContext?.session?.kernel?.status !== "idle") {
    await pause();
    [notebook] = window.jupyterapp?.shell.widgets("main") ?? [];
  }
  while (jupyterapp.shell.currentWidget !== notebook) {
    jupyterapp.shell.activateById(notebook.id);
    await pause();
  }
  jupyterapp.commands.execute("notebook:run-all-cells");
}"""
SETTINGS = {
    "themes": {"theme": "JupyterLab Dark"},
    "notification": {"fetchNews": "false", "checkForUpdates": False},
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A server of JupyterLab with one notebook: its address, and the folder of its kernels."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell{number}",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for number, source in enumerate(CELLS)
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "work" / "roll.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, value in SETTINGS.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(value), encoding="utf-8")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Nothing of the person who runs the tests: settings, open tabs, kernels.
    own = {
        f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
    } | {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }
    options = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "open_browser": False}
    options |= {"root_dir": folder / "work", "allow_root": True}
    command = [sys.executable, "-m", "jupyterlab", "--IdentityProvider.token="]
    command += [f"--ServerApp.{name}={value}" for name, value in options.items()]
    command += ["--LabApp.expose_app_in_browser=True"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api", server, folder / "log")
            yield address, folder / "runtime"
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(address, server, log):
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert server.poll() is None, log.read_text(encoding="utf-8")[-3000:]
            time.sleep(0.2)
    pytest.fail(f"JupyterLab does not answer: {log.read_text(encoding='utf-8')[-3000:]}")


class Kernel:
    """What the notebook's Python says, asked beside the notebook."""

    def __init__(self, runtime):
        from jupyter_client import BlockingKernelClient

        (connection,) = Path(runtime).glob("kernel-*.json")
        self.client = BlockingKernelClient(connection_file=str(connection))
        self.client.load_connection_file()
        self.client.start_channels()

    def run(self, code, value="None"):
        reply = self.client.execute(
            code,
            user_expressions={"value": f"__import__('json').dumps({value})"},
            store_history=False,
            reply=True,
            timeout=60,
        )["content"]
        assert reply["status"] == "ok", reply
        (text,) = reply["user_expressions"]["value"]["data"].values()
        return json.loads(eval(text))  # the repr of a string

    def until(self, value, wanted):
        found = None
        for _ in range(100):
            found = self.run("", value)
            if found == wanted:
                return
            time.sleep(0.1)
        assert found == wanted


@pytest.fixture(scope="module")
def opened_lab(browser, lab):
    address, runtime = lab
    tab = browser.new_page(viewport={"width": 1400, "height": 1100})
    tab.set_default_timeout(120_000)
    tab.goto(f"{address}/lab/tree/roll.ipynb")
    tab.evaluate(RUN_ALL)
    explorer = tab.frame_locator("iframe[title='ptunfold explorer']")
    explorer.locator('html[data-ready="yes"]').wait_for(state="attached")
    kernel = Kernel(runtime)
    yield tab, explorer, kernel
    kernel.client.stop_channels()
    tab.close()


def test_selections_go_both_ways(opened_lab, screenshots):
    tab, explorer, kernel = opened_lab
    explorer.locator('html[data-theme="dark"]').wait_for(state="attached")
    kernel.until("widget.selection", [])
    shown = [int(explorer.locator(end).input_value()) for end in ("#from", "#to")]
    kernel.until("widget.path", shown)  # the example that a page opens with
    explorer.locator("#from").fill("3")
    explorer.locator("#to").fill("700")
    explorer.locator("#to").press("Enter")
    kernel.until("widget.path", [3, 700])
    kernel.run("widget.selection = range(40, 90)")
    explorer.get_by_text("50 selected").wait_for()
    tab.screenshot(path=screenshots / "jupyterlab.png")
    explorer.locator("body").press("Escape")  # forgets both; the button is in a menu here
    kernel.until("[widget.selection, widget.path]", [[], None])
    kernel.run("widget.path = 5, 6")
    frame = next(one for one in tab.frames if one.url == "about:srcdoc")
    wait_until(frame, lambda: frame.evaluate("ptunfold.explorer.ends[1] === 6"))
    assert explorer.locator("#from").input_value() == "5"
    frame.evaluate("ptunfold.select([7, 1])")
    kernel.until("widget.selection", [1, 7])


def test_models_show_themselves(opened_lab):
    tab, _, _ = opened_lab
    assert tab.get_by_text("800 points of 3 features").first.is_visible()
    assert tab.locator(".ptunfold-glance svg path").first.is_visible()
