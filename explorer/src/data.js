// The arrays that the page carries: in base64, some of them gzipped, in script elements of their own.

const KINDS = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, int16: Int16Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array,
};

// Browsers from before 2025 have a slower way only.
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const found = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) found[i] = letters.charCodeAt(i);
  return found;
}

// The bytes in all elements of an array, one after the other.
function joined(id) {
  const parts = [];
  for (let k = 0, element; (element = document.getElementById(`${id}-${k}`)); k++) {
    parts.push(decoded(element.textContent));
    element.remove(); // its text would stay in memory
  }
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function bytes({ id, packed }) {
  const found = joined(id);
  if (!packed) return found.buffer;
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  writer.write(found);
  writer.close();
  return new Response(readable).arrayBuffer();
}

async function array(entry) {
  const raw = new KINDS[entry.dtype](await bytes(entry));
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
