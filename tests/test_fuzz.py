"""A sample of what `make fuzz` does."""

import sys

import pytest

from tests.fuzz import models


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory as Linux has it")
def test_damaged_models_are_refused_or_work():
    found = models.run(100)
    assert set(found) == {"refused", "works"}
    assert sum(found.values()) == 100
