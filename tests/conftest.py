"""Profiles of hypothesis: a fixed sample in every run, and `make fuzz` for thousands of cases."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

os.environ.setdefault("MPLBACKEND", "Agg")  # figures open no windows
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell started this in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
_COMMON = {
    "deadline": None,  # the first fit compiles
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("sample", max_examples=60, derandomize=True, database=None, **_COMMON)
settings.register_profile("fuzz", max_examples=5000, print_blob=True, **_COMMON)
settings.load_profile("sample")


# They wait for clusters and processes, or take longest: who begins one last is alone at the end.
_FIRST = (
    "test_cluster.py",
    "test_processes.py",
    "test_memory.py",
    "test_lazy_cluster.py",
    "test_cli_streaming.py",
    "test_views.py",
    "test_every_attribute.py",
)


def pytest_collection_modifyitems(items):
    """Put the long files first; with --no-loadscope-reorder they are begun in this order."""
    items.sort(key=lambda item: item.path.name not in _FIRST)


@pytest.fixture
def threaded_blas():
    """Linear algebra by two threads, as everywhere but in these tests, which run side by side."""
    with threadpool_limits(2, user_api="blas"):
        yield
