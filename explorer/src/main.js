// The page: two views of the same points, linked, and a path between any two of them.
import { markBorders } from "./borders.js";
import { centre, outlook, travel } from "./centre.js";
import { paint, spanOf } from "./colours.js";
import { Compare } from "./compare.js";
import { load } from "./data.js";
import { hear, join } from "./host.js";
import { Images } from "./images.js";
import { Layout } from "./layout.js";
import { Legend, NARROW } from "./legend.js";
import { Names } from "./names.js";
import { PathPanel } from "./panel.js";
import { Connection } from "./paths.js";
import { picture } from "./picture.js";
import { download, table } from "./save.js";
import { Search } from "./search.js";
import { Table } from "./table.js";
import { digits, short, written } from "./text.js";
import { Tip } from "./tip.js";
import { Toggle, toolGroup } from "./toggles.js";
import { View } from "./view.js";

const FAR_APART = 3; // in the embedding, times the length of an edge: torn, not only long
const $ = (id) => document.getElementById(id);
const FADED = 46; // of 255: points that are not selected
const MOST_ON_CARD = 60;
const FEW = 2000, LARGEST_DOT = 7; // so many points are that large, in pixels

function trouble(error) {
  $("trouble").hidden = false;
  const isBlind = /webgl/i.test(error.message);
  const remedy = isBlind ? "this browser draws no WebGL; switch hardware acceleration on, or take another browser" : error.message;
  $("trouble").textContent = `The page cannot be shown: ${remedy}`;
  throw error;
}

// Every `width`-th number, from `start`.
function everyNth(values, start, width) {
  if (width === 1) return values;
  const column = new values.constructor(values.length / width);
  for (let i = 0; i < column.length; i++) column[i] = values[i * width + start];
  return column;
}

class Explorer {
  constructor({ meta, arrays }) {
    Object.assign(this, { meta, arrays });
    this.n = meta.points;
    this.chosen = new Uint8Array(this.n);
    this.nChosen = 0;
    this.ends = [-1, -1];
    this.hovered = -1;
    this.path = null;
    this.embeddingTitle = "embedding";
    this.tints = new Uint8Array(4 * this.n).fill(255);
    this.columns = this.allColumns();
    this.images = arrays.images ? new Images(arrays.images, meta.image_shape) : null;
    this.connection = arrays.heads ? new Connection(this.n, meta.dim, arrays, meta.step_scale, meta.noise, meta.bars) : null;

    document.title = `${meta.title} – ptunfold`;
    $("title").textContent = $("title").title = meta.title;
    $("size").textContent = `${this.n.toLocaleString("en")} points`;
    $("left-title").textContent = meta.input_title;
    $("said").textContent = meta.said;
    const on = {
      onHover: (id) => this.hover(id),
      onPick: (id) => this.pick(id),
      onSelect: (ids, isMore) => this.select(ids, isMore),
    };
    const input = arrays.input ?? arrays.features;
    const width = meta.components;
    this.views = {
      left: new View($("left"), input, input.length / this.n, this.tints, {
        ...on, isFlat: input.length / this.n < 3, decorate: (view, pen) => this.decorate(view, pen),
      }),
      right: new View($("right"), this.shownOf(arrays.embedding), Math.min(width, 3), this.tints, {
        ...on, isFlat: width < 3, decorate: (view, pen) => this.decorate(view, pen),
      }),
    };
    this.views.right.pickAbove = (x, y) => (this.pictures.isOn ? this.images.pick(x, y) : -1);
    this.legend = new Legend($("legend"), (isIn, column) => this.choose(isIn, column));
    const titles = { left: $("left-title"), right: $("right-title") };
    const leave = () => {
      for (const [name, view] of Object.entries(this.views)) {
        // Where there is little room, a title would lie on the points.
        const top = view.width < NARROW ? titles[name].offsetTop + titles[name].offsetHeight : 0;
        view.leave({ left: 0, bottom: 0, ...(name === "left" && this.legend.covers), top });
      }
    };
    const watch = new ResizeObserver(leave);
    for (const element of [$("legend"), $("left"), $("right")]) watch.observe(element);
    this.names = new Names();
    this.tip = new Tip($("tip"), this);
    this.table = new Table($("table"), { onMean: (id) => this.hover(id), onGo: (id) => this.goTo([id]) });
    const about = () => ({ columns: this.columns, nPoints: this.n, colour: this.colour, isDark: this.theme === "dark" });
    this.search = new Search($("search"), $("results"), about, {
      onChoose: (result) => this.showFound(result), onEmpty: () => this.goBack(),
    });
    this.panel = new PathPanel(this.n, {
      onEnds: (from, to) => this.setEnds(from, to),
      onEdge: () => this.redecorate(),
    });
    if (arrays.border_points) this.borders = markBorders(Object.values(this.views), arrays);
    if (meta.others.length) this.compare = this.comparison();
    this.listen();
    const { right } = this.views;
    this.layout = new Layout(right.isFlat ? right.extents[0] / (right.extents[1] || 1e-3) : 1);
    $("dot").value = Math.min(LARGEST_DOT, LARGEST_DOT * (FEW / this.n) ** 0.4); // smaller the more there are, if not as quickly
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.colourBy(this.columns.find((column) => column.name === meta.color) ?? this.columns[0]);
    this.showSelection();
    this.begin();
    this.hover(-1);
  }

  // Nothing is empty in the beginning: an example unfolds, or is unfolded where motion is not wanted.
  begin() {
    const { example } = this.meta;
    this.setEnds(...(example ?? [-1, -1]), "An example; click two points for another.");
    if (!this.path) return;
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.panel.play();
  }

  comparison() {
    const { meta, arrays } = this;
    const others = meta.others.map((name, k) => ({ name, values: this.shownOf(arrays[`other${k}`]) }));
    return new Compare(this.views.right, others, Math.min(meta.components, 3), meta.quality, (share, name) => {
      const shown = share === 0 ? "PTU" : share === 1 ? name : `from PTU to ${name}`;
      $("right-title").textContent = this.embeddingTitle = `embedding: ${shown}`;
    });
  }

  // What points can be coloured by, what stands on their cards and in the table.
  allColumns() {
    const { meta, arrays } = this;
    const columns = meta.columns.map(({ name, array, labels, scale, is_score: isScore, about }) => (
      { name, values: arrays[array], labels, scale, isScore, about: about ?? meta.about.given }
    ));
    const features = arrays.features
      ? meta.features.map((name, k) => ({ name, values: everyNth(arrays.features, k, meta.n_features), scale: meta.axes?.[k], isFeature: true, about: meta.about.feature }))
      : [];
    const places = Array.from({ length: meta.components }, (_, k) => ({
      name: `ptu${k}`, values: everyNth(arrays.embedding, k, meta.components), scale: meta.axes?.at(k - meta.components), isPlace: true, about: meta.about.place,
    }));
    return [...columns.filter((c) => !c.isScore), ...features, ...places, ...columns.filter((c) => c.isScore)];
  }

  // The first three coordinates.
  shownOf(places) {
    const { components } = this.meta;
    if (components <= 3) return places;
    const shown = new Float32Array(3 * this.n);
    for (let i = 0; i < shown.length; i++) shown[i] = places[Math.floor(i / 3) * components + (i % 3)];
    return shown;
  }

  listen() {
    for (const column of this.columns) $("colour").add(new Option(short(column.name)));
    $("colour").addEventListener("change", () => this.colourBy(this.columns[$("colour").selectedIndex]));
    const explain = (isOpen) => {
      $("meaning").hidden = !isOpen;
      $("explain").setAttribute("aria-expanded", isOpen);
    };
    $("explain").addEventListener("click", () => explain($("meaning").hidden));
    $("explain").addEventListener("blur", () => explain(false));
    $("explain").addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || $("meaning").hidden) return;
      event.stopPropagation(); // what is selected stays so
      explain(false);
    });
    $("selection").addEventListener("click", () => {
      this.layout.fold(false);
      this.tell("table");
      $("table").scrollIntoView({ block: "nearest" });
      $("table").focus();
    });
    this.tools = toolGroup($("tools"), (tool) => this.setTool(tool));
    $("dot").addEventListener("input", () => this.look());
    $("pictures").hidden = !this.images;
    this.pictures = new Toggle($("pictures"), Boolean(this.images), () => this.redecorate());
    this.namesShown = new Toggle($("names"), true, () => this.redecorate());
    $("more").addEventListener("click", () => {
      $("more").setAttribute("aria-expanded", $("extras").classList.toggle("open"));
    });
    for (const name of ["card", "table"]) $(`${name}-tab`).addEventListener("click", () => this.tell(name));
    $("borders-choice").hidden = !this.borders;
    $("borders").addEventListener("change", () => this.borders.show($("borders").checked));
    $("clear").addEventListener("click", () => this.clear());
    $("csv").addEventListener("click", () => this.saveTable());
    $("png").addEventListener("click", () => this.savePicture());
    $("theme").addEventListener("click", () => this.setTheme(this.theme === "dark" ? "light" : "dark"));
    $("whole").addEventListener("click", () => {
      this.before = null;
      Object.values(this.views).forEach((view) => view.reset());
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input[type=number], input[type=search], select") && event.key !== "Escape") return;
      const act = {
        Escape: () => this.clear(), v: () => this.setTool("look"), r: () => this.setTool("rectangle"),
        l: () => this.setTool("lasso"), n: () => this.colour.labels && $("names").click(), i: () => this.images && $("pictures").click(),
        t: () => $("theme").click(), e: () => this.saveTable(), p: () => this.savePicture(),
        b: () => $("fold").click(), c: () => this.compare?.play(), "/": () => { event.preventDefault(); $("search").focus(); },
      }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      act?.();
    });
  }

  setTool(tool) {
    this.tools.press(tool);
    for (const view of Object.values(this.views)) view.setTool(tool);
  }

  setTheme(theme) {
    this.theme = document.documentElement.dataset.theme = theme;
    this.look();
    if (this.colour) this.colourBy(this.colour);
  }

  look() {
    const style = getComputedStyle(document.documentElement);
    this.pens = Object.fromEntries(["back", "accent", "mark", "text"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    for (const view of Object.values(this.views)) view.setLook(this.pens.back, Number($("dot").value));
  }

  colourBy(column) {
    const isAnother = column !== this.colour;
    $("colour").selectedIndex = this.columns.indexOf(column);
    $("colour").title = column.name;
    $("meaning").textContent = `${short(column.name)}: ${column.about}`;
    this.colour = column;
    if (!column.labels) spanOf(column);
    paint(column, this.tints, this.theme === "dark");
    if (isAnother && this.isByLegend) this.select([]);
    this.legend.show(column, this.theme === "dark");
    $("names").hidden = !column.labels;
    for (const view of Object.values(this.views)) view.recolour();
    if (isAnother) this.fillTable();
  }

  hover(id) {
    if (id === this.hovered && id >= 0) return;
    this.hovered = id;
    for (const view of Object.values(this.views)) view.element.classList.toggle("sees-points", id >= 0);
    this.showCard(id >= 0 ? id : this.ends[1] >= 0 ? this.ends[1] : this.ends[0]);
    this.redecorate();
    this.showTip();
  }

  // In the view in which a point is meant; what was found elsewhere is shown on the embedding.
  showTip() {
    const { left, right } = this.views;
    if (this.hovered < 0 || left.travelling || right.travelling) return this.tip.hide();
    const bar = this.ellipse(this.hovered) && this.columns.find((column) => column.isScore && column.name === "error bar");
    const note = bar ? `ellipse: where it may lie, ± ${digits(bar.values[this.hovered], 2)}` : "";
    this.tip.show(this.hovered, left.hoverAt ? left : right, this.colour, this.theme === "dark", note);
  }

  // Several points are selected, those of a kind by the legend.
  showFound({ ids, column, code }) {
    this.before ??= Object.values(this.views).map((view) => [view, outlook(view)]);
    const found = ids();
    if (found.length > 1 && column === this.colour) this.legend.only(code);
    else if (found.length > 1) this.select(found);
    this.goTo(found);
  }

  // Look again as before the search.
  goBack() {
    for (const [view, goal] of this.before ?? []) travel(view, goal, () => this.showTip());
    this.before = null;
  }

  // Bring points into the middle of both views; a single one is meant.
  goTo(ids) {
    for (const view of Object.values(this.views)) centre(view, ids, () => this.showTip());
    this.hover(ids.length === 1 ? ids[0] : -1);
  }

  // What the pane below the embedding tells: about a point, or about all that are selected.
  tell(name) {
    for (const one of ["card", "table"]) {
      $(one).hidden = one !== name;
      $(`${one}-tab`).setAttribute("aria-selected", one === name);
    }
    this.fillTable();
  }

  fillTable() {
    if ($("table").hidden) return;
    const ids = this.nChosen ? this.selection() : Uint32Array.from({ length: this.n }, (_, i) => i);
    this.table.set(ids, this.columns, this.colour);
  }

  showCard(id) {
    const card = $("card");
    card.replaceChildren();
    card.dataset.id = id;
    if (id < 0) {
      card.textContent = "Point at something to see what it is. Click two points to unfold the path between them. Hold Shift and drag to select.";
      return;
    }
    if (this.images) {
      const copy = document.createElement("canvas");
      Object.assign(copy, { width: this.images.width, height: this.images.height });
      copy.getContext("2d").drawImage(this.images.canvas(id), 0, 0);
      card.append(copy);
    }
    const side = card.appendChild(document.createElement("div"));
    side.appendChild(document.createElement("h2")).textContent = `point ${id}`;
    const list = side.appendChild(document.createElement("dl"));
    // Where there are many features, what else there is to say comes first.
    const isCrowded = this.meta.features.length > 12;
    const shown = isCrowded ? [...this.columns].sort((a, b) => Boolean(a.isFeature) - Boolean(b.isFeature)) : this.columns;
    for (const column of shown.slice(0, MOST_ON_CARD)) {
      Object.assign(list.appendChild(document.createElement("dt")), { textContent: column.name, title: column.name });
      Object.assign(list.appendChild(document.createElement("dd")), { textContent: written(column, id), className: column.labels ? "" : "number" });
    }
    if (this.columns.length > MOST_ON_CARD) side.append(`and ${this.columns.length - MOST_ON_CARD} columns more`);
  }

  pick(id) {
    const [from, to] = this.ends;
    if (from < 0 && to >= 0) this.setEnds(id, to);
    else if (from < 0 || to >= 0) this.setEnds(id, -1);
    else this.setEnds(from, id);
  }

  // `said` is told beside a path.
  setEnds(from, to, said = "") {
    this.ends = [from, to];
    this.path = null;
    let hint = "";
    let chord = null;
    if (!this.connection) hint = this.meta.no_paths;
    else if (from < 0 && to < 0) hint = "Click two points, or type their numbers.";
    else if (from < 0 || to < 0) hint = "Now the other end.";
    else {
      this.path = this.connection.unfold(from, to);
      chord = this.chord(from, to);
      hint = this.path ? said : "No path leads from one to the other.";
    }
    this.panel.set(this.path, from, to, chord, hint);
    this.showCard(to >= 0 ? to : from);
    this.redecorate();
    this.tellHost?.();
  }

  chord(from, to) {
    const { features } = this.arrays;
    if (!features) return null;
    const width = this.meta.n_features;
    let sum = 0;
    for (let k = 0; k < width; k++) sum += (features[from * width + k] - features[to * width + k]) ** 2;
    return Math.sqrt(sum);
  }

  // Points whose values pass a test of the legend; all of them without one.
  choose(isIn, column) {
    const ids = [];
    if (isIn) for (let i = 0; i < this.n; i++) if (isIn(column.values[i])) ids.push(i);
    this.select(ids, false, true);
  }

  select(ids, isMore = false, isByLegend = false) {
    this.isByLegend = isByLegend && ids.length > 0;
    if (!isByLegend) this.legend.forget();
    if (!isMore) this.chosen.fill(0);
    for (const id of ids) this.chosen[id] = 1;
    this.nChosen = this.chosen.reduce((sum, x) => sum + x, 0);
    for (let i = 0; i < this.n; i++) this.tints[4 * i + 3] = this.nChosen && !this.chosen[i] ? FADED : 255;
    this.borders?.fade(this.tints);
    for (const view of Object.values(this.views)) view.recolour();
    this.chosenKinds = null;
    this.showSelection();
    this.fillTable();
    this.tellHost?.();
  }

  // Whether no point of a kind is selected while others are.
  isFaint(code) {
    if (!this.nChosen) return false;
    if (this.chosenKinds?.column !== this.colour) {
      this.chosenKinds = { column: this.colour, codes: new Set(this.colour.values.filter((_, id) => this.chosen[id])) };
    }
    return !this.chosenKinds.codes.has(code);
  }

  showSelection() {
    $("selection").textContent = this.nChosen ? `${this.nChosen.toLocaleString("en")} selected` : "";
    $("selection").hidden = !this.nChosen;
  }

  selection() {
    const ids = [];
    for (let i = 0; i < this.n; i++) if (this.chosen[i]) ids.push(i);
    return ids;
  }

  clear() {
    this.select([]);
    this.setEnds(-1, -1);
  }

  redecorate() {
    for (const view of Object.values(this.views ?? {})) if (view.width && !view.waiting) view.redecorate();
  }

  // The steps of the path that cross a seam, where the embedding is cut open: it goes on at the
  // border on the other side.
  tears(view) {
    const borders = this.columns.find((column) => column.isScore && column.name === "seam")?.values;
    const found = new Set();
    if (!borders || !this.path || view !== this.views?.right) return found;
    const { nodes, along } = this.path;
    const axes = this.columns.filter((column) => column.isPlace).map((column) => column.values);
    for (let step = 1; step < nodes.length; step++) {
      const [a, b] = [nodes[step - 1], nodes[step]];
      const shown = Math.hypot(...axes.map((values) => values[a] - values[b]));
      if (borders[a] && borders[b] && shown > FAR_APART * (along[step] - along[step - 1])) found.add(step);
    }
    return found;
  }

  // How sure the place of a point is: the outline of one standard deviation, in pixels; null if unknown.
  ellipse(id) {
    const view = this.views.right, std = this.arrays.ellipses;
    if (!std || !view.isFlat || this.compare?.share > 0 || !(std[3 * id] >= 0)) return null;
    const [xx, xy, yy] = std.subarray(3 * id, 3 * id + 3);
    const [x, y] = view.screen.subarray(3 * id, 3 * id + 2);
    return Array.from({ length: 48 }, (_, k) => {
      const [cos, sin] = [Math.cos((k * Math.PI) / 24), Math.sin((k * Math.PI) / 24)];
      return [x + view.pixels * (xx * cos + xy * sin), y - view.pixels * (xy * cos + yy * sin)];
    });
  }

  // Whether what the path comes to can be drawn: the straight way between its ends, in the embedding.
  isStraight(view, tears) {
    return view === this.views?.right && view.isFlat && !tears.size && !this.panel.isGraph && !(this.compare?.share > 0);
  }

  // What lies over the points of a view: images, the path, rings around points.
  decorate(view, pen) {
    if (this.images && view === this.views?.right && this.pictures.isOn) this.images.scatter(view, pen, this.chosen, this.nChosen, this.tints);
    const seen = this.path || this.hovered >= 0 || this.ends[0] >= 0 || this.ends[1] >= 0 ? view.screen : null;
    const at = (id) => [seen[3 * id], seen[3 * id + 1]];
    const tears = this.tears(view);
    const line = (ids, colour, width) => {
      pen.beginPath();
      ids.forEach((id, step) => (tears.has(step) ? pen.moveTo(...at(id)) : pen.lineTo(...at(id))));
      Object.assign(pen, { strokeStyle: colour, lineWidth: width, lineJoin: "round", lineCap: "round" });
      pen.stroke();
    };
    const ring = (id, colour, radius) => {
      pen.beginPath();
      pen.arc(...at(id), radius, 0, 2 * Math.PI);
      Object.assign(pen, { strokeStyle: this.pens.back, lineWidth: 4.5 });
      pen.stroke();
      Object.assign(pen, { strokeStyle: colour, lineWidth: 2.5 });
      pen.stroke();
    };
    if (this.path) {
      const { nodes } = this.path;
      line(nodes, this.pens.back, 5.5);
      if (this.isStraight(view, tears)) {
        pen.setLineDash([6, 4]);
        line([nodes[0], nodes.at(-1)], this.pens.mark, 2);
        pen.setLineDash([]);
      }
      line(nodes, this.pens.mark, 1.5);
      line(nodes.slice(0, this.panel.edge + 1), this.pens.accent, 3);
      ring(nodes[this.panel.edge], this.pens.accent, 5);
    }
    if (this.colour?.labels && view === this.views?.right && this.namesShown.isOn) {
      this.names.draw(view, pen, this.colour, this.pens, { isPlated: this.pictures.isOn, isFaint: (code) => this.isFaint(code) });
    }
    for (const id of this.ends) if (id >= 0) ring(id, this.pens.accent, 8);
    if (this.hovered >= 0) ring(this.hovered, this.pens.mark, 8);
    const outline = this.hovered >= 0 && view === this.views?.right ? this.ellipse(this.hovered) : null;
    if (outline) {
      pen.beginPath();
      for (const corner of outline) pen.lineTo(...corner);
      pen.closePath();
      Object.assign(pen, { strokeStyle: this.pens.accent, lineWidth: 1.5 });
      pen.stroke();
    }
  }

  saveTable() {
    const ids = this.nChosen ? this.selection() : Array.from({ length: this.n }, (_, i) => i);
    download(table(ids, this.columns), `${this.meta.file_name}.csv`);
  }

  savePicture() {
    this.hover(-1);
    const { edge } = this.panel;
    if (this.path) this.panel.edge = this.path.nodes.length - 1; // whole, though it may be unfolding
    picture(this).toBlob((blob) => download(blob, `${this.meta.file_name}.png`), "image/png");
    this.panel.edge = edge;
    this.redecorate();
  }
}

const line = hear();
// For programs that drive the page: `await ptunfold.ready`, then its methods.
window.ptunfold = {
  ready: load()
    .then((loaded) => {
      const explorer = new Explorer(loaded);
      explorer.tellHost = join(explorer, line);
      for (const view of Object.values(explorer.views)) view.resize(); // as it is laid out now, and drawn
      Object.assign(window.ptunfold, {
        explorer,
        screen: (name) => Array.from(explorer.views[name].screen),
        selection: () => explorer.selection(),
        select: (ids) => explorer.select(ids),
        unfold: (from, to) => explorer.connection?.unfold(from, to) ?? null,
      });
      document.documentElement.dataset.ready = "yes";
    })
    .catch(trouble),
};
