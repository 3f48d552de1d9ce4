"""What an error may look like: one sentence, raised by the package itself."""

import contextlib
import linecache
import os
import sys
import tempfile
import warnings
from pathlib import Path

import ptunfold

PACKAGE = str(Path(ptunfold.__file__).parent)
KINDS = (ValueError, TypeError, MemoryError)


def check_is_own(error, kinds=KINDS):
    """Demand an error that the package raised itself, in one sentence with a remedy."""
    assert isinstance(error, kinds), f"{type(error).__name__}: {error}"
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    assert file.startswith(PACKAGE), f"raised by {file}:{trace.tb_lineno}: {error}"
    line = linecache.getline(file, trace.tb_lineno).strip()
    assert line.startswith("raise"), f"{file}:{trace.tb_lineno} is no raise but {line!r}: {error}"
    message = str(error)
    assert "\n" not in message, message
    assert ". " not in message, message
    assert 20 < len(message) < 400, message
    assert any(mark in message for mark in (";", ":")), f"no remedy in {message!r}"


@contextlib.contextmanager
def quiet():
    """Demand that no warning but the package's own is given, and that nothing is printed.

    LAPACK prints past Python, so that the descriptors themselves are looked at.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file, warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        kept = [os.dup(descriptor) for descriptor in (1, 2)]
        try:
            for descriptor in (1, 2):
                os.dup2(file.fileno(), descriptor)
            yield given
        finally:
            for descriptor, before in zip((1, 2), kept, strict=True):
                os.dup2(before, descriptor)
                os.close(before)
        file.seek(0)
        printed = file.read()
    assert not printed, f"printed: {printed!r}"
    for one in given:
        assert one.category is UserWarning, f"{one.filename}:{one.lineno}: {one.message}"
