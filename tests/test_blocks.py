"""Work is cut into blocks: where they end makes no difference."""

import numpy as np
import pytest

from ptunfold import PTU, build_graph, geodesic_distances
from ptunfold.datasets import swiss_roll
from ptunfold.embedding import extension, landmark_scaling, regression, relaxation
from ptunfold.geodesics import squares
from ptunfold.geometry import (
    bundles,
    connection,
    creases,
    frames,
    neighbors,
    shortcuts,
    span,
    widening,
)
from ptunfold.threads import Run

POINTS = swiss_roll(300, n_features=5, noise=0.01).points
SIZES = (
    *(
        (module, "_EDGES_TOGETHER")
        for module in (bundles, connection, creases, shortcuts, widening)
    ),
    *((module, "_COLUMNS") for module in (landmark_scaling, relaxation, squares)),
    *((module, "_CHUNK_VALUES") for module in (creases, frames, neighbors)),
    (extension, "_QUERIES_TOGETHER"),
    (extension, "_POINTS_TOGETHER"),
    (span, "_POINTS_TOGETHER"),
    (neighbors, "_EDGES_TOGETHER"),
    (neighbors, "_ROWS_TOGETHER"),
    (regression, "_NUMBERS_TOGETHER"),
)


def everything():
    anchors = np.arange(0, 300, 10)
    rows = geodesic_distances(POINTS, sources=anchors)
    found = [rows, relaxation.relax(rows, anchors, POINTS[:, :2])]
    for how in ({}, {"landmarks": 40, "n_neighbors": 25}):
        model = PTU(denoise=1, prune="shortcuts", **how).fit(POINTS)
        back = model.inverse_transform(model.embedding_[::3] + 0.01)
        found += [model.embedding_, model.transform(POINTS[::3] + 0.01), back]
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_small_blocks_lead_to_the_same(monkeypatch):
    expected = everything()
    for module, name in SIZES:
        monkeypatch.setattr(module, name, 37)
    for one, other in zip(everything(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * np.abs(other).max())


def test_blocks_of_frames_on_a_device():
    class Device:
        most_values = 600
        fit_neighborhoods = staticmethod(frames.fit_neighborhoods)

    graph = build_graph(POINTS)
    nodes = np.arange(len(POINTS))
    found, expected = (
        frames.fit_frames(nodes, POINTS, graph, 12, 2, "pca", Run(), device=device)
        for device in (Device(), None)
    )
    np.testing.assert_allclose(found.singular_values, expected.singular_values)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(expected.vectors), atol=1e-6)
