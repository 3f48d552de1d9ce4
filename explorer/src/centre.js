// Bring points into the middle of a view.
import { Vector3 } from "three";

const LASTS = 350; // milliseconds
const FILLS = 0.6; // of the view, what points take that lie apart
const NEAREST = 8; // times as near as the whole, unless one is nearer already

// The middle of points, and how far they reach; null if none has a place.
function extent(positions, ids) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const id of ids) {
    if (Number.isNaN(positions[3 * id])) continue; // a gap has no place
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis], positions[3 * id + axis]);
      high[axis] = Math.max(high[axis], positions[3 * id + axis]);
    }
  }
  if (!(low[0] <= high[0])) return null;
  const half = high.map((x, axis) => 0.5 * (x - low[axis]));
  return { middle: new Vector3(...low.map((x, axis) => x + half[axis])), half };
}

// Where the camera has to be; for one point it keeps its distance.
function aim(view, { middle, half }) {
  const { camera, controls, width, height, isFlat } = view;
  const arm = camera.position.clone().sub(controls.target);
  const reach = Math.hypot(...half);
  let zoom = camera.zoom;
  if (isFlat && reach > 0) zoom = Math.min(FILLS * Math.min(camera.right / (half[0] || 1e-9), camera.top / (half[1] || 1e-9)), Math.max(NEAREST, camera.zoom));
  if (!isFlat && reach > 0) {
    const open = Math.tan((camera.fov * Math.PI) / 360) * Math.min(1, width / height);
    arm.setLength(Math.max(reach / (FILLS * open), 0.3));
  }
  return { target: middle, position: middle.clone().add(arm), zoom };
}

// Move a view to some points; then `onEnd` is called.
export function centre(view, ids, onEnd) {
  const found = extent(view.positions, ids);
  if (found) travel(view, aim(view, found), onEnd);
}

// From where a view looks, and how near.
export const outlook = ({ camera, controls }) => ({ target: controls.target.clone(), position: camera.position.clone(), zoom: camera.zoom });

// Move a view to another outlook, at once for those who want no motion.
export function travel(view, goal, onEnd) {
  const { camera, controls } = view;
  const start = outlook(view);
  const begun = performance.now();
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (now) => {
    const share = isCalm ? 1 : Math.min(Math.max((now - begun) / LASTS, 0), 1);
    const eased = share * share * (3 - 2 * share);
    controls.target.lerpVectors(start.target, goal.target, eased);
    camera.position.lerpVectors(start.position, goal.position, eased);
    camera.zoom = start.zoom * (goal.zoom / start.zoom) ** eased;
    camera.updateProjectionMatrix();
    controls.update();
    view.draw();
    view.travelling = share < 1 ? requestAnimationFrame(step) : null;
    if (share === 1) onEnd();
  };
  cancelAnimationFrame(view.travelling);
  step(begun);
}
