// A small note beside the point that is meant: its picture, what colours it, and what it is called.
import { colourOf, css } from "./colours.js";
import { short, written } from "./text.js";

const OFF = 14; // pixels from the point

export class Tip {
  constructor(element, { columns, images }) {
    Object.assign(this, { element, columns, images });
  }

  hide() {
    this.element.hidden = true;
  }

  // Beside a point in a view, with a note of what is drawn there; points that are not seen have none.
  show(id, view, colour, isDark, note) {
    const { element } = this;
    const [x, y] = view.screen.subarray(3 * id, 3 * id + 2);
    if (!(x >= 0 && x <= view.width && y >= 0 && y <= view.height)) return this.hide();
    const add = (tag, text, parent = element) => Object.assign(parent.appendChild(document.createElement(tag)), { textContent: text });
    element.replaceChildren();
    if (this.images) {
      const picture = add("canvas", "");
      const image = this.images.canvas(id);
      Object.assign(picture, { width: image.width, height: image.height });
      picture.getContext("2d").drawImage(image, 0, 0);
    }
    const words = add("div", "");
    const main = add("p", "", words);
    add("i", "", main).style.background = css(colourOf(colour, colour.values[id], isDark));
    add("b", short(written(colour, id)), main);
    add("small", short(colour.name), main);
    // What the caller calls it, unless that is told already.
    const label = this.columns.find((column) => column.labels && !column.isScore && column !== colour);
    if (label && label.values[id] >= 0) add("p", short(written(label, id)), words);
    add("p", `point ${id}`, words).className = "quiet";
    if (note) add("p", note, words).className = "quiet";
    element.hidden = false;
    this.place(x, y, view);
  }

  // To the right and below, or where there is room.
  place(x, y, view) {
    const { element } = this;
    const box = view.element.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: tall } = element;
    const right = box.left + x + OFF, below = box.top + y + OFF;
    const left = right + wide > innerWidth - 4 ? box.left + x - OFF - wide : right;
    const top = below + tall > innerHeight - 4 ? box.top + y - OFF - tall : below;
    Object.assign(element.style, { left: `${Math.max(left, 4)}px`, top: `${Math.max(top, 4)}px` });
  }
}
