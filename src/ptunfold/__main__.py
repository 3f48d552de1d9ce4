"""The command, as ``python -m ptunfold`` and as ``ptunfold``."""

import signal

from ptunfold.leaving import leave_at_once


def main() -> None:
    """Run the command."""
    leave_at_once()
    from ptunfold.cli import app

    try:
        app(prog_name="ptunfold")
    finally:  # what is left is Python's own business, and nothing to tell about
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
