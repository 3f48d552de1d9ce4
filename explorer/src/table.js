// A table of points, of which only the rows are made that are seen.
import { written } from "./text.js";

const TALL = globalThis.matchMedia?.("(pointer: coarse)").matches ? 44 : 26; // of a row, as in style.css
const SPARE = 6; // rows above and below what is seen
const MOST_COLUMNS = 40;
const POINT = "point"; // the column of their numbers

// The points `ids` by the values of a column, or by their numbers if there is none. Those without a
// value come last either way, and those of one value stay as they were.
export function sorted(ids, column, isDown) {
  const sign = isDown ? -1 : 1;
  let keyOf = (id) => id;
  if (column?.labels) {
    const { values, labels } = column;
    const { compare } = new Intl.Collator(undefined, { numeric: true });
    const ranks = new Map([...labels].sort(compare).map((label, rank) => [label, rank]));
    keyOf = (id) => ranks.get(labels[values[id]]) ?? NaN;
  } else if (column) keyOf = (id) => column.values[id];
  const keys = Float64Array.from(ids, keyOf);
  const places = Array.from(ids, (_, place) => place);
  places.sort((a, b) => {
    const isGap = Number.isNaN(keys[a]) - Number.isNaN(keys[b]);
    return isGap || (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : 0);
  });
  return Uint32Array.from(places, (place) => ids[place]);
}

export class Table {
  // `onMean(id)` is called for the row that is meant, `onGo(id)` for one that is clicked.
  constructor(element, { onMean, onGo }) {
    Object.assign(this, { element, onMean, onGo, ids: [], at: -1, by: null, isDown: false });
    element.tabIndex = 0;
    const table = element.appendChild(document.createElement("table"));
    this.table = table;
    this.head = table.createTHead().insertRow();
    this.body = table.createTBody();
    element.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(element);
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-place]");
      if (row) this.go(Number(row.dataset.place), true);
    });
    this.head.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.sortBy(button.dataset.name);
    });
    element.addEventListener("keydown", (event) => this.onKey(event));
  }

  // Up first, then down, then as the points are numbered.
  sortBy(name) {
    if (this.by !== name) Object.assign(this, { by: name, isDown: false });
    else if (this.isDown) Object.assign(this, { by: null, isDown: false });
    else this.isDown = true;
    this.sort();
  }

  sort() {
    const column = this.columns.find((one) => one.name === this.by);
    this.ids = column || this.by === POINT ? sorted(this.given, column, this.isDown) : this.given;
    for (const cell of this.head.cells) {
      const isIt = cell.firstChild.dataset.name === this.by;
      if (isIt) cell.setAttribute("aria-sort", this.isDown ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.at = -1;
    this.first = -1;
    this.element.scrollTop = 0;
    this.draw();
  }

  // The points `ids`, with the column that colours first.
  set(ids, columns, colour) {
    const shown = [colour, ...columns.filter((column) => column !== colour)].slice(0, MOST_COLUMNS);
    Object.assign(this, { given: ids, columns: shown });
    this.table.setAttribute("aria-rowcount", ids.length + 1);
    this.head.replaceChildren(...[{ name: POINT }, ...shown].map(({ name, labels }) => {
      const cell = Object.assign(document.createElement("th"), { scope: "col", className: labels ? "" : "number" });
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, title: `${name}: sort` });
      button.dataset.name = name;
      cell.appendChild(button);
      return cell;
    }));
    this.sort();
  }

  draw() {
    const { element, ids, columns } = this;
    if (!columns || !element.clientHeight) return;
    const first = Math.max(0, Math.floor(element.scrollTop / TALL) - SPARE);
    const last = Math.min(ids.length, Math.ceil((element.scrollTop + element.clientHeight) / TALL) + SPARE);
    if (first === this.first && last === this.last) return;
    Object.assign(this, { first, last });
    const spacer = (rows) => {
      const row = document.createElement("tr");
      row.appendChild(document.createElement("td")).style.height = `${rows * TALL}px`;
      row.setAttribute("aria-hidden", "true");
      return row;
    };
    const rows = Array.from({ length: last - first }, (_, k) => this.row(first + k));
    this.body.replaceChildren(spacer(first), ...rows, spacer(ids.length - last));
  }

  row(place) {
    const id = this.ids[place];
    const row = document.createElement("tr");
    row.dataset.place = place;
    row.setAttribute("aria-rowindex", place + 2);
    row.classList.toggle("meant", place === this.at);
    const cell = (tag, text, isNumber) => Object.assign(row.appendChild(document.createElement(tag)), { textContent: text, title: text, className: isNumber ? "number" : "" });
    cell("th", String(id), true).scope = "row";
    for (const column of this.columns) cell("td", written(column, id), !column.labels);
    return row;
  }

  go(place, isGoing) {
    this.at = place;
    const { element } = this;
    const top = place * TALL;
    const room = element.clientHeight - this.head.offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + TALL > element.scrollTop + room) element.scrollTop = top + TALL - room;
    this.first = -1;
    this.draw();
    (isGoing ? this.onGo : this.onMean)(this.ids[place]);
  }

  onKey(event) {
    if (event.target.closest("thead")) return; // its buttons have keys of their own
    const page = Math.max(1, Math.floor(this.element.clientHeight / TALL) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (!this.ids.length) return;
    if (by) {
      event.preventDefault();
      this.go(Math.min(Math.max(this.at + by, 0), this.ids.length - 1), false);
    } else if (event.key === "Enter" && this.at >= 0) this.go(this.at, true);
  }
}
