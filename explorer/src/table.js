// A table of points, of which only the rows are made that are seen.
import { written } from "./text.js";

const TALL = 26; // of a row, as in style.css
const SPARE = 6; // rows above and below what is seen
const MOST_COLUMNS = 40;

export class Table {
  // `onMean(id)` is called for the row that is meant, `onGo(id)` for one that is clicked.
  constructor(element, { onMean, onGo }) {
    Object.assign(this, { element, onMean, onGo, ids: [], at: -1 });
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
    element.addEventListener("keydown", (event) => this.onKey(event));
  }

  // The points `ids`, with the column that colours first.
  set(ids, columns, colour) {
    const shown = [colour, ...columns.filter((column) => column !== colour)].slice(0, MOST_COLUMNS);
    Object.assign(this, { ids, columns: shown, at: -1 });
    this.table.setAttribute("aria-rowcount", ids.length + 1);
    this.head.replaceChildren(...[{ name: "point" }, ...shown].map(({ name, labels }) => {
      return Object.assign(document.createElement("th"), { textContent: name, title: name, scope: "col", className: labels ? "" : "number" });
    }));
    this.element.scrollTop = 0;
    this.first = -1;
    this.draw();
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
    const page = Math.max(1, Math.floor(this.element.clientHeight / TALL) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (!this.ids.length) return;
    if (by) {
      event.preventDefault();
      this.go(Math.min(Math.max(this.at + by, 0), this.ids.length - 1), false);
    } else if (event.key === "Enter" && this.at >= 0) this.go(this.at, true);
  }
}
