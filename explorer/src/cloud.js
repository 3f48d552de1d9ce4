// Points as the graphics card draws them: round with smooth rims, fainter the farther they are.
import { BufferAttribute, BufferGeometry, Color, Points, ShaderMaterial, Sphere, Vector3 } from "three";
import { sortByDepth } from "./order.js";

const FAINT = 0.2; // of the opacity: points that are not chosen
const RING = "0.4"; // of the square of a radius, what is empty inside a ring
const MANY = 50000; // points whose rims are half a pixel wide, not a whole one: every pixel takes its time
const TURNED = 0.9995; // cosine of a turn after which another order is seen

const VERTEX = `
  attribute vec4 tint;
  uniform float size;
  uniform float rim;
  uniform float middle; // how far the middle of the points is
  uniform vec3 back;
  uniform vec2 opacity; // of the chosen, and of all others
  // Not mixed between corners, of which a point has one: a twentieth of the time.
  flat varying vec4 colour;
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    colour = vec4(tint.rgb, tint.a < 0.5 ? opacity.y : opacity.x);
    gl_PointSize = size + rim;
    #ifndef FLAT
      float fog = smoothstep(middle - 0.9, middle + 1.1, -seen.z);
      colour.rgb = mix(colour.rgb, back, 0.6 * fog);
      gl_PointSize = size * clamp(middle / max(-seen.z, 0.01), 0.7, 1.6) + rim;
    #endif
  }`;
const FRAGMENT = `
  flat varying vec4 colour;
  uniform float size;
  uniform float rim;
  void main() {
    vec2 off = 2.0 * gl_PointCoord - 1.0;
    float square = dot(off, off), steep = 0.25 * (size + rim) / rim;
    float cover = clamp(steep * (1.0 - square), 0.0, 1.0);
    #ifdef RING
      cover *= clamp(steep * (square - RING), 0.0, 1.0);
    #endif
    gl_FragColor = vec4(colour.rgb, colour.a * cover);
  }`;

export class Cloud {
  // `positions` has three numbers for each point, `tints` four bytes.
  constructor(positions, tints, isFlat, isRings = false) {
    Object.assign(this, { positions, isFlat, larger: 1 });
    this.place = new BufferAttribute(positions, 3);
    this.tint = new BufferAttribute(tints, 4, true);
    this.uniforms = {
      size: { value: 4 }, rim: { value: positions.length > 3 * MANY ? 0.5 : 1 }, middle: { value: 0 }, back: { value: new Color() }, opacity: { value: [1, FAINT] },
    };
    // From the back to the front and without depths, or smooth rims would hide what is behind them.
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: this.uniforms, defines: { ...(isRings && { RING }), ...(isFlat && { FLAT: "" }) }, transparent: true, depthTest: false, depthWrite: false,
    });
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute("position", this.place);
    this.geometry.setAttribute("tint", this.tint);
    this.geometry.boundingSphere = new Sphere(new Vector3(), 1); // a gap would spoil what three computes
    this.points = new Points(this.geometry, material);
    this.points.frustumCulled = false;
    this.recolour();
  }

  set opacity(value) { this.uniforms.opacity.value = [value, FAINT * value]; }

  recolour() {
    const { array } = this.tint;
    this.isFaded = false;
    for (let i = 3; i < array.length && !this.isFaded; i += 4) this.isFaded = array[i] < 128;
    this.tint.needsUpdate = true;
    this.sortedAlong = null;
  }

  // After its positions were changed.
  move() {
    this.place.needsUpdate = true;
    this.sortedAlong = null;
  }

  // Before it is drawn: what is in front, as the camera sees it.
  prepare(camera, size) {
    this.uniforms.size.value = size;
    this.uniforms.middle.value = this.isFlat ? 0 : camera.position.length();
    if (this.isFlat && !this.isFaded) {
      this.geometry.setIndex(null);
      return;
    }
    const way = camera.getWorldDirection(new Vector3()).negate();
    if (this.sortedAlong && this.sortedAlong.dot(way) > TURNED) return;
    this.sortedAlong = way;
    const n = this.positions.length / 3;
    this.order ??= new BufferAttribute(new Uint32Array(n), 1);
    this.keys ??= new Uint16Array(n);
    // Of what is flat the order is that of the points, but for the faded ones.
    sortByDepth(this.positions, this.tint.array, this.isFlat ? [0, 0, 0] : way.toArray(), this.order.array, this.keys);
    this.order.needsUpdate = true;
    this.geometry.setIndex(this.order);
  }
}
