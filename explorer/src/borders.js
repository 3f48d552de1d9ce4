// Borders of data that were cut open: what belongs together has one colour, in every view.
const LARGER = 1.7; // than other points

// A colour for a place along one of `count` seams: hues of its own for each, brighter along it.
export function borderColour(seam, along, count) {
  const hue = (360 / count) * (seam + 0.7 * along) + 330;
  const light = 0.36 + 0.3 * along;
  const strong = 0.6 * Math.min(light, 1 - light);
  return [0, 8, 4].map((shift) => {
    const k = (shift + hue / 30) % 12;
    return Math.round(255 * (light - strong * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

// Mark the points at seams in some views, with rings that leave their own colours to be seen.
// Returns what shows the marks, or not, and what fades those whose points are faded.
export function markBorders(views, { border_points: ids, border_seams: seams, border_along: along }) {
  const count = Math.max(...seams) + 1;
  const tints = new Uint8Array(4 * ids.length).fill(255);
  for (let i = 0; i < ids.length; i++) tints.set(borderColour(seams[i], along[i], count), 4 * i);
  const marks = views.map((view) => view.mark(ids, tints, LARGER));
  const show = (isShown) => {
    for (const cloud of marks) cloud.points.visible = isShown;
    for (const view of views) view.draw();
  };
  const fade = (all) => {
    for (let i = 0; i < ids.length; i++) tints[4 * i + 3] = all[4 * ids[i] + 3];
    for (const cloud of marks) cloud.recolour();
  };
  return { show, fade };
}
