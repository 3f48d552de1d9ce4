"""Settings that all threads of a process share, and how many threads there are."""

import multiprocessing

import joblib
import pytest
from threadpoolctl import threadpool_info

from ptunfold.threads import effective_n_jobs, single_threaded_blas


def n_blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_blas_gets_its_threads_back_in_whatever_order_its_users_go():
    before = n_blas_threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_blas_threads() == {1}
    second.__exit__(None, None, None)
    assert n_blas_threads() == before


def test_workers_that_may_start_no_processes_may_start_threads(monkeypatch):
    # As those of Dask and of pools are; joblib would warn at every step of a fit.
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert effective_n_jobs(2) == 2
    assert effective_n_jobs(None) == 1


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_says_how_many_threads_there_are_by_default(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        assert effective_n_jobs(None) == 2
        assert effective_n_jobs(1) == 1
    with joblib.parallel_config("sequential"):
        assert effective_n_jobs(2) == 1
