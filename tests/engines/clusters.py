"""Clusters for tests, and what they keep."""

import time
import warnings

import numpy as np
import pytest

from ptunfold.datasets import swiss_roll

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    scratch = str(tmp_path_factory.mktemp("scratch"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                local_directory=scratch,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def points():
    points = swiss_roll(1500).points
    return np.concatenate((points, points[:50]))  # copies


def kept(client):
    """What the workers hold in memory."""

    def look(dask_worker):
        return list(dask_worker.data)

    return [key for keys in client.run(look).values() for key in keys]


def two_workers(*folders):
    """A cluster of processes that are started again if they die, one for each folder."""
    workers = {
        index: {
            "cls": distributed.Nanny,
            "options": {"nthreads": 1, "local_directory": str(folder)},
        }
        for index, folder in enumerate(folders)
    }
    return distributed.SpecCluster(
        workers=workers,
        scheduler={
            "cls": distributed.Scheduler,
            "options": {"dashboard": False, "dashboard_address": ":0"},  # any port that is free
        },
    )


def check_nothing_is_kept(client):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and kept(client):
        time.sleep(0.1)
    assert kept(client) == []
