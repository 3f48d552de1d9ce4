// What colours stand for; and a way to choose points by it.
import { bar, css, kindColour, kindsOf, othersColour, spanOf } from "./colours.js";
import { Histogram } from "./histogram.js";
import { digits } from "./text.js";

const OTHERS = -2; // the code of all kinds that share a colour
const HIGH = 0.45; // of the view, from which on points are beside it
export const NARROW = 480; // pixels, of a view
const add = (parent, tag, properties = {}) => Object.assign(parent.appendChild(document.createElement(tag)), properties);

export class Legend {
  // `onChoose(test, column)` is called with what tells whether a value is chosen; null means all.
  constructor(element, onChoose) {
    Object.assign(this, { element, onChoose });
    // What is done here must not turn the view below.
    for (const kind of ["pointerdown", "wheel"]) element.addEventListener(kind, (event) => event.stopPropagation());
    element.addEventListener("keydown", (event) => {
      if (/^(Arrow|Home|End|[-+=0]$)/.test(event.key)) event.stopPropagation();
    });
  }

  // How much of the view it covers, in pixels from the left or from the bottom: nothing where there
  // is room for points above it.
  get covers() {
    const { offsetWidth, offsetHeight, parentElement: view } = this.element;
    const isHigh = offsetHeight > HIGH * view.clientHeight && offsetWidth < 0.5 * view.clientWidth;
    const isBelow = !isHigh && view.clientWidth < NARROW;
    return { left: isHigh ? offsetWidth + 10 : 0, bottom: isBelow ? view.clientHeight - this.element.offsetTop : 0 };
  }

  show(column, isDark) {
    const isAnother = column !== this.column;
    Object.assign(this, { column, isDark });
    if (isAnother) this.picked = new Set();
    this.element.replaceChildren();
    this.showName(isAnother);
    if (column.labels) this.showKinds();
    else this.showScale(isAnother ? null : this.histogram?.window);
    const { labels, values } = column;
    const isInfinite = !labels && values.some((value) => Math.abs(value) === Infinity);
    const isGrey = isInfinite || values.some((value) => (labels ? value < 0 : Number.isNaN(value)));
    if (isGrey) add(this.element, "div", { className: "note", textContent: `grey: no ${isInfinite ? "finite " : ""}value` });
  }

  // The name of the column, which folds the rest away; that begins so where a list would hide much.
  showName(isAnother) {
    const name = add(this.element, "button", { type: "button", className: "name", title: this.column.name });
    add(name, "span", { textContent: this.column.name });
    if (isAnother) this.isFolded = Boolean(this.column.labels) && this.element.parentElement.clientWidth < NARROW;
    const fold = () => name.setAttribute("aria-expanded", !this.isFolded);
    name.addEventListener("click", () => {
      this.isFolded = !this.isFolded;
      fold();
    });
    fold();
  }

  showKinds() {
    const { column, isDark } = this;
    const { named, nOthers, sizes } = kindsOf(column);
    const list = add(this.element, "ul", { tabIndex: -1 });
    this.buttons = new Map();
    const entry = (code, label, size, colour) => {
      const button = add(add(list, "li"), "button", { type: "button", title: label });
      add(button, "i").style.background = css(colour);
      add(button, "span", { textContent: label });
      add(button, "small", { textContent: size.toLocaleString("en") });
      button.addEventListener("click", (event) => this.pick(code, event.ctrlKey || event.metaKey || event.shiftKey));
      this.buttons.set(code, button);
    };
    for (const code of named) entry(code, column.labels[code], sizes[code], kindColour(column, code, isDark));
    if (nOthers) {
      const left = sizes.reduce((sum, size) => sum + size, 0) - named.reduce((sum, code) => sum + sizes[code], 0);
      entry(OTHERS, `${nOthers.toLocaleString("en")} others`, left, othersColour(isDark));
    }
    this.press();
  }

  // A kind alone, or beside those before; the one that is alone already: all again.
  pick(code, isMore) {
    const { picked } = this;
    if (isMore) picked.has(code) ? picked.delete(code) : picked.add(code);
    else this.picked = picked.size === 1 && picked.has(code) ? new Set() : new Set([code]);
    this.choose();
  }

  only(code) {
    this.picked = new Set([code]);
    this.choose();
  }

  choose() {
    this.press();
    const { places } = kindsOf(this.column);
    const isIn = (value) => this.picked.has(value) || (this.picked.has(OTHERS) && places[value] === -1);
    this.onChoose(this.picked.size ? isIn : null, this.column);
  }

  press() {
    this.element.classList.toggle("filters", this.picked.size > 0);
    for (const [code, button] of this.buttons) button.setAttribute("aria-pressed", this.picked.has(code));
  }

  showScale(window) {
    const { column, isDark } = this;
    const [low, high] = spanOf(column);
    this.histogram = null;
    if (low === high) add(this.element, "div", { className: "note", textContent: `${digits(low)} everywhere` });
    if (!(low < high)) return;
    this.histogram = new Histogram(this.element, column, isDark, (isIn) => {
      this.showWindow();
      this.onChoose(isIn, column);
    });
    add(this.element, "div", { className: "bar" }).style.background = bar(column, isDark);
    this.ends = add(this.element, "div", { className: "ends" });
    if (window) this.histogram.setWindow(window);
    this.showWindow();
  }

  // The ends of the scale, or those of what is chosen on the histogram.
  showWindow() {
    const { window, texts } = this.histogram;
    this.ends.replaceChildren();
    for (const text of window ? [`chosen: ${texts.join(" to ")}`] : texts) add(this.ends, "span", { textContent: text });
  }

  // Points were chosen elsewhere.
  forget() {
    this.picked.clear();
    this.element.classList.remove("filters");
    if (this.column.labels) this.press();
    if (!this.histogram?.window) return;
    this.histogram.setWindow(null);
    this.showWindow();
  }
}
