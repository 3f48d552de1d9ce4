"""The command line."""

from ptunfold.cli import doctor, embedding, examples, using
from ptunfold.cli.app import app

__all__ = ["app", "doctor", "embedding", "examples", "using"]
