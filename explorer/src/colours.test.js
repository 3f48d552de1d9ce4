// Colours of kinds: `node --test`.
import assert from "node:assert/strict";
import test from "node:test";
import { along, GAP, kind, KINDS, paint } from "./colours.js";

test("each of up to 24 kinds has a colour of its own, not one of the scale", () => {
  const scale = Array.from({ length: 1001 }, (_, k) => along(k / 1000, false));
  const apart = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
  for (const count of [2, 10, KINDS.length]) {
    const colours = Array.from({ length: count }, (_, code) => kind(code, count, false));
    assert.equal(new Set(colours.map(String)).size, count);
    for (const colour of colours) assert.ok(apart(colour, GAP) > 40);
  }
  const ten = Array.from({ length: 10 }, (_, code) => kind(code, 10, false));
  const off = ten.map((colour) => Math.min(...scale.map((one) => apart(one, colour))));
  assert.ok(off.filter((gap) => gap > 40).length >= 6, String(off));
});

test("more kinds lie along the scale, and gaps are grey", () => {
  assert.deepEqual(kind(0, 25, false), along(0, false));
  assert.deepEqual(kind(24, 25, false), along(1, false));
  const tints = new Uint8Array(12).fill(255);
  paint({ values: [0, -1, 9], labels: [..."abcdefghij"] }, tints, false);
  assert.deepEqual([...tints], [...KINDS[0], 255, ...GAP, 255, ...KINDS[9], 255]);
});
