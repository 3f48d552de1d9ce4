"""Charts that overlap."""

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import flat_square, sphere

pytestmark = pytest.mark.filterwarnings("ignore:the data are closed")


def test_a_sphere_in_several_charts():
    points = sphere(1200).points
    model = PTU(landmarks=50).fit(points)
    (whole,) = model.atlas(1).charts
    assert len(whole.nodes) == 1200
    assert whole.distortion > 0.2
    worst = {}
    for n_charts in (2, 6):
        atlas = model.atlas(n_charts)
        worst[n_charts] = max(chart.distortion for chart in atlas.charts)
        assert len(atlas.charts) == n_charts
        for number, chart in enumerate(atlas.charts):
            # Who is at home in a chart is in it, and some others are.
            home = np.flatnonzero(atlas.home == number)
            assert np.isin(home, chart.nodes).all()
            assert len(chart.nodes) > len(home)
    assert worst[2] < 0.35 * whole.distortion
    assert worst[6] < 0.15 * whole.distortion


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
