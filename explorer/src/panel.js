// The panel where a path unfolds: its ends, its lengths, and the plane.
import { inPlane } from "./paths.js";
import { measured } from "./text.js";

const $ = (id) => document.getElementById(id);
const MARGIN = 14;
const LEAST_COHERENCE = 0.05; // below it next to nothing is carried on from edge to edge

export class PathPanel {
  // `onEnds(from, to)` is called when ends are typed, `onEdge()` when the slider moves.
  constructor(nPoints, { onEnds, onEdge }) {
    this.onEdge = onEdge;
    for (const name of ["from", "to"]) {
      $(name).max = nPoints - 1;
      $(name).addEventListener("change", () => {
        const read = (id) => ($(id).value === "" ? -1 : Number($(id).value));
        const ends = [read("from"), read("to")];
        const isFine = ends.every((end, k) => Number.isInteger(end) && end < nPoints && (end >= 0 || $(["from", "to"][k]).value === ""));
        if (isFine) onEnds(...ends);
        else this.say(`There are points 0 to ${nPoints - 1}.`);
      });
    }
    $("edge").addEventListener("input", () => {
      this.stop();
      this.show(Number($("edge").value));
    });
    $("play").addEventListener("click", () => this.play());
    new ResizeObserver(() => this.show(this.edge)).observe($("plane"));
    this.edge = 0;
  }

  say(hint) {
    $("hint").textContent = hint;
    $("hint").hidden = !hint;
  }

  // Show a path, or why there is none.
  set(path, from, to, chord, hint) {
    this.stop();
    this.path = path;
    $("from").value = from < 0 ? "" : from;
    $("to").value = to < 0 ? "" : to;
    this.say(hint);
    $("lengths").hidden = !path;
    $("play").disabled = $("edge").disabled = !path || path.nodes.length < 2;
    if (path) {
      this.flat = inPlane(path.places);
      const gap = Math.abs(path.forward - path.backward) / (path.distance || 1);
      $("chord").textContent = chord === null ? "not stored" : measured(chord, path.chordStd);
      $("ptu").textContent = measured(path.distance, path.std);
      $("graph").textContent = measured(path.graph, path.alongStds?.at(-1));
      $("ratio").textContent = path.distance > 0 ? (path.graph / path.distance).toFixed(4) : "–";
      $("gap").textContent = gap < 1e-4 ? "< 0.01 %" : `${(100 * gap).toPrecision(2)} %`;
      $("coherent").textContent = `${(100 * path.coherence).toFixed(0)} %`;
      this.isGraph = path.nodes.length > 2 && path.coherence < LEAST_COHERENCE;
      if (this.isGraph) this.say(`${hint ?? ""} Tangent planes do not agree here: the length is that along the graph, and what unfolds says nothing.`.trim());
      $("edge").max = path.nodes.length - 1;
    }
    this.show(path ? path.nodes.length - 1 : 0);
  }

  // Show the path with its first edges unfolded.
  show(edge) {
    this.edge = edge;
    $("edge").value = edge;
    const plane = $("plane");
    plane.replaceChildren();
    $("so-far").textContent = this.path ? this.soFar(edge) : "";
    if (!this.path) return this.onEdge();
    const width = plane.clientWidth, height = plane.clientHeight;
    const xs = this.flat.map((p) => p[0]), ys = this.flat.map((p) => p[1]);
    const left = Math.min(...xs), right = Math.max(...xs), low = Math.min(...ys), high = Math.max(...ys);
    const scale = Math.min((width - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (high - low || 1e-9));
    const put = ([x, y]) => [
      width / 2 + (x - 0.5 * (left + right)) * scale,
      height / 2 - (y - 0.5 * (low + high)) * scale,
    ];
    const screen = this.flat.map(put);
    const points = (list) => list.map((p) => p.map((x) => x.toFixed(2)).join(",")).join(" ");
    const add = (kind, attributes) => {
      const node = plane.appendChild(document.createElementNS("http://www.w3.org/2000/svg", kind));
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    };
    const [a, b] = [screen[0], screen[edge]];
    add("polyline", { class: "graph", points: points(screen) });
    // Where planes do not agree, it is not the length that is told.
    if (!this.isGraph) add("line", { class: "straight", x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
    add("polyline", { class: "done", points: points(screen.slice(0, edge + 1)) });
    for (const [x, y] of [a, b]) add("circle", { class: "end", cx: x, cy: y, r: 4.5 });
    this.onEdge();
  }

  soFar(edge) {
    const { places, nodes, along, stds, alongStds } = this.path;
    const straight = this.isGraph ? "" : `${measured(Math.hypot(...places[edge]), stds?.[edge])} straight, `;
    return `edge ${edge} of ${nodes.length - 1}: ${straight}${measured(along[edge], alongStds?.[edge])} along`;
  }

  play() {
    if (this.timer) return this.stop();
    const last = this.path.nodes.length - 1;
    let edge = this.edge >= last ? 0 : this.edge;
    const pause = Math.min(200, 4000 / Math.max(last, 1));
    this.showPlay("pause", "Pause the unfolding");
    this.show(edge);
    this.timer = setInterval(() => {
      this.show(++edge);
      if (edge >= last) this.stop();
    }, pause);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.showPlay("play", "Play the unfolding");
  }

  showPlay(icon, label) {
    $("play").setAttribute("aria-label", label);
    $("play").querySelector("use").setAttribute("href", `#icon-${icon}`);
  }
}
