"""Compile the kernels of fits of many kinds, which are kept for others.

``python tests/compile_kernels.py float64``: before the tests, so that their workers do not all
compile the same.
"""

import sys
import tempfile
from functools import partial

import numpy as np

from tests.sentences import quiet
from tests.test_every_attribute import KINDS, ask, fitted

KEPT = ("clean", "curved", "noisy", "rough", "one dimension", "more dimensions than shown")

QUESTIONS = (
    lambda model, points: model.transform(points),
    lambda model, points: model.inverse_transform(model.embedding_),
    lambda model, points: model.distances([0], return_std=True),
    lambda model, points: model.path(0, 1),
    lambda model, points: model.diagnose(),
)


def main(dtype: str) -> None:
    """Fit, and ask for what has kernels of its own."""
    for kind in (*KEPT, "landmarks", "one sided", "distances", "a metric"):
        points, parameters = KINDS[kind]
        points = np.asarray(points).astype(dtype)
        with quiet(), tempfile.TemporaryDirectory() as folder:
            model = fitted(points, parameters, folder)
            for question in QUESTIONS:
                ask(partial(question, model, points))


if __name__ == "__main__":
    main(*sys.argv[1:])
