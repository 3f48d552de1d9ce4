"""The command, as ``python -m ptunfold`` and as ``ptunfold``."""

import sys


def main() -> None:
    """Run the command; Ctrl-C ends it quietly even before it has begun."""
    try:
        from ptunfold.cli import app

        app(prog_name="ptunfold")
    except KeyboardInterrupt:
        print("ptunfold: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
