"""A page on which one can look into data and embedding, in one file."""

from ptunfold.explorer.content import explorer_page
from ptunfold.explorer.page import Page

__all__ = ["Page", "explorer_page"]
