// The explorer's page in a notebook, in a frame without rights: what is selected there arrives in
// Python, and what Python selects is shown there. anywidget calls `render` for every view.

const NAMES = ["selection", "path"];

function isSound(name, value, n) {
  if (value === null) return name === "path";
  const isPoints = Array.isArray(value) && value.every((id) => Number.isInteger(id) && id >= 0 && id < n);
  return isPoints && (name !== "path" || value.length === 2);
}

// Light letters stand on dark ground, whatever the notebook calls its themes.
function themeAround(el) {
  const [red, green, blue] = getComputedStyle(el).color.match(/[\d.]+/g).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light";
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "ptunfold explorer";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = "display: block; box-sizing: border-box; width: 100%; height: 100%; border: 1px solid #8886";
  let port = null;

  const hear = ({ data }) => {
    for (const name of NAMES) {
      if (isSound(name, data?.[name], model.get("_n_points"))) model.set(name, data[name]);
    }
    model.save_changes();
  };
  // The frame loads anew whenever the notebook moves it.
  frame.addEventListener("load", () => {
    port?.close();
    const line = new MessageChannel();
    port = line.port1;
    port.onmessage = hear;
    frame.contentWindow.postMessage("ptunfold", "*", [line.port2]);
    const [selection, path] = NAMES.map((name) => model.get(name));
    port.postMessage({ theme: themeAround(el), ...(selection.length && { selection }), ...(path && { path }) });
  });
  const tell = NAMES.map((name) => [`change:${name}`, () => port?.postMessage({ [name]: model.get(name) })]);
  for (const change of tell) model.on(...change);

  frame.srcdoc = model.get("_page");
  el.append(frame);
  return () => {
    for (const change of tell) model.off(...change);
    port?.close();
  };
}

export default { render };
