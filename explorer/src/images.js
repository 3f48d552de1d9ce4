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
  scatter(view, pen) {
    const side = 40;
    const tall = (side * this.height) / this.width;
    const taken = new Set();
    const seen = view.screen;
    for (let i = 0; i < view.n; i++) {
      const x = seen[3 * i], y = seen[3 * i + 1];
      if (!(x >= 0 && x < view.width && y >= 0 && y < view.height)) continue;
      const column = Math.floor(x / (side + 6)), row = Math.floor(y / (tall + 6));
      const cell = row * 10000 + column;
      if (taken.has(cell)) continue;
      taken.add(cell);
      const left = column * (side + 6) + 3, top = row * (tall + 6) + 3;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(this.canvas(i), left, top, side, tall);
    }
  }
}
