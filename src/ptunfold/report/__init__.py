"""What a fit has found, how sure that is, and what to change: on a few lines, or a page."""

from ptunfold.report.findings import Report
from ptunfold.report.making import diagnose
from ptunfold.report.opening import first_words

__all__ = ["Report", "diagnose", "first_words"]
