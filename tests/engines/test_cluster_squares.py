"""Classical scaling of Dask arrays: the same bits as with arrays of NumPy, wherever Dask works."""

import numpy as np
import pytest

from ptunfold import classical_mds
from tests.engines.clusters import client, nothing_is_kept

__all__ = ["client"]  # a fixture

dask = pytest.importorskip("dask")
array = pytest.importorskip("dask.array")

# What distributed and tornado leave open when a cluster is closed is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(params=["threads", "cluster"])
def where(request):
    """Work without a cluster, and with one."""
    if request.param == "threads":
        with dask.config.set(scheduler="threads"):
            yield
    else:
        client = request.getfixturevalue("client")
        with client.as_current():
            yield
        assert nothing_is_kept(client)


def distances_between(n_points, dtype):
    """Distances in space, a little different each way."""
    rng = np.random.default_rng(0)
    points = rng.random((n_points, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    return (distances * rng.uniform(0.999, 1.001, distances.shape)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chunks", [(150, 330), (-1, -1)])
@pytest.mark.parametrize("n_points", [1100, 300])
def test_same_bits_as_numpy(where, n_points, chunks, dtype):
    distances = distances_between(n_points, dtype)
    found = classical_mds(array.from_array(distances, chunks), 3)
    expected = classical_mds(distances, 3)
    np.testing.assert_array_equal(found.coordinates, expected.coordinates)
    np.testing.assert_array_equal(found.eigenvalues, expected.eigenvalues)
    assert found.coordinates.dtype == dtype


def test_an_array_that_is_still_to_be_computed_is_computed_once(where, tmp_path):
    """And its chunks may have sizes that nobody knows."""
    distances = distances_between(700, np.float64)

    def chunk(first):
        (tmp_path / f"{first}").touch(exist_ok=False)
        return distances[first : first + 350]

    chunks = [
        array.from_delayed(dask.delayed(chunk)(first), (np.nan, 700), np.float64)
        for first in (0, 350)
    ]
    unknown = array.concatenate(chunks).persist()
    np.testing.assert_array_equal(
        classical_mds(unknown).coordinates, classical_mds(distances).coordinates
    )
    again = array.concatenate(
        [
            array.from_delayed(dask.delayed(chunk)(first), (350, 700), np.float64)
            for first in (350, 0)
        ]
    )
    for file in tmp_path.iterdir():
        file.unlink()
    classical_mds(again)
    del unknown, again, chunks


def test_an_array_is_left_as_it_is(where):
    whole = array.from_array(distances_between(500, np.float64), 250)
    unknown = whole[array.ones(500, dtype=bool, chunks=250)]
    assert np.isnan(unknown.shape[0])
    classical_mds(unknown)
    assert np.isnan(unknown.shape[0])


@pytest.mark.parametrize("bad", [np.nan, -5.0])
def test_what_a_mask_hides_counts(where, bad):
    distances = distances_between(600, np.float64)
    distances[3, 4] = bad
    hidden = array.ma.masked_where(
        array.from_array(distances != distances_between(600, np.float64), 300),
        array.from_array(distances, 300),
    )
    with pytest.raises(ValueError, match=r"finite numbers|negative entries"):
        classical_mds(hidden)


def test_whole_numbers(where):
    distances = np.abs(np.arange(500)[:, None] - np.arange(500))
    found = classical_mds(array.from_array(distances, 100), 1)
    np.testing.assert_array_equal(found.coordinates, classical_mds(distances, 1).coordinates)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_what_is_no_distance_is_refused(where, bad):
    distances = distances_between(900, np.float32)
    distances[800, 100] = bad
    with pytest.raises(ValueError, match=r"finite numbers|negative entries"):
        classical_mds(array.from_array(distances, 300))


def test_a_wrong_shape_is_refused(where):
    with pytest.raises(ValueError, match=r"\(20, 30\) are not a square matrix"):
        classical_mds(array.zeros((20, 30)))
    with pytest.raises(ValueError, match="n_components=30"):
        classical_mds(array.zeros((20, 20)), 30)
