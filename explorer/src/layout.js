// Where the panes are: views side by side or one above the other, and the lower panes folded or not.
const $ = (id) => document.getElementById(id);
const BELOW = 216, BESIDE = 360; // pixels of the panes, as layout.css has them
const NARROW = 820; // windows in which everything is in one column
const SHORT = 480; // windows whose page scrolls, as in layout.css
const MARGIN = 1.12, TITLE = 20; // around the points of a view: a share, and pixels
const [LEAST_SHARE, MOST_SHARE] = [0.25, 0.5]; // of the height, for an embedding below the data

// How the views use a space of `width` by `height` best: whether stacked, and how high the embedding
// is then, with a strip of `extra` pixels below it. `aspect` is its width by its height; data in space
// are about as wide as high.
export function arrange(aspect, width, height, isFolded, extra = 0) {
  if (width <= NARROW) return { isStacked: false, lower: 0 };
  const across = width - (isFolded ? 0 : BESIDE);
  const lower = Math.min(Math.max((MARGIN * across) / aspect + TITLE, LEAST_SHARE * height), MOST_SHARE * height);
  const above = height - (isFolded ? 0 : BELOW);
  // The embedding counts most: how high it is, and less how large the data are.
  const worth = (wide, high, dataWide, dataHigh) => Math.min(wide / aspect, high) * Math.sqrt(Math.min(dataWide, dataHigh));
  const stacked = worth(across, lower, across, height - lower - extra);
  return { isStacked: stacked > worth(width / 2, above - extra, width / 2, above), lower: lower + extra };
}

export class Layout {
  constructor(aspect) {
    this.main = document.querySelector("main");
    this.aspect = aspect;
    this.isFolded = Boolean(history.state?.isFolded); // what a page remembers when it is loaded again
    $("fold").addEventListener("click", () => this.fold(!this.isFolded));
    new ResizeObserver(() => this.show()).observe(this.main);
    this.show();
  }

  fold(isFolded) {
    this.isFolded = isFolded;
    history.replaceState({ ...history.state, isFolded }, "");
    this.show();
  }

  show() {
    const { main, isFolded } = this;
    const extra = $("embedding").clientHeight - $("right").offsetHeight;
    const { isStacked, lower } = arrange(this.aspect, main.clientWidth, main.clientHeight, isFolded, extra);
    main.classList.toggle("folded", isFolded);
    main.classList.toggle("stacked", isStacked && innerHeight > SHORT);
    main.style.setProperty("--lower", `${Math.round(lower)}px`);
    $("fold").setAttribute("aria-expanded", String(!isFolded));
    $("fold").textContent = isFolded ? "Show path ▴" : "Hide path ▾";
  }
}
