"""Colours of kinds, the same on pages and in figures."""

from __future__ import annotations

# The palette of Okabe and Ito without its black, and then always the colour farthest from those
# before it, for usual eyes and for those that do not tell red from green.
KINDS = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#693c1e",
    "#d2e1a5", "#870078", "#4b5ad2", "#5af0f0", "#78c35a", "#e13c5a", "#693c5a", "#f0b4b4",
    "#5a96ff", "#ff78e1", "#c30078", "#a54b1e", "#4b784b", "#b4d24b", "#00c378", "#78963c",
]  # fmt: skip
GAP = "#969696"
