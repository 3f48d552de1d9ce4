"""Settings that all threads of a process share."""

from threadpoolctl import threadpool_info

from ptunfold.threads import single_threaded_blas


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
