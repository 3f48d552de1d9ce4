// Shortest paths of the stored graph, and their unfolding by the stored connection.

// The rotation of the way back is the transpose; steps differ, each is written in its own frame.
export class Connection {
  constructor(nPoints, dim, { counts, heads, lengths, rotations, steps, coherence, curvature, tilts, bends }, scale, noise = 0, bars = null) {
    this.dim = dim;
    this.coherence = coherence ?? null; // all is carried on without it
    this.curvature = curvature ?? null; // of each point; paths are unfolded flat without it
    this.tilts = tilts ?? null; // what is uncertain at each edge; no error bars without it
    this.bends = bends ?? null;
    this.noise = noise;
    this.bars = bars ?? [1, 1, 0]; // how much longer they are, at which distance, and by which power of it
    this.lengths = lengths;
    this.rotations = rotations;
    this.turnScale = rotations instanceof Int16Array ? 1 / 32767 : 1;
    this.steps = steps;
    this.stepScale = scale;
    this.tails = new Uint32Array(heads.length);
    this.heads = heads;
    // Edge e leaves its tail as 2e and its head as 2e + 1.
    this.first = new Uint32Array(nPoints + 1);
    for (let tail = 0, edge = 0; tail < nPoints; tail++) {
      for (let k = 0; k < counts[tail]; k++, edge++) {
        this.tails[edge] = tail;
        this.first[tail + 1]++;
        this.first[heads[edge] + 1]++;
      }
    }
    for (let i = 0; i < nPoints; i++) this.first[i + 1] += this.first[i];
    this.ways = new Uint32Array(2 * heads.length);
    const next = this.first.slice(0, nPoints);
    for (let edge = 0; edge < heads.length; edge++) {
      this.ways[next[this.tails[edge]]++] = 2 * edge;
      this.ways[next[heads[edge]]++] = 2 * edge + 1;
    }
  }

  start(way) { return way & 1 ? this.heads[way >> 1] : this.tails[way >> 1]; }
  end(way) { return way & 1 ? this.tails[way >> 1] : this.heads[way >> 1]; }

  // The ways of the shortest path between two points (Dijkstra); null if there is none.
  shortest(from, to) {
    const n = this.first.length - 1;
    const distance = new Float64Array(n).fill(Infinity);
    const parent = new Int32Array(n).fill(-1);
    const heap = new Heap();
    distance[from] = 0;
    heap.push(0, from);
    while (heap.size) {
      const [reached, node] = heap.pop();
      if (node === to) break;
      if (reached > distance[node]) continue;
      for (let k = this.first[node]; k < this.first[node + 1]; k++) {
        const way = this.ways[k];
        const other = this.end(way);
        const longer = reached + this.lengths[way >> 1];
        if (longer < distance[other]) {
          distance[other] = longer;
          parent[other] = way;
          heap.push(longer, other);
        }
      }
    }
    if (distance[to] === Infinity) return null;
    const ways = [];
    for (let node = to; node !== from; node = this.start(ways.at(-1))) ways.push(parent[node]);
    return ways.reverse();
  }

  kept(edge) { return this.coherence === null ? 1 : this.coherence[edge] / 65535; }

  // Carry the frame of the first point along, and write every step in it: the places of all points,
  // and the distance of the last one as seen from either end, for which only what is coherent is
  // carried over an edge, the root of it over either half, and the length of the rest is added.
  develop(ways) {
    const d = this.dim;
    let turn = Array.from({ length: d * d }, (_, i) => (i % (d + 1) ? 0 : 1));
    let place = new Array(d).fill(0);
    const places = [place];
    const seen = [new Array(d).fill(0), new Array(d).fill(0)];
    const lost = [0, 0];
    let kappa = 0;
    const carried = (turn, at, long) => Array.from({ length: d }, (_, row) => {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += turn[row * d + k] * this.steps[at + k] * long;
      return sum;
    });
    for (const way of ways) {
      const edge = way >> 1;
      const isBack = way & 1;
      const stepAt = (2 * edge + isBack) * d;
      const long = this.stepScale === null ? 1 : this.stepScale * this.lengths[edge];
      const step = carried(turn, stepAt, long);
      const next = place.map((x, row) => x + step[row]);
      const turned = new Array(d * d).fill(0);
      for (let row = 0; row < d; row++) {
        for (let column = 0; column < d; column++) {
          for (let k = 0; k < d; k++) {
            const entry = isBack ? column * d + k : k * d + column;
            turned[row * d + column] +=
              turn[row * d + k] * this.rotations[edge * d * d + entry] * this.turnScale;
          }
        }
      }
      const keep = Math.sqrt(this.kept(edge));
      const steps = [step, carried(turned, (2 * edge + 1 - isBack) * d, long)];
      for (const side of [0, 1]) {
        let reached = seen[side].map((x, row) => keep * x + steps[side][row]);
        if (side === 1 && this.curvature !== null) {
          const around = 0.5 * (this.curvature[this.start(way)] + this.curvature[this.end(way)]);
          [reached, kappa] = curve(reached, steps[1], kappa, around);
        }
        lost[side] += (1 - keep) * (Math.hypot(...seen[side]) + Math.hypot(...reached));
        seen[side] = reached.map((x) => keep * x);
      }
      turn = turned;
      place = next;
      places.push(place);
    }
    const [forward, backward] = seen.map((vector, side) => Math.hypot(...vector) + lost[side]);
    // Curvature is only known towards the first point.
    return { places, forward: this.curvature === null ? forward : backward, backward };
  }

  // The standard deviation of the distance, as kernels/spreading.py has it; null if nothing is known.
  bar(ways, places, distance) {
    if (this.tilts === null) return null;
    const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    const end = places.at(-1);
    const far = dot(end, end);
    let along = 0, turned = 0, bent = 0, long = 0, carried = 0;
    ways.forEach((way, k) => {
      const step = places[k + 1].map((x, i) => x - places[k][i]);
      const middle = places[k].map((x, i) => x + 0.5 * step[i]);
      const off = Math.max(dot(middle, middle) - (far > 0 ? dot(middle, end) ** 2 / far : 0), 0);
      along += this.tilts[way >> 1] * dot(step, step);
      turned += this.tilts[way >> 1] * off;
      bent += this.bends[way >> 1] * Math.sqrt(dot(step, step)) * off;
      long += Math.sqrt(dot(step, step));
      carried = this.kept(way >> 1) * carried + Math.sqrt(dot(step, step));
    });
    const takenOff = Math.sqrt(far) - distance;
    let onTheWay = along + turned + (0.5 * bent) ** 2;
    if (this.coherence !== null) {
      const share = long > 0 ? carried / long : 1;
      onTheWay = share ** 2 * onTheWay + (0.002 * (1 - share) * distance) ** 2;
    }
    if (this.coherence !== null && takenOff < 0) onTheWay += (0.6 * takenOff) ** 2;
    else if (this.curvature !== null) onTheWay += (0.025 * takenOff) ** 2;
    const [factor, usual, power] = this.bars;
    const longer = factor * (distance / usual) ** power;
    return ways.length ? Math.sqrt(2 * this.noise ** 2 + longer ** 2 * onTheWay) : 0;
  }

  // The same for the ways along the edges up to each point, and for the straight line between the
  // ends. Noise moves the ends along; at a bend it moves the point between two edges.
  barsAlong(places) {
    if (this.tilts === null) return { along: null, chord: null };
    const squares = [0];
    let before = null;
    for (let k = 1; k < places.length; k++) {
      const step = places[k].map((x, i) => x - places[k - 1][i]);
      const long = Math.hypot(...step) || 1;
      const way = step.map((x) => x / long);
      const bent = before ? way.reduce((sum, x, i) => sum + (x - before[i]) ** 2, 0) : 2;
      squares.push(squares.at(-1) + bent);
      before = way;
    }
    return { along: squares.map((square) => this.noise * Math.sqrt(square)), chord: this.noise * Math.sqrt(places.length > 1 ? 2 : 0) };
  }

  // Everything there is to say about the path between two points.
  unfold(from, to) {
    const n = this.first.length - 1;
    if (!(Number.isInteger(from) && Number.isInteger(to) && Math.min(from, to) >= 0 && Math.max(from, to) < n)) return null;
    const ways = this.shortest(from, to);
    if (ways === null) return null;
    const { places, forward, backward } = this.develop(ways);
    const along = [0];
    for (const way of ways) along.push(along.at(-1) + this.lengths[way >> 1]);
    const bars = this.barsAlong(places);
    const coherence = ways.length ? ways.reduce((sum, way) => sum + this.kept(way >> 1), 0) / ways.length : 1;
    return {
      nodes: [from, ...ways.map((way) => this.end(way))],
      places,
      along,
      graph: along.at(-1),
      forward,
      backward,
      distance: 0.5 * (forward + backward),
      std: this.bar(ways, places, 0.5 * (forward + backward)),
      // Of the places so far, as seen from the first.
      stds: this.tilts && places.map((place, k) => this.bar(ways.slice(0, k), places.slice(0, k + 1), Math.hypot(...place))),
      alongStds: bars.along,
      chordStd: bars.chord,
      coherence,
    };
  }
}

// Turn and shorten a vector, the sum of a step and what was seen before it, as kernels/curving.py does.
export function curve(vector, step, kappa, curvature) {
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const seen = vector.map((x, i) => x - step[i]);
  const squares = dot(seen, seen);
  if (squares <= 0) return [vector, curvature];
  const square = Math.min(Math.max(kappa * squares, -10), 6);
  let spread = (945 - (420 - 15 * square) * square) / (945 - (105 - square) * square);
  const along = dot(seen, step);
  const back = along * along / squares;
  const straight = squares + 2 * along + back;
  const across = Math.max(dot(step, step) - back, 0);
  const now = Math.max(straight + spread * across, 0);
  spread -= kappa * along / 6; // the direction turns by what it is on the way
  const turned = straight + spread * spread * across;
  const scale = turned > 0 ? Math.sqrt(now / turned) : 1;
  const share = scale * (1 + along * (1 - spread) / squares);
  const ratio = now > squares ? squares / now : 1;
  return [
    vector.map((x, i) => share * x + (scale * spread - share) * step[i]),
    curvature + (kappa - curvature) * ratio * Math.sqrt(ratio),
  ];
}

class Heap {
  constructor() { this.keys = []; this.values = []; }
  get size() { return this.keys.length; }

  push(key, value) {
    const { keys, values } = this;
    let at = keys.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (keys[above] <= key) break;
      keys[at] = keys[above];
      values[at] = values[above];
      at = above;
    }
    keys[at] = key;
    values[at] = value;
  }

  pop() {
    const { keys, values } = this;
    const least = [keys[0], values[0]];
    const key = keys.pop();
    const value = values.pop();
    const size = keys.length;
    if (size === 0) return least;
    let at = 0;
    for (let below = 1; below < size; below = 2 * at + 1) {
      if (below + 1 < size && keys[below + 1] < keys[below]) below++;
      if (keys[below] >= key) break;
      keys[at] = keys[below];
      values[at] = values[below];
      at = below;
    }
    keys[at] = key;
    values[at] = value;
    return least;
  }
}

// Turn an unfolded path so that its chord lies level; of more than two dimensions the second shown
// is the one in which the path strays farthest from its chord.
export function inPlane(places) {
  const d = places[0].length;
  const end = places.at(-1);
  const length = Math.hypot(...end);
  const axis = length > 0 ? end.map((x) => x / length) : end.map((_, i) => (i ? 0 : 1));
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const away = places.map((p) => {
    const t = dot(p, axis);
    return p.map((x, i) => x - t * axis[i]);
  });
  let side = d === 2 ? [-axis[1], axis[0]] : away.reduce((a, b) => (dot(b, b) > dot(a, a) ? b : a));
  const norm = Math.hypot(...side);
  side = norm > 0 ? side.map((x) => x / norm) : side;
  return places.map((p, i) => [dot(p, axis), dot(away[i], side)]);
}
