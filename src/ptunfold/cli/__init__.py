"""The command line."""

from ptunfold.cli import embedding, examples, using
from ptunfold.cli.app import app

__all__ = ["app", "embedding", "examples", "using"]
