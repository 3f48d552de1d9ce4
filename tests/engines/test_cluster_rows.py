"""Rows of landmarks on a Dask cluster, and scaling by them: the same bits as threads."""

import os
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from ptunfold import PTU, geodesics, landmark_mds
from tests.engines.clusters import client, distributed, nothing_is_kept, points, two_workers

__all__ = ["client", "points"]  # fixtures

# What distributed and tornado leave open when a cluster is closed is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("moment", ["_wait", "use"])
def test_the_only_worker_is_killed_with_rows_of_landmarks(points, tmp_path, monkeypatch, moment):
    """While landmarks are chosen, and when they are to be scaled."""
    from ptunfold.engines import cluster_rows

    expected = PTU(landmarks=40).fit(points)
    calls = []
    place, name = (
        (cluster_rows.ClusterRows, "_wait") if moment == "_wait" else (cluster_rows, "as_array")
    )
    work = getattr(place, name)
    n_before = 4 if moment == "_wait" else 1
    with two_workers(tmp_path) as one, distributed.Client(one) as client:
        pids = list(client.run(os.getpid).values())

        def killing(*args):
            calls.append(1)
            if len(calls) == n_before:
                os.kill(pids[0], signal.SIGKILL)
                time.sleep(0.5)
            return work(*args)

        monkeypatch.setattr(place, name, killing)
        found = PTU(engine="dask", landmarks=40).fit(points)
    assert len(calls) > n_before
    np.testing.assert_array_equal(found.landmarks_, expected.landmarks_)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.parametrize("how", ["maxmin", "random"])
def test_landmarks_have_the_same_bits(client, points, how):
    options = {"landmarks": 40, "landmark_selection": how, "random_state": 0}
    found = PTU(engine="dask", **options).fit(points)
    expected = PTU(**options).fit(points)
    np.testing.assert_array_equal(found.landmarks_, expected.landmarks_)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.parametrize("how", ["maxmin", "random"])
def test_rows_of_landmarks_stay_on_the_cluster(client, points, monkeypatch, how):
    """As with many points: some columns for the choice come here, scaling has many chunks."""
    from ptunfold.embedding import landmarks
    from ptunfold.engines import cluster_rows

    monkeypatch.setattr(geodesics.landmarks, "MOST_CANDIDATES", 400)
    monkeypatch.setattr(landmarks, "_COLUMNS", 200)
    monkeypatch.setattr(landmarks, "_CHUNK", 1)
    options = {"landmarks": 40, "landmark_selection": how, "random_state": 0}
    expected = PTU(**options).fit(points)
    seen = []
    use = cluster_rows.ClusterRows.use

    def looking(self, rows, n_rows, work):
        def seeing(array):
            seen.append((type(array).__module__, array.shape, rows.some))
            return work(array)

        return use(self, rows, n_rows, seeing)

    monkeypatch.setattr(cluster_rows.ClusterRows, "use", looking)
    found = PTU(engine="dask", **options).fit(points)
    ((module, shape, some),) = seen
    assert module.startswith("dask.array")
    assert shape == (40, len(points))
    assert some is None if how == "random" else some.shape == (40, 388)
    np.testing.assert_array_equal(found.landmarks_, expected.landmarks_)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_the_user_as_a_dask_array(client, monkeypatch, dtype):
    import dask.array

    from ptunfold.embedding import landmarks

    monkeypatch.setattr(landmarks, "_COLUMNS", 64)
    monkeypatch.setattr(landmarks, "_CHUNK", 1 << 14)
    points = np.random.default_rng(0).random((1000, 2))
    chosen = np.arange(0, 1000, 37)
    distances = np.linalg.norm(points[chosen, None] - points, axis=2).astype(dtype)
    there = dask.array.from_array(distances, chunks=(5, 300))
    found, expected = landmark_mds(there, chosen), landmark_mds(distances, chosen)
    assert found.coordinates.dtype == dtype
    np.testing.assert_array_equal(found.coordinates, expected.coordinates)
    np.testing.assert_array_equal(found.eigenvalues, expected.eigenvalues)
    unknown = dask.array.from_array(distances, chunks=(5, 300))[there[:, 0] >= 0]
    assert np.isnan(unknown.shape[0])
    np.testing.assert_array_equal(landmark_mds(unknown, chosen).coordinates, expected.coordinates)
    distances[3, 700] = np.nan
    with pytest.raises(ValueError, match="finite numbers"):
        landmark_mds(dask.array.from_array(distances, chunks=300), chosen)


@pytest.mark.parametrize("delay", [0, 0.005, 0.02])
def test_a_fit_that_is_cancelled_while_landmarks_are_scaled(client, points, monkeypatch, delay):
    from ptunfold.embedding import landmarks

    mine = client.submit(sum, [1, 2, 3], pure=False)
    assert mine.result() == 6
    in_blocks = landmarks._by_columns

    def interrupted(*args):
        thread = threading.Thread(target=lambda: suppressed(in_blocks, args))
        thread.start()
        time.sleep(delay)
        raise KeyboardInterrupt

    def suppressed(work, args):
        with suppress(BaseException), client.as_current():
            work(*args)

    monkeypatch.setattr(landmarks, "_by_columns", interrupted)
    with pytest.raises(KeyboardInterrupt) as error:  # which holds all that was at hand
        PTU(engine="dask", landmarks=60).fit(points)
    time.sleep(0.5)
    assert mine.status == "finished"
    assert mine.result() == 6
    del mine
    assert nothing_is_kept(client)
    del error


@pytest.mark.filterwarnings("ignore")
def test_nothing_stays_after_a_worker_was_killed(points, tmp_path, monkeypatch):
    from ptunfold.engines import cluster_rows

    work = cluster_rows.ClusterRows._wait
    pids = []
    with two_workers(tmp_path) as one, distributed.Client(one) as client:
        pids += client.run(os.getpid).values()

        def killing(*args):
            while pids:
                os.kill(pids.pop(), signal.SIGKILL)
                time.sleep(0.5)
            return work(*args)

        monkeypatch.setattr(cluster_rows.ClusterRows, "_wait", killing)
        options = {"landmarks": 40, "landmark_selection": "random", "random_state": 0}
        found = PTU(engine="dask", **options).fit(points)
        assert nothing_is_kept(client)
    np.testing.assert_array_equal(found.embedding_, PTU(**options).fit(points).embedding_)
