"""Periods by all edges at once."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from ptunfold.geodesics.paths import unfold
from ptunfold.geodesics.periods import fit_periods
from ptunfold.geometry.order import connection_from_edges

SIZES = np.array([3.0, 4, 5])


def wrapped(noise=0.0, jump=0.0):
    """Lay points at random into a box whose sides belong together, each with a frame of its own.

    Returns places, the connection, the windings of its edges and the frames. ``jump`` adds an edge
    that leads so far beside its end.
    """
    rng = np.random.default_rng(0)
    places = rng.uniform(0, SIZES, (400, 3))
    pairs = cKDTree(places, boxsize=SIZES).query_pairs(1.1, output_type="ndarray")
    tails, heads = np.concatenate((pairs, pairs[:, ::-1])).T
    apart = places[heads] - places[tails]
    windings = -np.round(apart / SIZES)
    steps = apart + windings * SIZES
    errors = noise * rng.normal(size=places.shape)
    steps += errors[heads] - errors[tails]
    steps[0] += jump
    steps[len(pairs)] -= jump
    frames, _ = np.linalg.qr(rng.normal(size=(400, 3, 3)))
    connection = connection_from_edges(
        400,
        tails,
        heads,
        np.linalg.norm(steps, axis=1),
        np.einsum("eji,ejk->eik", frames[tails], frames[heads]),
        np.einsum("eji,ej->ei", frames[tails], steps),
        coherence=None,
        points=None,
        curvature=None,
    )
    # In the order in which the connection has them.
    graph = connection.graph
    windings = -np.round((places[graph.indices] - places[graph.tails]) / SIZES)
    return places, connection, windings, frames


def begun(connection, frames):
    """Take what one path to each point tells, turned into the frame of the box."""
    found = unfold(connection, 0)
    turns = np.einsum("ij,njk->nik", frames[0], found.turns)
    return found._replace(outward=found.outward @ frames[0].T, turns=turns)


def test_places_and_periods_of_a_box_are_exact():
    places, connection, windings, frames = wrapped()
    laid = fit_periods(connection, begun(connection, frames), windings, 1.2 * np.diag(SIZES))
    np.testing.assert_allclose(laid.periods, np.diag(SIZES), atol=2e-4)
    np.testing.assert_allclose(laid.places - laid.places[0], places - places[0], atol=2e-4)
    np.testing.assert_allclose(laid.turns, frames, atol=1e-9)
    graph = connection.graph
    np.testing.assert_allclose(
        laid.seen, laid.places[graph.indices] + windings @ np.diag(SIZES), rtol=0, atol=5e-4
    )


def test_errors_of_points_cancel_out():
    _, connection, windings, frames = wrapped(noise=0.1)
    periods = fit_periods(connection, begun(connection, frames), windings, np.diag(SIZES)).periods
    np.testing.assert_allclose(np.linalg.norm(periods, axis=1), SIZES, rtol=0.01)


def test_an_edge_of_which_nobody_knows_does_not_count():
    _, connection, windings, frames = wrapped(jump=5.0)
    graph = connection.graph
    far = np.argsort(graph.lengths)[-2:]
    assert graph.reverse[far[0]] == far[1]
    unknown = windings.copy()
    unknown[far] = np.nan
    begin = begun(connection, frames)
    found = [
        fit_periods(connection, begin, each, np.diag(SIZES)).periods for each in (windings, unknown)
    ]
    off = [np.abs(np.linalg.norm(periods, axis=1) - SIZES).max() for periods in found]
    assert off[1] < 2e-3
    assert off[0] > 5 * off[1]


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_units_do_not_matter(scale):
    _, connection, windings, frames = wrapped()
    graph = connection.graph.with_lengths(scale * connection.graph.lengths)
    scaled = replace(connection, graph=graph, steps=scale * connection.steps)
    periods = fit_periods(
        scaled, begun(scaled, frames), windings, 1.2 * scale * np.diag(SIZES)
    ).periods
    np.testing.assert_allclose(periods / scale, np.diag(SIZES), atol=2e-3)
