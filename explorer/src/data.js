// The arrays that the page carries: gzipped, in base64, each in a script element of its own.

const KINDS = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, int16: Int16Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array,
};

async function bytes(element) {
  const text = atob(element.textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  element.remove(); // its text would stay in memory
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function array(entry) {
  const raw = new KINDS[entry.dtype](await bytes(document.getElementById(entry.id)));
  if (!entry.low) return raw;
  // Whole numbers for a range of values: one range for each column, the last number for a gap.
  const width = entry.low.length;
  // Far from zero 32 bits would lose what the range keeps.
  const isFar = entry.low.some((low, k) => Math.abs(low) > 1000 * 65534 * entry.unit[k]);
  const values = new (isFar ? Float64Array : Float32Array)(raw.length);
  const gap = 65535;
  for (let i = 0; i < raw.length; i++) {
    const column = i % width;
    values[i] = raw[i] === gap ? NaN : entry.low[column] + raw[i] * entry.unit[column];
  }
  return values;
}

// Read what Python has written: `meta`, and every array by its name.
export async function load() {
  const meta = JSON.parse(document.getElementById("meta").textContent);
  const arrays = {};
  for (const [name, entry] of Object.entries(meta.arrays)) arrays[name] = await array(entry);
  return { meta, arrays };
}
