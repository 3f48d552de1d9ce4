import assert from "node:assert/strict";
import test from "node:test";
import { join, understood } from "./host.js";

test("of a message, what can be done is taken and all else ignored", () => {
  assert.deepEqual(understood({ selection: [7, 2, 7], path: [0, 9], theme: "dark" }, 10), {
    selection: [2, 7], path: [0, 9], theme: "dark",
  });
  assert.deepEqual(understood({ selection: [], path: null }, 10), { selection: [], path: null });
  const bad = [
    null, undefined, 3, "selection", {}, { selection: [10] }, { selection: [-1] }, { selection: [0.5] }, { selection: ["1"] },
    { selection: { length: 1, 0: 1 } }, { selection: null }, { path: [1] }, { path: [1, 2, 3] }, { path: [1, 10] }, { path: "01" },
    { theme: "red" }, { theme: ["dark"] },
  ];
  for (const message of bad) assert.deepEqual(understood(message, 10), {});
});

// An explorer that does what it is told, and a notebook that writes down what it hears.
async function joined() {
  const heard = [], port = { postMessage: (message) => heard.push(message) };
  const explorer = {
    n: 10, ids: [], ends: [-1, -1], calls: 0, setTheme() {},
    selection() { return this.ids; },
    select(ids) { this.ids = ids; this.calls++; this.tell(); },
    setEnds(...ends) { this.ends = ends; this.calls++; this.tell(); },
  };
  explorer.tell = join(explorer, Promise.resolve(port));
  await null;
  return { explorer, heard, say: (data) => port.onmessage({ data }) };
}

test("changes of the page are told once, those of the notebook not at all", async () => {
  const { explorer, heard, say } = await joined();
  explorer.select([1, 2]);
  explorer.tell();
  explorer.setEnds(4, -1); // half a path is none
  explorer.setEnds(4, 5);
  assert.deepEqual(heard.splice(0), [{ selection: [1, 2] }, { path: [4, 5] }]);
  say({ selection: [3], path: [6, 7] });
  say({ selection: [3], path: [6, 7] });
  assert.deepEqual([explorer.ids, explorer.ends, explorer.calls], [[3], [6, 7], 5]);
  say({ path: null });
  assert.deepEqual(explorer.ends, [-1, -1]);
  assert.deepEqual(heard, []);
});

test("what the page shows before the notebook calls is told", async () => {
  const { explorer, heard, say } = await joined();
  explorer.ends = [1, 2];
  say({ theme: "light" });
  assert.deepEqual(heard, [{ path: [1, 2] }]);
});
