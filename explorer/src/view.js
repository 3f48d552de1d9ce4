// One picture of the points, flat or in space: drawing, picking, selecting.
import {
  Color, ColorManagement, LinearSRGBColorSpace, Matrix4, MOUSE, OrthographicCamera, PerspectiveCamera, Scene, TOUCH, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Cloud } from "./cloud.js";
import { opacity, overlap } from "./density.js";

ColorManagement.enabled = false; // colours are meant as they are written
const NEAR_ENOUGH = 12; // pixels between the pointer and a point it means
const CLICK = 5; // pixels that a click may wander

export class View {
  // `coordinates` has `width` numbers for each point; `tints` four bytes.
  constructor(element, coordinates, width, tints, { isFlat, decorate, onHover, onPick, onSelect }) {
    Object.assign(this, { element, isFlat, decorate, onHover, onPick, onSelect });
    this.tool = "look";
    this.covered = { left: 0, top: 0, bottom: 0 };
    this.n = coordinates.length / width;
    this.frame(coordinates, width);
    this.positions = this.placed(coordinates, width);

    this.canvas = element.appendChild(document.createElement("canvas"));
    this.over = element.appendChild(document.createElement("canvas"));
    this.over.className = "over";
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: false, depth: false });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.back = new Color();
    this.scene = new Scene();
    this.clouds = [];
    this.marks = [];
    this.cloud = this.add(this.positions, tints);

    this.camera = isFlat ? new OrthographicCamera(-1, 1, 1, -1, -10, 10) : new PerspectiveCamera(35, 1, 0.01, 50);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.zoomToCursor = isFlat;
    this.controls.enableRotate = !isFlat;
    this.controls.screenSpacePanning = true;
    if (isFlat) {
      this.controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
      this.controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
      this.camera.position.set(0, 0, 5);
    } else {
      this.camera.position.set(1.5, -3.2, 1.7);
      this.camera.up.set(0, 0, 1);
    }
    Object.assign(this.controls, { minZoom: 0.2, maxZoom: 5000, minDistance: 0.01, maxDistance: 20 });
    this.controls.addEventListener("change", () => this.draw());
    this.controls.update();
    this.controls.saveState();
    this.letDrag(true);
    this.listen();
    new ResizeObserver(() => {
      if (element.clientWidth !== this.width || element.clientHeight !== this.height) this.resize();
    }).observe(element);
    this.resize();
  }

  // Find the middle of the points, and the scale that gives them a reach of 1.
  frame(coordinates, width) {
    const low = new Array(width).fill(Infinity);
    const high = new Array(width).fill(-Infinity);
    for (let i = 0; i < coordinates.length; i++) {
      const axis = i % width;
      if (coordinates[i] < low[axis]) low[axis] = coordinates[i];
      if (coordinates[i] > high[axis]) high[axis] = coordinates[i];
    }
    this.middle = low.map((x, axis) => (high[axis] >= x ? 0.5 * (x + high[axis]) : 0));
    let reach = 0;
    for (let i = 0; i < coordinates.length; i += width) {
      let square = 0;
      for (let axis = 0; axis < width; axis++) square += (coordinates[i + axis] - this.middle[axis]) ** 2;
      if (square > reach) reach = square;
    }
    this.scale = 1 / (Math.sqrt(reach) || 1);
    this.extents = [0, 1, 2].map((axis) => (high[axis] >= low[axis] ? (high[axis] - low[axis]) * this.scale : 0));
  }

  // Coordinates as they are drawn, (x, y, z) for each point; a gap stays NaN and is not drawn.
  placed(coordinates, width) {
    const positions = new Float32Array((3 * coordinates.length) / width);
    for (let axis = 0; axis < width; axis++) {
      for (let i = axis, k = axis; i < coordinates.length; i += width, k += 3) {
        positions[k] = (coordinates[i] - this.middle[axis]) * this.scale;
      }
    }
    return positions;
  }

  // Draw more points, over those that are there.
  add(positions, tints, isRings) {
    const cloud = new Cloud(positions, tints, this.isFlat, isRings);
    cloud.uniforms.back.value = this.back;
    cloud.points.renderOrder = this.clouds.push(cloud);
    this.scene.add(cloud.points);
    return cloud;
  }

  // Draw rings around some of the points, in colours of their own.
  mark(ids, tints, larger) {
    const cloud = this.add(new Float32Array(3 * ids.length), tints, true);
    this.marks.push(Object.assign(cloud, { ids, larger }));
    this.gather(cloud);
    return cloud;
  }

  gather({ ids, positions }) {
    for (let i = 0; i < ids.length; i++) {
      for (let axis = 0; axis < 3; axis++) positions[3 * i + axis] = this.positions[3 * ids[i] + axis];
    }
  }

  // Leave room for other places of the same points.
  widen(others) {
    for (const positions of others) {
      for (let i = 0; i < positions.length; i++) {
        const extent = 2 * Math.abs(positions[i]);
        if (extent > this.extents[i % 3]) this.extents[i % 3] = extent;
      }
    }
    this.resize();
  }

  get tint() { return this.cloud.tint; }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    this.width = width;
    this.height = height;
    this.dense = Math.min(window.devicePixelRatio || 1, 2);
    this.renderer.setPixelRatio(this.dense);
    this.renderer.setSize(width, height, false);
    this.over.width = width * this.dense;
    this.over.height = height * this.dense;
    const { left, top, bottom } = this.covered;
    const free = [Math.max(width - left, 1), Math.max(height - top - bottom, 1)];
    if (this.isFlat) {
      // The whole embedding, with a margin.
      const [x, y] = this.extents;
      const half = 0.55 * Math.max((y * height) / free[1], (x * height) / free[0], 1e-3);
      Object.assign(this.camera, { top: half, bottom: -half, right: (half * width) / height, left: (-half * width) / height });
    } else {
      this.camera.aspect = width / height;
      // A narrow view would cut the sides off.
      this.camera.fov = (360 / Math.PI) * Math.atan((Math.tan((35 * Math.PI) / 360) * height) / Math.min(...free));
    }
    this.camera.setViewOffset(width, height, -0.5 * left, 0.5 * (bottom - top), width, height);
    this.camera.updateProjectionMatrix();
    this.seen = null;
    if (this.size) this.drawNow(); // a canvas that was resized is blank until then
  }

  // Show the points beside what covers so many pixels at the left, at the top and at the bottom.
  leave(covered) {
    const { left, top, bottom } = this.covered;
    if (covered.left === left && covered.top === top && covered.bottom === bottom) return;
    this.covered = covered;
    this.resize();
  }

  // Back to where it was in the beginning.
  reset() {
    this.controls.reset();
    this.resize();
  }

  // Whether the first button and one finger move the view; the wheel and two fingers always do.
  letDrag(isMoving) {
    const { controls, isFlat } = this;
    controls.mouseButtons.LEFT = isMoving ? (isFlat ? MOUSE.PAN : MOUSE.ROTATE) : null;
    controls.touches.ONE = isMoving ? (isFlat ? TOUCH.PAN : TOUCH.ROTATE) : null;
  }

  setLook(background, size) {
    this.renderer.setClearColor(this.back.setStyle(background));
    this.size = size;
    this.draw();
  }

  // Put the points elsewhere: `positions` as they are drawn.
  move(positions) {
    this.positions.set(positions);
    for (const mark of this.marks) this.gather(mark);
    for (const cloud of this.clouds) cloud.move();
    this.draw();
  }

  recolour() {
    this.cloud.recolour();
    this.draw();
  }

  // Draw at the next frame, once, however often this is called.
  draw() {
    this.seen = null;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.waiting);
    this.waiting = null;
    this.cloud.opacity = this.opacity();
    for (const cloud of this.clouds) cloud.prepare(this.camera, this.size * this.dense * cloud.larger);
    this.renderer.render(this.scene, this.camera);
    this.redecorate();
  }

  // How opaque points are, by how many of them lie on each other where they are shown.
  opacity() {
    const { positions: p, width, height } = this;
    const { array: tints } = this.tint;
    const m = this.matrix();
    const at = [0, 0];
    const place = (i) => {
      if (tints[4 * i + 3] < 128) return null;
      const x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      at[0] = 0.5 * width * ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1);
      at[1] = 0.5 * height * (1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w);
      return w > 0 ? at : null;
    };
    return opacity(overlap(this.n, place, width, height, 0.5 * this.size), this.n);
  }

  // From places to the screen.
  matrix() {
    this.camera.updateMatrixWorld();
    return new Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse).elements;
  }

  // Pixels to a unit of the coordinates, in a view that is flat.
  get pixels() { return (this.scale * this.height * this.camera.zoom) / (2 * this.camera.top); }

  // Only what lies over the points: rings, paths, outlines.
  redecorate() {
    const pen = this.over.getContext("2d");
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.decorate(this, pen);
    if (this.outline?.length) {
      const style = getComputedStyle(this.element);
      pen.beginPath();
      for (const [x, y] of this.outline) pen.lineTo(x, y);
      pen.closePath();
      pen.strokeStyle = style.getPropertyValue("--focus");
      pen.lineWidth = 1.5;
      pen.stroke();
      pen.globalAlpha = 0.12;
      pen.fillStyle = pen.strokeStyle;
      pen.fill();
      pen.globalAlpha = 1;
    }
  }

  // Where every point is on the screen, in pixels: (x, y, depth); NaN behind the camera.
  get screen() {
    if (this.seen) return this.seen;
    const m = this.matrix();
    const { positions: p, n } = this;
    const seen = this.kept ??= new Float32Array(3 * n);
    const halfWidth = this.width / 2;
    const halfHeight = this.height / 2;
    for (let i = 0; i < 3 * n; i += 3) {
      const x = p[i], y = p[i + 1], z = p[i + 2];
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      const front = w > 0 ? 1 / w : NaN;
      seen[i] = ((m[0] * x + m[4] * y + m[8] * z + m[12]) * front + 1) * halfWidth;
      seen[i + 1] = (1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) * front) * halfHeight;
      seen[i + 2] = (m[2] * x + m[6] * y + m[10] * z + m[14]) * front;
    }
    return (this.seen = seen);
  }

  // The point that the pointer means, or -1: the nearest, and of those under it the foremost.
  pick(x, y) {
    const above = this.pickAbove?.(x, y) ?? -1;
    if (above >= 0) return above;
    const seen = this.screen;
    const reach = Math.max(0.5 * this.size, 1.5) ** 2;
    let best = -1, bestOff = NEAR_ENOUGH ** 2, bestDepth = Infinity;
    for (let i = 0, k = 0; k < seen.length; i++, k += 3) {
      const dx = seen[k] - x, dy = seen[k + 1] - y;
      const off = Math.max(dx * dx + dy * dy, reach);
      if (off < bestOff || (off === bestOff && seen[k + 2] < bestDepth)) {
        best = i;
        bestOff = off;
        bestDepth = seen[k + 2];
      }
    }
    return best;
  }

  // The points inside an outline, a list of (x, y).
  inside(outline) {
    const seen = this.screen;
    const xs = outline.map((p) => p[0]), ys = outline.map((p) => p[1]);
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
    const ids = [];
    for (let i = 0, k = 0; k < seen.length; i++, k += 3) {
      const x = seen[k], y = seen[k + 1];
      if (!(x >= left && x <= right && y >= top && y <= bottom)) continue;
      let isIn = false;
      for (let a = 0, b = outline.length - 1; a < outline.length; b = a++) {
        if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) isIn = !isIn;
      }
      if (isIn) ids.push(i);
    }
    return ids;
  }

  setTool(tool) {
    this.tool = tool;
    this.element.classList.toggle("selects", tool !== "look");
    this.letDrag(tool === "look");
  }

  listen() {
    const { element } = this;
    const at = (event) => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let start = null;
    let wandered = 0; // farthest from the start: a lasso ends where it began and is no click
    // Before the controls hear of it: a drag that selects must not turn the view.
    const isBeside = (event) => event.target.closest(".legend");
    element.addEventListener("pointerdown", (event) => {
      if (isBeside(event)) return;
      if (!event.isPrimary) {
        start = null; // a second finger: this is no drag
        this.stopDrag();
      }
      if (event.button !== 0 || !event.isPrimary) return;
      start = at(event);
      wandered = 0;
      this.dragging = this.tool !== "look" ? this.tool : event.shiftKey ? "lasso" : null;
      this.letDrag(!this.dragging);
      if (!this.dragging) return;
      element.setPointerCapture(event.pointerId);
      this.outline = [start];
    }, { capture: true });
    element.addEventListener("pointermove", (event) => {
      if (!start && isBeside(event)) return;
      const here = at(event);
      if (start) {
        const wasClick = wandered <= CLICK;
        wandered = Math.max(wandered, Math.hypot(here[0] - start[0], here[1] - start[1]));
        if (wasClick && wandered > CLICK) this.onHover(-1); // who drags means no point
      }
      if (start && this.dragging) {
        const [[x0, y0], [x, y]] = [start, here];
        if (this.dragging === "lasso") this.outline.push(here);
        else this.outline = [[x0, y0], [x, y0], [x, y], [x0, y]];
        this.redecorate();
      } else if (!event.buttons) {
        this.hoverAt = here;
        this.hovering ??= requestAnimationFrame(() => {
          this.hovering = null;
          if (this.hoverAt) this.onHover(this.pick(...this.hoverAt));
        });
      }
    });
    element.addEventListener("pointerup", (event) => {
      if (!start) return;
      const here = at(event);
      const isClick = wandered <= CLICK;
      const outline = this.outline;
      this.stopDrag();
      start = null;
      if (isClick) {
        const found = this.pick(...here);
        if (found >= 0) this.onPick(found);
      } else if (outline?.length > 2) this.onSelect(this.inside(outline), event.ctrlKey || event.metaKey);
    });
    element.addEventListener("pointercancel", () => { start = null; this.stopDrag(); });
    element.addEventListener("pointerleave", () => { this.hoverAt = null; if (!start) this.onHover(-1); });
    element.addEventListener("keydown", (event) => this.onKey(event));
  }

  stopDrag() {
    this.outline = this.dragging = null;
    this.letDrag(this.tool === "look");
    this.redecorate();
  }

  onKey(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
    if (event.key === "Home" || event.key === "0") this.reset();
    if (!way && !zoom) return;
    event.preventDefault();
    const { camera, controls } = this;
    if (zoom && this.isFlat) camera.zoom *= zoom;
    else if (zoom) camera.position.sub(controls.target).divideScalar(zoom).add(controls.target);
    else if (this.isFlat) {
      const by = new Vector3(way[0], way[1], 0).multiplyScalar((0.1 * (camera.top - camera.bottom)) / camera.zoom);
      camera.position.add(by);
      controls.target.add(by);
    } else {
      const arm = camera.position.clone().sub(controls.target);
      const side = new Vector3().crossVectors(camera.up, arm).normalize();
      const tilt = arm.angleTo(camera.up);
      if (way[0]) arm.applyAxisAngle(camera.up, 0.15 * way[0]);
      else arm.applyAxisAngle(side, Math.min(Math.max(-0.15 * way[1], 0.05 - tilt), Math.PI - 0.05 - tilt));
      camera.position.copy(controls.target).add(arm);
    }
    camera.updateProjectionMatrix();
    controls.update();
    this.draw();
  }

  // The picture with what lies over it, as it is now, at a place.
  snapshot(pen, [x, y]) {
    this.drawNow();
    pen.drawImage(this.canvas, x, y, this.width, this.height);
    pen.drawImage(this.over, x, y, this.width, this.height);
  }
}
