// What a few letters may mean: a point by its number, points of a kind, points by a value.
const MOST = 12; // results
const MOST_OF_COLUMN = 6;

// Where labels, in small letters, have the words: those that begin with them first.
function matches(column, words) {
  column.small ??= column.labels.map((label) => label.toLowerCase());
  const first = [], then = [];
  for (let code = 0; code < column.small.length && first.length < MOST_OF_COLUMN; code++) {
    const at = column.small[code].indexOf(words);
    if (at === 0) first.push(code);
    else if (at > 0 && then.length < MOST_OF_COLUMN) then.push(code);
  }
  return [...first, ...then].slice(0, MOST_OF_COLUMN);
}

function idsOf({ values }, code) {
  const ids = [];
  for (let i = 0; i < values.length; i++) if (values[i] === code) ids.push(i);
  return ids;
}

function nearest({ values }, wanted) {
  let best = -1, least = Infinity;
  for (let i = 0; i < values.length; i++) {
    const off = Math.abs(values[i] - wanted);
    if (off < least) [best, least] = [i, off];
  }
  return best;
}

// Results for what was typed, best first: what each is called, in which column, and its points. The
// column by which points are coloured comes before the others. "height 1.5" looks into columns whose
// names begin so.
export function find(query, columns, nPoints, colour) {
  const typed = query.trim();
  if (!typed) return [];
  const results = [];
  const number = typed.replace(/^#/, "");
  if (/^\d+$/.test(number) && Number(number) < nPoints) results.push({ text: `point ${Number(number)}`, where: "", ids: () => [Number(number)] });
  const ordered = [colour, ...columns.filter((column) => column !== colour)];
  for (const column of ordered) {
    if (!column.labels) continue;
    for (const code of matches(column, typed.toLowerCase())) {
      results.push({ text: column.labels[code], where: column.name, column, code, ids: () => idsOf(column, code) });
    }
  }
  const [, name, value] = typed.match(/^(.*?)[\s=:]*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i) ?? [];
  if (value !== undefined) {
    const among = name ? ordered.filter((column) => column.name.toLowerCase().startsWith(name.toLowerCase())) : [colour];
    for (const column of among.filter((one) => !one.labels).slice(0, MOST_OF_COLUMN)) {
      const id = nearest(column, Number(value));
      if (id >= 0) results.push({ text: `point ${id}`, where: column.name, column, ids: () => [id] });
    }
  }
  return results.slice(0, MOST);
}
