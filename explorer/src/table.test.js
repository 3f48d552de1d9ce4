import assert from "node:assert/strict";
import { test } from "node:test";
import { sorted } from "./table.js";

const ids = Uint32Array.of(0, 1, 2, 3, 4, 5);

test("numbers go up and down, gaps are last either way", () => {
  const column = { values: Float64Array.of(3, NaN, -1, 3, 0, NaN) };
  assert.deepEqual([...sorted(ids, column, false)], [2, 4, 0, 3, 1, 5]);
  assert.deepEqual([...sorted(ids, column, true)], [0, 3, 4, 2, 1, 5]);
});

test("words go by the alphabet, and numbers in them by their size", () => {
  const column = { values: Uint8Array.of(0, 1, 2, 3, 255, 1), labels: ["day 10", "day 9", "Berg", "Äpfel"] };
  assert.deepEqual([...sorted(ids, column, false)], [3, 2, 1, 5, 0, 4]);
  assert.deepEqual([...sorted(ids, column, true)], [0, 1, 5, 2, 3, 4]);
});

test("points by their numbers, and only those that are asked for", () => {
  assert.deepEqual([...sorted(Uint32Array.of(4, 1, 3), undefined, true)], [4, 3, 1]);
  assert.deepEqual([...sorted(Uint32Array.of(4, 1), { values: Float64Array.of(0, 2, 0, 0, 1) }, false)], [4, 1]);
});
