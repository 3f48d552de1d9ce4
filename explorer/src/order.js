// The order in which points are drawn: from the back to the front, and the chosen ones last.
const DEPTHS = 4096; // as many are told apart: more than a screen shows

// Fill `order` with the places of points, (x, y, z) each, by how far they are along `way`, towards
// who looks, the farthest first; those that `tints` fade (four bytes a point) come before all others.
export function sortByDepth(positions, tints, way, order, keys = new Uint16Array(order.length)) {
  const [a, b, c] = way;
  const counts = new Uint32Array(2 * DEPTHS + 1);
  const half = 0.5 * DEPTHS; // places reach from -1 to 1
  for (let i = 0, k = 0; i < order.length; i++, k += 3) {
    const near = a * positions[k] + b * positions[k + 1] + c * positions[k + 2];
    const level = Math.min(Math.max(Math.floor((1 + near) * half), 0), DEPTHS - 1); // a gap is 0
    keys[i] = level + (tints[4 * i + 3] < 128 ? 0 : DEPTHS);
    counts[keys[i] + 1]++;
  }
  for (let level = 1; level < counts.length; level++) counts[level] += counts[level - 1];
  for (let i = 0; i < order.length; i++) order[counts[keys[i]]++] = i;
  return order;
}
