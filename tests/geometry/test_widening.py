"""More edges, none of them off the sheet."""

import warnings

import numpy as np
import pytest

from ptunfold import PTU, Frames, build_graph, estimate_frames, widen_graph
from ptunfold.datasets import flat_square, s_uneven, s_with_hole, spherical_cap, swiss_roll
from ptunfold.geometry.widening import with_ends_joined


def widened(points, n_neighbors, **options):
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    return graph, widen_graph(points, graph, frames, n_neighbors, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_a_flat_sheet_they_are_the_nearest(dtype):
    points = flat_square(500).points.astype(dtype)
    _, wide = widened(points, 24)
    nearest = build_graph(points, 24)
    keys = [set((g.tails * 500 + g.indices).tolist()) for g in (wide, nearest)]
    # All but those that cannot be reached over few edges of the narrow graph.
    assert len(keys[0] & keys[1]) > 0.99 * len(keys[1])
    assert (wide.lengths[wide.reverse] == wide.lengths).all()
    np.testing.assert_allclose(
        wide.lengths, np.linalg.norm(points[wide.tails] - points[wide.indices], axis=1), rtol=1e-5
    )


def test_every_old_edge_stays_and_threads_do_not_matter():
    points = swiss_roll(900).points
    graph, wide = widened(points, 24)
    keys = [set((g.tails * 900 + g.indices).tolist()) for g in (graph, wide)]
    assert keys[0] < keys[1]
    _, again = widened(points, 24, n_jobs=2)
    np.testing.assert_array_equal(again.indices, wide.indices)
    np.testing.assert_array_equal(again.lengths, wide.lengths)


@pytest.mark.parametrize("seed", range(3))
def test_no_edge_leaves_the_sheet(seed):
    """As many nearest neighbours in space would join the windings of a thin sample."""
    data = swiss_roll(700, seed=seed)

    def count_jumps(graph):
        apart = data.coordinates[graph.tails] - data.coordinates[graph.indices]
        return int((np.linalg.norm(apart, axis=1) > 2 * graph.lengths).sum())

    graph, wide = widened(data.points, 30)
    assert count_jumps(build_graph(data.points, 30)) > 20
    assert count_jumps(wide) <= count_jumps(graph)


def test_copies_and_few_points():
    points = np.repeat(flat_square(40).points, 3, axis=0)
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    wide = widen_graph(points, graph, frames, 1000)
    distinct = wide.indices[np.isin(wide.tails, np.arange(0, 120, 3))]
    assert len(distinct[distinct % 3 == 0]) == 40 * 39
    with pytest.raises(ValueError, match="n_neighbors=0 is not a positive whole number"):
        widen_graph(points, graph, frames, 0)


def test_straighter_paths_are_truer():
    errors = []
    data = spherical_cap(800, angle=60, sampling="random", seed=1)
    exact = data.distances()
    for n_neighbors in (10, "auto"):
        found = PTU(n_neighbors=n_neighbors).fit(data.points).distances()
        errors.append(np.abs(found - exact).mean())
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
def test_only_graphs_built_here_are_widened():
    points = s_uneven(800).points
    narrow = PTU(n_neighbors=10).fit(points).graph_.n_edges
    assert PTU().fit(points).graph_.n_edges > 1.5 * narrow
    for options in ({"graph": "mutual"}, {"graph": "radius", "radius": 0.5}):
        own = PTU(**options, disconnected="largest")
        kind = build_graph(points, 10, graph=options["graph"], radius=options.get("radius"))
        assert own.fit(points).graph_.n_edges <= kind.n_edges


@pytest.mark.parametrize("options", [{"radius": 0.3}, {"step": "chord"}, {"step": "projection"}])
def test_not_with_a_radius_or_without_arcs(options):
    points = s_uneven(800).points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        auto, ten = (
            PTU(n_neighbors=k, disconnected="largest", **options).fit(points) for k in ("auto", 10)
        )
    np.testing.assert_array_equal(auto.graph_.indices, ten.graph_.indices)
    assert auto.graph_.lengths.max() <= options.get("radius", np.inf)


def test_bridges_lead_to_no_other_edges():
    sheet = s_with_hole(800).points
    blob = sheet.mean(axis=0) + 0.05 * np.random.default_rng(0).standard_normal((14, 3)) * [1, 1, 0]
    points = np.concatenate((sheet, blob))
    with pytest.warns(UserWarning, match="joined by 1 edges"):
        bridged = PTU().fit(points)
    separate = PTU(disconnected="separate").fit(points)
    labels, graph = separate.component_labels_, bridged.graph_
    assert (labels[graph.tails] != labels[graph.indices]).sum() == 2
    within = np.isfinite(separate.distances())
    np.testing.assert_allclose(bridged.distances()[within], separate.distances()[within])


def test_steep_edges_are_left_out():
    """Two planes at a right angle: nothing may cut the corner, seen from either side."""
    rng = np.random.default_rng(0)
    flat = np.column_stack((rng.uniform(0, 1, (200, 2)), np.zeros(200)))
    upright = np.column_stack((np.zeros(200), rng.uniform(0, 1, (200, 2))))
    points = np.concatenate((flat, upright))
    vectors = np.zeros((400, 3, 2))
    vectors[:200, [0, 1], [0, 1]] = 1
    vectors[200:, [1, 2], [0, 1]] = 1
    frames = Frames(vectors, np.ones((400, 2)), np.zeros(400))
    graph = build_graph(points)
    wide = widen_graph(points, graph, frames, 24)
    old = set((graph.tails * 400 + graph.indices).tolist())
    is_new = np.array([key not in old for key in (wide.tails * 400 + wide.indices).tolist()])
    crosses = (wide.tails < 200) != (wide.indices < 200)
    offsets = points[wide.tails] - points[wide.indices]
    slopes = np.abs(offsets[:, [0, 2]]).min(axis=1) / np.linalg.norm(offsets, axis=1)
    assert slopes[is_new & crosses].max() < np.sin(np.arccos(0.95)) + 1e-9


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_thin_samples(seed):
    data = swiss_roll(500, seed=seed)
    off = np.abs(PTU().fit(data.points).distances() - data.distances()).mean()
    assert off < 0.005 * data.distances().mean()


def _open_ring(n_points, share):
    angles = np.linspace(0, share * 2 * np.pi, n_points)
    return np.column_stack((np.cos(angles), np.sin(angles)))


@pytest.mark.parametrize("given", ["own", "radius", "knn"])
def test_an_open_curve_stays_open(given):
    """The ends of a C were joined, in a graph of one's own and beyond a radius too."""
    points = _open_ring(60, 0.95)
    options = {"own": {}, "radius": {"graph": "radius", "radius": 0.2}, "knn": {"n_neighbors": 2}}
    graph = build_graph(points, 2) if given == "own" else None
    model = PTU(1, **options[given], **({} if graph is None else {"graph": graph}))
    model.fit(points)
    assert model.graph_.lengths.max() < 0.3  # the opening is 0.31 wide
    assert np.ptp(model.embedding_) == pytest.approx(0.95 * 2 * np.pi, rel=0.01)


def test_rings_are_closed_whatever_lies_apart():
    """Points that are left out made all ways to them the longest."""
    n_joined = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        angles = rng.uniform(0, 2 * np.pi, 60)
        ring = np.column_stack((np.cos(angles), np.sin(angles)))
        far = np.column_stack((np.linspace(20, 21, 8), np.zeros(8)))
        both = np.concatenate((ring, far))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = PTU(1, n_neighbors=6).fit(ring).graph_
            apart = PTU(1, n_neighbors=6, disconnected="largest").fit(both).graph_
        is_within = (apart.tails < 60) & (apart.indices < 60)
        edges = zip(apart.tails[is_within].tolist(), apart.indices[is_within].tolist(), strict=True)
        assert set(edges) == set(zip(alone.tails.tolist(), alone.indices.tolist(), strict=True))
        n_joined += alone.n_edges > build_graph(ring, 6).n_edges
    assert n_joined >= 2


def _hairpin(rng, n_points=3000):
    """Two legs side by side, one a little longer: the ends lie near, and lead nowhere near."""
    along = rng.uniform(0, 1, n_points)
    is_back = along > 0.505
    x = np.where(is_back, 1.0 - along, along)
    turn = np.abs(along - 0.505) < 0.004
    y = np.where(is_back, 0.005, 0.0)
    y[turn] = (along[turn] - 0.501) / 0.008 * 0.005
    return np.column_stack((x, y))


def _spiral(rng, n_points=3000, pitch=0.03):
    turns = rng.uniform(0, 1.03, n_points)
    radius = 1 + pitch * turns
    return np.column_stack((radius * np.cos(2 * np.pi * turns), radius * np.sin(2 * np.pi * turns)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("curve", [_hairpin, _spiral])
def test_ends_that_lie_side_by_side_are_not_joined(curve, seed):
    points = curve(np.random.default_rng(seed))
    graph = build_graph(points, 10)
    frames = estimate_frames(points, graph, 10, 1)
    joined = with_ends_joined(points, graph, frames)
    assert joined.n_edges == graph.n_edges
