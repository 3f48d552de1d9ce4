"""Cases that once failed, found by drawing whole fits; each as small as it could be made."""

import numpy as np
import pytest

from ptunfold import PTU, estimate_dimension
from tests.drawn import OWN_GRAPHS, Recipe
from tests.sentences import quiet
from tests.test_properties import agree, in_general_position


def drawn(kind, n_points, n_features, seed, **more):
    plain = {"constant": None, "are_copied": False, "shift": 0.0, "power": 0}
    return Recipe(kind, n_points, n_features, seed, **{**plain, **more})


@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_two_places_are_a_line(form):
    """Nothing is there to compare distances with: LAPACK printed, and gave up."""
    points = np.repeat([[0.0, 0, 0], [1, 2, 3]], 5, axis=0).astype(form)
    with quiet():
        model = PTU(intrinsic_dim="auto").fit(points)
    assert estimate_dimension(points).consensus == 1
    assert model.frames_.intrinsic_dim == 1
    np.testing.assert_allclose(np.ptp(model.embedding_[:, 0]), np.sqrt(14), rtol=1e-6)


@pytest.mark.parametrize("disconnected", ["bridge", "separate"])
def test_neighbourhoods_of_copies_in_many_dimensions(disconnected):
    """Their planes were of no length, and distances of none either: divisions by zero."""
    points = np.repeat(np.random.default_rng(0).normal(size=(4, 78)), 30, axis=0)
    with quiet():
        model = PTU(1, graph="radius", radius=0.1, disconnected=disconnected).fit(points)
    assert np.isfinite(model.embedding_).all()
    planes = model.frames_.vectors
    np.testing.assert_allclose(np.linalg.norm(planes, axis=1), 1)


def test_points_far_from_the_origin_can_be_transformed():
    """They were fitted, because they are not too far apart, and then refused."""
    points = (np.random.default_rng(0).random((40, 3)) + 1e12) * 1e58
    model = PTU().fit(points)
    np.testing.assert_array_equal(model.transform(points), model.embedding_)
    with pytest.raises(ValueError, match="too large for squares"):
        model.transform(points * 1e10)


@pytest.mark.filterwarnings("ignore:the (neighbour graph has|sheet closes)")
def test_a_ring_that_is_torn_at_a_bridge():
    """The bridge was still named among those of the chart, whose edge it was no more."""
    points = drawn("ring", 50, 2, 0).points()
    model = PTU(1).fit(points, graph=OWN_GRAPHS["empty"](points, 1))
    assert len(model.scores()["coherence"]) == 50


def test_the_ends_of_a_curve_are_the_same_in_any_order():
    """They were looked for from the first point on."""
    points, how = (
        in_general_position(12, 2, 5618, True),
        {"tangent": "quadratic", "landmarks": None},
    )
    order = np.random.default_rng(11).permutation(12)
    first, second = (PTU(**how).fit(some).distances() for some in (points, points[order]))
    agree(second, first[np.ix_(order, order)])


@pytest.mark.parametrize("power", [-59, 59])
def test_curvature_of_the_smallest_and_largest_points(power, tmp_path):
    """It has the unit of lengths to the power of -2, and was held to the bounds of lengths."""
    points = drawn("sphere", 87, 3, 0, power=power).points()
    model = PTU().fit(points)
    model.save(tmp_path / "model.safetensors")
    again = PTU.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(points), model.embedding_)
    assert np.isfinite(again.distances([0])).all()


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
def test_places_of_an_embedding_at_the_limit_go_back():
    """Unrolled, a sheet in single precision is larger than points may be."""
    points = drawn("sheet", 60, 80, 63385, power=15).points()
    graph = OWN_GRAPHS["lists"](points, 1)
    model = PTU().fit(points.astype(np.float32), graph=graph)
    assert np.abs(model.embedding_).max() > 1e15
    assert np.isfinite(model.inverse_transform(model.embedding_)).all()


def test_the_way_back_where_points_share_a_place():
    """The way to the next place was 0, and a division by next to nothing overflowed."""
    points = drawn("hub", 130, 27, 2096, are_copied=True, power=59).points()
    model = PTU(1, landmarks=12, prune=None, tangent="quadratic")
    with quiet():
        places = model.fit_transform(points)
        back = model.inverse_transform(places)
    assert np.isfinite(back).all()


def test_eigenvalues_that_lapack_loses():
    """Of many that are equal it found none, and said nothing."""
    points = np.concatenate((np.zeros((1, 71)), np.eye(71)[:70]))
    with quiet():
        model = PTU(tangent="pca").fit(points)
    assert model.embedding_.shape == (71, 2)
    assert (model.eigenvalues_ > 0).all()


@pytest.mark.filterwarnings("ignore:the neighbour graph has", "ignore:the tangent planes explain")
def test_two_points_beyond_a_crease_have_no_plane_of_their_own():
    """Rounding chose among the planes that hold both, and distances turned with the points."""
    points = in_general_position(97, 5, 5940, is_sheet=False)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    models = [PTU(4, graph="mutual").fit(given) for given in (points, points @ turn)]
    agree(models[1].distances(), models[0].distances())
