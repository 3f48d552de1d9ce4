"""Many points as few cells, and what their seams tell of the points."""

import pickle

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold import PTU, build_graph, connect, estimate_frames
from ptunfold.datasets import annulus, flat_square, flat_torus, moebius_band, s_with_hole, sphere
from ptunfold.geodesics import seams
from ptunfold.geodesics.coarsening import gather
from ptunfold.geodesics.loops import unroll
from tests.geodesics.test_seams import TURN, cap, cylinder, modulo, ring, swiss_roll, three_torus

pytestmark = pytest.mark.filterwarnings("ignore:the sheet closes", "ignore:the data are closed")


def laid(points, n_neighbors=12):
    graph = build_graph(points, n_neighbors)
    return connect(points, graph, estimate_frames(points, graph))


def test_nodes_belong_to_the_nearest_seed():
    connection = laid(flat_square(1000).points)
    cells = gather(connection, 60)
    lengths = dijkstra(connection.graph.to_sparse(), indices=cells.seeds)
    own = lengths[cells.cell, np.arange(1000)]
    np.testing.assert_allclose(own, lengths.min(axis=0))
    assert np.bincount(cells.cell).min() >= 1
    np.testing.assert_array_equal(cells.cell[cells.seeds], np.arange(60))


def test_cells_of_a_plane_lie_as_their_points_do():
    points = flat_square(1000).points
    cells = gather(laid(points), 100)
    graph, rotations = cells.coarse.graph, cells.coarse.rotations
    turned = np.einsum("eij,ekj->eik", rotations, rotations)
    np.testing.assert_allclose(turned, np.broadcast_to(np.eye(2), turned.shape), atol=1e-12)
    np.testing.assert_allclose(rotations[graph.reverse], rotations.transpose(0, 2, 1))
    tails, heads = cells.seeds[graph.tails], cells.seeds[graph.indices]
    apart = np.linalg.norm(points[tails] - points[heads], axis=1)
    np.testing.assert_allclose(graph.lengths, apart)
    unrolled = unroll(cells.coarse, 0)
    found = unrolled.outward[cells.cell]
    found = found + np.einsum("nij,nj->ni", unrolled.turns[cells.cell], cells.where)
    exact = np.linalg.norm(points - points[cells.seeds[0]], axis=1)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), exact, atol=1e-9)


def test_cells_that_lack_a_neighbour_are_no_rim(monkeypatch):
    monkeypatch.setattr(seams, "_MOST_POINTS", 9000)
    monkeypatch.setattr(seams, "_N_CELLS", 1500)
    for points, has_rim in ((sphere(12_000).points, False), (cap(12_000), True)):
        assert seams.find_topology(laid(points, n_neighbors=10)).has_rim == has_rim


@pytest.fixture
def in_cells(monkeypatch):
    monkeypatch.setattr(seams, "_MOST_POINTS", 900)
    monkeypatch.setattr(seams, "_N_CELLS", 800)


@pytest.mark.usefixtures("in_cells")
@pytest.mark.parametrize(
    ("points", "dim", "name", "n_seams"),
    [
        (lambda: ring(2000)[1], 1, "a ring", 1),
        (lambda: cylinder(2500)[2], 2, "a cylinder", 1),
        (lambda: cylinder(2500, noise=0.02)[2], 2, "a cylinder", 1),
        (lambda: moebius_band(2500).points, 2, "a Möbius band", 1),
        (lambda: sphere(2500).points, 2, "a sphere", 0),
        (lambda: cap(2500), 2, "a sheet", 0),
        (lambda: swiss_roll(3000).points, 2, "a sheet", 0),
        (lambda: s_with_hole(2500).points, 2, "a sheet with 1 hole", 0),
        (lambda: annulus(2500).points, 2, "a sheet with 1 hole", 0),
    ],
)
def test_what_it_is(points, dim, name, n_seams):
    model = PTU(dim, landmarks=30).fit(points())
    topology = model.topology_
    assert (topology.name, len(topology.seams)) == (name, n_seams)
    assert (len(topology.edges) > 0) == (n_seams > 0) == (len(model.images([0])) > 0)


def test_three_dimensions(monkeypatch):
    monkeypatch.setattr(seams, "_MOST_POINTS", 2500)
    monkeypatch.setattr(seams, "_N_CELLS", 2000)
    topology = PTU(3, landmarks=30).fit(three_torus(4000)).topology_
    assert topology.name == "a 3-torus"
    for seam in topology.seams:
        assert seam.length == pytest.approx(TURN, rel=5e-3)


@pytest.mark.usefixtures("in_cells")
def test_a_torus_is_cut_and_kept(tmp_path):
    data = flat_torus(3000)
    model = PTU(landmarks=60).fit(data.points)
    sources = np.arange(0, 3000, 150)
    exact = data.distances(sources)
    for found in (modulo(model, sources), model.distances(sources)):
        assert np.linalg.norm(found - exact) < 1e-3 * np.linalg.norm(exact)
    topology, graph = model.topology_, model.graph_
    joined = {*zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)}
    for seam in topology.seams:
        assert seam.kind == "period"
        assert seam.length == pytest.approx(TURN, rel=1e-3)
        assert {*map(tuple, seam.edges.tolist())} <= joined
        # A loop of the graph itself, once around.
        assert seam.loop[0] == seam.loop[-1]
        steps = [*zip(seam.loop[:-1].tolist(), seam.loop[1:].tolist(), strict=True)]
        assert {*steps} <= joined
        across = {*map(tuple, np.sort(topology.edges, axis=1).tolist())}
        assert len({*(tuple(sorted(step)) for step in steps)} & across) == 1
        assert TURN < seam.loop_length < 1.2 * TURN
    # As seen from the middle, only what is across a seam is apart.
    tails, heads = graph.tails, graph.indices
    apart = np.linalg.norm(topology.where[tails] - topology.where[heads], axis=1)
    is_across = apart > TURN / 2
    wrong = np.abs(apart - graph.lengths)[~is_across]
    assert wrong.max() < 0.1 * graph.lengths.mean()
    found = np.unique(np.sort(np.column_stack((tails, heads))[is_across], axis=1), axis=0)
    np.testing.assert_array_equal(found, np.unique(np.sort(topology.edges), axis=0))
    model.save(tmp_path / "model")
    for other in (PTU.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert str(other.topology_) == str(topology)
        np.testing.assert_array_equal(other.topology_.edges, topology.edges)
        np.testing.assert_array_equal(other.images(), model.images())


@pytest.mark.usefixtures("in_cells")
@pytest.mark.parametrize("seed", [97, 28, 31])
def test_what_jumps_closes_nothing(seed):
    noisy = PTU(landmarks=30).fit(swiss_roll(1000, noise=0.028, seed=seed).points)
    assert not noisy.topology_.seams
