// A notebook around the page: it is told the selection and the path, and may set them.

// Wait for the notebook to open a line, while the page unpacks its data. Who frames a page from
// elsewhere cannot read it, and shall not hear of it; who hands it over as text has all of it.
export function hear() {
  return new Promise((resolve) => {
    if (parent === window || location.href !== "about:srcdoc") return;
    addEventListener("message", ({ source, data, ports }) => {
      if (source === parent && data === "ptunfold" && ports.length === 1) resolve(ports[0]);
    });
  });
}

// What of a message can be done; all else is ignored.
export function understood(message, n) {
  const isPoints = (ids) => Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0 && id < n);
  const { selection, path, theme } = message ?? {};
  return {
    ...(isPoints(selection) && { selection: [...new Set(selection)].sort((a, b) => a - b) }),
    ...((path === null || (isPoints(path) && path.length === 2)) && { path }),
    ...(["light", "dark"].includes(theme) && { theme }),
  };
}

const isSame = (one, other) => one?.length === other?.length && (one ?? []).every((id, i) => id === other[i]);

// Join the explorer to the notebook, once it calls. Returns what tells it of changes.
export function join(explorer, line) {
  let port = null;
  let isBusy = false; // doing one half of what it was told
  let known = { selection: [], path: null };
  const shown = () => ({
    selection: explorer.selection(),
    path: explorer.ends.every((id) => id >= 0) ? explorer.ends : null,
  });
  const tell = () => {
    if (!port || isBusy) return;
    const found = shown();
    for (const [name, value] of Object.entries(found)) {
      if (!isSame(value, known[name])) port.postMessage({ [name]: value });
    }
    known = found;
  };
  const obey = ({ data }) => {
    const { theme, ...wanted } = understood(data, explorer.n);
    known = { ...known, ...wanted };
    const found = shown();
    isBusy = true;
    if (theme) explorer.setTheme(theme);
    if (wanted.selection && !isSame(wanted.selection, found.selection)) explorer.select(wanted.selection);
    if ("path" in wanted && !isSame(wanted.path, found.path)) explorer.setEnds(...(wanted.path ?? [-1, -1]));
    isBusy = false;
    tell();
  };
  line.then((opened) => {
    port = opened;
    port.onmessage = obey;
  });
  return tell;
}
