// Looking for points: `node --test`.
import assert from "node:assert/strict";
import test from "node:test";
import { find } from "./find.js";

const kind = { name: "kind", labels: ["B cell", "T cell", "other cells"], values: [1, 0, 1, 2, -1] };
const name = { name: "name", labels: ["cell 3", "mast"], values: [-1, 0, 1, -1, -1] };
const height = { name: "height", values: [0.5, 1.5, NaN, 40, 3] };
const columns = [kind, name, height];
const told = (query, colour = height) => find(query, columns, 5, colour).map(({ text, where, ids }) => [text, where, ids()]);

test("labels, those that begin with the words first", () => {
  assert.deepEqual(told("CELL"), [
    ["B cell", "kind", [1]], ["T cell", "kind", [0, 2]], ["other cells", "kind", [3]], ["cell 3", "name", [1]],
  ]);
  assert.deepEqual(told("cell", name)[0], ["cell 3", "name", [1]]);
  assert.deepEqual(told("  "), []);
  assert.deepEqual(told("nothing of that name"), []);
});

test("numbers of points, and values", () => {
  assert.deepEqual(told("4"), [["point 4", "", [4]], ["point 4", "height", [4]]]);
  assert.deepEqual(told("#2"), [["point 2", "", [2]]]);
  assert.deepEqual(told("41"), [["point 3", "height", [3]]]);
  assert.deepEqual(told("hei = 1.4"), [["point 1", "height", [1]]]);
  assert.deepEqual(told("-3e1"), [["point 0", "height", [0]]]);
});

test("many labels are cut", () => {
  const many = { name: "many", labels: Array.from({ length: 1000 }, (_, k) => `w${k}`), values: [] };
  assert.equal(find("w", [many], 0, many).length, 6);
});
