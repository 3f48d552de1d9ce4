"""How points are drawn: round, smooth, as density, and fainter in the distance."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.explorer.page import make_page
from tests.explorer.looking import draw_now, pixels, screen


def flat_page(places, **options):
    points = np.column_stack((places, np.zeros(len(places))))
    return make_page(points, places, title="", names=["x", "y", "z"], columns=[], **options)


def opacity(tab, view):
    draw_now(tab, view)
    return tab.evaluate(f"ptunfold.explorer.views.{view}.cloud.uniforms.opacity.value[0]")


def test_points_are_round_with_smooth_rims(opened):
    tab = opened(flat_page(np.array([[0.0, 0], [4, 0], [4, 3], [0, 3]])))
    tab.locator("#dot").fill("16")
    box = tab.locator("#right").bounding_box()
    x, y = (screen(tab, "right")[0] - [box["x"], box["y"]]).round().astype(int)
    picture = pixels(tab, "right", "canvas")[..., :3].astype(float)
    ink = (255 - picture[y - 10 : y + 11, x - 10 : x + 11]).max(axis=2)
    ink /= ink.max()
    from_middle = np.hypot(*np.mgrid[-10:11, -10:11])
    assert (ink[from_middle < 6] > 0.95).all()
    assert (ink[from_middle > 10] == 0).all()
    assert ((ink > 0.05) & (ink < 0.95)).sum() > 20  # a rim between the two
    assert ink.sum() == pytest.approx(np.pi * 8**2, rel=0.06)


def test_many_points_read_as_density(opened):
    rng = np.random.default_rng(0)
    dense = rng.random((60_000, 2)) * [1, 2]
    thin = rng.random((6_000, 2)) * [1, 2] + [1, 0]
    tab = opened(flat_page(np.vstack((dense, thin))))
    tab.locator("#dot").fill("4")
    assert opacity(tab, "right") < 0.6
    picture = pixels(tab, "right", "canvas")[..., :3].astype(float)
    places = tab.evaluate("ptunfold.screen('right')")
    places = np.reshape(places, (-1, 3))[:, :2]
    left, right = places.min(axis=0), places.max(axis=0)
    rows = slice(*np.round([left[1] + 20, right[1] - 20]).astype(int))
    middle = 0.5 * (left[0] + right[0])
    ink = [
        255 - picture[rows, slice(*np.round(side).astype(int))].min(axis=2).mean()
        for side in ((left[0] + 10, middle - 10), (middle + 10, right[0] - 10))
    ]
    assert ink[0] > 2 * ink[1] > 0
    # Few are as they are.
    tab = opened(flat_page(rng.random((300, 2))))
    assert opacity(tab, "right") > 0.8


def test_zooming_in_makes_points_opaque(opened):
    tab = opened(flat_page(np.random.default_rng(0).random((60_000, 2))))
    tab.locator("#dot").fill("4")
    before = opacity(tab, "right")
    tab.evaluate(
        """() => { const view = ptunfold.explorer.views.right;
        view.camera.zoom = 12; view.camera.updateProjectionMatrix(); view.drawNow(); }"""
    )
    assert opacity(tab, "right") > 1.3 * before


def test_chosen_points_are_opaque_and_lie_on_top(opened):
    rng = np.random.default_rng(0)
    places = rng.random((40_000, 2))
    tab = opened(flat_page(places))
    chosen = np.flatnonzero((np.abs(places - 0.5) < 0.2).all(axis=1))[:40].tolist()
    before = opacity(tab, "right")
    tab.evaluate(f"ptunfold.select({chosen})")
    for view in ("left", "right"):
        assert opacity(tab, view) > max(before, 0.8)
        order = tab.evaluate(
            f"Array.from(ptunfold.explorer.views.{view}.cloud.order.array.subarray(-40))"
        )
        assert sorted(order) == chosen
    tab.evaluate("ptunfold.select([])")
    assert opacity(tab, "right") == pytest.approx(before)


def test_what_is_far_fades_into_the_background(opened):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((400, 3))
    page = make_page(points, points[:, :2], title="", names=["x", "y", "z"], columns=[])
    tab = opened(page)
    colours = """() => { const { tints, views: { left: view } } = ptunfold.explorer;
        tints.forEach((_, i) => { tints[i] = i % 4 === 3 ? 255 : 0; });
        view.recolour(); view.drawNow(); return Array.from(view.screen); }"""
    seen = np.reshape(tab.evaluate(colours), (-1, 3))
    picture = pixels(tab, "left", "canvas")[..., :3].max(axis=2).astype(float)
    depth = seen[:, 2]
    places = np.round(seen[:, :2]).astype(int)
    gaps = np.linalg.norm(seen[:, None, :2] - seen[None, :, :2], axis=2)
    np.fill_diagonal(gaps, np.inf)
    lonely = np.flatnonzero(gaps.min(axis=1) > 9)
    shade = picture[places[lonely, 1], places[lonely, 0]]
    assert np.corrcoef(depth[lonely], shade)[0, 1] > 0.8
    near, far = (shade[depth[lonely] <= np.quantile(depth[lonely], share)] for share in (0.2, 1))
    assert near.mean() < far.mean()
    order = tab.evaluate("Array.from(ptunfold.explorer.views.left.cloud.order.array)")
    assert np.corrcoef(depth[order], np.arange(400))[0, 1] < -0.95  # the farthest first


def test_pictures_are_framed_and_hide_no_points(opened, screenshots):
    rng = np.random.default_rng(1)
    points = np.vstack([rng.normal(1.6 * k, 0.6, (150, 2)) for k in range(3)])
    kinds = np.repeat(["a", "b", "c"], 150)
    model = PTU().fit(points)
    tab = opened(
        model.explore(images=np.zeros((450, 6, 6)), columns={"kind": kinds}, title="pictures")
    )
    boxes = np.array(tab.evaluate("ptunfold.explorer.images.boxes"))
    assert len(boxes) > 8
    places = np.reshape(tab.evaluate("ptunfold.screen('right')"), (-1, 3))[:, :2]
    low, high = boxes[:, None, :2], boxes[:, None, :2] + boxes[:, None, 2:4]
    hidden = ((places > low) & (places < high)).all(axis=2)
    assert hidden.sum(axis=1).max() <= 6
    assert hidden.any(axis=0).mean() < 0.1
    overlay = pixels(tab, "right", "over")
    tints = np.reshape(tab.evaluate("Array.from(ptunfold.explorer.tints)"), (-1, 4))[:, :3]
    framed = 0
    for left, top, _, tall, point in boxes:
        x, y = int(np.ceil(left)), round(top + tall / 2)
        framed += np.abs(overlay[y, x, :3].astype(int) - tints[int(point)]).max() < 12
    assert framed > 0.8 * len(boxes)
    tab.screenshot(path=screenshots / "explorer-framed.png")
