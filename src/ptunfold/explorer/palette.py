"""Colours, the same on pages and in figures (explorer/src/palette.js, on a light ground)."""

from __future__ import annotations

# The palette of Okabe and Ito without its black and its yellow, and then colours that stay apart
# for usual eyes and for those that lack one kind of cones.
KINDS = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#662200", "#9933ff",
    "#1100aa", "#aa0077", "#226611", "#551166", "#5500ee", "#bb0000", "#ee00cc", "#88bb66",
    "#223344", "#886688", "#9988ff", "#7733aa",
]  # fmt: skip
# From below zero to above it; the middle is pale, and seen on white.
DIVERGING = [
    "#08306b", "#13508f", "#2171b5", "#5392c9", "#7fb3dc", "#a3bfd5", "#c6cacd", "#dbba9b",
    "#eda862", "#db813d", "#c8590c", "#983f04", "#6b2600",
]  # fmt: skip
# Once around: light and dark, blue and orange are opposites, which all eyes tell apart.
CYCLIC = [
    "#593c57", "#4c4278", "#41509c", "#3367be", "#1d84d8", "#3e9fe4", "#66b6e1", "#8cc4cd",
    "#abc7a9", "#cdb784", "#da9d5a", "#d67f32", "#c26216", "#ab461a", "#90372c", "#733540",
    "#593c57",
]  # fmt: skip
OTHERS = "#b9bfc7"  # the smaller ones of more kinds than colours
GAP = "#969696"
