// Files that the page hands out.

export function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// A number as short as its 32 bits allow.
function written(value, isShort) {
  if (Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (!isShort) return String(value);
  for (let n = 1; n <= 9; n++) {
    const short = Number(value.toPrecision(n));
    if (Math.fround(short) === Math.fround(value)) return String(short);
  }
  return String(value);
}

// Rows of columns as CSV; a column has `name`, `values` and, for words, `labels`.
export function table(ids, columns) {
  const lines = [["id", ...columns.map((column) => column.name)].map(quoted).join(",")];
  for (const id of ids) {
    const cells = columns.map(({ values, labels }) => {
      const value = values[id];
      return labels ? (value < 0 ? "" : quoted(labels[value])) : written(value, values instanceof Float32Array);
    });
    lines.push([id, ...cells].join(","));
  }
  return new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" });
}
