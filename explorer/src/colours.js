// Colours that people with the usual kinds of colour blindness can tell apart.

// Twelve places along viridis, and the palette of Okabe and Ito without its black.
const SCALE = [
  [68, 1, 84], [72, 33, 115], [67, 62, 133], [56, 88, 140], [45, 112, 142], [37, 133, 142],
  [30, 155, 138], [42, 176, 127], [82, 197, 105], [134, 213, 73], [194, 223, 35], [253, 231, 37],
];
const KINDS = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
  [240, 228, 66],
];
export const GAP = [150, 150, 150];
export const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;

export function along(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const k = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[k].map((low, i) => low + (at - k) * (SCALE[k + 1][i] - low));
}

export const kind = (code) => (code < 0 ? GAP : KINDS[code % KINDS.length]);
export const bar = () => `linear-gradient(90deg, ${SCALE.map(css).join(", ")})`;

// The values that the ends of the scale stand for: all but the outermost hundredths.
export function range(values) {
  const sample = [];
  const stride = Math.max(1, Math.floor(values.length / 20000));
  for (let i = 0; i < values.length; i += stride) if (Number.isFinite(values[i])) sample.push(values[i]);
  if (!sample.length) return [NaN, NaN];
  sample.sort((a, b) => a - b);
  const at = (share) => sample[Math.round(share * (sample.length - 1))];
  return sample.length < 50 ? [at(0), at(1)] : [at(0.01), at(0.99)];
}

// Write red, green and blue of every point into `tints` (four bytes a point; the last is not ours).
export function paint(column, tints) {
  const { values, labels } = column;
  const [low, high] = labels ? [0, 0] : column.range;
  const table = Array.from({ length: 256 }, (_, i) => along(i / 255).map(Math.round));
  const scale = high > low ? 255 / (high - low) : 0;
  for (let i = 0, at = 0; i < values.length; i++, at += 4) {
    const value = values[i];
    let colour = GAP;
    if (labels) colour = kind(value);
    else if (Number.isFinite(value)) colour = table[Math.min(Math.max(Math.round((value - low) * scale), 0), 255)];
    tints[at] = colour[0];
    tints[at + 1] = colour[1];
    tints[at + 2] = colour[2];
  }
}
