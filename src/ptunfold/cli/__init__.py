"""The command line."""

from ptunfold.cli import examples, models
from ptunfold.cli.app import app

__all__ = ["app", "examples", "models"]
