"""Ctrl-C: nothing is left, and nothing goes on."""

import signal
import sys
import threading
import time

import pytest

from ptunfold.interrupts import held_interrupts
from ptunfold.threads import Run, call_apart, cut, run_blocks, run_together
from tests.fuzz import interrupts

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")


@pytest.fixture(autouse=True)
def _listening():
    """What runs in the background may have been started deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def workers():
    """Threads of ours that are alive; Python also lists one that never began."""
    return [
        thread
        for thread in threading.enumerate()
        if thread.name.startswith("ptunfold") and thread.is_alive()
    ]


@on_linux
def test_any_moment_is_a_good_one():
    # A sample of what `make fuzz` does.
    assert interrupts.run(len(interrupts.ACTIONS)) == {"right": len(interrupts.ACTIONS)}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_in_flight_are_finished_and_others_not_begun(n_jobs):
    begun, ended = [], []

    def work(block):
        begun.append(block.start)
        if block.start == 3:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.02)
        ended.append(block.start)

    with pytest.raises(KeyboardInterrupt):
        run_blocks(work, cut(1000, 1), Run(n_jobs))
    assert len(begun) < 20
    assert len(begun) - len(ended) == (n_jobs == 1)  # in the main thread the block itself stops
    assert not workers()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_waits_too():
    ended = []

    def work(block):
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.05)
        ended.append(block.start)

    with pytest.raises(KeyboardInterrupt):
        run_blocks(work, cut(4, 1), Run(2))
    assert 1 <= len(ended) <= 2
    assert not workers()


def test_a_handler_that_raises_nothing_stops_nothing():
    heard, done = [], []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:

        def work(block):
            if block.start == 1:
                signal.raise_signal(signal.SIGINT)
            time.sleep(0.01)
            done.append(block.start)

        run_blocks(work, cut(6, 1), Run(2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]
    assert sorted(done) == list(range(6))


def test_a_failing_block_stops_the_others():
    def work(block):
        if block.start == 2:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        run_blocks(work, cut(1000, 1), Run(2))
    assert not workers()


def test_other_threads_are_never_interrupted_and_change_nothing():
    seen = []

    def body():
        with held_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_worker_does_piece_by_piece_ends_at_the_next_piece(n_jobs):
    done = []

    def long_one():
        def piece(block):
            time.sleep(0.002)
            done.append(block.start)
            if block.start == 3:
                signal.raise_signal(signal.SIGINT)
                while not hold.is_set():  # until the main thread has heard of it
                    time.sleep(0.01)

        run_blocks(piece, cut(10_000, 1), Run(n_jobs))

    hold = threading.Event()

    def other():
        while 3 not in done:
            time.sleep(0.01)
        time.sleep(0.3)
        hold.set()

    with pytest.raises(KeyboardInterrupt):
        run_together([long_one, other], Run(2))
    assert len(done) < 1000
    assert n_jobs == 2 or done == [0, 1, 2, 3]
    assert not workers()


@pytest.mark.parametrize("in_worker", [False, True])
def test_what_cannot_be_stopped_is_left_behind(in_worker):
    end, ended = threading.Event(), threading.Event()

    def endless():
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        end.wait(60)
        ended.set()

    def alone():
        return call_apart(endless)

    with pytest.raises(KeyboardInterrupt):
        run_together([alone, lambda: None], Run(2)) if in_worker else alone()
    assert not ended.is_set()
    end.set()
    assert ended.wait(60)


def test_what_fails_apart_fails_here():
    with pytest.raises(ValueError, match="no way"):
        call_apart(lambda: int("no way"))
