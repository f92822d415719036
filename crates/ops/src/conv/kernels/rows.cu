// 2-D convolution with groups, by rows: a block takes some rows of the output, some columns of some images, and some strips of 8
// channels. Rows of the input stream through a ring in shared memory, each is read once, and adds to all output rows that it is part
// of, which wait in registers until their last input row has come; rows outside the image are left out. With `shape::transposed` it is
// the gradient of the input. output.cuh stands before this text.
//
// Warps have roles: one brings rows into the ring, or some where rows are computed, one sends whole rows to memory where a configuration says
// so, the others multiply. They meet at barriers in shared memory only, each place of a ring for itself. Where sums and weights want more
// registers than a thread's share, warps that bring and send are a warpgroup that lends those that multiply its own.

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
    each_output(j, [&](int o, int r) {
      if (r >= taps) sums[place_of(o)][tile][strip] = weights.start[strip];
    });
    TW_UNROLL
    for (int pair = 0; pair < pairs; ++pair) {
      const auto left = read<Left>(reader.row(slot, line, reader.two[tile][strip][pair]));
      each_output(j, [&](int o, int r) {
        const bool first = j == first_input(o) && pair == 0;
        if (r < taps) add(sums[place_of(o)][tile][strip], left, weights.two(strip, r, pair), weights.start[strip], first);
      });
    }
    if constexpr (odd && !tall) {
      const auto left = read<LeftHalf>(reader.row(slot, line, reader.one[tile][strip]));
      each_output(j, [&](int o, int r) {
        const bool first = j == first_input(o) && pairs == 0;
        if (r < taps) add(sums[place_of(o)][tile][strip], left, weights.last[strip][r], weights.start[strip], first);
      });
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

// Whether there are output rows whose input rows all lie under the image.
constexpr int last_row = (shape::out_height - 1) / shape::phases;
constexpr bool rows_under_image =
    shape::origin_y + shape::pitch * first_input(last_row) + (shape::phases - 1) * shape::phase_pitch >= shape::height;

// Named barriers: where all warps have begun, where all are done, and the first of those that keep pace.
constexpr int at_begin = 1, at_end = 2, first_of_pace = 3;

// Warps that share a scheduler go through steps one behind the other: each begins a step's products when the one before it is through its share of its
// own. If all of them came to a step's end at once, where there are no products, tensor cores would have none.
struct Pace {
  static constexpr int ranks = (warps + 3) / 4, share = (tiles * strips + ranks - 1) / ranks;
  static_assert(!plan::paced || ranks <= 3, "of all named barriers the last is number 15");
  int own, next;   // barriers of this warp and of the next one; none where a warp has a scheduler to itself

  TW_DEVICE void begin(int warp) {
    const int scheduler = warp % 4, rank = warp / 4, last = (warps - 1 - scheduler) / 4;
    const int first = first_of_pace + scheduler * ranks;
    own = plan::paced && last > 0 ? first + rank : 0;
    next = rank == last ? first : first + rank + 1;
    // The first warp waits for the last one's step before, of which there is none yet.
    if (rank == last) let();
  }
  // No arrival is left that nobody waits for: the first warp waits for the last one's last step.
  TW_DEVICE void end(int warp) const {
    if (warp < 4) wait();
  }
  TW_DEVICE void wait() const {
    if (plan::paced && own > 0) tw::arch::named_barrier_sync(own, 64);
  }
  TW_DEVICE void let() const {
    if (plan::paced && own > 0) tw::arch::named_barrier_arrive(next, 64);
  }
};

// The warps that multiply.
struct Worker {
  Part part;
  const Multiplier& multiplier;
  Gates gates;
  Outlet& outlet;
  Turn turn;
  Pace pace;
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
        if (tile * strips + strip + 1 == Pace::share) pace.let();
      }
    }
  }

  TW_DEVICE void hand_over(bool read) {
    settle();
    if (read) {
      leave(gates, turn.place);
      turn.next(plan::slots);
    }
    outlet.announce();
  }

  // Step `step`, whose first row is row `s` of the cycle that begins with input row `base`. What expressions take for the rows that it completes
  // is under way meanwhile.
  TW_DEVICE void take(int step, int base, int s) {
    const bool inside = step >= part.begin && step < part.end;
    Beside<Sum> beside[kept];
    TW_UNROLL
    for (int i = 0; i < kept; ++i) {
      if (early && completes(s, first_output(s) + i)) outlet.ask_for(base * up / down + first_output(s) + i, beside[i]);
    }
    if (inside) {
      tw::arch::mbarrier_wait(gates.full + turn.place, turn.parity);
      pace.wait();
      products(s);
    }
    TW_UNROLL
    for (int i = 0; i < kept; ++i) {
      const int o = first_output(s) + i;
      if (o > last_output(s + plan::step - 1)) continue;
      if (rows_under_image && step >= part.end && first_input(o) >= s) begin_with(sums[place_of(o)]);
      if (completes(s, o)) {
        if (!early) outlet.ask_for(base * up / down + o, beside[i]);
        outlet.finish(base * up / down + o, beside[i], sums[place_of(o)]);
        // An expression has replaced sums that those behind begin with.
        if (shape::expression && step < part.begin) begin_with(sums[place_of(o)]);
      }
    }
    hand_over(inside);
  }

  TW_DEVICE void images(const Part& next) {
    part = next;
    outlet.begin(part);
    // What rows above the image leave of sums.
    TW_UNROLL
    for (int place = 0; place < kept; ++place) begin_with(sums[place]);
    for (int o = 0; !part.live && o < part.rows; ++o) {
      if (shape::expression) begin_with(sums[0]);
      Beside<Sum> beside;
      outlet.ask_for(o, beside);
      outlet.finish(o, beside, sums[0]);
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

// What all warps meet at, by one thread.
TW_DEVICE void set_up(const Params& p, Gates in, Gates out, int* not_finite) {
  if constexpr (plan::bulk) tw::arch::prefetch_map(p.in);
  if constexpr (plan::whole) tw::arch::prefetch_map(p.out);
  *not_finite = 0;
  for (int i = 0; i < plan::slots; ++i) {
    tw::arch::mbarrier_init(in.full + i, plan::bulk ? 1 : 32 * sharing);
    tw::arch::mbarrier_init(in.empty + i, plan::bulk ? warps : 32 * warps);
  }
  for (int i = 0; plan::whole && i < sent_rows; ++i) {
    tw::arch::mbarrier_init(out.full + i, warps);
    tw::arch::mbarrier_init(out.empty + i, 1);
  }
  tw::arch::fence_barrier_init();
}

extern "C" __global__ void __launch_bounds__(32 * warps_of_block, plan::resident) conv2d(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Ring ring = shared.take<Ring, 128 * plan::span>();
  using AllStaged = tw::Tensor<Written, tw::Layout<tw::Axis<Slot, 1, warps, Staged::storage, false>, tw::Axis<K, 1, Staged::storage, 1, false>>>;
  const Sent sent = plan::whole ? shared.take<Sent, 128 * plan::span>() : Sent{nullptr};
  const AllStaged all_staged = plan::whole ? AllStaged{nullptr} : shared.take<AllStaged>();
  using Zeros = tw::Tensor<Held, tw::Packed<tw::Run<K, run>>>;
  const Zeros zeros = shared.take<Zeros>();
  const Resting resting = plan::resting > 0 ? shared.take<Resting>() : Resting{nullptr};
  tw::arch::Mbarrier* const barriers = tw::arch::kept((tw::arch::Mbarrier*)(tw::shared_memory() + shared.taken));
  const Gates in{barriers, barriers + plan::slots}, out{in.empty + plan::slots, in.empty + plan::slots + sent_rows};
  int* const not_finite = (int*)(out.full + 2 * plan::whole * sent_rows);   // whether any sum is, or may be

  // One number for a warp, as the compiler sees, which may keep in registers for all lanes what follows from it.
  const int warp = __shfl_sync(tw::arch::whole_warp, (int)threadIdx.x / 32, 0);
  if (warp >= warps) {
    if constexpr (lent) tw::arch::lend_registers<plan::left>();
    // The first of those that bring begins at once; the others wait until it has set up the barriers.
    if (warp == warps) {
      if (tw::arch::lane() == 0) set_up(p, in, out, not_finite);
      __syncwarp();
      tw::arch::named_barrier_arrive(at_begin, 32 * warps_of_block);
    } else {
      tw::arch::named_barrier_sync(at_begin, 32 * warps_of_block);
    }
    tw::arch::take_turn();
    if (warp < warps + plan::bringing) {
      bring(p, ring, in, warp - warps);
    } else if (plan::whole && warp == warps + plan::bringing) {
      send(p, sent, out, not_finite);
    }
    // What stands behind this would want more registers than these have left.
    if constexpr (lent) {
      if constexpr (shape::zeros) tw::arch::named_barrier_sync(at_end, 32 * warps_of_block);
      return;
    }
  } else {
    if constexpr (lent) tw::arch::borrow_registers<plan::lent>();
    const Part part = part_of(blockIdx.x, 0);
    const auto own = Warps::coords_of(warp);
    const Pixel first_pixel = tw::along<Pixel>(own);
    const K first_strip = tw::along<K>(own);
    if (threadIdx.x < run) *zeros.at(K(threadIdx.x)) = Held(0.0f);
    tw::arch::take_turn();
    if constexpr (through_ring) fetch_weights(p, ring, part.k);
    bool finite = true;
    if constexpr (plan::resting > 0) finite = lay_down(p, resting, part.k, warp);
    Multiplier multiplier{{{tw::arch::kept(ring.data)}, zeros.data}, {{plan::resting > 0 ? resting.at(first_strip).address() : nullptr}}};
    multiplier.reader.prepare(first_pixel, first_strip);
    multiplier.weights.take_start(p, part.k + first_strip);
    const Staged staged{plan::whole ? nullptr : all_staged.at(Slot(warp)).address()};
    Outlet outlet{p, part, first_pixel, first_strip, {tw::arch::kept(sent.data)}, staged, out, not_finite, to_fill(), 0, {}, {}};
    outlet.prepare();
    if constexpr (!through_ring) multiplier.weights.take_all(Weights{p.weights}, part.k + first_strip);
    if constexpr (through_ring) tw::arch::copy_async_wait_all();
    tw::arch::named_barrier_sync(at_begin, 32 * warps_of_block);
    if constexpr (through_ring) {
      multiplier.weights.take_all(own_weights(ring), first_strip);
      settle();
      for (int place = first_own; place < plan::slots; ++place) leave(in, place);
    }
    if (shape::zeros && !shape::watched && !(finite && multiplier.weights.finite())) *not_finite = 1;
    Worker worker{part, multiplier, in, outlet, to_empty(), {}, {}};
    worker.pace.begin(warp);
    for (int item = 0; item < plan::items; ++item) {
      const Part next = part_of(blockIdx.x, item);
      if (next.rows > 0) worker.images(next);
    }
    worker.pace.end(warp);
  }
  if constexpr (shape::zeros) {
    if constexpr (lent) {
      tw::arch::named_barrier_sync(at_end, 32 * warps_of_block);
    } else {
      __syncthreads();
    }
    // But for those that have lent their registers.
    if (*not_finite != 0) mend<32 * (lent ? warps : warps_of_block)>(p);
  }
}
