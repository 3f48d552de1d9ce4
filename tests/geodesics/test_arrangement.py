from dataclasses import fields

import numpy as np

from ptunfold import PTU
from ptunfold.datasets import petals
from ptunfold.geodesics.arrangement import restrict


def test_a_part_has_all_that_the_whole_knows():
    whole = PTU().fit(petals(400).points).connection_
    nodes = np.flatnonzero(whole.points[:, 0] > 0)[::-1]
    part = restrict(whole, nodes)
    assert {field.name for field in fields(part)} == {field.name for field in fields(whole)}
    for name in ("points", "explained", "curvature"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[nodes])
    # Each edge with what it carries, by the ends it has in the whole.
    place = {
        ends: edge
        for edge, ends in enumerate(zip(whole.graph.tails, whole.graph.indices, strict=True))
    }
    ends = zip(nodes[part.graph.tails], nodes[part.graph.indices], strict=True)
    edges = np.array([place[pair] for pair in ends])
    for name in ("rotations", "steps"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[edges])
    np.testing.assert_array_equal(part.graph.lengths, whole.graph.lengths[edges])
