// Both views in one picture, and below them what they show, in a band of its own.
import { colourAt, css, kindColour, kindsOf, othersColour } from "./colours.js";
import { endTexts, isolated, measured } from "./text.js";

const FONT = "13px system-ui, sans-serif";
const [MARGIN, LINE] = [12, 20]; // pixels around and of the lines below the views
const LONG = 180; // pixels of a scale

// The kinds with their colours, in lines as long as the picture is wide.
function kindLines({ colour, theme }, pen, width) {
  const isDark = theme === "dark";
  const { named, nOthers } = kindsOf(colour);
  const entries = named.map((code) => ({ label: isolated(colour.labels[code]), fill: kindColour(colour, code, isDark) }));
  if (nOthers) entries.push({ label: `${nOthers} others`, fill: othersColour(isDark) });
  const lines = [[]];
  let at = 0;
  for (const entry of entries) {
    const long = 26 + pen.measureText(entry.label).width;
    if (at + long > width && at > 0) {
      lines.push([]);
      at = 0;
    }
    lines.at(-1).push({ ...entry, at });
    at += long;
  }
  return lines;
}

function drawScale({ colour, theme, pens }, pen, y) {
  const texts = endTexts(colour);
  pen.fillStyle = pens.text;
  pen.fillText(texts[0], MARGIN, y);
  const start = MARGIN + pen.measureText(texts[0]).width + 8;
  pen.fillText(texts[1], start + LONG + 8, y);
  for (let k = 0; k < LONG; k++) {
    pen.fillStyle = css(colourAt(colour, k / (LONG - 1), theme === "dark"));
    pen.fillRect(start + k, y - 10, 1.5, 10);
  }
}

export function picture(explorer) {
  const { views: { left, right }, meta, pens, path, ends, colour } = explorer;
  const { dense } = left;
  // As they are on the page, without what is between them.
  const isStacked = right.element.getBoundingClientRect().top > left.element.getBoundingClientRect().top;
  const at = isStacked ? [0, left.height] : [left.width, 0];
  const [width, high] = [Math.max(left.width, at[0] + right.width), Math.max(left.height, at[1] + right.height)];
  const [one, other] = isStacked ? ["above", "below"] : ["left", "right"];
  const said = [
    `${isolated(meta.title)}, coloured by ${isolated(colour.name)}`,
    `${one}: ${meta.input_title}; ${other}: ${isolated(explorer.embeddingTitle)}`,
  ];
  if (path) said.push(`path ${ends.join(" – ")}: ${measured(path.distance, path.std)} unfolded, ${measured(path.graph, path.alongStds?.at(-1))} along the graph`);
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  pen.font = FONT;
  const kinds = colour.labels ? kindLines(explorer, pen, width - 2 * MARGIN) : [];
  const isScale = !colour.labels && colour.range[0] < colour.range[1];
  const band = 2 * MARGIN + LINE * (said.length + kinds.length + isScale);
  Object.assign(canvas, { width: width * dense, height: (high + band) * dense });
  pen.scale(dense, dense);
  pen.fillStyle = pens.back;
  pen.fillRect(0, 0, width, high + band);
  left.snapshot(pen, [0, 0]);
  right.snapshot(pen, at);
  Object.assign(pen, { font: FONT, fillStyle: pens.text }); // a canvas that was resized has forgotten it
  let y = high + MARGIN + 14;
  for (const text of said) {
    pen.fillText(text, MARGIN, y, width - 2 * MARGIN);
    y += LINE;
  }
  for (const line of kinds) {
    for (const { label, fill, at: x } of line) {
      pen.fillStyle = css(fill);
      pen.fillRect(MARGIN + x, y - 10, 10, 10);
      pen.fillStyle = pens.text;
      pen.fillText(label, MARGIN + x + 14, y);
    }
    y += LINE;
  }
  if (isScale) drawScale(explorer, pen, y);
  return canvas;
}
