import assert from "node:assert/strict";
import test from "node:test";
import { Connection, inPlane } from "./paths.js";

// A square with a diagonal: 0 - 1 - 2 - 3 - 0 and 0 - 2, flat, with frames that all agree but one.
const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
const edges = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]];
const turned = (p, node) => (node === 2 ? [p[1], -p[0]] : p); // the frame of 2 is turned by 90 degrees
const same = [1, 0, 0, 1];
const turn = { out: [0, -1, 1, 0], back: [0, 1, -1, 0] };

function square(lengths, more = {}, ...bars) {
  const way = (a, b) => corners[b].map((x, k) => x - corners[a][k]);
  const steps = edges.flatMap(([a, b]) => [...turned(way(a, b), a), ...turned(way(b, a), b)]);
  const rotations = edges.flatMap(([a, b]) => (b === 2 ? turn.out : a === 2 ? turn.back : same));
  return new Connection(4, 2, {
    counts: Uint32Array.of(3, 1, 1, 0),
    heads: Int32Array.from(edges.map((edge) => edge[1])),
    lengths: Float32Array.from(lengths),
    rotations: Float32Array.from(rotations),
    steps: Float32Array.from(steps),
    ...more,
  }, null, ...bars);
}

test("shortest paths", () => {
  const direct = square([1, 1.4, 1, 1, 1]);
  assert.deepEqual(direct.unfold(1, 3).nodes.length, 3);
  assert.deepEqual(direct.unfold(0, 2).nodes, [0, 2]);
  const around = square([1, 9, 5, 1, 1]);
  assert.deepEqual(around.unfold(0, 3).nodes, [0, 1, 2, 3]);
  assert.equal(around.unfold(0, 3).graph, 3);
  assert.deepEqual(around.unfold(2, 2).nodes, [2]);
});

test("unfolding turns every step into the first frame", () => {
  for (const [from, to] of [[0, 3], [3, 0], [1, 3], [2, 0]]) {
    const path = square([1, 9, 5, 1, 1]).unfold(from, to);
    const straight = Math.hypot(corners[to][0] - corners[from][0], corners[to][1] - corners[from][1]);
    assert.ok(Math.abs(path.forward - straight) < 1e-6, `${from} to ${to}`);
    assert.ok(Math.abs(path.backward - straight) < 1e-6, `${to} to ${from}`);
  }
});

test("bars are longer by a factor, and by a power of the distance", () => {
  const doubts = { tilts: Float32Array.of(1, 2, 3, 4, 5), bends: new Float32Array(5) };
  const plain = square([1, 9, 5, 1, 1], doubts).unfold(0, 3);
  const longer = square([1, 9, 5, 1, 1], doubts, 0, [3, 0.25, 0.5]).unfold(0, 3);
  assert.ok(plain.std > 0);
  assert.ok(Math.abs(longer.std / plain.std - 6) < 1e-6); // of the distance 1: 3 (1 / 0.25)^0.5
});

test("no path between components", () => {
  const empty = new Connection(2, 1, {
    counts: Uint32Array.of(0, 0), heads: new Int32Array(), lengths: new Float32Array(),
    rotations: new Float32Array(), steps: new Float32Array(),
  }, null);
  assert.equal(empty.unfold(0, 1), null);
});

test("random graphs agree with Floyd and Warshall", () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const n = 25;
  const counts = new Uint32Array(n), heads = [], lengths = [];
  const all = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 0 : Infinity)));
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      if (random() > 0.2) continue;
      counts[i]++;
      heads.push(j);
      lengths.push(Math.fround(random()));
      all[i][j] = all[j][i] = lengths.at(-1);
    }
  }
  for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) all[i][j] = Math.min(all[i][j], all[i][k] + all[k][j]);
  const graph = new Connection(n, 1, {
    counts, heads: Int32Array.from(heads), lengths: Float32Array.from(lengths),
    rotations: new Float32Array(heads.length).fill(1), steps: new Float32Array(2 * heads.length),
  }, null);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) assert.ok(Math.abs((graph.unfold(i, j)?.graph ?? Infinity) - all[i][j]) < 1e-9 || all[i][j] === Infinity);
});

test("the chord lies level", () => {
  const level = inPlane([[0, 0], [1, 2], [3, 4]]);
  assert.ok(Math.abs(level[2][0] - 5) < 1e-12 && Math.abs(level[2][1]) < 1e-12);
  assert.ok(Math.abs(Math.hypot(...level[1]) - Math.sqrt(5)) < 1e-12);
  const line = inPlane([[0], [2]]);
  assert.deepEqual(line.map((p) => p[0]), [0, 2]);
});

test("what is not coherent is taken for straight", () => {
  const corner = (share) => {
    const connection = square([1, 9, 5, 1, 1]);
    connection.coherence = Uint16Array.from(edges.map(() => Math.round(65535 * share)));
    return connection.unfold(0, 2); // over 1, around a right angle
  };
  assert.ok(Math.abs(corner(1).distance - Math.SQRT2) < 1e-6);
  assert.ok(Math.abs(corner(0).distance - 2) < 1e-6);
  assert.ok(Math.abs(corner(0.5).distance - (0.5 + Math.hypot(1, 0.5))) < 1e-4);
  assert.ok(Math.abs(corner(0.5).coherence - 0.5) < 1e-4);
  assert.ok(Math.abs(Math.hypot(...corner(0).places.at(-1)) - Math.SQRT2) < 1e-6);
});

test("curvature shortens the way around a corner", () => {
  const corner = (curvature) => {
    const connection = square([1, 9, 5, 1, 1]);
    connection.curvature = new Float32Array(4).fill(curvature);
    return connection.unfold(0, 2);
  };
  assert.ok(Math.abs(corner(0).distance - Math.SQRT2) < 1e-6);
  // Two sides of length 1 and a right angle on the sphere of curvature 0.25: cos c = cos² 0.5, in halves.
  const truth = 2 * Math.acos(Math.cos(0.5) ** 2);
  assert.ok(Math.abs(corner(0.25).distance - truth) < 0.005);
  assert.ok(corner(-0.25).distance > Math.SQRT2);
});

test("bars of lengths along edges grow with the bends", () => {
  const bars = (places) => Connection.prototype.barsAlong.call({ tilts: [], noise: 0.1 }, places);
  const straight = bars([[0, 0], [1, 0], [2, 0]]);
  assert.deepEqual(straight.along, [0, 0.1 * Math.SQRT2, 0.1 * Math.SQRT2]); // both ends, whatever is between
  const bent = bars([[0, 0], [1, 0], [1, 1]]);
  assert.ok(Math.abs(bent.along[2] - 0.2) < 1e-12);
  assert.equal(bent.chord, 0.1 * Math.SQRT2);
  assert.deepEqual(Connection.prototype.barsAlong.call({ tilts: null }, [[0]]), { along: null, chord: null });
});
