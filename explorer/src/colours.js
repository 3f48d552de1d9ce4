// Colours that people with the usual kinds of colour blindness can tell apart.

// Twelve places along viridis.
const SCALE = [
  [68, 1, 84], [72, 33, 115], [67, 62, 133], [56, 88, 140], [45, 112, 142], [37, 133, 142],
  [30, 155, 138], [42, 176, 127], [82, 197, 105], [134, 213, 73], [194, 223, 35], [253, 231, 37],
];
// The palette of Okabe and Ito without its black, and then always the colour farthest from those
// before it; figures have the same (palette.py).
export const KINDS = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
  [240, 228, 66], [105, 60, 30], [210, 225, 165], [135, 0, 120], [75, 90, 210], [90, 240, 240],
  [120, 195, 90], [225, 60, 90], [105, 60, 90], [240, 180, 180], [90, 150, 255], [255, 120, 225],
  [195, 0, 120], [165, 75, 30], [75, 120, 75], [180, 210, 75], [0, 195, 120], [120, 150, 60],
];
const SOME_KINDS = 12; // named in the legend, where there are more than colours
export const GAP = [150, 150, 150];
export const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;

// A place on the scale, without the end that the background swallows.
export function along(share, isDark) {
  const [start, stop] = isDark ? [0.14, 1] : [0, 0.94];
  const at = (start + Math.min(Math.max(share, 0), 1) * (stop - start)) * (SCALE.length - 1);
  const k = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[k].map((low, i) => low + (at - k) * (SCALE[k + 1][i] - low));
}

// The words of a column that a legend has room for.
export const named = ({ labels }) => labels.slice(0, labels.length > KINDS.length ? SOME_KINDS : KINDS.length);

// The colour of one of `count` kinds: more than the palette has lie along the scale.
export function kind(code, count, isDark) {
  if (code < 0) return GAP;
  return count <= KINDS.length ? KINDS[code] : along(code / (count - 1), isDark);
}

export const bar = (isDark) =>
  `linear-gradient(90deg, ${Array.from({ length: 9 }, (_, k) => css(along(k / 8, isDark))).join(", ")})`;

// The values that the ends of the scale stand for: all but the outermost hundredths.
export function range(values) {
  const sample = [];
  let low = Infinity, high = -Infinity;
  const stride = Math.max(1, Math.floor(values.length / 20000));
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    if (i % stride === 0) sample.push(values[i]);
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  if (low > high) return [NaN, NaN];
  sample.sort((a, b) => a - b);
  const at = (share) => sample[Math.round(share * (sample.length - 1))];
  // Few points, or few that differ from the rest: all of them.
  return sample.length < 50 || at(0.01) === at(0.99) ? [low, high] : [at(0.01), at(0.99)];
}

// Write red, green and blue of every point into `tints` (four bytes a point; the last is not ours).
export function paint(column, tints, isDark) {
  const { values, labels } = column;
  const [low, high] = labels ? [0, 0] : column.range;
  const table = labels
    ? labels.map((_, code) => kind(code, labels.length, isDark).map(Math.round))
    : Array.from({ length: 256 }, (_, i) => along(i / 255, isDark).map(Math.round));
  // In units of the larger end: the largest and the smallest doubles leave their range otherwise.
  const unit = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const start = low / unit;
  const scale = high > low ? 255 / (high / unit - start) : 0;
  for (let i = 0, at = 0; i < values.length; i++, at += 4) {
    const value = values[i];
    let colour = GAP;
    if (labels) colour = table[value] ?? GAP;
    else if (Number.isFinite(value)) colour = table[Math.min(Math.max(Math.round((value / unit - start) * scale), 0), 255)];
    tints[at] = colour[0];
    tints[at + 1] = colour[1];
    tints[at + 2] = colour[2];
  }
}
