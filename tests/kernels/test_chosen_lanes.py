"""Plain loops take the place of vector instructions that fail, with the same bits."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from ptunfold import build_graph, connect, estimate_frames, transport_distances, with_coherence

PLAIN = "ptunfold.kernels.plain_lanes"
SENTENCE = "distances are the same to the bit and take"


def distances():
    """Hash distances for which every operation is used."""
    points = np.random.default_rng(0).normal(size=(300, 4))
    graph = build_graph(points)
    connection = connect(points, graph, estimate_frames(points, graph, 15, 2))
    both = connection, with_coherence(connection, 0.7)
    return hashlib.sha256(np.stack([transport_distances(each) for each in both])).hexdigest()


def in_a_child(before="", **environment):
    """Return the distances in another process, which operations it took, and what it said."""
    code = f"""
{before}
from tests.kernels.test_chosen_lanes import distances
print(distances())
from ptunfold.kernels.batches import combine
print(combine.__module__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return *done.stdout.split(), done.stderr


@pytest.fixture
def vector_lanes():  # not before: a child breaks them
    from ptunfold.kernels import vector_lanes

    return vector_lanes


@pytest.fixture
def chosen():
    from ptunfold.kernels.chosen_lanes import _chosen

    return lambda: _chosen().__name__


def test_vector_instructions_are_chosen_here(chosen, vector_lanes):
    assert chosen() == vector_lanes.__name__


def test_plain_loops_on_demand_have_the_same_bits():
    found, module, said = in_a_child(PTUNFOLD_LANES="plain")
    assert module == PLAIN
    assert found == distances()
    assert said == ""


def test_another_llvmlite_is_no_end():
    found, module, said = in_a_child("import numba; from llvmlite import ir; del ir.VectorType")
    assert module == PLAIN
    assert found == distances()
    assert said.count(SENTENCE) == 1
    assert "vector instructions fail (AttributeError)" in said


@pytest.mark.parametrize("error", [AttributeError, NotImplementedError, RuntimeError, TypeError])
def test_any_error_while_instructions_are_written_is_survived(
    monkeypatch, chosen, vector_lanes, error
):
    def fail(*_):
        raise error("changed in this version")

    monkeypatch.setattr(vector_lanes, "_splat", fail)
    monkeypatch.setattr(vector_lanes, "use_all", njit(vector_lanes.use_all.py_func))
    with pytest.warns(UserWarning, match=rf"fail \(.*Error\) with numba .*; {SENTENCE}") as said:
        assert chosen() == PLAIN
    assert len(said) == 1


@pytest.mark.parametrize("place", ["labels", "parents", "rows"])
def test_one_wrong_bit_is_seen(monkeypatch, chosen, vector_lanes, place):
    right = vector_lanes.use_all

    def wrong(labels, parents, rows, factors):
        answers = right(labels, parents, rows, factors)
        array = {"labels": labels, "parents": parents, "rows": rows}[place]
        array.view(np.uint8).ravel()[-8] ^= 1
        return answers

    wrong.py_func = right.py_func
    monkeypatch.setattr(vector_lanes, "use_all", wrong)
    with pytest.warns(UserWarning, match="give wrong results"):
        assert chosen() == PLAIN
