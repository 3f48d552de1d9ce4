import assert from "node:assert/strict";
import { test } from "node:test";
import { sortByDepth } from "./order.js";

test("the farthest is drawn first, and what is faded before all others", () => {
  const heights = [0.5, -0.9, 0.1, 0.9, -0.2];
  const positions = new Float32Array(heights.flatMap((z) => [0.3, -0.3, z]));
  const tints = new Uint8Array(4 * heights.length).fill(255);
  const order = (way) => [...sortByDepth(positions, tints, way, new Uint32Array(heights.length))];
  assert.deepEqual(order([0, 0, 1]), [1, 4, 2, 0, 3]);
  assert.deepEqual(order([0, 0, -1]), [3, 0, 2, 4, 1]);
  tints[4 * 3 + 3] = tints[4 * 0 + 3] = 46;
  assert.deepEqual(order([0, 0, 1]), [0, 3, 1, 4, 2]);
  assert.deepEqual(order([0, 0, 0]), [0, 3, 1, 2, 4]);
});

test("points without a place do not break the order", () => {
  const positions = new Float32Array([0, 0, 0.5, NaN, NaN, NaN, 0, 0, -0.5]);
  const order = sortByDepth(positions, new Uint8Array(12).fill(255), [0, 0, 1], new Uint32Array(3));
  assert.deepEqual([...order].sort(), [0, 1, 2]);
  assert.ok(order.indexOf(2) < order.indexOf(0));
});
