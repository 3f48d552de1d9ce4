"""The parts of how seams are found, by themselves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ptunfold import PTU, build_graph, connect, estimate_frames
from ptunfold.datasets import (
    annulus,
    flat_square,
    flat_torus,
    klein_bottle,
    moebius_band,
    sphere,
)
from ptunfold.geodesics import seams
from ptunfold.geodesics.cutting import _parts
from ptunfold.geodesics.loops import (
    Group,
    _by_shifts,
    _on_the_way,
    _with_motion,
    around_voids,
    independent,
    matching_edges,
    open_edges,
    unroll,
)
from ptunfold.geodesics.seams import (
    _closes,
    _is_ring,
    _is_torus,
    _seam,
    _way_to_root,
    _windings,
    ends_somewhere,
    find_from,
    find_topology,
    planes_agree,
)
from ptunfold.kernels.cones import mark_one_sided
from ptunfold.types import Geometry

TURN = 2 * np.pi


def laid(points, n_neighbors=8, dim=2):
    graph = build_graph(points, n_neighbors)
    return connect(points, graph, estimate_frames(points, graph, n_neighbors, dim))


def along_ring(share=1.0, n_points=120):
    angles = TURN * share * np.arange(n_points) / n_points
    return laid(np.column_stack((np.cos(angles), np.sin(angles))), 4, 1)


SQUARE = laid(flat_square(300).points)


def group(gaps, loops, turn=None, weakest=None, edges=None):
    gaps, loops = np.array(gaps, dtype=float), np.array(loops, dtype=float)
    dim = gaps.shape[1]
    heads = np.random.default_rng(0).normal(size=gaps.shape)
    turn = np.eye(dim) if turn is None else np.array(turn, dtype=float)
    shift = (heads + gaps - heads @ turn.T).mean(axis=0)
    weakest = np.ones(len(gaps)) if weakest is None else np.array(weakest)
    edges = np.arange(len(gaps)) if edges is None else edges
    return Group(edges, heads, heads + gaps, turn, shift, loops, weakest)


def test_a_ring_has_no_end_and_an_arc_has_two():
    for share, has_rim in ((1.0, False), (0.8, True)):
        found = find_topology(along_ring(share))
        assert found.has_rim == has_rim
        assert len(found.seams) == 1 - has_rim
        assert found.n_holes == 0
    seam = find_topology(along_ring()).seams[0]
    assert seam.length == pytest.approx(TURN, rel=0.01)
    assert seam.kind == "period"
    assert set(seam.loop.tolist()) <= set(range(120))


def test_a_loop_is_a_ring_if_it_is_nearly_all_of_the_curve():
    where = np.array([[-1.0], [0], [1]])
    assert not _is_ring([], where)
    assert not _is_ring([group([[1.7]], [2])], where)
    assert _is_ring([group([[1.0]], [2]), group([[-1.9], [1.8]], [2, 2])], where)


@pytest.mark.parametrize(
    ("gap", "turn", "trust", "dim", "has_rim", "closes"),
    [
        (0.5, None, 1.0, 2, True, True),
        (0.4, None, 1.0, 2, True, False),  # around a hole
        (0.4, [[1, 0], [0, -1]], 1.0, 2, True, True),  # left is right
        (0.9, None, 0.8, 2, True, False),  # jumps
        (0.0, None, 0.0, 2, False, True),
        (0.5, [[1]], 0.0, 1, True, True),
        (0.4, [[-1]], 0.0, 1, False, False),
    ],
)
def test_what_a_loop_goes_around(gap, turn, trust, dim, has_rim, closes):
    gaps = np.zeros((4, dim))
    gaps[:, 0] = gap
    one = group(gaps, np.ones(4), turn, np.full(4, trust))
    assert _closes(one, dim, has_rim) == closes


def test_measures_of_a_group():
    gaps = [[3.0, 4.0]] * 2 + [[0.0, 1.0]] * 8
    one = group(gaps, [10.0, 10, *range(11, 19)], weakest=np.linspace(0, 1, 10))
    assert one.closing == 0.5  # of the shortest loops
    assert one.trust == pytest.approx(0.9)
    np.testing.assert_allclose(one.gaps, gaps)
    off = np.array(gaps) - np.mean(gaps, axis=0)
    assert one.misfit == pytest.approx(np.linalg.norm(off, axis=1).mean())


def test_motions_are_believed_where_transport_is_coherent():
    assert planes_agree(SQUARE, is_torus=False)
    n_edges = SQUARE.graph.n_edges
    for share, is_torus, is_sure in (
        (0.75, False, True),
        (0.74, False, False),
        (0.61, True, True),
        (0.59, True, False),
    ):
        kept = np.full(n_edges, share)
        assert planes_agree(replace(SQUARE, coherence=kept), is_torus) == is_sure
    curve = along_ring()
    for share, is_sure in ((0.75, True), (0.74, False)):  # a ring is no torus
        kept = np.full(curve.graph.n_edges, share)
        assert planes_agree(replace(curve, coherence=kept), is_torus=True) == is_sure
    for share, is_sure in ((0.71, True), (0.69, False)):
        explained = np.full(curve.graph.n_points, share)
        assert planes_agree(replace(curve, explained=explained), is_torus=True) == is_sure


def test_a_torus_closes_along_all_its_directions():
    found = find_topology(laid(flat_torus(600).points, 16))
    assert _is_torus(found)
    assert not _is_torus(replace(found, has_rim=True))
    assert not _is_torus(replace(found, seams=found.seams[:1]))
    other = replace(found.seams[0], kind="glide")
    assert not _is_torus(replace(found, seams=(other, found.seams[1])))


def test_shifts_of_a_solid_are_measured_by_all_edges(monkeypatch):
    """Those from the middle alone differ more from set to set, and so do the angles."""

    def measured():
        lengths, errors = [], []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            angles = rng.uniform(0, TURN, (1000, 3))
            points = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
            points += 0.06 * rng.normal(size=points.shape)
            model = PTU(3, landmarks=30, seams="leave").fit(points)
            lengths += [seam.length for seam in model.topology_.seams]
            found = np.exp(1j * model.intrinsic_coordinates_)
            for one in found.T:
                ways = [one / np.exp(1j * sign * true) for true in angles.T for sign in (1, -1)]
                best = max(ways, key=lambda way: abs(way.mean()))
                errors.append(np.angle(best / best.mean()).std())
        return lengths, np.mean(errors)

    def as_it_was(topology, connection, unrolled, groups, seams):
        return topology, unrolled.turns

    by_all, near = measured()
    monkeypatch.setattr(seams, "_fitted_to_all_edges", as_it_was)
    from_one, far = measured()
    assert len(by_all) == len(from_one) == 12
    np.testing.assert_allclose(by_all, TURN, rtol=0.03)
    assert np.std(by_all) < 0.5 * np.std(from_one)
    assert near < 0.6 * far


def test_a_curved_solid_stays_as_it_was_unrolled():
    """Balls of a sphere, around a circle: no frame is the same for all of it."""
    rng = np.random.default_rng(0)
    height, angle, around = rng.uniform((0.2, 0, 0), (1, TURN, TURN), (2000, 3)).T
    radius = np.sqrt(1 - height**2)
    points = np.column_stack(
        (radius * np.cos(angle), radius * np.sin(angle), height, np.cos(around), np.sin(around))
    )
    found = find_topology(laid(points, 20, 3))
    (seam,) = found.seams
    assert seam.kind == "period"
    assert seam.length == pytest.approx(TURN, rel=0.01)
    along = seam.shift / np.linalg.norm(seam.shift)
    assert np.linalg.norm(seam.shift) == pytest.approx(seam.length)
    across = found.where - np.outer(found.where @ along, along)
    top = int(np.argmax(height))
    farthest = np.linalg.norm(across - across[top], axis=1)
    share = farthest / np.maximum(np.arccos(height), 1e-3)
    assert np.median(share) == pytest.approx(1, abs=0.08)


def test_edges_across_seams_are_counted():
    graph = SQUARE.graph
    forth = np.flatnonzero(graph.tails < graph.indices)
    gaps = [[[3.0, 0]] * 2, [[0.0, 4]] * 2, [[3.0, 4.1]] * 2, [[1.4, 0]] * 2, [[3.0, 0], [-3, 0]]]
    groups = [
        group(gap, [10, 10], edges=forth[2 * place : 2 * place + 2])
        for place, gap in enumerate(gaps)
    ]
    found = _windings(graph, groups, groups[:2])
    expected = [[1, 0], [0, 1], [1, 1], [np.nan, np.nan], [np.nan, np.nan]]
    for one, around in zip(groups, expected, strict=True):
        np.testing.assert_array_equal(found[one.edges], [around, around])
        np.testing.assert_array_equal(found[graph.reverse[one.edges]], -np.array([around] * 2))
    assert np.count_nonzero(found) == 2 * 2 * (1 + 1 + 2 + 2 + 2)
    # Seams are themselves, however their lengths compare.
    twins = [group([[3.0, 0]] * 2, [10, 10], edges=forth[2 * k : 2 * k + 2]) for k in range(2)]
    found = _windings(graph, twins, twins)
    for place, one in enumerate(twins):
        np.testing.assert_array_equal(found[one.edges], np.eye(2)[[place, place]])


@pytest.mark.parametrize(
    ("n_points", "n_neighbors", "dim", "n_around"),
    [(599, 30, 2, 5), (600, 30, 2, 6), (600, 8, 2, 9), (600, 8, 3, 5)],
)
def test_voids_are_the_longer_the_fewer_neighbours(n_points, n_neighbors, dim, n_around):
    points = np.random.default_rng(0).normal(size=(n_points, 2))
    assert around_voids(build_graph(points, n_neighbors), dim) == n_around


def test_a_square_has_a_rim_and_a_torus_none():
    torus = laid(flat_torus(400).points, 12)
    for of_cells in (False, True):
        assert ends_somewhere(SQUARE, of_cells=of_cells)
        assert not ends_somewhere(torus, of_cells=of_cells)
    # Where all points but a few are left with what lies on one side.
    ahead = torus.steps[:, 0] > 0
    one_sided = replace(torus, steps=np.where(ahead[:, None], torus.steps, -torus.steps))
    assert ends_somewhere(one_sided)


def test_points_are_at_a_rim_if_all_neighbours_are_ahead():
    units = np.random.default_rng(0).normal(size=(6, 5, 2))
    units /= np.linalg.norm(units, axis=2, keepdims=True)
    units[1, :, 0] = np.abs(units[1, :, 0])  # half a plane
    units[2, :4] = [[1, 0], [-1, 0], [0, 1], [0, -1]]  # all around
    units[3] = 0  # copies
    units[4, 1:] = 0
    units[5] = [[1, 0.1], [1, -0.1], [1, 0.2], [0.1, 1], [-0.15, 1]]
    steps = units * np.random.default_rng(1).uniform(0.5, 2, (6, 5, 1))
    found = np.empty(6, dtype=bool)
    mark_one_sided(np.arange(0, 31, 5), steps.reshape(30, 2), -0.2, found)
    expected = []
    for some in steps:
        some = some[np.linalg.norm(some, axis=1) > 0]
        some = some / np.linalg.norm(some, axis=1, keepdims=True)
        mean = some.sum(axis=0)
        size = np.linalg.norm(mean)
        expected.append(size > 0.5 and (some @ mean >= -0.2 * size).all())
    assert found.tolist() == expected == [False, True, False, False, True, True]


def test_edges_match_that_end_where_and_as_they_lead():
    torus = laid(flat_torus(600).points, 24)
    for sheet in (SQUARE, torus):
        graph, unrolled = sheet.graph, unroll(sheet)
        found = matching_edges(sheet, unrolled, 1)
        turns, where = unrolled.turns, unrolled.outward
        seen = where[graph.tails] + np.einsum("eij,ej->ei", turns[graph.tails], sheet.steps)
        apart = np.linalg.norm(seen - where[graph.indices], axis=1)
        around = turns[graph.tails] @ sheet.rotations @ turns[graph.indices].swapaxes(1, 2)
        turned = np.linalg.norm(around - np.eye(2), axis=(1, 2)) / np.sqrt(2)
        expected = (apart <= 0.5 * np.median(graph.lengths)) & (turned <= 0.3)
        once = graph.tails < graph.indices
        np.testing.assert_array_equal(found[once], expected[once])
        np.testing.assert_array_equal(found, found[graph.reverse])
        assert found.all() == (sheet is SQUARE)
        np.testing.assert_array_equal(matching_edges(sheet, unrolled, 2), found)
    # What comes back turned does not match, wherever it ends.
    unrolled.turns[:300] = unrolled.turns[:300] @ [[0, 1], [-1, 0]]
    still = replace(torus, steps=np.zeros_like(torus.steps))
    unrolled.outward[:] = 0
    is_half = (graph.tails < 300) != (graph.indices < 300)
    assert not matching_edges(still, unrolled, 1)[is_half].any()


@pytest.mark.parametrize("n_around", [3, 6, 9])
def test_what_matches_is_shut_as_it_would_be_by_triangles(n_around):
    torus = laid(flat_torus(1000).points, 24)
    unrolled = unroll(torus)
    is_match = matching_edges(torus, unrolled, 1)
    found = open_edges(torus.graph, unrolled.tree, n_around, is_match)
    np.testing.assert_array_equal(found, open_edges(torus.graph, unrolled.tree, n_around))
    np.testing.assert_array_equal(found, ~is_match)


def test_voids_are_shut_though_their_edges_do_not_match():
    """Nor do they keep open what triangles shut around them."""
    torus = laid(flat_torus(1000).points, 24)
    unrolled = unroll(torus)
    is_match = matching_edges(torus, unrolled, 1)
    expected = ~is_match
    inside = np.flatnonzero(is_match)[::7]
    is_match[inside] = is_match[torus.graph.reverse[inside]] = False
    np.testing.assert_array_equal(open_edges(torus.graph, unrolled.tree, 6, is_match), expected)


def test_edges_that_shift_alike_go_together():
    torus = laid(flat_torus(1000).points, 24)
    graph, unrolled = torus.graph, unroll(torus)
    is_match = matching_edges(torus, unrolled, 1)
    leading = _by_shifts(torus, unrolled, is_match, 5)
    np.testing.assert_array_equal(leading < 0, is_match)
    edges = np.flatnonzero(leading >= 0)
    # Who goes the other way goes with the other ones.
    np.testing.assert_array_equal(leading[graph.reverse[edges]], graph.reverse[leading[edges]])
    seen = np.einsum("eij,ej->ei", unrolled.turns[graph.tails], torus.steps)
    shifts = (seen + unrolled.outward[graph.tails] - unrolled.outward[graph.indices])[edges]
    wound = np.round(shifts @ np.linalg.inv(_lattice(shifts)))
    names, number = np.unique(leading[edges], return_inverse=True)
    assert len(names) == len(np.unique(wound, axis=0)) >= 6
    for place in range(len(names)):
        assert len(np.unique(wound[number == place], axis=0)) == 1
    # Shifts that loops around voids may have, and turns, tell nothing.
    assert _by_shifts(torus, unrolled, is_match, 30) is None
    one = np.flatnonzero(leading >= 0)[0]
    rotations = torus.rotations.copy()
    for edge in (one, graph.reverse[one]):
        rotations[edge] = rotations[edge] @ [[0, 1], [1, 0]]
    assert _by_shifts(replace(torus, rotations=rotations), unrolled, is_match, 5) is None


def _lattice(shifts):
    """Two of the shifts, at right angles and of the length of a turn."""
    first = shifts[np.abs(np.linalg.norm(shifts, axis=1) - TURN).argmin()]
    across = shifts[np.linalg.norm(shifts, axis=1) < 1.1 * TURN]
    return np.array([first, across[np.abs(across @ first).argmin()]])


@pytest.mark.parametrize(
    ("points", "dim"),
    [
        (flat_torus(1000).points, 2),
        (moebius_band(1000).points, 2),
        (klein_bottle(3000).points, 2),
        (sphere(1000).points, 2),
        (annulus(1000).points, 2),
    ],
)
def test_a_first_look_finds_what_has_to_be_cut(points, dim):
    sheet = laid(points, 18, dim)
    unrolled = unroll(sheet)
    first = find_from(sheet, unrolled, matching_edges(sheet, unrolled), 1)
    found = find_topology(sheet)
    assert [seam.kind for seam in first.seams] == [seam.kind for seam in found.seams]
    assert first.has_rim == found.has_rim
    cuts = [{tuple(sorted(pair)) for pair in one.edges.tolist()} for one in (first, found)]
    assert cuts[0] == cuts[1]
    assert first.is_sure == found.is_sure
    if first.has_rim and not first.seams:
        assert found.n_holes == 1  # and the first look need not see it


def test_independent_loops_are_the_shortest_that_make_all():
    groups = [group([[1, 0]], [length]) for length in (5, 3, 4, 1)]
    none = np.empty((0, 3), dtype=int)
    assert independent(groups, none) == [3, 1, 2, 0]
    assert independent(groups, np.array([[0, 1, 2]])) == [3, 1, 2]
    assert independent(groups, np.array([[2, 1, 0], [0, 1, 2]])) == [3, 1, 2]
    assert independent(groups, np.array([[0, 1, 2], [0, 2, 3]])) == [3, 2]
    assert independent(groups, np.array([[1, 1, 3]])) == [1, 2, 0]  # twice is nothing


def test_ways_lead_along_the_tree():
    graph, tree = SQUARE.graph, unroll(SQUARE, 7).tree
    met = set()
    for node in (7, 0, 299, 123):
        way = _way_to_root(graph, tree, node)
        assert (way[0], way[-1]) == (node, 7)
        for one, other in pairwise(way):
            assert other in graph.indices[graph.indptr[one] : graph.indptr[one + 1]]
            assert tree.distance[other] < tree.distance[one]
        met |= {*way}
    assert _on_the_way(graph, tree, np.array([0, 299, 123])).tolist() == sorted(met)
    assert _on_the_way(graph, tree, np.array([7])).tolist() == [7]


def test_the_middle_is_where_paths_are_unfolded_from():
    root = int(np.flatnonzero(unroll(SQUARE).tree.distance == 0)[0])
    points = flat_square(300).points
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    off = np.linalg.norm(points - middle, axis=1)
    assert off[root] < 0.35 * off.max()


def test_the_motion_of_a_flat_sheet_is_none():
    unrolled = unroll(SQUARE, 3)
    edges = np.array([0, 50, 99, 700])
    found = _with_motion(SQUARE, unrolled, edges, np.array([1.0, 0.5, 1, 1]))
    graph, distance = SQUARE.graph, unrolled.tree.distance
    tails, heads = graph.tails[edges], graph.indices[edges]
    np.testing.assert_allclose(found.gaps, 0, atol=1e-9)
    np.testing.assert_allclose(found.turn, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.shift, 0, atol=1e-9)
    np.testing.assert_allclose(found.heads, unrolled.outward[heads])
    expected = distance[tails] + distance[heads] + graph.lengths[edges]
    np.testing.assert_allclose(found.loops, expected)
    np.testing.assert_array_equal(found.weakest, [1, 0.5, 1, 1])


def test_what_a_seam_does():
    graph, tree = SQUARE.graph, unroll(SQUARE, 7).tree
    gaps = np.array([[2.0, 0], [2, 0.2], [2, -0.2], [2, 0]])
    edges, loops = np.array([10, 20, 30, 40]), [5.0, 3, 4, 6]
    found = _seam(group(gaps, loops, [[0.8, 0.6], [-0.6, 0.8]], edges=edges), graph, tree)
    assert found.kind == "period"
    np.testing.assert_allclose(found.shift, [2, 0], atol=1e-12)
    np.testing.assert_array_equal(found.turn, np.eye(2))
    lengths = np.linalg.norm(gaps, axis=1)
    assert (found.length, found.std) == pytest.approx((lengths.mean(), lengths.std()))
    assert found.loop_length == 3
    ends = graph.tails[20], graph.indices[20]
    there, back = (_way_to_root(graph, tree, int(node)) for node in ends)
    assert found.loop.tolist() == there[::-1] + back
    np.testing.assert_array_equal(found.edges[:, 0], graph.tails[edges])
    np.testing.assert_array_equal(found.edges[:, 1], graph.indices[edges])
    # Gaps that differ: a turn, whose length is that of the shortest loops.
    other = _seam(group([[2, 0], [0, 1], [0, 3], [-2, 0]], loops, edges=edges), graph, tree)
    assert (other.kind, other.length, other.std) == ("turn", 1, 0)
    mirror = group(gaps, loops, [[1, 0], [0, -1]], edges=edges)
    # Where heads are seen is not where the glide takes them: again the shortest loops.
    far = _seam(mirror, graph, tree)
    assert far.kind == "glide"
    assert far.length == pytest.approx(np.hypot(2, 0.2))
    seen = mirror.heads @ mirror.turn.T + [2, 0.3]
    glide = _seam(replace(mirror, seen=seen, shift=np.array([2, 0.3])), graph, tree)
    assert (glide.kind, glide.length) == ("glide", pytest.approx(2))
    assert glide.std == pytest.approx(0, abs=1e-12)


def geometry_of(connection):
    labels = np.zeros(connection.graph.n_points, dtype=np.int64)
    empty = np.empty((0, 2))
    return Geometry(connection.graph, None, connection, labels, empty, empty, empty, None)


def test_parts_of_few_points_are_passed_over():
    points = flat_square(300).points
    connection = laid(np.concatenate((points, points[:60] * 0.4 + 9)))
    assert connection.graph.component_labels.max() == 1
    for least, expected in ((60, [300, 60]), (61, [300]), (301, [])):
        found = list(_parts(geometry_of(connection), least))
        assert [part.graph.n_points for _, part in found] == expected
        assert [len(nodes) for nodes, _ in found] == expected
