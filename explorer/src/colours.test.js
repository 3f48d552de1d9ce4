// Colours, and how they look to eyes of four kinds: `node --test`.
import assert from "node:assert/strict";
import test from "node:test";
import { along, colourAt, colourOf, GAP, kindColour, KINDS, kindsOf, MOST_KINDS, othersColour, paint } from "./colours.js";

const GROUNDS = [[255, 255, 255], [20, 24, 31]]; // as in style.css
// What is left of a colour without one kind of cones (Machado, Oliveira and Fernandes 2009).
const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, x, k) => sum + x * vector[k], 0));
const linear = (colour) => colour.map((x) => (x <= 10.31 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
function oklab(colour, eyes) {
  const seen = times(EYES[eyes], linear(colour)).map((x) => Math.min(Math.max(x, 0), 1));
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], seen);
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], cones.map(Math.cbrt));
}
const apart = (a, b, eyes) => Math.hypot(...oklab(a, eyes).map((x, k) => x - oklab(b, eyes)[k]));
function contrast(a, b) {
  const [dark, light] = [a, b].map((colour) => times([[0.2126, 0.7152, 0.0722]], linear(colour))[0]).sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
const column = (labels, values) => ({ labels, values });
const words = (count) => Array.from({ length: count }, (_, k) => `kind ${k}`);

for (const isDark of [false, true]) {
  const ground = GROUNDS[+isDark];
  const name = isDark ? "dark" : "light";

  test(`kinds are told apart by all eyes on a ${name} ground`, () => {
    // A difference of 0.02 is just seen.
    for (const [count, usual, any] of [[6, 0.15, 0.075], [10, 0.15, 0.075], [20, 0.12, 0.053]]) {
      const colours = KINDS[+isDark].slice(0, count);
      for (const eyes of Object.keys(EYES)) {
        for (let i = 0; i < count; i++) {
          for (let j = 0; j < i; j++) {
            const gap = apart(colours[i], colours[j], eyes);
            assert.ok(gap > (eyes === "usual" ? usual : any), `${i} and ${j} of ${count}, ${eyes}: ${gap}`);
          }
        }
      }
    }
  });

  test(`colours stand out from a ${name} ground`, () => {
    for (const colour of KINDS[+isDark]) assert.ok(contrast(colour, ground) > (isDark ? 3 : 2.1), String(colour));
    assert.ok(contrast(GAP, ground) > 2.5);
    assert.ok(apart(GAP, othersColour(isDark), "usual") > 0.08);
    for (const kind of ["sequential", "diverging", "cyclic"]) {
      const scale = { scale: { kind, start: 0, period: 1 }, range: [-1, 1], values: [] };
      for (let k = 0; k <= 50; k++) assert.ok(contrast(colourAt(scale, k / 50, isDark), ground) > 1.45, `${kind} ${k}`);
    }
  });

  test(`a turn ends where it began, and its sides are told apart on a ${name} ground`, () => {
    const angle = { scale: { kind: "cyclic", start: 0, period: 360 }, values: [] };
    assert.deepEqual(colourAt(angle, 0, isDark), colourAt(angle, 1, isDark));
    for (const eyes of Object.keys(EYES)) {
      for (let a = 0; a < 360; a += 15) {
        for (let b = a + 60; b <= a + 300; b += 15) {
          const gap = apart(colourOf(angle, a, isDark), colourOf(angle, b, isDark), eyes);
          assert.ok(gap > 0.1, `${a} and ${b}, ${eyes}: ${gap}`);
        }
      }
    }
  });

  test(`both sides of zero are told apart on a ${name} ground`, () => {
    const signed = { scale: { kind: "diverging" }, range: [-1, 3], values: [] };
    for (const eyes of Object.keys(EYES)) {
      assert.ok(apart(colourOf(signed, -1, isDark), colourOf(signed, 1, isDark), eyes) > 0.1);
    }
    // The lower end is as far from the middle as its value, not at the end of the colours.
    const even = { scale: { kind: "diverging" }, range: [-3, 3], values: [] };
    assert.deepEqual(colourOf(signed, -1, isDark).map(Math.round), colourOf(even, -1, isDark).map(Math.round));
    assert.deepEqual(colourOf(signed, 0, isDark).map(Math.round), colourOf(even, 0, isDark).map(Math.round));
  });
}

test("up to twenty kinds keep their order, and of more the largest have colours", () => {
  assert.deepEqual(kindsOf(column(words(20), [0])).named, words(20).map((_, k) => k));
  const values = Array.from({ length: 25 }, (_, k) => new Array(k + 1).fill(k)).flat();
  const many = column(words(25), [...values, -1]);
  const { named, nOthers, sizes } = kindsOf(many);
  assert.deepEqual(named, Array.from({ length: MOST_KINDS - 1 }, (_, k) => 24 - k));
  assert.equal(nOthers, 6);
  assert.equal(sizes[24], 25);
  assert.deepEqual(kindColour(many, 24, false), KINDS[0][0]);
  assert.deepEqual(kindColour(many, 3, true), othersColour(true));
});

test("points are painted: kinds, gaps, numbers, angles", () => {
  const tints = new Uint8Array(12).fill(255);
  paint(column([..."abcdefghij"], [0, -1, 9]), tints, false);
  assert.deepEqual([...tints], [...KINDS[0][0], 255, ...GAP, 255, ...KINDS[0][9], 255]);
  paint({ values: [0, NaN, 2] }, tints, false);
  assert.deepEqual([...tints], [...along(0, false), 255, ...GAP, 255, ...along(1, false).map(Math.round), 255]);
  const turn = { kind: "cyclic", start: -180, period: 360 };
  paint({ values: [-180, 180, 540], scale: turn }, tints, true);
  assert.deepEqual([...tints.subarray(0, 4)], [...tints.subarray(4, 8)]);
  assert.deepEqual([...tints.subarray(0, 4)], [...tints.subarray(8)]);
});
