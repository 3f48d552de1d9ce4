"""Edges between two parts of a ring that come close to each other, and edges that close one."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from ptunfold import PTU, attempts, build_graph
from ptunfold.geodesics import passing
from ptunfold.geodesics.passing import pass_each_other
from ptunfold.geometry.graph import graph_from_edges, without_edges


def strip(n_points, seed, *, waist=1.0, opening=0.0):
    """Make points of a thick ring in the plane, narrow in the middle, open at one of its ends."""
    rng = np.random.default_rng(seed)
    steps = np.arange(n_points) + rng.uniform(size=n_points)  # without gaps
    angle = opening + (2 * np.pi - 2 * opening) * steps / n_points
    deep = waist + (1 - waist) * np.cos(angle) ** 2
    places = np.column_stack((2 * np.cos(angle), np.sin(angle) * deep))
    return places + 0.02 * rng.normal(size=places.shape), angle


def edges_over(points, angle, least):
    """Return the graph, and those of its edges that lead far along the ring."""
    graph = build_graph(points)
    edges = np.column_stack((graph.tails, graph.indices)).astype(np.int64)
    turn = np.abs(np.angle(np.exp(1j * (angle[edges[:, 0]] - angle[edges[:, 1]]))))
    edges = edges[(turn > least) & (edges[:, 0] < edges[:, 1])]
    return without_edges(graph, *edges.T), edges


@pytest.mark.parametrize("seed", range(5))
def test_strands_of_a_narrow_ring_pass_each_other(seed):
    graph, edges = edges_over(*strip(600, seed, waist=0.06), least=np.pi / 2)
    assert len(edges) > 1
    assert pass_each_other(graph, edges)
    assert pass_each_other(graph, edges[:, ::-1])


@pytest.mark.parametrize("seed", range(5))
def test_a_ring_that_is_opened_ends(seed):
    points, angle = strip(600, seed)
    ends = np.argsort(angle)[[3, -4]]
    graph = build_graph(points)
    over = np.abs(angle[graph.tails] - angle[graph.indices]) > np.pi
    opened = without_edges(graph, graph.tails[over], graph.indices[over])
    assert not pass_each_other(opened, ends[None])


def test_an_edge_between_an_end_and_a_side_is_half_of_each():
    points, angle = strip(600, 0, opening=0.4)
    end, opposite = angle.argmin(), np.abs(angle - 2 * np.pi / 3).argmin()
    graph = build_graph(points)
    assert not pass_each_other(graph, np.array([[end, opposite]]))


def test_over_a_sheet_nothing_falls_apart():
    points = np.random.default_rng(0).uniform(size=(1500, 2))
    far = np.array(
        [np.abs(points - place).sum(axis=1).argmin() for place in ((0.2, 0.5), (0.8, 0.5))]
    )
    assert not pass_each_other(build_graph(points), far[None])


def test_what_leads_to_nothing_far_tells_nothing():
    graph = build_graph(strip(600, 0, waist=0.06)[0])
    near = np.column_stack((graph.tails, graph.indices))[::50].astype(np.int64)
    assert not pass_each_other(graph, near)
    assert not pass_each_other(graph, near[:0])
    # Nor do ends that no path joins.
    apart = graph_from_edges(4, np.array([0, 2]), np.array([1, 3]), np.ones(2))
    assert not pass_each_other(apart, np.array([[0, 2], [1, 3]]))
    empty = graph_from_edges(2, np.zeros(0, int), np.zeros(0, int), np.zeros(0))
    assert not pass_each_other(empty, np.array([[0, 1]]))


def test_most_ends_decide_and_many_edges_are_looked_at_in_part(monkeypatch):
    points, angle = strip(600, 1, waist=0.06)
    _, edges = edges_over(points, angle, np.pi / 2)
    sheet = np.random.default_rng(0).uniform(size=(900, 2)) + [5, 0]
    both = build_graph(np.concatenate((points, sheet)))
    both = without_edges(both, *edges.T)
    crossing = 600 + np.array(
        [
            [
                np.abs(sheet - [5.1, 0.5]).sum(axis=1).argmin(),
                np.abs(sheet - [5.9, 0.5]).sum(axis=1).argmin(),
            ]
        ]
    )
    assert pass_each_other(both, np.concatenate((edges[:3], crossing)))
    assert not pass_each_other(both, np.concatenate((edges[:2], crossing)))
    monkeypatch.setattr(passing, "_MOST_EDGES", 1)
    assert pass_each_other(both, np.concatenate((edges[:1], crossing, crossing)))


@pytest.mark.parametrize("seed", [1, 5, 10])
def test_a_narrow_ring_in_noise_is_drawn_round(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 400)
    ring = np.column_stack((2 * np.cos(angle), np.sin(angle) * (0.3 + 0.7 * np.cos(angle) ** 2)))
    points = np.column_stack((ring, np.zeros((400, 13)))) + 0.08 * rng.normal(size=(400, 15))

    def fit():
        with warnings.catch_warnings(action="ignore"):
            model = PTU().fit(points)
        exact = np.column_stack((np.cos(angle), np.sin(angle)))
        return len(model.shortcuts_), spearmanr(pdist(model.embedding_), pdist(exact))[0]

    n_dropped, rank = fit()
    assert n_dropped > 0
    assert rank > 0.9
    monkeypatch.setattr(attempts, "pass_each_other", lambda *_: False)
    n_dropped, rank = fit()
    assert n_dropped == 0
    assert rank < 0.85
