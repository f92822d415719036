// Depthwise convolution by rows, in which lanes multiply: a block takes some rows of the output, some columns, and some channels. Rows of the
// input stream through a ring in shared memory, brought by the copy engine; each is read once, and adds to all output rows that it is part of,
// which wait in registers until their last input row has come. A lane has some pixels side by side and some channels of each. With
// `shape::transposed` it is the gradient of the input, of stride 1. exact.cuh stands before this text.
//
// All warps multiply, and one thread of them speaks to the copy engine: a warp more would take its registers from the others. Registers of a lane:
// sums of `kept` rows of its pixels, a weight for each tap, and the pixels of a row that it reads, each times its channels.

constexpr int vector = plan::vector, own_pixels = plan::pixels;
constexpr int lanes_along = (plan::columns + own_pixels - 1) / own_pixels;   // lanes that share a row's pixels
// Lanes go along channels first, so that neighbours read what lies side by side.
using Lanes = tw::Tensor<char, tw::Packed<tw::Run<X, lanes_along, own_pixels>, tw::Run<K, channels / vector, vector>>>;
constexpr int threads = (Lanes::len + 31) / 32 * 32, warps = threads / 32;
// Columns that a lane's pixels read.
constexpr int own_reach = Across::up_times(X(own_pixels - 1) + S(shape::taps_x - 1)) + 1;

// Rows in shared memory, each from a multiple of 128 bytes on: what is read, and what leaves.
template <class T> TW_DEVICE constexpr int whole_lines(int elements) {
  constexpr int line = 128 / (int)sizeof(T);
  return (elements + line - 1) / line * line;
}
constexpr int ring_row = whole_lines<Held>(reach * channels), sent_row = whole_lines<Written>(lanes_along * own_pixels * channels);
using Ring = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, ring_row, false>, tw::Axis<X, 1, reach, channels, false>,
                                        tw::Axis<C, 1, channels, 1, false>>>;
using Sent = tw::Tensor<Written, tw::Layout<tw::Axis<Slot, 1, plan::sent, sent_row, false>,
                                           tw::Axis<X, 1, lanes_along * own_pixels, channels, false>, tw::Axis<K, 1, channels, 1, false>>>;

// Columns of the image among those that a block at the left reads: the first one, its place among them, and how many.
constexpr int first_column = shape::origin_x > 0 ? shape::origin_x : 0, first_place = first_column - shape::origin_x;
constexpr int columns_there = shape::width - first_column, places_there = reach - first_place;
constexpr int image_columns = columns_there < places_there ? columns_there : places_there;
// Where blocks have all channels and columns, a row's lie side by side in memory: then runs of bytes are copied, not boxes of pixels, of each of
// which the engine makes a piece. Columns of padding, which a box has as zeros, are zeros from the beginning.
constexpr bool in_runs = plan::blocks_k == 1 && whole_strips && plan::blocks_x == 1 && image_columns > 0;
constexpr unsigned asked_bytes = in_runs ? (unsigned)(image_columns * channels * (int)sizeof(Held)) : row_bytes;

template <int columns> TW_DEVICE void blank(Ring ring) {
  using Padding = tw::Tensor<char, tw::Packed<tw::Run<Slot, plan::slots>, tw::Run<X, columns>, tw::Run<C, channels / run, run>>>;
  TW_NO_UNROLL
  for (auto at : Padding::partition(threadIdx.x, threads)) {
    const X x = tw::along<X>(at), place = x < X(first_place) ? x : x + X(image_columns);
    tw::store(ring.at(tw::along<Slot>(at) + place + tw::along<C>(at)).address(), tw::Vector<Held, run>{});
  }
}

// What is stored of a sum.
template <class Params> TW_DEVICE Written made_of(const Params&, N, Y, X, K, float sum) { return Written(sum); }

// ---- products --------------------------------------------------------------------------------------------------------------------

using Sums = float[own_pixels][vector];

// The pixel of a lane that column `x` of what it reads meets at tap `s`, and whether there is one.
TW_DEVICE constexpr int pixel_of(int x, int s) { return floor_of<shape::down_x>(x - Across::up_times(S(s))); }
TW_DEVICE constexpr bool meets(int x, int s) {
  const int pixel = pixel_of(x, s);
  return pixel >= 0 && pixel < own_pixels && Across::up_times(X(pixel) + S(s)) == x;
}

// The weights of a lane's channels, each tap's as input rows and columns meet it, and their bias.
struct Window {
  float of[taps][shape::taps_x][vector], bias[vector];

  // Takes them from channel `first` on; where there is none, of the last one. Whether they are finite.
  TW_DEVICE bool take(const Params& p, K first) {
    float trace = 0.0f;
    TW_UNROLL
    for (int c = 0; c < vector; ++c) {
      const K k = whole_strips ? first + K(c) : tw::min(first + K(c), K(shape::channels - 1));
      TW_UNROLL
      for (int r = 0; r < taps; ++r) {
        TW_UNROLL
        for (int s = 0; s < shape::taps_x; ++s) {
          // For a gradient the window is turned round.
          const auto tap = shape::transposed ? R(taps - 1 - r) + S(shape::taps_x - 1 - s) : R(r) + S(s);
          of[r][s][c] = (float)Weights{p.weights}.at(k + tap).load();
          trace = fmaf(of[r][s][c], 0.0f, trace);
        }
      }
      bias[c] = shape::bias ? Bias{p.bias}.at(k).load() : 0.0f;
    }
    return trace == 0.0f;
  }

  // Adds the products of input row `j`, in its turn of `cycle`, of which a lane's part begins at `row`.
  TW_DEVICE void add(Sums (&sums)[kept], const Held* row, int j) const {
    tw::Vector<Held, vector> read[own_reach];
    TW_UNROLL
    for (int x = 0; x < own_reach; ++x) read[x] = tw::load<vector>(Ring{(Held*)row}.at(X(x)).address());
    TW_UNROLL
    for (int x = 0; x < own_reach; ++x) {
      float values[vector];
      TW_UNROLL
      for (int c = 0; c < vector; ++c) values[c] = (float)read[x][c];
      TW_UNROLL
      for (int s = 0; s < shape::taps_x; ++s) {
        if (!meets(x, s)) continue;
        each_output(j, [&](int o, int r) {
          float* const sum = sums[place_of(o)][pixel_of(x, s)];
          const bool first = j == first_input(o) && s == 0;
          TW_UNROLL
          for (int c = 0; c < vector; ++c) sum[c] = fmaf(values[c], of[r][s][c], first ? 0.0f : sum[c]);
        });
      }
    }
  }
};

// ---- the copy engine -------------------------------------------------------------------------------------------------------------

// The thread that speaks to it: asks for input rows as far ahead as the ring has room, over the ends of images, and sends rows that all warps
// have completed, one step after that, when none of them has to be waited for.
struct Clerk {
  const Params& p;
  Ring ring;
  Sent sent;
  Gates in, out;
  Part asked;       // the images that rows are asked for, from `line` on
  int item, line;
  Turn asking;
  bool pending;     // a row of `n` that is complete, and has not been sent
  N n;
  Y y;
  Turn sending;
  int before;       // the place whose row is under way

  TW_DEVICE void begin() {
    asking = to_fill();
    sending = to_empty();
    pending = false;
    before = -1;
    item = -1;
    turn_page();
  }
  // The next images of the block of which there are rows to be read.
  TW_DEVICE void turn_page() {
    while (++item < plan::items) {
      asked = part_of(blockIdx.x, item);
      line = asked.begin;
      if (asked.rows > 0 && line < asked.end) break;
    }
  }
  TW_DEVICE void ask() {
    if (item >= plan::items) return;
    tw::arch::Mbarrier* const full = in.full + asking.place;
    tw::arch::mbarrier_wait(in.empty + asking.place, asking.parity);
    tw::arch::mbarrier_arrive_expect_tx(full, asked_bytes);
    const Slot place(asking.place);
    const Y from = input_row(asked, line);
    if constexpr (in_runs) {
      const auto row = Input{p.x}.beyond(asked.n).at(from + X(first_column));
      tw::arch::bulk_load(ring.at(place + X(first_place)).address(), row.address(), asked_bytes, full);
    } else {
      tw::arch::box_load(ring.at(place).address(), p.in, full, asked.k.value, asked.x.value, from.value, asked.n.value);
    }
    asking.next(plan::slots);
    if (++line >= asked.end) turn_page();
  }
  TW_DEVICE void send() {
    if (!pending) return;
    pending = false;
    tw::arch::mbarrier_wait(out.full + sending.place, sending.parity);
    const Written* const row = sent.at(Slot(sending.place)).address();
    if constexpr (in_runs) {
      constexpr unsigned bytes = shape::out_width * channels * (int)sizeof(Written);
      tw::arch::bulk_store(Output{p.y}.beyond(n).at(y).address(), row, bytes);
    } else {
      tw::arch::box_store(p.out, row, asked.k.value, asked.column.value, y.value, n.value);
    }
    tw::arch::bulk_commit();
    tw::arch::bulk_wait_read<1>();
    if (before >= 0) tw::arch::mbarrier_arrive(out.empty + before);
    before = sending.place;
    sending.next(plan::sent);
  }
};

// ---- a lane ----------------------------------------------------------------------------------------------------------------------

// Whether there are output rows whose input rows all lie under the image.
constexpr int last_row = (shape::out_height - 1) / shape::phases;
constexpr bool rows_under_image =
    shape::origin_y + shape::pitch * first_input(last_row) + (shape::phases - 1) * shape::phase_pitch >= shape::height;

struct Worker {
  const Window& window;
  Clerk& clerk;
  Ring from;      // both from the lane's place on
  Sent to;
  bool stores;    // not one of those that fill up the last warp
  Part part;
  Turn reading, writing;
  Sums sums[kept];

  TW_DEVICE void begin_with(Sums& row) {
    TW_UNROLL
    for (int q = 0; q < own_pixels; ++q) {
      TW_UNROLL
      for (int c = 0; c < vector; ++c) row[q][c] = 0.0f;
    }
  }

  // Output row `o` of the block is complete, if it is one: it is rounded once, with its bias, and handed over.
  TW_DEVICE bool finish(int o, const Sums& row) {
    if (o < 0 || o >= part.rows) return false;
    tw::arch::mbarrier_wait(clerk.out.empty + writing.place, writing.parity);
    TW_UNROLL
    for (int q = 0; q < own_pixels; ++q) {
      tw::Vector<Written, vector> made;
      TW_UNROLL
      for (int c = 0; c < vector; ++c) made[c] = Written(shape::bias ? row[q][c] + window.bias[c] : row[q][c]);
      if (stores) tw::store(to.at(Slot(writing.place) + X(q)).address(), made);
    }
    return true;
  }

  // Step `step`, which is row `s` of the cycle that begins with input row `base`.
  TW_DEVICE void take(int step, int base, int s) {
    const bool inside = step >= part.begin && step < part.end;
    if (inside) {
      tw::arch::mbarrier_wait(clerk.in.full + reading.place, reading.parity);
      window.add(sums, from.at(Slot(reading.place)).address(), s);
    }
    if (threadIdx.x == 0) {
      if (inside) clerk.ask();
      clerk.send();
    }
    bool complete = false;
    int row = 0;
    TW_UNROLL
    for (int i = 0; i < kept; ++i) {
      const int o = first_output(s) + i;
      if (o > last_output(s)) continue;
      if (rows_under_image && step >= part.end && first_input(o) >= s) begin_with(sums[place_of(o)]);
      if (completes(s, o)) {
        row = base / down + o;
        complete = finish(row, sums[place_of(o)]);
      }
    }
    // What was read may be overwritten, and what was written may be sent: both by the copy engine.
    tw::arch::fence_proxy_async();
    __syncwarp();
    if (tw::arch::lane() == 0) {
      if (inside) tw::arch::mbarrier_arrive(clerk.in.empty + reading.place);
      if (complete) tw::arch::mbarrier_arrive(clerk.out.full + writing.place);
    }
    if (inside) reading.next(plan::slots);
    if (complete) {
      writing.next(plan::sent);
      clerk.pending = true;
      clerk.n = part.n;
      clerk.y = output_row(part, row);
    }
  }

  TW_DEVICE void images(const Part& next) {
    part = next;
    // What rows above the image leave of sums.
    TW_UNROLL
    for (int place = 0; place < kept; ++place) begin_with(sums[place]);
    for (int base = 0; base < part.steps; base += cycle) {
      TW_UNROLL
      for (int s = 0; s < cycle; ++s) {
        if (base + s < part.steps) take(base + s, base, s);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(threads, plan::resident) conv2d_depthwise(const __grid_constant__ Params p) {
  static_assert(up == 1 && shape::live_phase < 0, "where a stride is undone the row kernel goes on");
  tw::Shared shared;
  const Ring ring = shared.take<Ring>();
  const Sent sent = shared.take<Sent>();
  tw::arch::Mbarrier* const barriers = (tw::arch::Mbarrier*)(tw::shared_memory() + shared.taken);
  const Gates in{barriers, barriers + plan::slots}, out{in.empty + plan::slots, in.empty + plan::slots + plan::sent};
  int* const not_finite = (int*)(out.empty + plan::sent);

  Clerk clerk{p, ring, sent, in, out};
  clerk.begin();
  if (threadIdx.x == 0) {
    tw::arch::prefetch_map(p.in);
    tw::arch::prefetch_map(p.out);
    *not_finite = 0;
    for (int i = 0; i < plan::slots; ++i) {
      tw::arch::mbarrier_init(in.full + i, 1);
      tw::arch::mbarrier_init(in.empty + i, warps);
    }
    for (int i = 0; i < plan::sent; ++i) {
      tw::arch::mbarrier_init(out.full + i, warps);
      tw::arch::mbarrier_init(out.empty + i, 1);
    }
    tw::arch::fence_barrier_init();
  }
  tw::arch::take_turn();
  if (threadIdx.x == 0) {
    TW_NO_UNROLL
    for (int i = 0; i + 1 < plan::slots; ++i) clerk.ask();
  }
  const auto own = Lanes::coords_of(threadIdx.x);
  const X column = tw::along<X>(own);
  const K k = tw::along<K>(own);
  Window window;
  const bool finite = window.take(p, clerk.asked.k + k);
  if constexpr (in_runs && reach > image_columns) blank<reach - image_columns>(ring);
  __syncthreads();
  if (shape::zeros && !finite) *not_finite = 1;
  Worker worker{window, clerk, {ring.at(Across::whole(Across::up_times(column)) + k.cast<C>()).address()},
                {sent.at(column + k).address()}, threadIdx.x < Lanes::len, {}, to_empty(), to_fill(), {}};
  for (int item = 0; item < plan::items; ++item) {
    const Part next = part_of(blockIdx.x, item);
    if (next.rows > 0) worker.images(next);
  }
  if (threadIdx.x == 0) {
    clerk.send();
    tw::arch::bulk_wait_read<0>();
  }
  if constexpr (shape::zeros) {
    __syncthreads();
    if (*not_finite == 0) return;
    // What is mended then has to be there.
    if (threadIdx.x == 0) tw::arch::bulk_wait<0>();
    __syncthreads();
    mend<threads>(p);
  }
}
