import assert from "node:assert/strict";
import { test } from "node:test";
import { borderColour } from "./borders.js";

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
