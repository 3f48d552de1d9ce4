// Names of kinds on the map, none over another.
import { kindsOf } from "./colours.js";
import { fitting, isolated } from "./text.js";

const SAMPLE = 150; // points of a kind that vote for its place
const REACH = 0.2; // of the reach of the map, within which they count
const CROWD = 5000; // points among which a kind has to stand out,
const AROUND = 0.08; // of the reach of the map, from its place,
const PURE = 0.3; // with this share of them
const WIDEST = 112; // pixels: longer names would lie over other branches; the legend has them whole
const FONT = "600 13px system-ui, sans-serif";
const TALL = 17;

const off = (positions, a, b) =>
  (positions[3 * a] - positions[3 * b]) ** 2 + (positions[3 * a + 1] - positions[3 * b + 1]) ** 2 + (positions[3 * a + 2] - positions[3 * b + 2]) ** 2;

// The share of a kind among the points around one of its points.
function purity(column, positions, id) {
  const { values } = column;
  const stride = Math.ceil(values.length / CROWD);
  let own = 0, all = 0;
  for (let i = 0; i < values.length; i += stride) {
    if (!(off(positions, id, i) < AROUND ** 2)) continue;
    all++;
    if (values[i] === values[id]) own++;
  }
  return all ? own / all : 1;
}

// Where a kind lies: its point with the most of its points around it. Kinds that lie among all
// others have no such place.
export function homes(column, positions) {
  const { named, sizes } = kindsOf(column);
  const members = new Map(named.map((code) => [code, []]));
  const strides = new Map(named.map((code) => [code, Math.ceil(sizes[code] / SAMPLE)]));
  const seen = new Map(named.map((code) => [code, 0]));
  column.values.forEach((code, id) => {
    const ids = members.get(code);
    if (!ids || Number.isNaN(positions[3 * id])) return;
    const count = seen.get(code);
    if (count % strides.get(code) === 0) ids.push(id);
    seen.set(code, count + 1);
  });
  const found = [];
  for (const [code, ids] of members) {
    let best = -1, most = -1;
    for (const id of ids) {
      let sum = 0;
      for (const other of ids) sum += Math.max(0, 1 - off(positions, id, other) / REACH ** 2);
      if (sum > most) [best, most] = [id, sum];
    }
    if (best >= 0 && purity(column, positions, best) > PURE) found.push({ code, id: best, size: sizes[code] });
  }
  return found.sort((a, b) => b.size - a.size); // the largest choose first
}

// Put boxes (x, y in the middle, width, height) near where they want to be, inside the view and none
// over another; those for which there is no room are left out.
export function placed(boxes, width, height) {
  const kept = [];
  for (const box of boxes) {
    const { wide, tall } = box;
    const step = tall + 1;
    const shifts = [[0, 0], [0, -step], [0, step], [0, -2 * step], [0, 2 * step], [-wide / 2, -step], [wide / 2, -step], [-wide / 2, step], [wide / 2, step]];
    if (wide > width || !(box.x >= 0 && box.x <= width && box.y >= 0 && box.y <= height)) continue;
    for (const [dx, dy] of shifts) {
      const x = Math.min(Math.max(box.x + dx, wide / 2 + 2), width - wide / 2 - 2);
      const y = Math.min(Math.max(box.y + dy, tall / 2 + 2), height - tall / 2 - 2);
      const isFree = kept.every((other) => Math.abs(other.x - x) >= (other.wide + wide) / 2 || Math.abs(other.y - y) >= (other.tall + tall) / 2);
      if (!isFree) continue;
      kept.push({ ...box, x, y });
      break;
    }
  }
  return kept;
}

const NOTHING = new Set(["no", "none"]);

export class Names {
  // Draw the names of a column's kinds; `isFaint(code)` tells those that are not chosen, and
  // `isPlated` whether there are pictures below, before which they need plates.
  draw(view, pen, column, pens, { isFaint, isPlated }) {
    if (this.column !== column || this.positions !== view.positions) {
      Object.assign(this, { column, positions: view.positions, homes: homes(column, view.positions) });
    }
    Object.assign(pen, { font: FONT, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
    const { screen } = view;
    const boxes = this.homes.map(({ code, id }) => {
      const label = column.labels[code];
      const text = isolated(fitting(label, WIDEST, (cut) => pen.measureText(cut).width));
      return { code, text, x: screen[3 * id], y: screen[3 * id + 1], wide: pen.measureText(text).width + 10, tall: TALL };
    });
    // Where a score says no there is nothing to name.
    const isNamed = ({ code, wide }) => wide > 11 && !(column.isScore && NOTHING.has(column.labels[code]));
    this.shown = placed(boxes.filter(isNamed), view.width, view.height);
    for (const { code, text, x, y, wide, tall } of this.shown) {
      pen.globalAlpha = isFaint(code) ? 0.25 : 1;
      if (isPlated) {
        pen.fillStyle = pens.back;
        pen.beginPath();
        pen.roundRect(x - wide / 2, y - tall / 2, wide, tall, 5);
        pen.fill();
      }
      Object.assign(pen, { strokeStyle: pens.back, fillStyle: pens.text, lineWidth: 4 });
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
    Object.assign(pen, { globalAlpha: 1, textAlign: "start", textBaseline: "alphabetic" });
  }
}
