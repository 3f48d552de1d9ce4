"""What a fit has found, how sure that is, and what to change: on a few lines, or a page."""

from ptunfold.report.making import diagnose
from ptunfold.report.record import Report

__all__ = ["Report", "diagnose"]
