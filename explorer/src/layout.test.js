import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange } from "./layout.js";

test("wide embeddings lie below the data, others beside them", () => {
  assert.equal(arrange(1, 1280, 640, false).isStacked, false);
  assert.equal(arrange(0.2, 1280, 640, false).isStacked, false);
  assert.equal(arrange(5, 1280, 640, false).isStacked, true);
  assert.equal(arrange(5, 1280, 640, true).isStacked, true);
  assert.equal(arrange(2, 900, 1400, false).isStacked, true); // a window that is high
  assert.equal(arrange(20, 390, 700, false).isStacked, false); // phones have one column anyway
});

test("an embedding has the height that it needs, and no more than half", () => {
  const { lower } = arrange(8, 1640, 1000, false);
  assert.ok(lower > 1280 / 8 && lower <= 250);
  assert.ok(arrange(3, 1640, 1000, false).lower > 1280 / 3);
  assert.ok(arrange(1, 1640, 1000, false).lower <= 500);
  assert.equal(arrange(8, 1640, 1000, false, 40).lower, lower + 40);
});
