import assert from "node:assert/strict";
import { test } from "node:test";
import { borderColour, markBorders } from "./borders.js";

test("seams have colours of their own, which change along them", () => {
  for (const count of [1, 2, 5]) {
    const seen = [];
    for (let seam = 0; seam < count; seam++) for (const along of [0, 0.5, 1]) seen.push(borderColour(seam, along, count));
    for (const colour of seen) assert.ok(colour.every((part) => Number.isInteger(part) && part >= 0 && part <= 255));
    for (let i = 0; i < seen.length; i++) {
      for (let j = 0; j < i; j++) assert.ok(Math.hypot(...seen[i].map((part, k) => part - seen[j][k])) > 25, `${seen[i]} ${seen[j]}`);
    }
  }
});

test("marks fade with their points", () => {
  let tints = null;
  const view = { draw() {}, mark: (_, given) => { tints = given; return { points: {}, recolour() {} }; } };
  const borders = markBorders([view], { border_points: [4, 1], border_seams: [0, 0], border_along: [0, 1] });
  assert.deepEqual([tints[3], tints[7]], [255, 255]);
  borders.fade([0, 255, 0, 0, 46, 0].flatMap((alpha) => [9, 9, 9, alpha]));
  assert.deepEqual([tints[3], tints[7]], [46, 255]);
});
