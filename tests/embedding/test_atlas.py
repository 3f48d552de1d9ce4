"""Charts that overlap."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import flat_square, sphere

pytestmark = pytest.mark.filterwarnings("ignore:the data are closed")


def test_a_sphere_in_several_charts():
    points = sphere(1200).points
    model = PTU(landmarks=50).fit(points)
    one = model.atlas(1)
    (whole,) = one.charts
    assert len(whole.nodes) == 1200
    assert whole.distortion == pytest.approx(one.distortion)
    assert 0.26 < whole.distortion < 0.3  # 0.281 at best, by all distances of a sphere
    worst, at_home = {}, {}
    for n_charts in (2, 6):
        atlas = model.atlas(n_charts)
        worst[n_charts] = max(chart.distortion for chart in atlas.charts)
        at_home[n_charts] = atlas.distortion
        assert len(atlas.charts) == n_charts
        for number, chart in enumerate(atlas.charts):
            # Who is at home in a chart is in it, and some others are.
            home = np.flatnonzero(atlas.home == number)
            assert np.isin(home, chart.nodes).all()
            assert len(chart.nodes) > len(home)
    assert 0.066 < at_home[2] < 0.071  # 0.0685 at best, of half a sphere
    assert at_home[2] < 0.255 * whole.distortion
    assert worst[2] < 0.3 * whole.distortion
    assert worst[6] < 0.13 * whole.distortion
    assert at_home[6] < 0.07 * whole.distortion


def test_distortion_is_that_of_distances_at_home():
    data = sphere(600)
    atlas = PTU(landmarks=50).fit(data.points).atlas(2)
    off = whole = 0.0
    for number, chart in enumerate(atlas.charts):
        is_home = atlas.home[chart.nodes] == number
        nodes, places = chart.nodes[is_home], chart.coordinates[is_home]
        exact = data.distances(nodes)[:, nodes]
        shown = np.linalg.norm(places[:, None] - places, axis=2)
        off, whole = off + np.square(shown - exact).sum(), whole + np.square(exact).sum()
    assert atlas.distortion == pytest.approx(np.sqrt(off / whole), rel=0.05)


def test_charts_of_a_plane_fit_together():
    points = flat_square(800).points
    model = PTU().fit(points)
    atlas = model.atlas(4)
    assert {(1, 0), (0, 1)} <= set(atlas.transitions)
    for (one, other), (turn, shift, error) in atlas.transitions.items():
        assert error < 1e-9
        first, second = atlas.charts[one], atlas.charts[other]
        shared, ours, theirs = np.intersect1d(first.nodes, second.nodes, return_indices=True)
        moved = first.coordinates[ours] @ turn.T + shift
        np.testing.assert_allclose(moved, second.coordinates[theirs], atol=1e-9)
        assert len(shared) > 2
    for chart in atlas.charts:
        assert chart.distortion < 1e-9
    assert atlas.distortion < 1e-9


def test_components_and_points_that_are_left_out():
    points = np.concatenate((flat_square(300).points, flat_square(200).points + 30))
    apart = PTU(disconnected="separate").fit(points).atlas(3)
    assert [len(chart.nodes) for chart in apart.charts][-1] == 200
    assert len(apart.charts) == 4
    with pytest.warns(UserWarning, match="only the largest"):
        largest = PTU(disconnected="largest").fit(points)
    assert (largest.atlas(2).home[300:] == -1).all()
    with pytest.raises(ValueError, match="n_charts"):
        largest.atlas(0)
