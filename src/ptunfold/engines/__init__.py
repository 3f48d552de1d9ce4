"""Where the distances are computed, and where they are kept."""

from ptunfold.engines.base import ENGINES, Engine, make_engine

__all__ = ["ENGINES", "Engine", "make_engine"]
