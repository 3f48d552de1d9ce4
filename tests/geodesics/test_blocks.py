"""Blocks on threads."""

import threading
import time

import pytest

from ptunfold.geodesics.rows import plan_batches, plan_blocks
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import Run, run_blocks


@pytest.mark.parametrize(("n_sources", "n_points"), [(0, 5), (1, 1), (100, 100), (7, 10**7)])
def test_blocks_cover_every_source_once(n_sources, n_points):
    covered = [i for block in plan_blocks(n_sources, n_points) for i in range(n_sources)[block]]
    assert covered == list(range(n_sources))


def test_blocks_of_many_points_are_small():
    assert len(plan_blocks(10, 10**7)) == 10


@pytest.mark.parametrize("n_points", [1, 15, 16, 17, 1000, 10**5])
def test_batches_start_at_whole_lanes(n_points):
    blocks = plan_batches(n_points)
    assert all(block.start % LANES == 0 for block in blocks)
    assert blocks[0].start == 0
    assert blocks[-1].stop == n_points


def test_a_failing_block_is_reported_and_the_rest_is_not_run():
    ran = []

    def work(block):
        ran.append(block.start)
        if block.start == 0:
            raise RuntimeError("broken block")
        time.sleep(0.01)

    blocks = [slice(i, i + 1) for i in range(500)]
    with pytest.raises(RuntimeError, match="broken block"):
        run_blocks(work, blocks, Run(2))
    assert len(ran) < 500


def test_no_thread_is_left_behind():
    before = threading.enumerate()  # one of another test may end meanwhile
    run_blocks(lambda block: None, [slice(0, 1)] * 10, Run(4))
    assert set(threading.enumerate()) <= set(before)


def test_n_jobs_threads_work_at_once():
    barrier = threading.Barrier(3, timeout=20)
    run_blocks(lambda block: barrier.wait() and None, [slice(0, 1)] * 3, Run(3))
