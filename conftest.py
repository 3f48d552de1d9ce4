"""For tests and for examples in docstrings alike."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Close what an example leaves open: matplotlib warns of more than twenty figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
