// How often values are, over their scale; dragging along it chooses a part.
import { colourAt, css, shareOf, spanOf } from "./colours.js";
import { digits, endDigits, endTexts } from "./text.js";

const BINS = 36;
const STEP = 1 / BINS; // of an arrow key
const SVG = "http://www.w3.org/2000/svg";

// How many values fall into each of equal parts of the scale.
export function bins(column, count = BINS) {
  const share = shareOf(column);
  const found = new Array(count).fill(0);
  for (const value of column.values) if (Number.isFinite(value)) found[Math.min(Math.floor(share(value) * count), count - 1)]++;
  return found;
}

export class Histogram {
  // `onChoose(test)` is called with what tells whether a value is in the window; null means all.
  constructor(parent, column, isDark, onChoose) {
    Object.assign(this, { column, onChoose });
    this.window = null; // of the scale, from 0 to 1
    const box = (this.box = parent.appendChild(document.createElement("div")));
    box.className = "histogram";
    box.title = "Drag to choose values";
    const picture = box.appendChild(document.createElementNS(SVG, "svg"));
    for (const [name, value] of [["viewBox", `0 0 ${BINS} 1`], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) picture.setAttribute(name, value);
    const found = bins(column);
    const most = Math.max(...found);
    this.bars = found.map((count, k) => {
      const tall = count ? Math.max(Math.sqrt(count / most), 0.03) : 0; // few are seen beside many
      const bar = picture.appendChild(document.createElementNS(SVG, "rect"));
      const at = { x: k + 0.06, y: 1 - tall, width: 0.88, height: tall, fill: css(colourAt(column, (k + 0.5) / BINS, isDark)) };
      for (const [name, value] of Object.entries(at)) bar.setAttribute(name, value);
      return bar;
    });
    this.handles = ["Least value", "Largest value"].map((name, end) => this.handle(name, end));
    this.listen();
    this.setWindow(null);
  }

  handle(name, end) {
    const handle = this.box.appendChild(document.createElement("span"));
    Object.assign(handle, { className: "handle", tabIndex: 0 });
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-label", `${name} shown of ${this.column.name}`);
    const [low, high] = spanOf(this.column);
    handle.setAttribute("aria-valuemin", low);
    handle.setAttribute("aria-valuemax", high);
    handle.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, Home: -1, End: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const window = [...(this.window ?? [0, 1])];
      window[end] = end ? Math.min(Math.max(window[1] + by, window[0] + STEP), 1) : Math.max(Math.min(window[0] + by, window[1] - STEP), 0);
      this.choose(window);
    });
    return handle;
  }

  listen() {
    const { box } = this;
    let start = null;
    const at = (event) => {
      const { left, width } = box.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - left) / width, 0), 1);
    };
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const here = at(event), end = this.handles.indexOf(event.target);
      const held = this.window ?? [0, 1];
      start = end >= 0 ? held[1 - end] : here;
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const here = at(event);
      if (Math.abs(here - start) > 0.5 * STEP) this.choose([Math.min(start, here), Math.max(start, here)]);
    });
    box.addEventListener("pointerup", (event) => {
      if (start !== null && Math.abs(at(event) - start) <= 0.5 * STEP) this.choose(null);
      start = null;
    });
    box.addEventListener("pointercancel", () => { start = null; });
  }

  choose(window) {
    const isAll = !window || (window[0] <= 0 && window[1] >= 1);
    if (isAll && !this.window) return;
    this.setWindow(isAll ? null : window);
    const share = shareOf(this.column);
    const [from, to] = this.window ?? [];
    this.onChoose(isAll ? null : (value) => Number.isFinite(value) && share(value) >= from && share(value) <= to);
  }

  setWindow(window) {
    this.window = window;
    const [from, to] = window ?? [0, 1];
    const [low, high] = spanOf(this.column);
    this.bars.forEach((bar, k) => bar.classList.toggle("out", (k + 0.5) / BINS < from || (k + 0.5) / BINS > to));
    const ends = endTexts(this.column);
    this.texts = [from, to].map((share, end) => {
      const value = low * (1 - share) + high * share;
      const text = share === end ? ends[end] : digits(value, endDigits(low, high));
      this.handles[end].style.left = `${100 * share}%`;
      this.handles[end].setAttribute("aria-valuenow", value);
      this.handles[end].setAttribute("aria-valuetext", text);
      return text;
    });
    this.box.classList.toggle("filters", Boolean(window));
  }
}
