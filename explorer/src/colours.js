// From values to colours: kinds, scales from low to high, around zero, and around.
import * as palette from "./palette.js";

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const read = ({ light, dark }) => [light.map(rgb), dark.map(rgb)]; // [false] on light, [true] on dark
const SEQUENTIAL = palette.SEQUENTIAL.map(rgb);
const DIVERGING = read(palette.DIVERGING);
const CYCLIC = read(palette.CYCLIC);
const OTHERS = [rgb(palette.OTHERS.light), rgb(palette.OTHERS.dark)];
export const KINDS = read(palette.KINDS);
export const GAP = rgb(palette.GAP);
export const MOST_KINDS = palette.KINDS.light.length;
export const css = (colour) => `rgb(${colour.map(Math.round).join(" ")})`;

// A place in a list of colours, from 0 to 1.
function between(list, share) {
  const at = Math.min(Math.max(share, 0), 1) * (list.length - 1);
  const k = Math.min(Math.floor(at), list.length - 2);
  return list[k].map((low, i) => low + (at - k) * (list[k + 1][i] - low));
}

// A place from low to high, without the end that the background swallows.
export function along(share, isDark) {
  const [start, stop] = isDark ? [0.27, 1] : [0, 0.9];
  return between(SEQUENTIAL, start + Math.min(Math.max(share, 0), 1) * (stop - start));
}

// How kinds share the colours: all have one, or the largest, and the others one together. `named`
// are those with a colour, as a legend lists them; `places` leads from a code into the palette.
export function kindsOf(column) {
  if (column.kinds) return column.kinds;
  const { labels, values } = column;
  const sizes = new Array(labels.length).fill(0);
  for (const code of values) if (code >= 0) sizes[code]++;
  let named = labels.map((_, code) => code);
  if (labels.length > MOST_KINDS) named = named.sort((a, b) => sizes[b] - sizes[a] || a - b).slice(0, MOST_KINDS - 1);
  const places = new Array(labels.length).fill(-1);
  named.forEach((code, place) => { places[code] = place; });
  return (column.kinds = { named, places, sizes, nOthers: labels.length - named.length });
}

export function kindColour(column, code, isDark) {
  if (!(code >= 0)) return GAP;
  return KINDS[+isDark][kindsOf(column).places[code]] ?? OTHERS[+isDark];
}
export const othersColour = (isDark) => OTHERS[+isDark];

// The values that the ends of a scale stand for, all but the outermost hundredths, and whether there
// are values beyond either.
function range(values) {
  const sample = [];
  let low = Infinity, high = -Infinity;
  const stride = Math.max(1, Math.floor(values.length / 20000));
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    if (i % stride === 0) sample.push(values[i]);
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  if (low > high) return { range: [NaN, NaN] };
  sample.sort((a, b) => a - b);
  const at = (share) => sample[Math.round(share * (sample.length - 1))];
  // Few points, or few that differ from the rest: all of them.
  const isAll = sample.length < 50 || at(0.01) === at(0.99);
  const ends = isAll ? [low, high] : [at(0.01), at(0.99)];
  return { range: ends, isCut: [low < ends[0], high > ends[1]] };
}

const isCyclic = (column) => column.scale?.kind === "cyclic";

// The values at the ends of a column's scale, which for angles is one turn.
export function spanOf(column) {
  const { scale, values } = column;
  if (!column.range) Object.assign(column, isCyclic(column) ? { range: [scale.start, scale.start + scale.period] } : range(values));
  return column.range;
}

// From a value to its place on the scale, 0 to 1.
export function shareOf(column) {
  const [low, high] = spanOf(column);
  // In units of the larger end: the largest and the smallest doubles leave their range otherwise.
  const unit = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const start = low / unit;
  const length = high > low ? high / unit - start : Infinity;
  if (isCyclic(column)) return (value) => (((value / unit - start) / length) % 1 + 1) % 1;
  return (value) => Math.min(Math.max((value / unit - start) / length, 0), 1);
}

// The colour at a place of a column's scale.
export function colourAt(column, share, isDark) {
  if (isCyclic(column)) return between(CYCLIC[+isDark], share);
  if (column.scale?.kind !== "diverging") return along(share, isDark);
  const [low, high] = spanOf(column);
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return between(DIVERGING[+isDark], 0.5 + 0.5 * ((low / reach) * (1 - share) + (high / reach) * share));
}

// The colour of one value of a column.
export function colourOf(column, value, isDark) {
  if (column.labels) return kindColour(column, value, isDark);
  return Number.isFinite(value) ? colourAt(column, shareOf(column)(value), isDark) : GAP;
}

export const bar = (column, isDark) =>
  `linear-gradient(90deg, ${Array.from({ length: 25 }, (_, k) => css(colourAt(column, k / 24, isDark))).join(", ")})`;

// Write red, green and blue of every point into `tints` (four bytes a point; the last is not ours).
export function paint(column, tints, isDark) {
  const { values, labels } = column;
  const place = labels ? (code) => code : ((share) => (value) => Math.round(255 * share(value)))(shareOf(column));
  const table = labels
    ? labels.map((_, code) => kindColour(column, code, isDark))
    : Array.from({ length: 256 }, (_, i) => colourAt(column, i / 255, isDark).map(Math.round));
  for (let i = 0, at = 0; i < values.length; i++, at += 4) {
    const value = values[i];
    const [red, green, blue] = (labels || Number.isFinite(value) ? table[place(value)] : GAP) ?? GAP;
    tints[at] = red;
    tints[at + 1] = green;
    tints[at + 2] = blue;
  }
}
