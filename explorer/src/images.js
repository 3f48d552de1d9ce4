// Small pictures of the points, where rows are images.

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

  // Draw as many as have room beside each other, the first come the first served.
  // Where some are chosen, they come first, and the others are faint.
  scatter(view, pen, chosen, nChosen) {
    const wide = 40;
    const tall = (wide * this.height) / this.width;
    const placed = new Map(); // by cells of the size of an image, of which each holds at most one
    const isFree = (x, y, column, row) => {
      for (let i = column - 1; i <= column + 1; i++) {
        for (let j = row - 1; j <= row + 1; j++) {
          const other = placed.get(`${i} ${j}`);
          if (other && Math.abs(other[0] - x) < wide && Math.abs(other[1] - y) < tall) return false;
        }
      }
      return true;
    };
    const seen = view.screen;
    pen.imageSmoothingEnabled = false;
    this.boxes = [];
    const put = (i) => {
      const x = seen[3 * i], y = seen[3 * i + 1];
      if (!(x >= 0 && x < view.width && y >= 0 && y < view.height)) return;
      const column = Math.floor(x / wide), row = Math.floor(y / tall);
      if (!isFree(x, y, column, row)) return;
      placed.set(`${column} ${row}`, [x, y]);
      pen.globalAlpha = nChosen && !chosen[i] ? 0.2 : 1;
      pen.drawImage(this.canvas(i), x - wide / 2, y - tall / 2, wide, tall);
      this.boxes.push([x - wide / 2, y - tall / 2, wide, tall, i]);
    };
    for (let i = 0; i < view.n; i++) if (nChosen && chosen[i]) put(i);
    for (let i = 0; i < view.n; i++) if (!nChosen || !chosen[i]) put(i);
    pen.globalAlpha = 1;
  }

  // The point whose picture is at a place, or -1.
  pick(x, y) {
    const box = this.boxes?.find(([left, top, wide, tall]) => x >= left && x < left + wide && y >= top && y < top + tall);
    return box ? box[4] : -1;
  }
}
