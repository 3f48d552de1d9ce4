"""Ctrl-C before there is anything to put away.

Libraries that are being loaded may swallow an interrupt, or turn it into an error of their own.
Until they are there the command ends at once.
"""

import os
import signal
import sys
from typing import Any


def leave(*_: Any) -> None:
    """End the process, with one line and the exit code of an interrupt."""
    sys.stderr.write("ptunfold: stopped\n")
    sys.stderr.flush()
    os._exit(130)


def leave_at_once() -> None:
    """Let Ctrl-C end the process, from now on."""
    signal.signal(signal.SIGINT, leave)


def leave_in_order() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again, now that there may be files to put away."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
