"""Data that were cut open, on the page."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import flat_torus
from tests.explorer.looking import pixels


@pytest.mark.filterwarnings("ignore:the sheet closes")
def test_a_path_goes_on_at_the_other_border(opened, screenshots):
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(0, 2 * np.pi, 800), rng.uniform(0, 3, 800)
    model = PTU().fit(np.column_stack((np.cos(angle), np.sin(angle), height)))
    tab = opened(model.explore(color="seam"))
    shown = tab.evaluate('ptunfold.explorer.columns.find((c) => c.name === "seam").values')
    borders = np.zeros(800, dtype=int)
    borders[model.topology_.edges] = 1
    assert shown == borders.tolist()
    # From one side of the seam to the other, and along it.
    tail, head = model.topology_.edges[0]
    apart = np.linalg.norm(model.embedding_ - model.embedding_[tail], axis=1)
    far = int(np.argsort(apart)[60])
    for end, n_torn in ((int(head), 1), (far, 0)):
        path = model.path(int(tail), end).nodes
        assert len(path) > 1
        tab.evaluate(f"ptunfold.explorer.pick({int(tail)}), ptunfold.explorer.pick({end})")
        views = "ptunfold.explorer.views"
        for view, expected in (("right", n_torn), ("left", 0)):
            assert tab.evaluate(f"ptunfold.explorer.tears({views}.{view}).size") == expected
        tab.screenshot(path=screenshots / f"seam-{n_torn}.png")


@pytest.mark.filterwarnings("ignore:the sheet closes")
def test_borders_that_belong_together_have_one_colour(opened, screenshots):
    model = PTU().fit(flat_torus(1000).points)
    tab = opened(model.explore())
    tab.screenshot(path=screenshots / "explorer-borders.png")
    marks = tab.evaluate(
        """() => Object.values(ptunfold.explorer.views).map(({ marks: [mark] }) => [
        Array.from(mark.ids), Array.from(mark.tint.array), Array.from(mark.positions)])"""
    )
    (ids, tints, _), (other_ids, other_tints, places) = marks
    assert ids == other_ids
    assert tints == other_tints  # in both views
    ids, tints = np.array(ids), np.reshape(tints, (-1, 4))[:, :3].astype(float)
    assert set(ids) == set(np.concatenate([seam.edges for seam in model.topology_.seams]).ravel())
    first = np.cumsum([0] + [len(np.unique(seam.edges)) for seam in model.topology_.seams])
    means = []
    for seam, start, stop in zip(model.topology_.seams, first, first[1:], strict=False):
        of_point = dict(zip(ids[start:stop].tolist(), tints[start:stop], strict=True))
        ends = np.array([[of_point[tail], of_point[head]] for tail, head in seam.edges.tolist()])
        across = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        spread = np.linalg.norm(ends[:, 0] - ends[::-1, 0], axis=1)
        assert np.median(across) < 0.2 * spread.max()
        means.append(tints[start:stop].mean(axis=0))
    assert np.linalg.norm(means[0] - means[1]) > 60
    # At the places of their points, in the picture too.
    shown = tab.evaluate("Array.from(ptunfold.explorer.views.right.positions)")
    np.testing.assert_array_equal(np.reshape(places, (-1, 3)), np.reshape(shown, (-1, 3))[ids])
    # Those of points that are not selected are faint.
    kept = ids[:3].tolist()
    tab.evaluate(f"ptunfold.select({kept})")
    faded = tab.evaluate("Array.from(ptunfold.explorer.views.right.marks[0].tint.array)")
    np.testing.assert_array_equal(np.reshape(faded, (-1, 4))[:, 3] == 255, np.isin(ids, kept))
    before = pixels(tab, "right", "canvas")
    tab.click("#borders")
    without = pixels(tab, "right", "canvas")
    assert (before != without).any()


def test_sheets_have_no_borders(opened, page):
    tab = opened(page)
    assert tab.locator("#borders-choice").is_hidden()
    assert tab.evaluate("ptunfold.explorer.views.left.marks.length") == 0
