// 2-D convolution with groups, by rows: a block takes some rows of the output, some columns of some images, and some strips of 8
// channels. Rows of the input stream through a ring in shared memory, each is read once, and adds to all output rows that it is part
// of, which wait in registers until their last input row has come; rows outside the image are left out. With `shape::transposed` it is
// the gradient of the input. layouts.cuh, fused.cuh and exact.cuh stand before this text.
//
// Warps have roles: one brings rows into the ring, one sends whole rows to memory where a configuration says so, the others multiply.
// They meet at barriers in shared memory only, each place of a ring for itself.

struct Params {
  tw::TensorMap in, out;
  const Held* x;
  const Held* weights;
  const float* bias;
  Written* y;
  epilogue_Params epilogue;
};

using Sum = tw::FragmentC<Pixel, K, 16, 8>;
using Left = tw::FragmentA<Element, Pixel, Depth, 16, 2 * run>;
using Right = tw::FragmentB<Element, Depth, K, 2 * run, 8>;
using LeftHalf = tw::FragmentA<Element, Pixel, Depth, 16, run>;
using RightHalf = tw::FragmentB<Element, Depth, K, run, 8>;

// ---- a block's part --------------------------------------------------------------------------------------------------------------

// What a block computes, for its first images; those that follow take the same.
struct Part {
  N n;              // first image
  int phase, first; // output rows: those of one phase, every `phases`-th, from the phase's row `first` on
  int rows;
  X column;         // first output column
  K k;              // first channel
  Y y;              // first input row and column
  X x;
  int steps;        // of input rows; those from `begin` to `end` have rows inside the image
  int begin, end;
  bool live;        // whether any input row meets these output rows
};

TW_DEVICE Part part_of(int number) {
  const auto block = Blocks::coords_of(number);
  Part part;
  part.n = N(block.template get<N>());
  part.phase = block.template get<Y>() % shape::phases;
  part.first = block.template get<Y>() / shape::phases * plan::rows;
  const int all_rows = (shape::out_height - part.phase + shape::phases - 1) / shape::phases;
  part.rows = tw::minimum(plan::rows, all_rows - part.first);
  part.live = shape::live_phase < 0 || part.phase == shape::live_phase;
  part.column = X(block.template get<X>());
  part.k = K(block.template get<K>());
  part.y = Y(shape::pitch * down * part.first / up + part.phase * shape::phase_pitch + shape::origin_y);
  part.x = X(block.template get<X>() * shape::down_x / shape::up_x + shape::origin_x);
  const int lines = part.live && part.rows > 0 ? floor_of(down * (part.rows - 1) + window - 1 - shift, up) + 1 : 0;
  part.steps = (lines + plan::step - 1) / plan::step;
  const int above = tw::maximum(ceil_of(-part.y.value, shape::pitch), 0);
  const int below = tw::minimum(floor_of(shape::height - 1 - part.y.value, shape::pitch) + 1, lines);
  part.begin = above / plan::step;
  part.end = (below + plan::step - 1) / plan::step;
  return part;
}

// Whether there are output rows whose input rows all lie under the image.
constexpr int last_row = (shape::out_height - 1) / shape::phases;
constexpr bool rows_under_image =
    shape::origin_y + shape::pitch * first_input(last_row) + (shape::phases - 1) * shape::phase_pitch >= shape::height;

// The first of a block's images in its turn `item`, and whether there are any.
TW_DEVICE N images_of(const Part& part, int item) { return part.n + N(item * plan::images); }
TW_DEVICE bool there(N n) { return n.value < shape::images; }

// Places of a ring in shared memory: one side fills them in turn, the other one empties them.
struct Turn {
  int place, parity;
  TW_DEVICE void next(int places) {
    if (++place == places) place = 0, parity ^= 1;
  }
};
TW_DEVICE Turn to_fill() { return {0, 1}; }
TW_DEVICE Turn to_empty() { return {0, 0}; }
struct Gates {
  tw::arch::Mbarrier *full, *empty;
};

// ---- weights ---------------------------------------------------------------------------------------------------------------------

constexpr bool whole_strips = shape::channels % channels == 0;
TW_DEVICE int within(int channel) { return whole_strips ? channel : tw::minimum(channel, shape::channels - 1); }
// Weights that follow one another along what is summed up stand side by side.
constexpr bool side_by_side = !shape::transposed && shape::group % 2 == 0 && sizeof(Held) == 2;

// Of a row's weights for a strip, the part that begins at the row's cell number `cell`; zero between groups and where there are no
// channels. Every load takes place, so that none waits for another.
template <class Fragment> TW_DEVICE void take(Fragment& to, Weights w, R r, int cell, K strip) {
  constexpr int together = side_by_side ? 2 : 1;
  const int own = strip.value / strip_depth * strip_depth;   // the first channel that the strip reads
  TW_UNROLL
  for (int i = 0; i < Fragment::elements; i += together) {
    const auto at = Fragment::coords(tw::arch::lane(), i);
    const int depth = at.template get<Depth>() + cell * run, c = depth % strip_depth, k = at.template get<K>();
    const S s(depth / strip_depth);
    const Held* from;
    if constexpr (shape::transposed) {
      from = w.at(K(within(own + c)) + R(shape::taps_y - 1 - r.value) + S(shape::taps_x - 1 - s.value) +
                  C(within(strip.value + k) % shape::group)).address();
    } else {
      from = w.at(K(within(strip.value + k)) + r + s + C(c % shape::group)).address();
    }
    const auto values = tw::load<together>(from);
    const bool same_group = shape::group >= 8 || c / shape::group == k / shape::group;
    const bool inside = whole_strips || (own + c < shape::channels && strip.value + k < shape::channels);
    TW_UNROLL
    for (int e = 0; e < together; ++e) to.set(i + e, same_group && inside ? (Element)values[e] : Element(0.0f));
  }
}

// A warp's operands that stay: weights of its strips, and what sums begin with.
struct Weighing {
  Right of[strips][taps][pairs > 0 ? pairs : 1];
  RightHalf last[strips][taps];
  Right both[strips][taps];
  Sum start[strips];

  TW_DEVICE void take_all(const Params& p, K first) {
    const Weights w{p.weights};
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      const K k = first + K(8 * strip);
      TW_UNROLL
      for (int r = 0; r < taps; ++r) {
        TW_UNROLL
        for (int pair = 0; pair < pairs; ++pair) take(of[strip][r][pair], w, R(r), 2 * pair, k);
        if constexpr (odd) take(last[strip][r], w, R(r), cells_of_row - 1, k);
      }
      if constexpr (tall) {
        TW_UNROLL
        for (int r = 0; r + 1 < taps; ++r) {
          both[strip][r].bits[0] = last[strip][r].bits[0];
          both[strip][r].bits[1] = last[strip][r + 1].bits[0];
        }
      }
      TW_UNROLL
      for (int i = 0; i < Sum::elements; ++i) {
        const int channel = k.value + Sum::Map::column(tw::arch::lane(), i);
        start[strip].values[i] = shape::bias && channel < shape::channels ? p.bias[channel] : 0.0f;
      }
    }
  }
};

// ---- input rows ------------------------------------------------------------------------------------------------------------------

// A left operand whose rows, of which this lane names one, begin there.
template <class Fragment, class Rows> TW_DEVICE Fragment read(Rows row) {
  Fragment left;
  tw::arch::ldmatrix<Fragment::registers, false>(left.bits, row);
  if constexpr (sizeof(Held) == 4) {
    TW_UNROLL
    for (int i = 0; i < Fragment::registers; ++i) left.bits[i] = Element(__uint_as_float(left.bits[i])).bits;
  }
  return left;
}

// Where this lane's rows of 16 bytes begin in a row of the ring, in bytes: for two cells of a window's row side by side, and for the one that is
// left over (the next row's too, where rows are paired). They are the same for every row.
struct Reader {
  Ring ring;
  const Held* zeros;
  int two[tiles][strips][pairs > 0 ? pairs : 1], one[tiles][strips];

  TW_DEVICE void prepare(Pixel first_pixel, K first_strip) {
    const int lane = tw::arch::lane();
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      const auto at = Places::coords_of(first_pixel.value + 16 * tile + lane % 16);
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        const K k = first_strip + K(8 * strip);
        TW_UNROLL
        for (int pair = 0; pair < pairs; ++pair) two[tile][strip][pair] = offset(at, Y(0), 2 * pair + lane / 16, k);
        one[tile][strip] = offset(at, Y(tall ? lane / 16 : 0), cells_of_row - 1, k);
      }
    }
  }
  TW_DEVICE const Held* row(Slot slot, Y y, int offset) const {
    return shape::up_x > 1 && offset < 0 ? zeros : (const Held*)((const char*)ring.at(slot + y).address() + offset);
  }

 private:
  // Of a pixel, a cell of the window's row; less than nothing where a stride is undone and no column is read.
  template <class At> TW_DEVICE static int offset(At at, Y y, int cell, K strip) {
    const int tap = cell / cells;
    const int column = at.template get<X>() * shape::down_x + tap * shape::spread_x - shape::shift_x;
    if (shape::up_x > 1 && column % shape::up_x != 0) return -1;
    const C channel(strip.value / strip_depth * strip_depth + cell % cells * run);
    return (int)sizeof(Held) * (Ring::offset(y) + Row::offset(N(at.template get<N>()) + X(column / shape::up_x) + channel));
  }
};

// Threads copy asynchronously from 4 bytes on.
constexpr bool asynchronous = shape::vector * sizeof(Held) >= 4;

// Brings one input row of a block's images into the ring: by one thread and the copy engine, or by a warp.
TW_DEVICE void fetch(const Params& p, Ring ring, Slot slot, Y line, N n, Y y, X x, C c, tw::arch::Mbarrier* full) {
  if constexpr (plan::bulk) {
    tw::arch::box_load(ring.at(slot + line).address(), p.in, full, c.value, x.value, y.value, n.value);
    return;
  }
  constexpr int part = shape::vector;
  using Parts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, reach>, tw::Run<C, channels / part, part>>>;
  const Input from{p.x + (long long)n.value * Input::len / plan::images};
  const Row row{ring.at(slot + line).address()};
  for (auto at : Parts::partition(tw::arch::lane(), 32)) {
    const auto source = at + x + c + y;
    const bool inside = from.contains(source) && n.value + at.template get<N>() < shape::images;
    if constexpr (asynchronous) {
      constexpr int bytes = part * (int)sizeof(Held);
      tw::arch::copy_async<bytes>(row.at(at).address(), inside ? from.at(source).address() : p.x, inside ? bytes : 0);
    } else {
      *row.at(at) = inside ? from.at(source).load() : Held(0.0f);
    }
  }
}

// The warp that brings rows: as far ahead as the ring has room, over the ends of images.
TW_DEVICE void bring(const Params& p, Ring ring, const Part& part, Gates gates) {
  if (plan::bulk && tw::arch::lane() != 0) return;
  Turn turn = to_fill();
  for (int item = 0; item < plan::items && there(images_of(part, item)); ++item) {
    for (int step = part.begin; step < part.end; ++step) {
      tw::arch::Mbarrier* const full = gates.full + turn.place;
      tw::arch::mbarrier_wait(gates.empty + turn.place, turn.parity);
      if (plan::bulk) tw::arch::mbarrier_arrive_expect_tx(full, plan::step * row_bytes);
      for (int line = 0; line < plan::step; ++line) {
        const Y y(part.y.value + (step * plan::step + line) * shape::pitch);
        fetch(p, ring, Slot(turn.place), Y(line), images_of(part, item), y, part.x, C(part.k.value), full);
      }
      if (!plan::bulk && asynchronous) tw::arch::copy_async_arrive(full);
      if (!plan::bulk && !asynchronous) tw::arch::mbarrier_arrive(full);
      turn.next(plan::slots);
    }
  }
}

// ---- output rows -----------------------------------------------------------------------------------------------------------------

// Whether matrices go to shared memory by one instruction.
constexpr bool by_matrices = sizeof(Written) == 2 && plan::bulk;

// What a lane stores of each row: from where, and to where in the block's first row, if there is such a place.
struct Goal {
  const Written* from;
  Written* to;
  bool inside;
};
constexpr int stores = (Stored::len + 31) / 32;

// A warp that multiplies hands over the rows that it has completed: to memory, or to the warp that sends, which hears of them by
// `announce`, behind a fence.
struct Outlet {
  const Params& p;
  const Part& part;
  Pixel first_pixel;
  K first_strip;
  Sent sent;
  Staged staged;
  Gates gates;
  int* not_finite;
  Turn turn;
  int announced;   // the place of the first row that the warp that sends has not heard of
  N n;                       // the first image
  Goal goals[stores];
  int rows[tiles][strips];   // where this lane's row of a tile, or of it and the next, begins in a whole row

  TW_DEVICE void prepare() {
    const int lane = tw::arch::lane();
    TW_UNROLL
    for (int tile = 0; tile < tiles && plan::whole; ++tile) {
      const Pixel pixel = first_pixel + Pixel(16 * tile + (tile + 1 < tiles ? lane : lane % 16));
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) rows[tile][strip] = SentRow::offset(pixel + first_strip + K(8 * strip));
    }
  }

  // A strip's sums of 32 pixels, or of 16, by matrices: this lane's row of them begins at `row`.
  template <class S> TW_DEVICE void stage(const S& sum, Written* row) {
    tw::arch::stmatrix<2, false>(row, sum.template as<Written>().bits);
  }
  template <class S> TW_DEVICE void stage(const S& sum, const S& next, Written* row) {
    const auto first = sum.template as<Written>(), second = next.template as<Written>();
    const unsigned bits[] = {first.bits[0], first.bits[1], second.bits[0], second.bits[1]};
    tw::arch::stmatrix<4, false>(row, bits);
  }

  TW_DEVICE void begin(N first_n) {
    n = first_n;
    if constexpr (plan::whole) return;
    const Output out{p.y + (long long)first_n.value * (Output::len / plan::images)};
    TW_UNROLL
    for (int i = 0; i < stores; ++i) {
      const int number = 32 * i + tw::arch::lane();
      const auto at = Stored::coords_of(number);
      const Pixel pixel(first_pixel.value + at.template get<Pixel>());
      const auto to = Places::coords_of(pixel.value) + part.column + Y(part.first * shape::phases + part.phase) + part.k +
                      first_strip + K(at.template get<K>());
      const bool in_image = there(first_n + N(to.template get<N>())) && out.contains(to);
      goals[i] = {staged.at(at).address(), out.at(to).address(), pixel.value < pixels && in_image && number < Stored::len};
    }
  }

  TW_DEVICE void announce() {
    while (plan::whole && announced != turn.place) {
      if (tw::arch::lane() == 0) tw::arch::mbarrier_arrive(gates.full + announced);
      if (++announced == sent_rows) announced = 0;
    }
  }

  // Output row `o` of the block is complete.
  template <class S> TW_DEVICE void finish(int o, S (&row)[tiles][strips]) {
    if (o < 0 || o >= part.rows) return;
    if (shape::zeros && !finite(row, first_pixel)) *not_finite = 1;
    if constexpr (shape::expression) {
      const Y y((part.first + o) * shape::phases + part.phase);
      apply(p, n, y, part.column, part.k + first_strip, first_pixel, row);
    }
    if constexpr (plan::whole) {
      tw::arch::mbarrier_wait(gates.empty + turn.place, turn.parity);
      Written* const to = sent.at(Slot(turn.place)).address();
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        TW_UNROLL
        for (int tile = 0; tile < tiles; tile += by_matrices ? 2 : 1) {
          if constexpr (!by_matrices) {
            row[tile][strip].scatter(SentRow{to}.at(first_pixel + Pixel(16 * tile) + first_strip + K(8 * strip)));
          } else if (tile + 1 < tiles) {
            stage(row[tile][strip], row[tile + 1][strip], to + rows[tile][strip]);
          } else {
            stage(row[tile][strip], to + rows[tile][strip]);
          }
        }
      }
      turn.next(sent_rows);
    } else {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) {
        TW_UNROLL
        for (int strip = 0; strip < strips; ++strip) {
          const auto to = staged.at(Pixel(16 * tile) + K(8 * strip));
          if constexpr (by_matrices) {
            row[tile][strip].template as<Written>().store(to);
          } else {
            row[tile][strip].scatter(to);
          }
        }
      }
      __syncwarp();
      TW_UNROLL
      for (int i = 0; i < stores; ++i) {
        const auto part_of_row = tw::load<together>(goals[i].from);
        if (goals[i].inside) tw::store_global(goals[i].to + Output::offset(Y(o * shape::phases)), part_of_row);
      }
      __syncwarp();
    }
  }
};

// The warp that sends whole rows.
TW_DEVICE void send(const Params& p, Sent sent, const Part& part, Gates gates, const int* not_finite) {
  if (tw::arch::lane() != 0) return;
  Turn turn = to_empty();
  int before = -1;   // the place whose row is under way
  for (int item = 0; item < plan::items && there(images_of(part, item)); ++item) {
    for (int o = 0; o < part.rows; ++o) {
      tw::arch::mbarrier_wait(gates.full + turn.place, turn.parity);
      const Y y((part.first + o) * shape::phases + part.phase);
      tw::arch::box_store(p.out, sent.at(Slot(turn.place)).address(), part.k.value, part.column.value, y.value,
                          images_of(part, item).value);
      tw::arch::bulk_commit();
      tw::arch::bulk_wait_read<1>();
      if (before >= 0) tw::arch::mbarrier_arrive(gates.empty + before);
      before = turn.place;
      turn.next(sent_rows);
    }
  }
  tw::arch::bulk_wait_read<0>();
  // What is mended then has to be there.
  if (shape::zeros && *not_finite != 0) tw::arch::bulk_wait<0>();
}

// ---- products --------------------------------------------------------------------------------------------------------------------

// The products of one step's rows, for one tile: `s` is the step's first row, in its turn of `cycle`.
struct Multiplier {
  Reader reader;
  Weighing weights;

  // Adds a product to a sum, or to what sums begin with.
  template <class Operand, class Weight>
  TW_DEVICE void add(Sum& sum, const Operand& left, const Weight& right, const Sum& start, bool first) const {
    tw::mma(sum, left, right, first ? start : sum);
  }

  TW_DEVICE void row(Sum (&sums)[kept][tiles][strips], int tile, int strip, int j, Slot slot, Y line) const {
    // An output row that meets no tap here, its only input row.
    TW_UNROLL
    for (int o = first_output(j); o <= last_output(j); ++o) {
      if (up * j + shift - down * o >= taps) sums[place_of(o)][tile][strip] = weights.start[strip];
    }
    TW_UNROLL
    for (int pair = 0; pair < pairs; ++pair) {
      const auto left = read<Left>(reader.row(slot, line, reader.two[tile][strip][pair]));
      TW_UNROLL
      for (int o = first_output(j); o <= last_output(j); ++o) {
        const int r = up * j + shift - down * o;
        if (r < taps) {
          add(sums[place_of(o)][tile][strip], left, weights.of[strip][r][pair], weights.start[strip], j == first_input(o) && pair == 0);
        }
      }
    }
    if constexpr (odd && !tall) {
      const auto left = read<LeftHalf>(reader.row(slot, line, reader.one[tile][strip]));
      TW_UNROLL
      for (int o = first_output(j); o <= last_output(j); ++o) {
        const int r = up * j + shift - down * o;
        if (r < taps) {
          add(sums[place_of(o)][tile][strip], left, weights.last[strip][r], weights.start[strip], j == first_input(o) && pairs == 0);
        }
      }
    }
  }

  // The cells that are left over of both rows, for output rows that meet both in one product.
  TW_DEVICE void both(Sum (&sums)[kept][tiles][strips], int tile, int strip, int s, Slot slot) const {
    const auto left = read<Left>(reader.row(slot, Y(0), reader.one[tile][strip]));
    TW_UNROLL
    for (int o = first_output(s); o <= last_output(s + 1); ++o) {
      Sum& sum = sums[place_of(o)][tile][strip];
      const int r = s - o;
      const bool first = s + 1 == first_input(o) + (r >= 0) && pairs == 0;
      if (r >= 0 && r + 1 < taps) {
        add(sum, left, weights.both[strip][r], weights.start[strip], first);
      } else {
        LeftHalf half;
        half.bits[0] = left.bits[r < 0 ? 2 : 0];
        half.bits[1] = left.bits[r < 0 ? 3 : 1];
        add(sum, half, weights.last[strip][r < 0 ? 0 : r], weights.start[strip], first);
      }
    }
  }
};

// The warps that multiply.
struct Worker {
  const Part& part;
  const Multiplier& multiplier;
  Gates gates;
  Outlet& outlet;
  Turn turn;
  Sum sums[kept][tiles][strips];

  TW_DEVICE void begin_with(Sum (&row)[tiles][strips]) {
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) row[tile][strip] = multiplier.weights.start[strip];
    }
  }

  // All products of the step's rows, the first of which is row `s` of a cycle.
  TW_DEVICE void products(int s) {
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        TW_UNROLL
        for (int line = 0; line < plan::step; ++line) multiplier.row(sums, tile, strip, s + line, Slot(turn.place), Y(line));
        if constexpr (tall) multiplier.both(sums, tile, strip, s, Slot(turn.place));
      }
    }
  }

  // What the step read may be overwritten, and what it wrote may be sent: both by the copy engine, hence the fence. It waits for matrices
  // that are still on their way, too, which an arrival at a barrier overtakes. A lane speaks for its warp, or, where threads write to the
  // ring, each for itself: tools that look for races know that way alone.
  TW_DEVICE void hand_over(bool read) {
    if constexpr (plan::bulk) {
      tw::arch::fence_proxy_async();
    } else {
      __threadfence_block();
    }
    __syncwarp();
    if (read) {
      if (!plan::bulk || tw::arch::lane() == 0) tw::arch::mbarrier_arrive(gates.empty + turn.place);
      turn.next(plan::slots);
    }
    outlet.announce();
  }

  // Step `step`, whose first row is row `s` of the cycle that begins with input row `base`.
  TW_DEVICE void take(int step, int base, int s) {
    const bool inside = step >= part.begin && step < part.end;
    if (inside) {
      tw::arch::mbarrier_wait(gates.full + turn.place, turn.parity);
      products(s);
    }
    TW_UNROLL
    for (int o = first_output(s); o <= last_output(s + plan::step - 1); ++o) {
      if (rows_under_image && step >= part.end && first_input(o) >= s) begin_with(sums[place_of(o)]);
      if (last_input(o) < s + plan::step) {
        outlet.finish(base * up / down + o, sums[place_of(o)]);
        // An expression has replaced sums that those behind begin with.
        if (shape::expression && step < part.begin) begin_with(sums[place_of(o)]);
      }
    }
    hand_over(inside);
  }

  TW_DEVICE void images(N n) {
    outlet.begin(n);
    // What rows above the image leave of sums.
    TW_UNROLL
    for (int place = 0; place < kept; ++place) begin_with(sums[place]);
    for (int o = 0; !part.live && o < part.rows; ++o) {
      if (shape::expression) begin_with(sums[0]);
      outlet.finish(o, sums[0]);
      hand_over(false);
    }
    for (int base = 0; base < part.steps * plan::step; base += cycle) {
      TW_UNROLL
      for (int s = 0; s < cycle; s += plan::step) {
        const int step = (base + s) / plan::step;
        if (step < part.steps) take(step, base, s);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * warps_of_block) conv2d(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Ring ring = shared.take<Ring, 128 * plan::span>();
  using AllStaged = tw::Tensor<Written, tw::Layout<tw::Axis<Slot, 1, warps, Staged::storage, false>, tw::Axis<K, 1, Staged::storage, 1, false>>>;
  const Sent sent = plan::whole ? shared.take<Sent, 128 * plan::span>() : Sent{nullptr};
  const AllStaged all_staged = plan::whole ? AllStaged{nullptr} : shared.take<AllStaged>();
  using Zeros = tw::Tensor<Held, tw::Packed<tw::Run<K, run>>>;
  const Zeros zeros = shared.take<Zeros>();
  tw::arch::Mbarrier* const barriers = tw::arch::kept((tw::arch::Mbarrier*)(tw::shared_memory() + shared.taken));
  const Gates in{barriers, barriers + plan::slots}, out{in.empty + plan::slots, in.empty + plan::slots + sent_rows};
  int* const not_finite = (int*)(out.full + 2 * plan::whole * sent_rows);   // whether any sum is

  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    *not_finite = 0;
    for (int i = 0; i < plan::slots; ++i) {
      tw::arch::mbarrier_init(in.full + i, plan::bulk ? 1 : 32);
      tw::arch::mbarrier_init(in.empty + i, plan::bulk ? warps : 32 * warps);
    }
    for (int i = 0; plan::whole && i < sent_rows; ++i) {
      tw::arch::mbarrier_init(out.full + i, warps);
      tw::arch::mbarrier_init(out.empty + i, 1);
    }
    tw::arch::fence_barrier_init();
  }
  if (threadIdx.x < run) *zeros.at(K(threadIdx.x)) = Held(0.0f);
  __syncthreads();
  tw::arch::take_turn();

  const Part part = part_of(blockIdx.x);
  if (warp == warps) {
    bring(p, ring, part, in);
  } else if (plan::whole && warp > warps) {
    send(p, sent, part, out, not_finite);
  } else {
    const auto own = Warps::coords_of(warp);
    const Pixel first_pixel(own.get<Pixel>());
    const K first_strip(own.get<K>());
    Multiplier multiplier{{{tw::arch::kept(ring.data)}, zeros.data}, {}};
    multiplier.reader.prepare(first_pixel, first_strip);
    multiplier.weights.take_all(p, part.k + first_strip);
    const Staged staged{plan::whole ? nullptr : all_staged.at(Slot(warp)).address()};
    Outlet outlet{p, part, first_pixel, first_strip, {tw::arch::kept(sent.data)}, staged, out, not_finite, to_fill(), 0, part.n, {}, {}};
    outlet.prepare();
    Worker worker{part, multiplier, in, outlet, to_empty(), {}};
    for (int item = 0; item < plan::items && there(images_of(part, item)); ++item) worker.images(images_of(part, item));
  }
  if constexpr (shape::zeros) {
    __syncthreads();
    if (*not_finite != 0) mend(p, part_of(blockIdx.x));
  }
}
