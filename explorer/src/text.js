// Words that the caller chose: of any length, in any direction.
const MOST = 50;

// The beginning of a long text, without half a character at its end.
export const short = (text, most = MOST) => (text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text);

// As much of a text as has room, by a function that measures texts.
export function fitting(text, room, measure) {
  let most = Math.min(text.length, MOST);
  while (most > 1 && measure(short(text, most)) > room) most--;
  return short(text, most);
}

// The same in a line with other words, whose order marks inside it must not turn.
export const isolated = (text) => `\u2068${short(text)}\u2069`;

// A number for people: whole ones in full, and no rows of zeros.
export function digits(value, count = 6) {
  if (Number.isNaN(value) || value === undefined) return "–";
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(count));
  return Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}

// As many digits as tell the ends of a range apart.
export function endDigits(low, high) {
  const unit = Math.max(Math.abs(low), Math.abs(high));
  return Math.min(Math.max(Math.ceil(-Math.log10(high / unit - low / unit)) + 3, 3), 15);
}

// What stands at the ends of a scale, and whether values lie beyond; a turn of angles is told in parts of π.
export function endTexts({ range: [low, high], isCut, scale }) {
  const isTurn = scale?.kind === "cyclic" && Math.abs(scale.period - 2 * Math.PI) < 1e-9;
  if (isTurn) return low < 0 ? ["−π", "π"] : ["0", "2π"];
  return [low, high].map((value, end) => (isCut?.[end] ? "≤≥"[end] + "\u00a0" : "") + digits(value, endDigits(low, high)));
}

// A length with its standard deviation, where there is one to tell, and as many digits as that allows.
export function measured(value, std) {
  if (!Number.isFinite(value)) return "–";
  if (!(std > 0)) return String(Number(value.toPrecision(5)));
  const hasTwo = std.toExponential(1).startsWith("1"); // digits, or rounding would take up to a third of it
  const rounded = Number(std.toPrecision(hasTwo ? 2 : 1));
  const places = hasTwo - Math.floor(Math.log10(rounded));
  if (places > 0 && places < 7) return `${value.toFixed(places)} ± ${rounded.toFixed(places)}`;
  const count = Math.floor(Math.log10(Math.abs(value) || rounded)) + places + 1;
  return `${count < 1 ? 0 : Number(value.toPrecision(Math.min(count, 15)))} ± ${rounded}`;
}

// The value of a point, as text.
export function written({ values, labels }, id) {
  return labels ? (labels[values[id]] ?? "–") : digits(values[id]);
}
