import assert from "node:assert/strict";
import { test } from "node:test";
import { spanOf } from "./colours.js";
import { endTexts, fitting, measured } from "./text.js";

test("lengths have as many digits as their errors allow", () => {
  assert.equal(measured(12.3127, 0.4), "12.3 ± 0.4");
  assert.equal(measured(12.04, 0.38), "12.0 ± 0.4");
  assert.equal(measured(3.51222, 0.0018), "3.5122 ± 0.0018");
  assert.equal(measured(9.96, 0.096), "10.0 ± 0.1");
  assert.equal(measured(1234.5, 34), "1230 ± 30");
  assert.equal(measured(1234.5, 3.4), "1235 ± 3");
  assert.equal(measured(337.5, 104), "340 ± 100");
  assert.equal(measured(12.34, 1), "12.3 ± 1.0");
  assert.equal(measured(0, 0.2), "0.0 ± 0.2");
  assert.equal(measured(1, 400), "0 ± 400");
  assert.equal(measured(1.23456e-201, 2e-203), "1.23e-201 ± 2e-203");
  assert.equal(measured(12.312765, 0), "12.313");
  assert.equal(measured(2, null), "2");
  assert.equal(measured(NaN, 1), "–");
});

test("ends of a scale tell whether values lie beyond", () => {
  const texts = (values) => {
    const column = { values };
    spanOf(column);
    return endTexts(column);
  };
  const even = Array.from({ length: 201 }, (_, k) => k);
  assert.deepEqual(texts(even), ["≤\u00a02", "≥\u00a0198"]);
  assert.deepEqual(texts(even.map((value) => Math.max(value, 10))), ["10", "≥\u00a0198"]);
  assert.deepEqual(texts([3, 1, 2]), ["1", "3"]); // few are all shown
});

test("names are cut to the room they have", () => {
  const measure = (text) => 7 * text.length;
  assert.equal(fitting("monocyte", 112, measure), "monocyte");
  const cut = fitting("hematopoietic stem cell progenitor", 112, measure);
  assert.equal(cut, "hematopoietic s…");
  assert.equal(fitting("🧬".repeat(40), 40, measure), "🧬🧬…");
});
