// Both views, their titles and the legend, in one picture.
import { colourAt, css, kindColour, kindsOf, othersColour } from "./colours.js";
import { measured } from "./panel.js";
import { endTexts, isolated } from "./text.js";

function drawLegend({ colour, theme, pens }, pen, x, y, width) {
  const isDark = theme === "dark";
  const { labels, range } = colour;
  const write = (text, at, below = 0) => {
    pen.fillStyle = pens.text;
    pen.fillText(text, at, y + 26 + below);
  };
  if (labels) {
    // Lines as long as the view is wide, the last one at the bottom.
    const { named, nOthers } = kindsOf(colour);
    const entries = named.map((code) => ({ label: isolated(labels[code]), fill: kindColour(colour, code, isDark) }));
    if (nOthers) entries.push({ label: `${nOthers} others`, fill: othersColour(isDark) });
    const lines = [[]];
    let room = width;
    for (const entry of entries) {
      entry.long = 26 + pen.measureText(entry.label).width;
      if (entry.long > room && lines.at(-1).length) {
        lines.push([]);
        room = width;
      }
      lines.at(-1).push(entry);
      room -= entry.long;
    }
    lines.forEach((line, k) => {
      const below = -18 * (lines.length - 1 - k);
      let at = x;
      for (const { label, fill, long } of line) {
        pen.fillStyle = css(fill);
        pen.fillRect(at, y + 16 + below, 10, 10);
        write(label, at + 14, below);
        at += long;
      }
    });
    return;
  }
  if (!(range[0] < range[1])) return;
  for (let k = 0; k < 180; k++) {
    pen.fillStyle = css(colourAt(colour, k / 179, isDark));
    pen.fillRect(x + k, y, 1.5, 10);
  }
  const [low, high] = endTexts(colour);
  write(low, x);
  write(high, x + 180 - pen.measureText(high).width);
}

export function picture(explorer) {
  const { views: { left, right }, meta, pens, path, ends, colour } = explorer;
  const { dense } = left;
  // As they are on the page, without what is between them.
  const isStacked = right.element.getBoundingClientRect().top > left.element.getBoundingClientRect().top;
  const at = isStacked ? [0, left.height] : [left.width, 0];
  const canvas = Object.assign(document.createElement("canvas"), {
    width: Math.max(left.width, at[0] + right.width) * dense, height: Math.max(left.height, at[1] + right.height) * dense,
  });
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  pen.fillStyle = pens.back;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  left.snapshot(pen, [0, 0]);
  right.snapshot(pen, at);
  const write = (text, below) => pen.fillText(text, at[0] + 12, at[1] + below);
  pen.fillStyle = pens.text;
  pen.font = "13px system-ui, sans-serif";
  pen.fillText(`${isolated(meta.title)}: ${meta.input_title}`, 12, 20);
  write(`${isolated(explorer.embeddingTitle)}, coloured by ${isolated(colour.name)}`, 20);
  if (path) {
    write(`path ${ends.join(" – ")}: ${measured(path.distance, path.std)} unfolded, ${measured(path.graph, path.alongStds?.at(-1))} along the graph`, 40);
  }
  drawLegend(explorer, pen, 12, left.height - 34, left.width - 24);
  return canvas;
}
