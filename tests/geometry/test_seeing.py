"""What stays of points that were known by their distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import spherical_cap
from ptunfold.geometry import seeing
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.seeing import seen_by
from ptunfold.threads import Run
from ptunfold.types import Settings

CAP = spherical_cap(200, angle=60).points
NOISY = CAP + 0.02 * np.random.default_rng(0).normal(size=CAP.shape)


def settings(near):
    return Settings(
        graph="knn",
        n_neighbors=10,
        radius=None,
        search="auto",
        disconnected="bridge",
        is_pruned=False,
        intrinsic_dim=2,
        may_shrink=False,
        tangent_neighbors=15,
        tangent="quadratic",
        step="arc",
        denoise=1,
        coherence=None,
        n_wide=0,
        denoise_neighbors=near,
        denoise_scale=1,
    )


def seen(space, surface, monkeypatch):
    graph = build_graph(surface, 10)
    frames = estimate_frames(surface, graph, 15, tangent="quadratic")
    connection = connect(surface, graph, frames, step="arc")
    monkeypatch.setattr(seeing, "_EDGES_TOGETHER", 300)
    return seen_by(space, surface, frames, connection, settings(20), Run()), frames, connection


def ways_seen(about, connection, points):
    """Return the edges as the shares at their tails tell them, and what the tail knows of them."""
    graph = connection.graph
    squares = np.square(cdist(points, points))
    members = about.members[graph.tails]
    ways = squares[graph.indices[:, None], members] - about.squares[graph.tails]
    return -0.5 * np.einsum("em,emd->ed", ways, about.shares[graph.tails])


def test_points_that_were_not_moved(monkeypatch):
    space = Matrix(cdist(CAP, CAP))
    about, frames, connection = seen(space, space, monkeypatch)
    np.testing.assert_array_equal(about.members, frames.members)
    np.testing.assert_array_equal(about.shares, frames.vectors)
    nodes = np.arange(200)
    np.testing.assert_allclose(
        about.squares, np.square(space.matrix[nodes[:, None], about.members])
    )
    assert not about.moved.any()
    assert (about.extent, about.n_off) == (0, 1)
    vectors = np.einsum("nmf,nmd->nfd", CAP[frames.members], frames.vectors)
    graph = connection.graph
    overlaps = np.einsum("efi,efj->eij", vectors[graph.tails], vectors[graph.indices])
    np.testing.assert_allclose(about.turned, 2 - np.square(overlaps).sum(axis=(1, 2)), atol=1e-8)
    along = ways_seen(about, connection, CAP)
    offsets = CAP[graph.indices] - CAP[graph.tails]
    expected = np.einsum("efi,ef->ei", vectors[graph.tails], offsets)
    np.testing.assert_allclose(along, expected, atol=1e-8)


def test_moved_points_see_from_where_they_were_given(monkeypatch):
    space = Matrix(cdist(NOISY, NOISY))
    surface = Matrix(cdist(CAP, CAP), moves=np.linalg.norm(NOISY - CAP, axis=1))
    about, _, connection = seen(space, surface, monkeypatch)
    assert about.members.shape == (200, 21)
    assert about.extent == pytest.approx(surface.extent)
    np.testing.assert_array_equal(about.moved, surface.moves)
    nodes = np.arange(200)
    np.testing.assert_allclose(
        about.squares, np.square(space.matrix[nodes[:, None], about.members])
    )
    # Turned like those of the moved ones: edges go where they go there.
    along = ways_seen(about, connection, NOISY)
    off = np.linalg.norm(along - connection.steps, axis=1)
    assert np.median(off / np.linalg.norm(connection.steps, axis=1)) < 0.25


def test_dimensions_that_neighbourhoods_extend_in(monkeypatch):
    rng = np.random.default_rng(0)
    for n_features in (2, 5):
        points = np.column_stack(
            (rng.uniform(size=(150, 2)), 1e-3 * rng.normal(size=(150, n_features - 2)))
        )
        space = Matrix(cdist(points, points))
        about, *_ = seen(space, space, monkeypatch)
        assert about.n_off == max(n_features - 2, 1)
