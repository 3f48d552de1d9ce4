"""Whole fits of points of every kind: a finite answer or a sentence, and what theory says of it.

`make test` runs a sample, `make fuzz` thousands of cases.
"""

import copy

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from ptunfold import PTU
from tests.drawn import OWN_GRAPHS, as_form, forms, radius_for, some_parameters, some_points
from tests.sentences import check_is_own, quiet

# Theory is tried on a tenth of the cases that are only to end well.
TENTH = settings(max_examples=max(settings.default.max_examples // 10, 1))


def attempt(work):
    """Return what the work gives, or None where the package refuses in a sentence."""
    with quiet():
        try:
            return work()
        except Exception as error:
            check_is_own(error)
            return None


def same(first, second):
    """Tell whether two inputs are equal to the bit, whatever they are."""
    if isinstance(first, list | tuple):
        return all(same(*pair) for pair in zip(first, second, strict=True))
    if hasattr(first, "equals"):
        return first.equals(second)
    if hasattr(first, "nnz"):
        return first.shape == second.shape and not (first != second).nnz
    return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f")


def check_answer(model):
    """Finite everywhere but at the points that were left out."""
    left_out = model.component_labels_ < 0
    assert np.isfinite(model.embedding_[~left_out]).all()
    assert np.isnan(model.embedding_[left_out]).all()
    assert np.isfinite(model.eigenvalues_).all()
    assert not left_out.any() or model.disconnected == "largest"


@given(
    some_points,
    forms(),
    some_parameters(),
    st.one_of(st.none(), st.none(), st.sampled_from([0.05, 0.3, 2.0])),
    st.one_of(*[st.none()] * 6, st.sampled_from(sorted(OWN_GRAPHS))),
    st.integers(1, 8),
)
def test_any_fit_ends_in_an_answer_or_a_sentence(recipe, form, parameters, reach, own, n_near):
    points = recipe.points()
    given_points = as_form(points, form)
    if reach is not None:
        parameters = {**parameters, "radius": radius_for(points, reach)}
    graph = None
    if own is not None:
        assume(len(points) > n_near and 1e-60 < np.abs(points).max() < 1e60)
        graph = OWN_GRAPHS[own](points, n_near)
    kept, kept_graph = copy.deepcopy(given_points), copy.deepcopy(graph)
    model = attempt(lambda: PTU(**parameters).fit(given_points, graph=graph))
    assert same(given_points, kept)
    assert graph is None or same(graph, kept_graph)
    if model is None:
        return
    check_answer(model)
    again = attempt(lambda: clone(model).fit(given_points, graph=graph))
    np.testing.assert_array_equal(model.embedding_, again.embedding_)
    np.testing.assert_array_equal(model.eigenvalues_, again.eigenvalues_)
    check_uses(model, given_points)
    assert same(given_points, kept)


def check_uses(model, points):
    """What follows a fit ends in an answer or a sentence, too."""
    placed = attempt(lambda: model.transform(points))
    left_out = model.component_labels_ < 0
    assert np.isfinite(placed[~left_out]).all()
    back = attempt(lambda: model.inverse_transform(model.embedding_[~left_out]))
    assert np.isfinite(back).all()
    distances = attempt(lambda: model.distances([0]))
    assert not np.isnan(distances[0, ~left_out]).any() or left_out[0]
    scores = attempt(model.scores)
    assert all(len(score) == len(placed) for score in scores.values())
    attempt(lambda: model.path(0, len(placed) - 1))
    attempt(lambda: model.orientation_)


# Without ties, and in few enough points for nothing to be sampled.
plain = st.tuples(st.integers(12, 100), st.integers(2, 6), st.integers(0, 2**32 - 1), st.booleans())


def in_general_position(n, width, seed, is_sheet):
    rng = np.random.default_rng(seed)
    flat = rng.uniform(size=(n, 2)) * (3, 1)
    if not is_sheet:
        return rng.normal(size=(n, width))
    bent = np.column_stack((np.cos(flat[:, 0]), flat[:, 1], np.sin(flat[:, 0])))
    return bent[:, :width] + 0.01 * rng.normal(size=(n, min(width, 3)))


def has_equal_components(points, parameters):
    """Tell whether the order of components, and which is the largest, is left to chance."""
    if parameters.get("disconnected") not in ("largest", "separate"):
        return False
    apart = attempt(lambda: PTU(**{**parameters, "disconnected": "separate"}).fit(points))
    sizes = [] if apart is None else np.bincount(apart.component_labels_)
    return len(set(sizes)) < len(sizes)


@TENTH
@given(plain, some_parameters(), st.integers(0, 2**32 - 1))
def test_the_order_of_points_does_not_matter(recipe, parameters, seed):
    points = in_general_position(*recipe)
    parameters = {**parameters, "landmarks": None}
    order = np.random.default_rng(seed).permutation(len(points))
    first = attempt(lambda: PTU(**parameters).fit(points))
    second = attempt(lambda: PTU(**parameters).fit(points[order]))
    assert (first is None) == (second is None)
    if first is None or has_equal_components(points, parameters):
        return
    expected = first.distances()
    agree(second.distances(), expected[np.ix_(order, order)])
    agree(second.eigenvalues_, first.eigenvalues_)


@TENTH
@given(
    plain,
    some_parameters(),
    st.integers(0, 2**32 - 1),
    st.floats(-20, 20),
    st.sampled_from([0.0, 1.0, 1e3]),
)
def test_rigid_motion_and_scale(recipe, parameters, seed, power, shift):
    points = in_general_position(*recipe)
    parameters = {**parameters, "landmarks": None}
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(points.shape[1],) * 2))[0]
    scale = 10.0**power
    first = attempt(lambda: PTU(**parameters).fit(points))
    second = attempt(lambda: PTU(**parameters).fit(scale * (points @ turn + shift)))
    assert (first is None) == (second is None)
    if first is None:
        return
    agree(second.distances() / scale, first.distances())
    agree(second.eigenvalues_ / scale**2, first.eigenvalues_)


def agree(found, expected):
    """Within rounding, which planes of nearly round neighbourhoods magnify."""
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    size = np.abs(expected[finite]).max(initial=0)
    np.testing.assert_allclose(found[finite], expected[finite], atol=1e-6 * size, rtol=0)
