// How see-through points have to be, so that many of them read as density and not as paint.
const CELL = 16; // pixels
const MOST = 5000; // points that are looked at
const COVERED = 0.9; // of the background, where points lie as they usually do
const [LEAST_OPAQUE, MOST_OPAQUE] = [0.1, 0.95];
const FEW = 2000; // points that are seen one by one, half-way through at least

// How many points of radius `radius` usually lie on each other: `place(i)` is where point i is on
// the screen, and null if it is not there or does not count.
export function overlap(n, place, width, height, radius) {
  const columns = Math.ceil(width / CELL), rows = Math.ceil(height / CELL);
  const counts = new Uint32Array(columns * rows);
  const stride = Math.max(1, Math.floor(n / MOST));
  for (let i = 0; i < n; i += stride) {
    const at = place(i);
    if (at === null || !(at[0] >= 0 && at[0] < width && at[1] >= 0 && at[1] < height)) continue;
    counts[Math.floor(at[1] / CELL) * columns + Math.floor(at[0] / CELL)]++;
  }
  let sum = 0, others = 0;
  for (const count of counts) {
    sum += count;
    others += count * (count - 1);
  }
  return sum ? ((stride * others) / sum) * ((Math.PI * radius * radius) / (CELL * CELL)) : 0;
}

// The opacity of one of `n` points, of so many on each other.
export function opacity(onEachOther, n = Infinity) {
  if (onEachOther <= 0) return MOST_OPAQUE;
  const least = Math.max(LEAST_OPAQUE, 0.5 * Math.min(1, FEW / n));
  return Math.min(Math.max(1 - (1 - COVERED) ** (1 / onEachOther), least), MOST_OPAQUE);
}
