"""Bad input gets one sentence that says what was found and what to do."""

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ptunfold import (
    PTU,
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    transport_distances,
)
from ptunfold.datasets import flat_square
from ptunfold.validation.points import check_points

GOOD = np.random.default_rng(0).random((40, 3))


def with_entry(value):
    points = GOOD.copy()
    points[7, 1] = value
    return points


def own_graph(value=1.0, shape=(40, 40)):
    return sparse.coo_array(([1.0, value], ([0, 1], [1, 2])), shape=shape)


BAD_POINTS = [
    (with_entry(np.nan), ValueError, r"NaN in 1 of 40 rows \(first in row 7\).*leave these"),
    (with_entry(-np.inf), ValueError, r"infinity \(inf\) in 1 of 40 rows.*leave these"),
    (GOOD[:2], ValueError, "n_samples=2 point.*at least 3"),
    (GOOD[:0], ValueError, "0 sample"),
    (GOOD[:, :0], ValueError, r"0 feature\(s\)"),
    (np.ones((40, 3)), ValueError, "all 40 points of X are equal"),
    (GOOD[:, 0], ValueError, r"X has 1 dimension.*X.reshape"),
    (GOOD[:, 0].tolist(), ValueError, r"X has 1 dimension.*X.reshape"),
    (None, ValueError, "X has 0 dimension"),
    ([[1.0, 2.0], [3.0]], ValueError, "rows of X have different lengths"),
    ((GOOD * 1e19).astype(np.float32), ValueError, "too far from 1 for squares in float32"),
    (GOOD * 1e-160, ValueError, "too far from 1 for squares in float64; divide X by"),
    (GOOD[None], ValueError, r"X has 3 dimension.*X.reshape"),
    (np.full((40, 3), "a"), ValueError, "X holds text.*encode"),
    ([["a", "b"]] * 40, ValueError, "X holds text.*encode"),
    (pd.DataFrame({"x": GOOD[:, 0], "name": ["a"] * 40}), ValueError, "X holds text.*encode"),
    (GOOD.astype(complex), ValueError, "Complex data not supported: pass real"),
    (sparse.csr_array(GOOD), TypeError, "X is a sparse matrix.*toarray"),
    (
        pd.DataFrame(GOOD).astype(pd.SparseDtype(float)),
        TypeError,
        r'sparse columns.*astype\("float64"\)',
    ),
    (GOOD.view(np.matrix), TypeError, r"X is a numpy.matrix; pass numpy.asarray\(X\)"),
    (anndata.AnnData(GOOD), TypeError, r'X is an AnnData.*pass adata.obsm\["X_pca"\]'),
]

BAD_PARAMETERS = [
    ({"n_components": 0}, "n_components=0 is not a positive whole number"),
    ({"n_components": 40}, "n_components=40 needs more than 40 points.*lower"),
    ({"n_components": 4}, "intrinsic_dim=4 exceeds n_features=3.*of at most 3"),
    ({"n_neighbors": 40}, "n_neighbors=40 needs more than 40 points.*below 40"),
    ({"n_neighbors": 2.5}, "n_neighbors=2.5 is not a positive whole number"),
    ({"n_neighbors": True}, "n_neighbors=True is not a positive whole number"),
    ({"n_neighbors": "many"}, "n_neighbors='many' is not a positive whole number"),
    ({"intrinsic_dim": 4}, "intrinsic_dim=4 exceeds n_features=3"),
    ({"intrinsic_dim": -1}, "intrinsic_dim=-1 is not a positive"),
    ({"tangent_neighbors": 1}, "tangent_neighbors=1 cannot span intrinsic_dim=2.*at least 2"),
    ({"tangent_neighbors": 40}, "tangent_neighbors=40 needs more than 40 points.*below 40"),
    ({"graph": "radius"}, 'graph="radius" needs a radius'),
    ({"radius": -1.0}, "radius=-1.0 is not a positive number"),
    ({"radius": np.nan}, "radius=nan is not a positive number"),
    ({"radius": "wide"}, "radius='wide' is not a positive number"),
    ({"graph": "knm"}, 'graph=\'knm\' is not known; choose one of "knn", "mutual", "radius"'),
    ({"n_jobs": 0}, "n_jobs=0 is not a number of threads"),
    ({"n_jobs": "two"}, "n_jobs='two' is not a number of threads"),
    ({"step": "arch"}, "step='arch' is not known; choose one of"),
    ({"disconnected": "ignore"}, "disconnected='ignore' is not known; choose one of"),
]

BAD_GRAPHS = [
    (own_graph(shape=(40, 41)), ValueError, r"shape \(40, 41\), but X has 40 points"),
    (own_graph(shape=(39, 39)), ValueError, r"pass a sparse matrix of shape \(40, 40\)"),
    (own_graph(-1.0), ValueError, "1 negative edge length"),
    (own_graph(np.nan), ValueError, "1 NaN or infinite edge length"),
    (own_graph(np.inf), ValueError, "1 NaN or infinite edge length"),
    (own_graph().tobsr((4, 4)), ValueError, "the BSR format.*pass a CSR"),
    (own_graph().todia(), ValueError, "the DIA format.*pass a CSR"),
    (own_graph().astype(bool), ValueError, 'not edge lengths.*mode="distance"'),
    (np.ones((40, 40)), TypeError, "a SciPy sparse matrix of edge lengths is needed"),
    ([[1, 2]], TypeError, "graph is a list"),
    (sparse.csr_array(np.eye(40) + 0.5), ValueError, "all along its diagonal.*pass distances"),
]


def check_is_one_sentence(error):
    message = str(error.value)
    assert "\n" not in message
    assert ". " not in message
    assert len(message) < 350


@pytest.mark.parametrize(("points", "kind", "message"), BAD_POINTS)
@pytest.mark.parametrize("entry", [PTU().fit, geodesic_distances, build_graph])
def test_bad_points(points, kind, message, entry):
    with pytest.raises(kind, match=message) as error:
        entry(points)
    check_is_one_sentence(error)


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        PTU(**parameters).fit(GOOD)
    check_is_one_sentence(error)
    if "n_components" not in parameters:
        with pytest.raises(ValueError, match=message):
            geodesic_distances(GOOD, **parameters)


@pytest.mark.parametrize(("graph", "kind", "message"), BAD_GRAPHS)
def test_bad_graphs(graph, kind, message):
    with pytest.raises(kind, match=message) as error:
        PTU().fit(GOOD, graph=graph)
    check_is_one_sentence(error)
    with pytest.raises(kind, match=message):
        geodesic_distances(GOOD, graph=graph)


def similarities(kind, distances):
    """What other tools take for weights of edges, from distances to ten neighbours."""
    rows = np.repeat(np.arange(len(distances)), 10)
    nearest = np.argsort(distances, axis=1)[:, 1:11]
    ways = np.take_along_axis(distances, nearest, axis=1)
    if kind == "kernel":
        weights = np.exp(-np.square(ways / ways.mean()))
    elif kind == "fuzzy":  # with a scale at each point
        weights = np.exp(-(ways - ways[:, :1]) / ways.mean(axis=1, keepdims=True))
    else:
        weights = 1 / ways
    return sparse.coo_array((weights.ravel(), (rows, nearest.ravel())), shape=distances.shape)


@pytest.mark.filterwarnings("ignore:unfolded in 2 dimensions")
@pytest.mark.parametrize("kind", ["kernel", "fuzzy", "inverse"])
def test_similarities_are_no_lengths(kind):
    points = flat_square(200).points * np.logspace(0, 1, 200)[:, None]
    distances = cdist(points, points)
    with pytest.warns(UserWarning, match="as similarities have.*pass distances") as said:
        PTU().fit(points, graph=similarities(kind, distances))
    assert len([one for one in said if "similarities" in str(one.message)]) == 1
    assert said[0].filename == __file__


def test_lengths_of_ones_own_pass():
    """Steps, noisy lengths and lengths without any relation to space."""
    points = flat_square(200).points
    edges = build_graph(points).to_sparse()
    rng = np.random.default_rng(0)
    for lengths in (np.ones(edges.nnz), edges.data * rng.uniform(0.5, 2, edges.nnz), None):
        own = edges.copy()
        own.data = rng.random(edges.nnz) if lengths is None else lengths
        PTU().fit(points, graph=own)


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_distances_are_no_coordinates():
    points = flat_square(100).points
    distances = cdist(points, points)
    for given in (distances, distances.astype(np.float32), pd.DataFrame(distances)):
        with pytest.warns(UserWarning, match="like a matrix of distances.*precomputed") as said:
            PTU().fit(given)
        assert len([one for one in said if "matrix of distances" in str(one.message)]) == 1
        assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="like a matrix of distances"):
        geodesic_distances(distances)
    # Square, but not that.
    for other in (distances + 1e-3 * np.eye(100), np.triu(distances), distances - 0.5):
        PTU().fit(other)


@pytest.mark.parametrize("sources", [[40], [-41], [0.5], ["a"], 3, [[0, 1]]])
def test_bad_sources(sources):
    with pytest.raises(ValueError, match=r"sources must be|does not exist|not the index"):
        geodesic_distances(GOOD, sources=sources)


def test_no_kind_of_graph_at_all():
    with pytest.raises(ValueError, match="graph=None is not known; choose one of"):
        PTU(graph=None).fit(GOOD)


def test_more_dimensions_than_points():
    points = np.random.default_rng(0).random((10, 20))
    with pytest.raises(
        ValueError, match="intrinsic_dim=12 needs more than 12 points, but X has 10"
    ):
        PTU(intrinsic_dim=12).fit(points)


def test_a_dtype_that_cannot_hold_distances():
    graph = build_graph(GOOD)
    connection = connect(GOOD, graph, estimate_frames(GOOD, graph))
    with pytest.raises(ValueError, match="cannot hold distances"):
        transport_distances(connection, dtype=int)


def test_extents_at_the_limit_still_work():
    sheet = flat_square(300).points
    for points, tolerance in (
        (sheet * 1e55, 1e-9),
        (sheet * 1e-55, 1e-9),
        ((sheet * 1e14).astype(np.float32), 1e-5),
    ):
        embedding = PTU().fit_transform(points).astype(np.float64)
        exact = np.linalg.norm(points[:, None] - points[None], axis=2)
        found = np.linalg.norm(embedding[:, None] - embedding[None], axis=2)
        assert np.abs(found - exact).max() <= tolerance * exact.max()


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword"):
        PTU(neighbours=3)


def test_mistakes_are_found_before_the_work():
    """A wrong last step must not cost the time of all stages before it."""
    huge = np.zeros((3, 3_000_000))
    huge[:, :3] = np.eye(3)
    with pytest.raises(ValueError, match="step='arch'"):
        PTU(n_components=1, step="arch").fit(huge)
    with pytest.raises(ValueError, match="does not exist"):
        geodesic_distances(huge, intrinsic_dim=1, sources=[9])


def test_small_sets_work_with_default_parameters():
    for n_points in (4, 8, 12):
        points = np.random.default_rng(n_points).random((n_points, 2))
        embedding = PTU().fit_transform(points)
        exact = np.linalg.norm(points[:, None] - points[None], axis=2)
        found = np.linalg.norm(embedding[:, None] - embedding[None], axis=2)
        np.testing.assert_allclose(found, exact, atol=1e-12)


def test_integers_and_lists_are_taken():
    assert check_points([[1, 2], [3, 4], [5, 7]]).dtype == np.float64
    assert check_points(GOOD.astype(np.float32)).dtype == np.float32
    assert check_points(GOOD.astype(np.float16)).dtype == np.float64


def test_single_precision_is_kept_whatever_a_library_calls_it():
    single = GOOD.astype(np.float32)
    names = [f"x{column}" for column in range(single.shape[1])]
    frame = pd.DataFrame(single, columns=names)
    kinds = [pl.DataFrame(single, schema=names), frame, pa.Table.from_pandas(frame)]
    kinds += [frame.astype("Float32"), frame.astype("float32[pyarrow]"), single.astype(">f4")]
    for given in kinds:
        assert check_points(given).dtype == np.float32
        np.testing.assert_array_equal(check_points(given), single)
    for mixed in (frame.astype({"x0": float}), frame.astype({"x0": int})):
        assert check_points(mixed).dtype == np.float64


def test_tables_of_arrow_are_data_frames():
    names = [f"x{column}" for column in range(GOOD.shape[1])]
    model = PTU(landmarks=None).fit(pa.table(dict(zip(names, GOOD.T, strict=True))))
    assert list(model.feature_names_in_) == names
    np.testing.assert_array_equal(model.embedding_, PTU(landmarks=None).fit(GOOD).embedding_)


class Buffer:
    """An array of another library, which hands out what it holds."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __len__(self):
        return len(self.values)


def test_what_becomes_of_a_buffer_is_of_no_account():
    held = GOOD.copy()
    model = PTU().fit(Buffer(held))
    expected = PTU().fit(GOOD).transform(GOOD[:5] + 0.01)
    held[:] = 0
    np.testing.assert_array_equal(model.transform(GOOD[:5] + 0.01), expected)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_small_numbers_of_numpy_do_not_overflow(kind):
    asked = {"n_neighbors": 10, "intrinsic_dim": 2, "tangent_neighbors": 15, "n_jobs": 1}
    points = flat_square(300).points
    for more in ({"denoise": 0, "landmarks": None}, {"landmarks": 50}):
        given = {name: value if value is None else kind(value) for name, value in more.items()}
        small = PTU(kind(2), **{name: kind(value) for name, value in asked.items()}, **given)
        expected = PTU(2, **asked, **more).fit_transform(points)
        np.testing.assert_array_equal(small.fit_transform(points), expected)


@pytest.mark.filterwarnings("ignore:neighbourhoods are not", "ignore:the tangent planes explain")
@pytest.mark.parametrize("other", ["manhattan", "l1", "infinity"])
def test_other_names_of_metrics_place_new_points(other):
    name = {"infinity": "chebyshev"}.get(other, "cityblock")
    points = flat_square(200, n_features=3).points
    expected = PTU(metric=name).fit(points).transform(points[:9] + 0.01)
    found = PTU(metric=other).fit(points).transform(points[:9] + 0.01)
    np.testing.assert_array_equal(found, expected)


def test_a_finite_sum_is_not_needed():
    points = np.array([[1e308, 0.0], [1e308, 1.0], [1e308, 2.0]])
    np.testing.assert_array_equal(check_points(points), points)
