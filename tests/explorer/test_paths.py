"""Paths, their lengths and their unfolding."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import petals, s_with_hole, swiss_roll
from ptunfold.sureness import known_doubts
from tests.explorer.looking import alone, click, draw_now, pixels, screen, shade, wait_until


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
    shown = {name: _lengths(tab, name)[0] for name in ("chord", "ptu", "graph", "ratio")}
    wanted = {
        "chord": straight,
        "ptu": path.distance,
        "graph": path.graph_length,
        "ratio": path.graph_length / path.distance,
    }
    assert shown == pytest.approx(wanted, rel=1e-4)
    std = tab.evaluate("ptunfold.explorer.path.std")
    assert std == pytest.approx(path.std, rel=5e-2)
    n_digits = 2 if f"{std:.1e}".startswith("1") else 1  # as the page rounds it
    assert _lengths(tab, "ptu")[1] == pytest.approx(float(f"{std:.{n_digits}g}"))
    assert tab.evaluate("ptunfold.explorer.path.nodes") == path.nodes.tolist()
    # The path is drawn in both views, over the points.
    for view in ("left", "right"):
        assert _accent_at(tab, view, path.nodes) > 0.9
    tab.screenshot(path=screenshots / "explorer-path.png")


def _lengths(tab, name):
    """A length on the page and its standard deviation, if it has one."""
    return [float(part) for part in tab.locator(f"#{name}").inner_text().split(" ± ")]


def _accent_at(tab, view, nodes):
    """The share of the nodes at which the overlay of a view has the colour of paths."""
    draw_now(tab, view)
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
    wait_until(tab, lambda: int(slider.input_value()) > 0)
    tab.locator("#play[aria-label^=Play]").wait_for()
    assert int(slider.input_value()) == len(seen)


def test_any_pair_agrees_with_python(opened, sheet):
    roll = swiss_roll(800)
    curved = PTU().fit(petals(1200).points)
    assert curved.connection_.curvature is not None
    assert known_doubts(curved._fitted.geometry).power > 0  # bars have been set right
    plain = PTU(step="chord", tangent="pca", denoise=0).fit(roll.points)
    forgetful = PTU(coherence=0.8).fit(roll.points)
    for model in (plain, sheet[1], curved, forgetful):
        tab = opened(model.explore())
        rng = np.random.default_rng(0)
        off = []
        for start, end in rng.integers(0, 800, (30, 2)).tolist():
            mine = tab.evaluate("([a, b]) => ptunfold.unfold(a, b)", [start, end])
            path = model.path(start, end)
            assert mine["graph"] == pytest.approx(path.graph_length, rel=1e-5, abs=1e-12)
            assert mine["forward"] == pytest.approx(path.forward, rel=1e-4, abs=1e-9)
            assert mine["backward"] == pytest.approx(path.backward, rel=1e-4, abs=1e-9)
            assert mine["std"] == pytest.approx(path.std, rel=2e-2, abs=1e-6)
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


def test_two_directions_and_a_path_that_bends(opened):
    roll = swiss_roll(800, noise=0.01)
    model = PTU(step="chord", tangent="pca", denoise=0).fit(roll.points)
    tab = opened(model.explore())
    path = model.path(3, 700)
    tab.evaluate("ptunfold.explorer.setEnds(3, 700)")
    gap = abs(path.forward - path.backward) / path.distance
    shown = tab.locator("#gap").inner_text()
    assert float(shown.removesuffix(" %")) / 100 == pytest.approx(gap, rel=0.1)
    assert _lengths(tab, "ptu")[0] == pytest.approx(path.distance, rel=1e-4)
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
    assert tab.get_attribute("#tools [data-tool=look]", "aria-pressed") == "true"


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
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


def test_far_from_the_origin(opened):
    data = s_with_hole(400)
    model = PTU().fit(data.points)
    far = PTU().fit(data.points + [5e5, 5e6, 0])
    chords, seen = [], []
    for one in (model, far):
        tab = opened(one.explore())
        tab.evaluate("ptunfold.explorer.setEnds(3, 4)")
        chords.append(_lengths(tab, "chord")[0])
        seen.append(tab.evaluate("Array.from(ptunfold.explorer.views.left.positions)"))
    assert chords[1] == pytest.approx(chords[0], rel=1e-4)
    np.testing.assert_allclose(seen[1], seen[0], atol=1e-5)


def test_a_point_shows_how_sure_its_place_is(opened, screenshots):
    data = s_with_hole(600)
    noise = np.random.default_rng(0).normal(size=data.points.shape)
    model = PTU().fit(data.points + 0.02 * np.ptp(data.points) * noise)
    tab = opened(model.explore())
    ones = np.column_stack((model.embedding_, np.ones(600)))
    for zoom in (1.0, 2.5):
        tab.evaluate(
            """zoom => { const view = ptunfold.explorer.views.right;
            view.camera.zoom = zoom; view.camera.updateProjectionMatrix(); view.draw(); }""",
            zoom,
        )
        draw_now(tab, "right")
        ones_on = np.asarray(screen(tab, "right"))[:, :2]
        to_screen, *_ = np.linalg.lstsq(ones, ones_on, rcond=None)
        box = tab.locator("#right").bounding_box()
        outline = np.array(tab.evaluate("ptunfold.explorer.ellipse(7)")) + [box["x"], box["y"]]
        turn = np.arange(48) * np.pi / 24
        circle = np.column_stack((np.cos(turn), np.sin(turn)))
        around = model.embedding_[7] + circle @ model.embedding_std_[7]
        wanted = np.column_stack((around, np.ones(48))) @ to_screen
        np.testing.assert_allclose(outline, wanted, atol=0.5)
    tall = (ones_on[:, 1] > box["y"] + 20) & (ones_on[:, 1] < box["y"] + box["height"] - 20)
    inside = np.flatnonzero(tall)[alone(ones_on[tall], 1, box)[0]]
    tab.mouse.move(*ones_on[inside])
    wait_until(tab, lambda: tab.evaluate("ptunfold.explorer.hovered") == inside)
    assert "ellipse: where it may lie, ±" in tab.locator("#tip").inner_text()
    tab.screenshot(path=screenshots / "explorer-ellipse.png")
    tab.mouse.down()
    tab.mouse.move(*ones_on[inside] + 20, steps=3)
    assert tab.evaluate("ptunfold.explorer.hovered") == -1  # gone while dragging
    assert tab.locator("#tip").is_hidden()
    tab.mouse.up()
