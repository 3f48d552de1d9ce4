"""The explorer in a notebook: the relay between page and model, and what Python sees of it."""

import json
import sys
from importlib.resources import files

import numpy as np
import pytest

from ptunfold.explorer import Page
from ptunfold.explorer import widget as widget_module

from .looking import screen, wait_until

RELAY = files("ptunfold.explorer").joinpath("widget.js").read_text(encoding="utf-8")
# What anywidget gives to `render`, without a kernel behind it.
MODEL = """
class Model {
  constructor(state) { this.state = state; this.heard = {}; this.saved = []; }
  get(name) { return this.state[name]; }
  set(name, value) {
    const isNew = JSON.stringify(value) !== JSON.stringify(this.state[name]);
    this.state[name] = value;
    if (isNew) for (const call of this.heard[`change:${name}`] ?? []) call();
  }
  on(event, call) { (this.heard[event] ??= []).push(call); }
  off(event, call) { this.heard[event] = this.heard[event].filter((other) => other !== call); }
  save_changes() { this.saved.push(JSON.stringify([this.state.selection, this.state.path])); }
}
"""
# The policy of VS Code's notebooks where it is switched on, with room for the test's own script.
POLICY = (
    "default-src 'none'; script-src blob: 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; connect-src https:; child-src https: data:"
)


def notebook(html, n_points, *, style="", policy="", **state):
    """A page that shows the widget as a notebook does."""
    given = {"selection": [], "path": None, "_page": html, "_n_points": n_points, **state}
    text = json.dumps([RELAY, given]).replace("<", "\\u003c")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    return Page(
        f'<!doctype html><meta charset="utf-8">{meta}<title>notebook</title>'
        f'<body style="{style}"><div id="cell" style="height: 700px"></div><script>{MODEL}'
        f"const [relay, given] = {text};"
        "window.model = new Model(given);"
        'import(URL.createObjectURL(new Blob([relay], { type: "text/javascript" })))'
        ".then((module) => { window.end = module.default.render({ model, el: cell }); });"
        "</script></body>"
    )


def inside(tab):
    """The explorer in the frame, ready."""
    tab.frame_locator("iframe").locator('html[data-ready="yes"]').wait_for(state="attached")
    (frame,) = tab.frames[1:]
    return frame


def state(tab):
    return tab.evaluate("[model.get('selection'), model.get('path')]")


def page_example(frame):
    """The path that the page opens with."""
    return frame.evaluate("ptunfold.explorer.meta.example")


def until(tab, condition, *arguments):
    wait_until(tab, lambda: tab.evaluate(condition, list(arguments) or None))


def test_what_is_selected_in_the_page_arrives(opened, page):
    tab = opened(notebook(page.html, 1500))
    frame = inside(tab)
    example = page_example(frame)
    assert state(tab) == [[], example]
    right = frame.locator("#right").bounding_box()
    corners = [
        (right["x"] + share * right["width"], right["y"] + share * right["height"])
        for share in (0.2, 0.7)
    ]
    frame.get_by_label("Select a rectangle").click()
    tab.mouse.move(*corners[0])
    tab.mouse.down()
    tab.mouse.move(*corners[1], steps=4)
    tab.mouse.up()
    until(tab, "model.get('selection').length > 20")
    chosen = frame.evaluate("ptunfold.selection()")
    assert state(tab) == [chosen, example]
    frame.locator("#from").fill("3")
    frame.locator("#to").fill("1200")
    frame.locator("#to").press("Enter")
    until(tab, "model.get('path')[0] === 3 && model.get('path')[1] === 1200")
    # The kernel is told, of each once.
    saved = [json.loads(told) for told in tab.evaluate("model.saved")]
    half = [chosen, [3, example[1]]]  # one end after the other
    assert saved == [[[], example], [chosen, example], half, [chosen, [3, 1200]]]
    frame.locator("#clear").click()
    until(tab, "model.get('path') === null && model.get('selection').length === 0")


def test_what_python_sets_is_shown(opened, page):
    tab = opened(notebook(page.html, 1500, selection=[4, 5], path=[10, 900]))
    frame = inside(tab)
    frame.get_by_text("2 selected").wait_for()
    assert frame.evaluate("ptunfold.explorer.ends") == [10, 900]
    assert frame.locator("#ptu").inner_text()
    tab.evaluate("model.set('selection', [7, 8, 9])")
    frame.get_by_text("3 selected").wait_for()
    tab.evaluate("model.set('path', [11, 12])")
    until(frame, "ptunfold.explorer.ends[1] === 12")
    assert frame.locator("#from").input_value() == "11"
    tab.evaluate("model.set('path', null), model.set('selection', [])")
    until(frame, "ptunfold.explorer.ends[0] === -1 && ptunfold.selection().length === 0")
    # What Python says is not said back to it.
    assert tab.evaluate("model.saved") == []


def test_a_frame_that_is_moved_shows_the_same_again(opened, page):
    tab = opened(notebook(page.html, 1500))
    frame = inside(tab)
    frame.evaluate("ptunfold.select([1, 2, 3])")
    until(tab, "model.get('selection').length === 3")
    tab.evaluate("document.body.append(document.createElement('section'))")
    tab.evaluate("document.querySelector('section').append(cell)")
    tab.wait_for_timeout(100)
    frame = inside(tab)
    frame.get_by_text("3 selected").wait_for()
    tab.evaluate("model.set('selection', [1])")
    frame.get_by_text("1 selected").wait_for()
    # Views that are closed hear no more.
    tab.evaluate("end()")
    assert tab.evaluate("Object.values(model.heard).flat().length") == 0


def test_the_page_ignores_what_it_cannot_do(opened, page):
    tab = opened(notebook(page.html, 1500, selection=[4], path=[1, 2]))
    frame = inside(tab)
    frame.get_by_text("1 selected").wait_for()
    for bad in ("[1500]", "[-1]", "[0.5]", "['1']", "'all'", "{}", "7", "null", "[[1]]", "[NaN]"):
        tab.evaluate(f"model.set('selection', {bad})")
    for bad in ("[1500, 1]", "[1]", "[1, 2, 3]", "'12'", "[1, null]", "{}"):
        tab.evaluate(f"model.set('path', {bad})")
    tab.evaluate("model.set('selection', [6, 7])")  # after all of them
    frame.get_by_text("2 selected").wait_for()
    assert frame.evaluate("ptunfold.explorer.ends") == [1, 2]


def test_the_relay_ignores_what_is_no_selection(opened):
    """Whatever runs in the frame, points that do not exist never reach Python."""
    bad = (
        "[null, 1, 'x', [], { selection: [10] }, { selection: [-1] }, { selection: 'all' }, "
        "{ selection: null }, { selection: [0.5] }, { path: [1] }, { path: [1, 10] }, "
        "{ path: {} }, { _page: 'other' }, { _n_points: 99 }]"
    )
    hostile = (
        "<!doctype html><script>addEventListener('message', ({ ports: [port] }) => {"
        f"for (const message of {bad}) port.postMessage(message);"
        "port.postMessage({ selection: [9], path: [0, 9] }); });</script>"
    )
    tab = opened(notebook(hostile, 10))
    until(tab, "model.get('selection').length === 1")
    assert state(tab) == [[9], [0, 9]]
    assert {json.dumps(json.loads(told)) for told in tab.evaluate("model.saved")} == {
        "[[], null]",
        "[[9], [0, 9]]",
    }
    assert tab.evaluate("[model.get('_n_points'), model.get('_page').length]") == [10, len(hostile)]


def test_the_frame_has_no_rights_but_can_save(opened, page):
    tab = opened(notebook(page.html, 1500))
    frame = inside(tab)
    reach = "() => { try { return parent.document.title } catch (error) { return error.name } }"
    assert frame.evaluate(reach) == "SecurityError"
    with tab.expect_download() as saved:
        frame.locator("#csv").click()
    assert saved.value.suggested_filename == "S-with-a-hole.csv"


def test_a_page_that_is_framed_from_elsewhere_stays_mute(opened, page, tmp_path, complaints):
    page.save(tmp_path / "framed.html")
    tab = opened(Page('<!doctype html><iframe src="framed.html"></iframe>'), "other.html")
    frame = inside(tab)
    assert complaints == [(tmp_path / "framed.html").as_uri()]
    complaints.clear()
    tab.evaluate(
        "() => { const line = new MessageChannel(); window.heard = [];"
        "line.port1.onmessage = ({ data }) => heard.push(data);"
        "frames[0].postMessage('ptunfold', '*', [line.port2]);"
        "line.port1.postMessage({ selection: [1, 2] }); }"
    )
    frame.evaluate("ptunfold.explorer.setEnds(1, 2)")
    tab.wait_for_timeout(300)
    assert tab.evaluate("heard") == []
    assert frame.evaluate("ptunfold.selection()") == []


@pytest.mark.parametrize(
    ("style", "theme", "policy"), [("color: #111", "light", ""), ("color: #eee", "dark", POLICY)]
)
def test_it_takes_the_theme_of_the_notebook(opened, page, style, theme, policy):
    tab = opened(notebook(page.html, 1500, style=style, policy=policy))
    frame = inside(tab)
    until(frame, f"document.documentElement.dataset.theme === '{theme}'")
    assert screen(frame, "right").shape == (1500, 2)


@pytest.fixture
def widget(page):
    pytest.importorskip("anywidget")
    return page.widget()


def test_python_holds_selection_and_path(widget):
    assert (widget.selection, widget.path) == ([], None)
    widget.selection = np.array([5, 3, 3])
    widget.path = [7, 2]
    assert (widget.selection, widget.path) == ([3, 5], (7, 2))
    widget.selection = np.arange(1500) < 4
    assert widget.selection == [0, 1, 2, 3]
    heard = []
    widget.observe(lambda change: heard.append(change["new"]), "selection")
    # As it comes from the page.
    widget.set_state({"selection": [1, 9], "path": [0, 1]})
    assert (widget.selection, widget.path, heard) == ([1, 9], (0, 1), [[1, 9]])
    widget.path = None
    assert repr(widget) == "ExplorerWidget(1,500 points, 2 selected, path None)"
    assert "application/vnd.jupyter.widget-view+json" in widget._repr_mimebundle_()[0]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("selection", [1500], "point 1500 does not exist; the indices go from 0 to 1499"),
        ("selection", "all", "selection must be a 1-D list of point indices"),
        ("selection", [0.5], "selection must be a 1-D list of point indices"),
        ("selection", None, "selection must be a 1-D list of point indices"),
        ("path", [1], "path has 1 points; pass the first and the last one, or None"),
        ("path", (1, 1500), "point 1500 does not exist"),
        ("path", 7, "path must be a 1-D list of point indices"),
        ("selection", [-1501], "point -1501 does not exist"),
    ],
)
def test_what_is_no_selection_is_refused_in_a_sentence(widget, name, value, said):
    widget.selection, widget.path = [1], (1, 2)
    with pytest.raises(ValueError, match=said):
        setattr(widget, name, value)
    assert (widget.selection, widget.path) == ([1], (1, 2))


def test_without_anywidget_it_is_the_page(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget_module._kind.cache_clear()
    with pytest.warns(UserWarning, match=r"anywidget is not installed.*ptunfold\[widget\]"):
        assert page.widget() is page
