// Colours that people with the usual kinds of colour blindness can tell apart, for a light and for
// a dark ground; figures have those for a light one (palette.py).

// The palette of Okabe and Ito without its black and its yellow, and then colours that stay apart
// for usual eyes and for those that lack one kind of cones.
export const KINDS = {
  light: [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#662200", "#9933ff",
    "#1100aa", "#aa0077", "#226611", "#551166", "#5500ee", "#bb0000", "#ee00cc", "#88bb66",
    "#223344", "#886688", "#9988ff", "#7733aa",
  ],
  dark: [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#33ff77", "#aa11ff",
    "#ffddee", "#bb2277", "#bbeebb", "#8877ff", "#dd00cc", "#886644", "#bbaa99", "#dddd11",
    "#ff4477", "#ff88ff", "#00ddcc", "#88cc66",
  ],
};
// From below zero to above it, with a middle that is seen.
export const DIVERGING = {
  light: [
    "#08306b", "#13508f", "#2171b5", "#5392c9", "#7fb3dc", "#a3bfd5", "#c6cacd", "#dbba9b",
    "#eda862", "#db813d", "#c8590c", "#983f04", "#6b2600",
  ],
  dark: [
    "#cfe6ff", "#a0cdf9", "#6fb4f2", "#4f94d3", "#2f74b5", "#476a90", "#565e6b", "#86624f",
    "#b3611c", "#d18035", "#f0a04c", "#f9c288", "#ffe3bd",
  ],
};
// Once around: light and dark, blue and orange are opposites, which all eyes tell apart.
export const CYCLIC = {
  light: [
    "#593c57", "#4c4278", "#41509c", "#3367be", "#1d84d8", "#3e9fe4", "#66b6e1", "#8cc4cd",
    "#abc7a9", "#cdb784", "#da9d5a", "#d67f32", "#c26216", "#ab461a", "#90372c", "#733540",
    "#593c57",
  ],
  dark: [
    "#7c5d7a", "#6d649d", "#6173c3", "#558ce6", "#4baaff", "#67c5ff", "#8dddff", "#b2ebf4",
    "#d2eed0", "#f6dda3", "#ffc272", "#ffa345", "#ef8527", "#d8692c", "#ba5942", "#9a565c",
    "#7c5d7a",
  ],
};
// Twelve places along viridis.
export const SEQUENTIAL = [
  "#440154", "#482173", "#433e85", "#38588c", "#2d708e", "#25858e", "#1e9b8a", "#2ab07f",
  "#52c569", "#86d549", "#c2df23", "#fde725",
];
// The smaller ones of more kinds than colours, and points that have no value.
export const OTHERS = { light: "#b9bfc7", dark: "#5f6875" };
export const GAP = "#969696";
