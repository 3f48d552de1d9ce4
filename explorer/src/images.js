// Small pictures of the points, where rows are images.
const WIDE = 36; // pixels, with its frame
const CELL = 6; // pixels in which points are counted
const AWAY = 9; // pixels from a point to its picture
const MOST_COVERED = 2; // points that a picture may hide
const SIDES = Array.from({ length: 8 }, (_, k) => [Math.cos((k * Math.PI) / 4), Math.sin((k * Math.PI) / 4)]);

// How many points are in boxes of the screen, from sums over all cells above and to the left.
function counter(seen, width, height) {
  const columns = Math.ceil(width / CELL) + 1, rows = Math.ceil(height / CELL) + 1;
  const sums = new Uint32Array(columns * rows);
  for (let k = 0; k < seen.length; k += 3) {
    const x = seen[k], y = seen[k + 1];
    if (x >= 0 && x < width && y >= 0 && y < height) sums[(Math.floor(y / CELL) + 1) * columns + Math.floor(x / CELL) + 1]++;
  }
  for (let row = 1; row < rows; row++) {
    for (let column = 1, line = 0; column < columns; column++) {
      line += sums[row * columns + column];
      sums[row * columns + column] = line + sums[(row - 1) * columns + column];
    }
  }
  return (left, top, wide, tall) => {
    const [x0, x1] = [left, left + wide].map((x) => Math.min(Math.max(Math.round(x / CELL), 0), columns - 1));
    const [y0, y1] = [top, top + tall].map((y) => Math.min(Math.max(Math.round(y / CELL), 0), rows - 1));
    return sums[y1 * columns + x1] - sums[y0 * columns + x1] - sums[y1 * columns + x0] + sums[y0 * columns + x0];
  };
}

export class Images {
  // `shape` is (height, width, channels); `pixels` has them point after point.
  constructor(pixels, shape) {
    [this.height, this.width, this.channels] = shape;
    this.pixels = pixels;
    this.made = new Map();
  }

  canvas(id) {
    let canvas = this.made.get(id);
    if (canvas) return canvas;
    if (this.made.size > 2000) this.made.clear();
    const { width, height, channels } = this;
    canvas = Object.assign(document.createElement("canvas"), { width, height });
    const image = new ImageData(width, height);
    const start = id * width * height * channels;
    for (let k = 0; k < width * height; k++) {
      for (let c = 0; c < 3; c++) image.data[4 * k + c] = this.pixels[start + k * channels + (channels === 3 ? c : 0)];
      image.data[4 * k + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    this.made.set(id, canvas);
    return canvas;
  }

  // Draw as many as have room beside each other and beside the points, each framed in the colour of
  // its point, of which `tints` has four bytes. Where some are chosen, they come first and have room
  // whatever they hide, and the others are faint.
  scatter(view, pen, chosen, nChosen, tints) {
    const wide = WIDE;
    const tall = (wide * this.height) / this.width;
    const seen = view.screen;
    const covered = counter(seen, view.width, view.height);
    const placed = new Map(); // by cells of the size of an image, of which each holds at most one
    const isFree = (x, y) => {
      const column = Math.floor(x / wide), row = Math.floor(y / tall);
      for (let i = column - 1; i <= column + 1; i++) {
        for (let j = row - 1; j <= row + 1; j++) {
          const other = placed.get(`${i} ${j}`);
          if (other && Math.abs(other[0] - x) < wide + 3 && Math.abs(other[1] - y) < tall + 3) return false;
        }
      }
      return x > wide / 2 && x < view.width - wide / 2 && y > tall / 2 && y < view.height - tall / 2;
    };
    pen.imageSmoothingEnabled = false;
    this.boxes = [];
    const put = (i, most) => {
      const x = seen[3 * i], y = seen[3 * i + 1];
      if (!(x >= 0 && x < view.width && y >= 0 && y < view.height)) return;
      let best = null, fewest = most + 1;
      for (const [cos, sin] of SIDES) {
        const reach = AWAY + Math.min(wide / 2 / Math.abs(cos), tall / 2 / Math.abs(sin)); // from its middle to its rim
        const middle = [x + reach * cos, y + reach * sin];
        const hides = covered(middle[0] - wide / 2, middle[1] - tall / 2, wide, tall);
        if (hides < fewest && isFree(...middle)) [best, fewest] = [middle, hides];
      }
      if (!best) return;
      placed.set(`${Math.floor(best[0] / wide)} ${Math.floor(best[1] / tall)}`, best);
      this.draw(pen, i, [x, y], best, wide, tall, nChosen && !chosen[i] ? 0.2 : 1, tints);
    };
    for (let i = 0; i < view.n; i++) if (nChosen && chosen[i]) put(i, Infinity);
    for (let i = 0; i < view.n; i++) if (!nChosen || !chosen[i]) put(i, MOST_COVERED);
    pen.globalAlpha = 1;
  }

  draw(pen, id, from, [x, y], wide, tall, alpha, tints) {
    const [left, top] = [x - wide / 2, y - tall / 2];
    const colour = `rgb(${tints[4 * id]} ${tints[4 * id + 1]} ${tints[4 * id + 2]})`;
    Object.assign(pen, { globalAlpha: alpha, strokeStyle: colour, fillStyle: colour, lineWidth: 1.5 });
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(x, y);
    pen.stroke();
    pen.fillRect(left, top, wide, tall);
    pen.drawImage(this.canvas(id), left + 2, top + 2, wide - 4, tall - 4);
    this.boxes.push([left, top, wide, tall, id]);
  }

  // The point whose picture is at a place, or -1.
  pick(x, y) {
    const box = this.boxes?.find(([left, top, wide, tall]) => x >= left && x < left + wide && y >= top && y < top + tall);
    return box ? box[4] : -1;
  }
}
