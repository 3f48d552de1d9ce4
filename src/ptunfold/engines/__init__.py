"""Where the distances are computed, and where they are kept."""

from ptunfold.engines.base import Engine
from ptunfold.engines.choice import ENGINES, Disk, check_engine, engine_name, make_engine

__all__ = ["ENGINES", "Disk", "Engine", "check_engine", "engine_name", "make_engine"]
