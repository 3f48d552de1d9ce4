// Other embeddings of the same points: a slider moves them from one to the other.
const $ = (id) => document.getElementById(id);
const LASTS = 1600; // milliseconds from one to the other
const HIGHER_IS_WORSE = new Set(["stress"]);

// Slow at both ends.
const eased = (share) => share * share * (3 - 2 * share);

const said = (value) => (value === null ? "–" : value < 0.0005 && value > 0 ? "< 0.001" : value.toFixed(3));

export class Compare {
  // `others` are names with coordinates, `width` numbers a point; `quality` has the scores of the
  // first embedding and of the others by their names.
  constructor(view, others, width, quality, onMove) {
    Object.assign(this, { view, others, quality, onMove, share: 0, at: 0 });
    this.start = view.positions.slice();
    this.goals = others.map(({ values }) => view.placed(values, width));
    view.widen(this.goals);
    $("compare").hidden = false;
    $("other").hidden = others.length < 2;
    for (const { name } of others) $("other").add(new Option(name));
    $("other").addEventListener("change", () => this.choose($("other").selectedIndex));
    $("share").addEventListener("input", () => { this.stop(); this.set(Number($("share").value) / 100); });
    $("move").addEventListener("click", () => this.play());
    this.choose(0);
  }

  choose(at) {
    this.at = at;
    const { name } = this.others[at];
    $("other-name").textContent = name;
    $("share").setAttribute("aria-valuetext", name);
    this.showQuality(name);
    this.set(this.share);
  }

  showQuality(name) {
    const rows = Object.entries(this.quality);
    const table = $("quality");
    table.replaceChildren();
    table.hidden = !rows.length;
    const add = (row, kind, text) => Object.assign(row.appendChild(document.createElement(kind)), { textContent: text });
    const head = table.insertRow();
    for (const text of ["", ...rows.map(([score]) => score)]) add(head, "th", text).scope = "col";
    for (const [at, who] of [[0, "PTU"], [this.at + 1, name]]) {
      const row = table.insertRow();
      add(row, "th", who).scope = "row";
      for (const [score, values] of rows) {
        const shown = [values[0], values[this.at + 1]];
        const best = Math[HIGHER_IS_WORSE.has(score) ? "min" : "max"](...shown);
        add(row, "td", said(values[at])).classList.toggle("best", values[at] === best);
      }
    }
  }

  // Show the points at a share of the way from the first embedding to the other.
  set(share) {
    this.share = share;
    $("share").value = Math.round(100 * share);
    $("share").setAttribute("aria-valuetext", `${Math.round(100 * share)} % of the way to ${this.others[this.at].name}`);
    const { start } = this, goal = this.goals[this.at];
    const mixed = new Float32Array(start.length);
    for (let i = 0; i < mixed.length; i++) mixed[i] = start[i] + share * (goal[i] - start[i]);
    this.view.move(mixed);
    this.onMove(share, this.others[this.at].name);
  }

  // Move to the other end; where motion is not wanted, be there at once.
  play() {
    if (this.frame) return this.stop();
    const from = this.share, to = from < 0.5 ? 1 : 0;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(to);
    const begin = performance.now();
    const step = (now) => {
      const done = Math.min(Math.max((now - begin) / (LASTS * Math.abs(to - from)), 0), 1);
      this.set(from + (to - from) * eased(done));
      this.frame = done < 1 ? requestAnimationFrame(step) : null;
    };
    this.frame = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }
}
