"""Dask collections whose blocks are placed by the workers of a cluster."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole
from tests.engines.clusters import check_nothing_is_kept, client, distributed

cloudpickle = pytest.importorskip("cloudpickle")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

__all__ = ["client"]  # a fixture

# What distributed and tornado leave open when a cluster is closed is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

POINTS = s_with_hole(1500, seed=2).points
NEW = POINTS[1000:]
NAMES = ["x", "y", "z"]


def test_the_same_bits(client):
    model = PTU().fit(POINTS[:1000])
    named = PTU().fit(pd.DataFrame(POINTS[:1000], columns=NAMES))
    frame = pd.DataFrame(NEW, columns=NAMES)
    expected = model.transform(NEW)
    with client.as_current():
        lazy = da.from_array(NEW, chunks=(40, 3))
        found = model.transform(lazy)
        assert len(cloudpickle.dumps(dict(found.__dask_graph__()))) < 200_000
        np.testing.assert_array_equal(found.compute(), expected)
        rows = named.transform(dd.from_pandas(frame, npartitions=5))
        np.testing.assert_array_equal(rows.compute(), named.transform(frame))
        back = model.inverse_transform(found).compute()
        np.testing.assert_array_equal(back, model.inverse_transform(expected))
        del found, rows
        check_nothing_is_kept(client)


def test_what_is_far_on_a_cluster_is_told_here(client):
    model = PTU().fit(POINTS[:1000])
    with client.as_current(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.transform(da.from_array(NEW + 100, chunks=(20, 3))).compute()
        deadline = time.monotonic() + 20
        while not told and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
    assert 1 <= len(told) <= 2  # one for each worker
    assert "some rows of a Dask collection lie far outside" in str(told[0].message)


def test_what_was_sent_to_a_cluster_survives_a_worker(tmp_path):
    model = PTU().fit(POINTS[:1000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
            distributed.Client(cluster) as client,
        ):
            found = model.transform(da.from_array(NEW, chunks=(40, 3)))
            client.retire_workers([next(iter(client.scheduler_info()["workers"]))])
            np.testing.assert_array_equal(found.compute(), model.transform(NEW))
