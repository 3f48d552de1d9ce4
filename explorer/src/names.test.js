// Names on the map: `node --test`.
import assert from "node:assert/strict";
import test from "node:test";
import { homes, placed } from "./names.js";

test("a kind lies where most of its points are", () => {
  // Of the first kind ten points around (1, 0) and three around (-1, 0), whose mean has none.
  const positions = [], values = [];
  for (let k = 0; k < 13; k++) {
    positions.push(k < 10 ? 1 + k / 100 : -1, 0, 0);
    values.push(0);
  }
  for (let k = 0; k < 20; k++) {
    positions.push(0, 0.5 + k / 1000, 0);
    values.push(1);
  }
  positions.push(NaN, NaN, NaN);
  values.push(1);
  const found = homes({ labels: ["a", "b", "unseen"], values }, positions);
  assert.deepEqual(found.map(({ code }) => code), [1, 0]);
  assert.ok(found[1].id < 10);
});

test("kinds that lie among each other have no place", () => {
  const positions = [], values = [];
  for (let k = 0; k < 1000; k++) {
    positions.push((k % 40) / 40, Math.floor(k / 40) / 25, 0);
    values.push(k % 7);
  }
  assert.deepEqual(homes({ labels: [..."abcdefg"], values }, positions), []);
});

test("no name lies over another or outside, and what has no room is left out", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const boxes = Array.from({ length: 60 }, (_, k) => ({ k, x: 400 * random(), y: 300 * random(), wide: 40 + 60 * random(), tall: 17 }));
  boxes.push({ x: NaN, y: 3, wide: 10, tall: 17 }, { x: 900, y: 3, wide: 10, tall: 17 });
  const kept = placed(boxes, 400, 300);
  assert.ok(kept.length > 15 && kept.length < 60, String(kept.length));
  assert.equal(kept[0].x, Math.min(Math.max(boxes[0].x, boxes[0].wide / 2 + 2), 400 - boxes[0].wide / 2 - 2));
  kept.forEach((a, i) => {
    assert.ok(a.x - a.wide / 2 >= 0 && a.x + a.wide / 2 <= 400 && a.y >= 8 && a.y <= 292);
    for (const b of kept.slice(0, i)) assert.ok(Math.abs(a.x - b.x) >= (a.wide + b.wide) / 2 || Math.abs(a.y - b.y) >= 17);
  });
});
