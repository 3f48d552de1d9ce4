// Shortest paths from batches of sources, and their unfolding: one block of threads a batch.
//
// LANES sources go together: 32 neighbours, whose shortest paths are nearly the same, one lane of a
// warp each; or a single one. DIM is the dimension of the tangent spaces. With BOTH, distances are
// the means of both directions; else they are those towards the source. With PARTLY, only the share
// `kept` is carried over an edge, its root over either half, and the length of the rest adds up. With
// CURVED, paths are unfolded with curvature, as in kernels/curving.py. No distance is below that
// between the points, which have AXES coordinates. The graph must be connected by edges longer than
// rounding. A block has THREADS threads, and a multiprocessor holds at
// least BLOCKS blocks.

typedef unsigned long long u64;

#define FULL 0xffffffffu
#define FAR 0x7f800000  // the bits of an infinite float
#define FARTHEST 0x7ff0000000000000ull  // and of an infinite double
#define NO_PARENT 65535

#if LANES == 32
#define ANY(x) __any_sync(FULL, x)
#define BALLOT(x) __ballot_sync(FULL, x)
#define SYNC_LANES() __syncwarp()
#define FIRST(x) __shfl_sync(FULL, x, 0)
#else
#define ANY(x) (x)
#define BALLOT(x) ((x) ? 1u : 0u)
#define SYNC_LANES()
#define FIRST(x) (x)
#endif
#define TOGETHER 4  // edges whose loads are under way at the same time

// What other threads write is read past the cache of the multiprocessor, where it may be stale.
__device__ inline double label_at(const u64* labels, long long place) {
  return __longlong_as_double((long long)__ldcg(labels + place));
}

__device__ inline float length_of(const float* vector) {
  float total = 0;
  for (int k = 0; k < DIM; k++) total += vector[k] * vector[k];
  return sqrtf(total);
}

#if CURVED
// Turn and shorten a vector, the sum of a step and what was seen before it, of the curvature kappa;
// returns the new one.
__device__ inline float curve(float* vector, const float* step, float kappa, float curvature) {
  float squares = 0, along = 0, whole = 0;
  for (int k = 0; k < DIM; k++) {
    const float seen = vector[k] - step[k];
    squares += seen * seen;
    along += seen * step[k];
    whole += step[k] * step[k];
  }
  if (squares <= 0) return curvature;
  const float square = fminf(fmaxf(kappa * squares, -10.0f), 6.0f);
  float spread = (945 - (420 - 15 * square) * square) / (945 - (105 - square) * square);
  const float back = along * along / squares;
  const float straight = squares + 2 * along + back;
  const float across = fmaxf(whole - back, 0.0f);
  const float now = fmaxf(straight + spread * across, 0.0f);
  spread -= kappa * along / 6;
  const float turned = straight + spread * spread * across;
  const float scale = turned > 0 ? sqrtf(now / turned) : 1;
  const float share = scale * (1 + along * (1 - spread) / squares);
  for (int k = 0; k < DIM; k++) vector[k] = share * vector[k] + (scale * spread - share) * step[k];
  const float ratio = now > squares ? squares / now : 1;
  return curvature + (kappa - curvature) * ratio * sqrtf(ratio);
}
#endif

// The workspace of a block, cut from one piece of memory; `bytes_of_workspace` in Python agrees.
struct Space {
  u64* labels;             // (n, LANES): bits of doubles, which order as they do
  float* vectors;          // (n, DIM, LANES): the source as seen from the node; where labels were
  float* outward;          // (n, DIM, LANES): the node as seen from the source
  float* turns;            // (n, DIM, DIM, LANES): from the frame of the node to that of the source
  float* lost;             // (n, LANES): lengths that were not carried on, towards the source
  float* lost_outward;     // (n, LANES): and away from it
  float* kappa;            // (n, LANES): the curvature on the way, with CURVED
  unsigned short* parents; // (n, LANES): the next node, as its place in the list of neighbours
  int* keys;               // (n,): bits of the least label that a node was given since its visit
  int* waiting;            // (n,): whether a node is on the list
  unsigned* ready;         // (n,): the lanes that are unfolded
  int* list;               // (n,): nodes to visit
  int* next;               // (n,): nodes to visit after them
  int* chosen;             // (n,): nodes visited in this round
  int* visits;             // (most_visits,)
  int* rounds;             // (most_rounds + 1,): where each round begins in the visits
};

__device__ inline Space space_at(char* start, long long n, int most_visits, int most_rounds) {
  Space space;
  const long long pad = 255;
#define TAKE(name, type, count) \
  space.name = (type)start; \
  start += ((long long)(count) * sizeof(*space.name) + pad) & ~pad;
  const long long wide = 8 > 4 * DIM ? 8 : 4 * DIM;
  space.vectors = (float*)start;
  space.labels = (u64*)start;
  start += (n * LANES * wide + pad) & ~pad;
#if BOTH
  TAKE(outward, float*, n * LANES * DIM)
  TAKE(turns, float*, n * LANES * DIM * DIM)
#endif
#if PARTLY
  TAKE(lost, float*, n * LANES)
#if BOTH
  TAKE(lost_outward, float*, n * LANES)
#endif
#endif
#if CURVED
  TAKE(kappa, float*, n * LANES)
#endif
  TAKE(parents, unsigned short*, n * LANES)
  TAKE(keys, int*, n)
  TAKE(waiting, int*, n)
  TAKE(ready, unsigned*, n)
  TAKE(list, int*, n)
  TAKE(next, int*, n)
  TAKE(chosen, int*, n)
  TAKE(visits, int*, most_visits)
  TAKE(rounds, int*, most_rounds + 1)
  return space;
}

// Offer the label of a node, with the edge, to all its neighbours, and list those that take it.
__device__ inline void relax(
    const Space& space, const int node, const double own, const int begin, const int end,
    const int* __restrict__ heads, const double* __restrict__ lengths, const int lane, int* next,
    int* n_next) {
#if LANES == 32
  // Each lane reads an edge for all of them, and in the end lists its head.
  for (int first = begin; first < end; first += 32) {
    const int count = min(32, end - first);
    const int head = lane < count ? heads[first + lane] : node;
    const double length = lane < count ? lengths[first + lane] : 0;
    unsigned key = FAR;
    for (int edge = 0; edge < count; edge += TOGETHER) {
      double found[TOGETHER];
      long long place[TOGETHER];
      bool is_better[TOGETHER];
#pragma unroll
      for (int k = 0; k < TOGETHER; k++) {
        // Beyond the last edge it is the node itself, which gains nothing.
        place[k] = (long long)__shfl_sync(FULL, head, (edge + k) & 31) * 32 + lane;
        found[k] = own + __shfl_sync(FULL, length, (edge + k) & 31);
      }
#pragma unroll
      for (int k = 0; k < TOGETHER; k++) is_better[k] = found[k] < label_at(space.labels, place[k]);
#pragma unroll
      for (int k = 0; k < TOGETHER; k++) {
        if (!ANY(is_better[k])) continue;
        if (is_better[k]) atomicMin(space.labels + place[k], (u64)__double_as_longlong(found[k]));
        const unsigned bits = is_better[k] ? __float_as_uint(__double2float_rd(found[k])) : FAR;
        const unsigned least = __reduce_min_sync(FULL, bits);
        if (lane == edge + k) key = least;
      }
    }
    // Labels first, so that who takes a node from the list sees them.
    __threadfence_block();
    __syncwarp();
    bool is_new = false;
    if (key < FAR) {
      atomicMin(space.keys + head, (int)key);
      is_new = atomicExch(space.waiting + head, 1) == 0;
    }
    const unsigned all_new = __ballot_sync(FULL, is_new);
    int start = 0;
    if (lane == 0 && all_new) start = atomicAdd(n_next, __popc(all_new));
    start = __shfl_sync(FULL, start, 0);
    if (is_new) next[start + __popc(all_new & ((1u << lane) - 1))] = head;
  }
#else
  for (int edge = begin; edge < end; edge += TOGETHER) {
    double found[TOGETHER];
    int to[TOGETHER];
    bool is_better[TOGETHER];
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      const int one = min(edge + k, end - 1);  // the last one again does no harm
      to[k] = heads[one];
      found[k] = own + lengths[one];
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      is_better[k] = found[k] < label_at(space.labels, to[k]);
      if (is_better[k]) atomicMin(space.labels + to[k], (u64)__double_as_longlong(found[k]));
    }
    __threadfence_block();
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      if (!is_better[k]) continue;
      atomicMin(space.keys + to[k], __float_as_int(__double2float_rd(found[k])));
      if (atomicExch(space.waiting + to[k], 1) == 0) next[atomicAdd(n_next, 1)] = to[k];
    }
  }
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) batches(
    const int n, const int* __restrict__ indptr, const int* __restrict__ heads,
    const double* __restrict__ lengths, const int* __restrict__ reverse,
    const float* __restrict__ rotations, const float* __restrict__ steps,
    const float* __restrict__ kept, const float* __restrict__ points,
    const float* __restrict__ curvature, const int* __restrict__ sources, const int* __restrict__ targets, const int n_sources,
    const float width, char* spaces, const long long bytes, const int most_visits,
    const int most_rounds, float* rows, int* trouble) {
  const int thread = threadIdx.x, n_threads = blockDim.x;
  const int lane = thread % LANES, group = thread / LANES, n_groups = n_threads / LANES;
  __shared__ int n_waiting, n_next, n_chosen, n_visits, n_rounds, least_key, n_unfolded, before;
#if LANES == 32
  __shared__ float tile[32][33];
#endif
  const int n_batches = (n_sources + LANES - 1) / LANES;
  const Space space = space_at(spaces + blockIdx.x * bytes, n, most_visits, most_rounds);

  for (int batch = blockIdx.x; batch < n_batches; batch += gridDim.x) {
    // Start: nothing is known but the sources.
    for (long long i = thread; i < (long long)n * LANES; i += n_threads) space.labels[i] = FARTHEST;
    for (int i = thread; i < n; i += n_threads) {
      space.keys[i] = FAR;
      space.waiting[i] = 0;
      space.ready[i] = 0;
    }
    if (thread == 0) n_waiting = n_visits = n_rounds = 0;
    __syncthreads();
    if (thread < LANES) {
      const int source = sources[min(batch * LANES + thread, n_sources - 1)];
      space.labels[(long long)source * LANES + thread] = 0;
      space.keys[source] = 0;
      if (atomicExch(space.waiting + source, 1) == 0) space.list[atomicAdd(&n_waiting, 1)] = source;
    }
    __syncthreads();

    // Labels are corrected until nothing improves; those near the least one come first.
    int *list = space.list, *next = space.next;
    while (n_waiting > 0) {
      if (thread == 0) {
        least_key = FAR;
        n_next = n_chosen = 0;
      }
      __syncthreads();
      int mine = FAR;
      for (int i = thread; i < n_waiting; i += n_threads) mine = min(mine, __ldcg(space.keys + list[i]));
      atomicMin(&least_key, mine);
      __syncthreads();
      const float limit = __int_as_float(least_key) + width;
      for (int i = thread; i < n_waiting; i += n_threads) {
        const int node = list[i];
        if (__int_as_float(__ldcg(space.keys + node)) <= limit) {
          space.chosen[atomicAdd(&n_chosen, 1)] = node;
          space.keys[node] = FAR;
          space.waiting[node] = 0;
        } else {
          next[atomicAdd(&n_next, 1)] = node;
        }
      }
      __threadfence_block();
      __syncthreads();
      const int start = n_visits;
      if (thread == 0 && n_rounds <= most_rounds) space.rounds[n_rounds] = min(start, most_visits);
      for (int i = thread; i < n_chosen; i += n_threads) {
        if (start + i < most_visits) space.visits[start + i] = space.chosen[i];
      }
      for (int i = group; i < n_chosen; i += n_groups) {
        const int node = space.chosen[i];
        const double own = label_at(space.labels, (long long)node * LANES + lane);
        relax(space, node, own, indptr[node], indptr[node + 1], heads, lengths, lane, next, &n_next);
      }
      __threadfence_block();
      __syncthreads();
      if (thread == 0) {
        n_waiting = n_next;
        n_visits = min(start + n_chosen, most_visits);
        n_rounds = min(n_rounds + 1, most_rounds);
        space.rounds[n_rounds] = n_visits;
      }
      int* const swap = list;
      list = next;
      next = swap;
      __syncthreads();
    }

    // The parent is the neighbour that the label came from.
    for (int node = group; node < n; node += n_groups) {
      double best = __longlong_as_double((long long)FARTHEST);
      int parent = NO_PARENT;
      const int begin = indptr[node], end = indptr[node + 1];
#pragma unroll 4
      for (int edge = begin; edge < end; edge++) {
        const double found = label_at(space.labels, (long long)heads[edge] * LANES + lane) + lengths[edge];
        if (found < best) {
          best = found;
          parent = edge - begin;
        }
      }
      space.parents[(long long)node * LANES + lane] = parent;
      const unsigned lost = BALLOT(parent == NO_PARENT);
      if (lane == 0) space.ready[node] = lost;  // nothing to unfold there
    }
    __threadfence_block();
    __syncthreads();

    // Unfold: the step to the parent, and what the parent sees turned into the frame of the node.
    if (thread < LANES) {
      const int source = sources[min(batch * LANES + thread, n_sources - 1)];
      for (int row = 0; row < DIM; row++) {
        space.vectors[((long long)source * DIM + row) * LANES + thread] = 0;
#if BOTH
        space.outward[((long long)source * DIM + row) * LANES + thread] = 0;
        for (int column = 0; column < DIM; column++)
          space.turns[(((long long)source * DIM + row) * DIM + column) * LANES + thread] = row == column;
#endif
      }
#if CURVED
      space.kappa[(long long)source * LANES + thread] = 0;
#endif
#if PARTLY
      space.lost[(long long)source * LANES + thread] = 0;
#if BOTH
      space.lost_outward[(long long)source * LANES + thread] = 0;
#endif
#endif
      atomicOr(space.ready + source, 1u << thread);
      space.parents[(long long)source * LANES + thread] = 0;
    }
    if (thread == 0) before = -1;
    __threadfence_block();
    __syncthreads();
    const unsigned all = LANES == 32 ? FULL : 1u;
    // Round by round, and then over all nodes: of parents that tie, one may have come later.
    for (int round = 0;; round++) {
      const bool is_visit = round < n_rounds;
      const int from = is_visit ? space.rounds[round] : 0;
      const int count = is_visit ? space.rounds[round + 1] - from : n;
      // Again as long as it helps: a parent may have been visited in the same round. With one lane
      // that is rare, and left for the end.
      bool is_better = true;
      while (is_better) {
        is_better = false;
        for (int i = group; i < count; i += n_groups) {
          const int node = is_visit ? space.visits[from + i] : i;
          const unsigned done = FIRST(__ldcg(space.ready + node));
          if (done == all) continue;
          bool is_ready = false;
          if (!(done >> lane & 1)) {
            const int edge = indptr[node] + space.parents[(long long)node * LANES + lane];
            const int parent = heads[edge];
            is_ready = __ldcg(space.ready + parent) >> lane & 1;
            if (is_ready) {
              __threadfence_block();  // its vector is read after that
              float seen[DIM];
              for (int k = 0; k < DIM; k++)
                seen[k] = __ldcg(space.vectors + ((long long)parent * DIM + k) * LANES + lane);
#if PARTLY
              const float keep = sqrtf(kept[edge]);
              float left = length_of(seen);
              for (int k = 0; k < DIM; k++) seen[k] *= keep;
#else
              const float keep = 1;
#endif
              float own[DIM];
              for (int row = 0; row < DIM; row++) {
                own[row] = steps[(long long)edge * DIM + row];
                for (int k = 0; k < DIM; k++)
                  own[row] += rotations[((long long)edge * DIM + row) * DIM + k] * seen[k];
              }
#if CURVED
              const float around = 0.5f * (curvature[node] + curvature[parent]);
              const float seen_kappa = __ldcg(space.kappa + (long long)parent * LANES + lane);
              __stcg(space.kappa + (long long)node * LANES + lane,
                     curve(own, steps + (long long)edge * DIM, seen_kappa, around));
#endif
              for (int row = 0; row < DIM; row++)
                __stcg(space.vectors + ((long long)node * DIM + row) * LANES + lane, keep * own[row]);
#if PARTLY
              left += length_of(own);
              __stcg(space.lost + (long long)node * LANES + lane,
                     __ldcg(space.lost + (long long)parent * LANES + lane) + (1 - keep) * left);
#endif
#if BOTH
              const long long forth = reverse[edge];
              for (int k = 0; k < DIM; k++)
                seen[k] = __ldcg(space.outward + ((long long)parent * DIM + k) * LANES + lane);
#if PARTLY
              left = length_of(seen);
              for (int k = 0; k < DIM; k++) seen[k] *= keep;
#endif
              for (int row = 0; row < DIM; row++) {
                own[row] = seen[row];
                float turn[DIM];
                for (int k = 0; k < DIM; k++) {
                  turn[k] = __ldcg(space.turns + (((long long)parent * DIM + row) * DIM + k) * LANES + lane);
                  own[row] += turn[k] * steps[forth * DIM + k];
                }
                __stcg(space.outward + ((long long)node * DIM + row) * LANES + lane, keep * own[row]);
                for (int column = 0; column < DIM; column++) {
                  float total = 0;
                  for (int k = 0; k < DIM; k++) total += turn[k] * rotations[(forth * DIM + k) * DIM + column];
                  __stcg(space.turns + (((long long)node * DIM + row) * DIM + column) * LANES + lane, total);
                }
              }
#if PARTLY
              left += length_of(own);
              __stcg(space.lost_outward + (long long)node * LANES + lane,
                     __ldcg(space.lost_outward + (long long)parent * LANES + lane) + (1 - keep) * left);
#endif
#endif
            }
          }
          const unsigned found = BALLOT(is_ready);
          __threadfence_block();
          SYNC_LANES();
          if (lane == 0 && found) atomicOr(space.ready + node, found);
          if (found) is_better = true;
        }
        __threadfence_block();
        is_better = __syncthreads_or(is_better) && is_visit && LANES > 1;
      }
      if (!is_visit || round + 1 == n_rounds) {
        if (thread == 0) n_unfolded = 0;
        __syncthreads();
        int mine = 0;
        for (int i = thread; i < n; i += n_threads) mine += __popc(__ldcg(space.ready + i) & all);
        atomicAdd(&n_unfolded, mine);
        __syncthreads();
        const bool is_stuck = n_unfolded == before;
        const bool is_done = n_unfolded == n * LANES || is_stuck;
        __syncthreads();
        if (thread == 0) {
          if (is_stuck && n_unfolded < n * LANES) *trouble = 1;
          before = n_unfolded;
        }
        __syncthreads();
        if (is_done) break;
      }
    }

    // Lengths, by rows.
    const long long first = (long long)batch * LANES;
#if LANES == 32
    for (int left = 0; left < n; left += 32) {
      for (int i = group; i < 32; i += n_groups) {
        const int node = left + i;
        if (node >= n) continue;
#else
    for (int node = thread; node < n; node += n_threads) {
#endif
        float seen[DIM];
        for (int row = 0; row < DIM; row++)
          seen[row] = __ldcg(space.vectors + ((long long)node * DIM + row) * LANES + lane);
        float length = length_of(seen);
#if PARTLY
        length += __ldcg(space.lost + (long long)node * LANES + lane);
#endif
#if BOTH
        for (int row = 0; row < DIM; row++)
          seen[row] = __ldcg(space.outward + ((long long)node * DIM + row) * LANES + lane);
        float away = length_of(seen);
#if PARTLY
        away += __ldcg(space.lost_outward + (long long)node * LANES + lane);
#endif
#endif
#if AXES
        const int from = sources[min(batch * LANES + lane, n_sources - 1)];
        float chord = 0;
        for (int axis = 0; axis < AXES; axis++) {
          const float apart = points[(long long)node * AXES + axis] - points[(long long)from * AXES + axis];
          chord += apart * apart;
        }
        chord = sqrtf(chord);
        if (length < chord) length = chord;
#if BOTH
        if (away < chord) away = chord;
#endif
#endif
#if BOTH
        length = 0.5f * (length + away);
#endif
        if (space.parents[(long long)node * LANES + lane] == NO_PARENT) length = __int_as_float(FAR);
#if LANES == 32
        tile[lane][i] = length;
      }
      __syncthreads();
      for (int i = group; i < 32; i += n_groups) {
        if (first + i < n_sources && left + lane < n)
          rows[(long long)targets[first + i] * n + left + lane] = tile[i][lane];
      }
      __syncthreads();
    }
#else
        rows[(long long)targets[first] * n + node] = length;
    }
#endif
    __syncthreads();
  }
}
