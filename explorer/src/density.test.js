import assert from "node:assert/strict";
import { test } from "node:test";
import { opacity, overlap } from "./density.js";

// Points at random in a square of the screen.
function scattered(n, side) {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  return Array.from({ length: n }, () => [side * random(), side * random()]);
}

test("as many lie on each other as their areas are in the space they have", () => {
  for (const n of [2000, 100000]) {
    const places = scattered(n, 320);
    const wanted = (n * Math.PI * 4) / 320 ** 2;
    const found = overlap(n, (i) => places[i], 640, 400, 2);
    assert.ok(Math.abs(found / wanted - 1) < 0.15, `${found} ${wanted}`);
  }
  assert.equal(overlap(10, () => null, 640, 400, 2), 0);
  assert.equal(overlap(10, () => [-5, 3], 640, 400, 2), 0); // beside the screen
});

test("the more on each other, the more is seen through each", () => {
  const levels = [0, 0.5, 1, 3, 10, 30, 1000].map(opacity);
  for (let k = 1; k < levels.length; k++) assert.ok(levels[k] <= levels[k - 1]);
  assert.ok(levels[0] > 0.9);
  assert.ok(levels.at(-1) > 0.05); // a point alone is still seen
  assert.ok(Math.abs(1 - (1 - opacity(10)) ** 10 - 0.9) < 1e-9);
});
