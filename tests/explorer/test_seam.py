"""Data that were cut open, on the page."""

import numpy as np
import pytest

from ptunfold import PTU


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
