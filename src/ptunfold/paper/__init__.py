"""The paper's figures and tables, run here, with what they claim and what was measured."""

from ptunfold.paper.report import write_report
from ptunfold.paper.sections import SECTIONS

__all__ = ["SECTIONS", "write_report"]
