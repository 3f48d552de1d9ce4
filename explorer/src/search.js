// The box in which one looks for points, and the list of what was found.
import { css, colourOf } from "./colours.js";
import { find } from "./find.js";
import { short } from "./text.js";

export class Search {
  // `about()` returns the columns, the number of points, the column that colours and whether the
  // ground is dark; `onChoose(result)` is called with what is chosen, whose points are `result.ids()`,
  // and `onEmpty()` when nothing is looked for any more.
  constructor(input, list, about, { onChoose, onEmpty }) {
    Object.assign(this, { input, list, about, onChoose, onEmpty, results: [], at: -1 });
    input.addEventListener("input", () => {
      this.look();
      if (!input.value) onEmpty();
    });
    input.addEventListener("focus", () => this.look());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.onKey(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
    list.addEventListener("click", (event) => {
      const place = [...list.children].indexOf(event.target.closest("[role=option]"));
      if (place >= 0) this.choose(place);
    });
  }

  look() {
    const { columns, nPoints, colour, isDark } = this.about();
    const typed = this.input.value;
    this.results = find(typed, columns, nPoints, colour);
    this.list.replaceChildren(...this.results.map((result, place) => this.line(result, place, isDark)));
    if (!this.results.length && typed.trim()) {
      this.list.append(Object.assign(document.createElement("li"), { className: "quiet", textContent: "Nothing of that name." }));
    }
    this.open(typed.trim() !== "");
    this.mark(this.results.length ? 0 : -1);
  }

  line({ text, where, column, code }, place, isDark) {
    const line = Object.assign(document.createElement("li"), { id: `result-${place}`, title: text });
    line.setAttribute("role", "option");
    const add = (tag, said) => Object.assign(line.appendChild(document.createElement(tag)), { textContent: said });
    if (code !== undefined) add("i", "").style.background = css(colourOf(column, code, isDark));
    add("span", short(text));
    add("small", short(where));
    return line;
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", isOpen);
  }

  close() {
    this.open(false);
    this.mark(-1);
  }

  mark(place) {
    this.at = place;
    [...this.list.children].forEach((line, k) => line.setAttribute("aria-selected", k === place));
    if (place >= 0) {
      this.input.setAttribute("aria-activedescendant", `result-${place}`);
      this.list.children[place].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  choose(place) {
    const result = this.results[place];
    this.close();
    this.onChoose(result);
  }

  onKey(event) {
    const { length } = this.results;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && length) {
      event.preventDefault();
      if (this.list.hidden) this.look();
      else this.mark((this.at + by + length) % length);
    } else if (event.key === "Enter" && this.at >= 0) this.choose(this.at);
    else if (event.key === "Escape" && (this.input.value || !this.list.hidden)) {
      event.stopPropagation(); // what is selected stays so
      this.input.value = "";
      this.close();
      this.onEmpty();
    }
  }
}
