// 2-D convolution with groups, by rows: a block takes some rows of the output, some columns of some images, and some strips of 8
// channels. Rows of the input stream through a ring in shared memory, each is read once, and adds to all output rows that it is part
// of, which wait in registers until their last input row has come. With `shape::transposed` it is the gradient of the input.
// layouts.cuh stands before this text.

struct Params {
  tw::TensorMap in, out;
  const Held* x;
  const Held* weights;
  const float* bias;
  Held* y;
};

using Sum = tw::FragmentC<Pixel, K, 16, 8>;
using Left = tw::FragmentA<Element, Pixel, Depth, 16, 2 * run>;
using Right = tw::FragmentB<Element, Depth, K, 2 * run, 8>;
using LeftHalf = tw::FragmentA<Element, Pixel, Depth, 16, run>;
using RightHalf = tw::FragmentB<Element, Depth, K, run, 8>;

// What is multiplied of what stands in memory, and the other way.
TW_DEVICE Element element(Held value) { return (Element)value; }

// A strip's sums of 16 pixels, as they are stored.
template <class At> TW_DEVICE void stage(Sum& sum, At at) {
  if constexpr (sizeof(Held) == 2 && plan::bulk) {
    sum.as<Element>().store(at);
  } else {
    sum.scatter(at);
  }
}

// ---- weights ---------------------------------------------------------------------------------------------------------------------

// The weight between channel `c` of those that the strip reads, and the strip's channel `k`, at a tap. Zero between groups.
TW_DEVICE Element weight(Weights w, R r, S s, C c, K k) {
  Element none(0.0f);
  if (c.value >= shape::channels || k.value >= shape::channels || c.value / shape::group != k.value / shape::group) return none;
  if (shape::transposed) {
    return element(w.at(K(c.value) + R(shape::taps_y - 1 - r.value) + S(shape::taps_x - 1 - s.value) + C(k.value % shape::group)).load());
  }
  return element(w.at(k + r + s + C(c.value % shape::group)).load());
}

// The part of a row's weights that begins at its cell number `cell`.
template <class Fragment> TW_DEVICE void take(Fragment& to, Weights w, R r, int cell, K strip) {
  to.generate([&](tw::Coords<Depth, K> at) {
    const int depth = at.template get<Depth>() + cell * run, own = strip.value / strip_depth * strip_depth;
    return weight(w, r, S(depth / strip_depth), C(own + depth % strip_depth), strip + K(at.template get<K>()));
  });
}

// ---- the input -------------------------------------------------------------------------------------------------------------------

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

// Where a lane's row of 16 bytes begins: a pixel, a cell of the window's row.
struct Reader {
  Ring ring;
  const Held* zeros;

  TW_DEVICE const Held* row(Slot slot, Y y, Pixel pixel, int cell, K strip) const {
    const int tap = cell / cells;
    const auto at = Places::coords_of(pixel.value);
    const int column = at.template get<X>() * shape::down_x + tap * shape::spread_x - shape::shift_x;
    if (shape::up_x > 1 && column % shape::up_x != 0) return zeros;
    const C channel(strip.value / strip_depth * strip_depth + cell % cells * run);
    return ring.at(slot + y + N(at.template get<N>()) + X(column / shape::up_x) + channel).address();
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
  for (auto at : Parts::partition(tw::arch::lane(), 32)) {
    const auto source = at + x + c + y;
    const bool inside = from.contains(source) && n.value + at.template get<N>() < shape::images;
    if constexpr (asynchronous) {
      constexpr int bytes = part * (int)sizeof(Held);
      tw::arch::copy_async<bytes>(ring.at(slot + line + at).address(), inside ? from.at(source).address() : p.x, inside ? bytes : 0);
    } else {
      *ring.at(slot + line + at) = inside ? from.at(source).load() : Held(0.0f);
    }
  }
}

// What a lane stores of each row: from where, and to where in the block's first row, if there is such a place.
struct Goal {
  const Held* from;
  Held* to;
  bool inside;
};
constexpr int stores = (Stored::len + 31) / 32;

extern "C" __global__ void __launch_bounds__(32 * (warps + 1)) conv2d(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Ring ring = shared.take<Ring>();
  using AllStaged = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, warps, Staged::storage, false>, tw::Axis<K, 1, Staged::storage, 1, false>>>;
  const Sent sent = plan::whole ? shared.take<Sent, 128 * plan::span>() : Sent{nullptr};
  const AllStaged all_staged = plan::whole ? AllStaged{nullptr} : shared.take<AllStaged>();
  using Zeros = tw::Tensor<Held, tw::Packed<tw::Run<K, run>>>;
  const Zeros zeros = shared.take<Zeros>();
  tw::arch::Mbarrier* const full = (tw::arch::Mbarrier*)(tw::shared_memory() + shared.taken);
  tw::arch::Mbarrier* const empty = full + plan::slots;

  const int warp = threadIdx.x / 32, lane = tw::arch::lane();
  if (threadIdx.x == 0) {
    for (int i = 0; i < plan::slots; ++i) {
      tw::arch::mbarrier_init(full + i, plan::bulk ? 1 : 32);
      tw::arch::mbarrier_init(empty + i, plan::bulk ? warps : 32 * warps);
    }
    tw::arch::fence_barrier_init();
  }
  if (threadIdx.x < run) *zeros.at(K(threadIdx.x)) = Held(0.0f);
  __syncthreads();

  // Which rows: those of one phase, every `phases`-th.
  const auto block = Blocks::coords_of(blockIdx.x);
  const N first_n(block.get<N>());
  const int phase = block.get<Y>() % shape::phases, first = block.get<Y>() / shape::phases * plan::rows;
  const int all_rows = (shape::out_height - phase + shape::phases - 1) / shape::phases;
  const int rows = tw::minimum(plan::rows, all_rows - first);
  const bool live = shape::live_phase < 0 || phase == shape::live_phase;
  const int lines = live && rows > 0 ? (floor_of(down * (rows - 1) + window - 1 - shift, up) + 1 + plan::step - 1) / plan::step : 0;
  const Y first_y(shape::pitch * down * first / up + phase * shape::phase_pitch + shape::origin_y);
  const X first_x(block.get<X>() * shape::down_x / shape::up_x + shape::origin_x);
  const K first_k(block.get<K>());

  if (warp == warps) {
    if (plan::bulk && lane != 0) return;
    int slot = 0, parity = 1;
    for (int line = 0; line < lines; ++line) {
      tw::arch::mbarrier_wait(empty + slot, parity);
      if (plan::bulk) tw::arch::mbarrier_arrive_expect_tx(full + slot, plan::step * row_bytes);
      for (int i = 0; i < plan::step; ++i) {
        const Y y(first_y.value + (line * plan::step + i) * shape::pitch);
        fetch(p, ring, Slot(slot), Y(i), first_n, y, first_x, C(first_k.value), full + slot);
      }
      if (!plan::bulk && asynchronous) tw::arch::copy_async_arrive(full + slot);
      if (!plan::bulk && !asynchronous) tw::arch::mbarrier_arrive(full + slot);
      if (++slot == plan::slots) slot = 0, parity ^= 1;
    }
    return;
  }

  const auto own = Warps::coords_of(warp);
  const Pixel first_pixel(own.get<Pixel>());
  const K first_strip(own.get<K>());
  const Weights w{p.weights};
  Right weights[strips][taps][pairs > 0 ? pairs : 1];
  RightHalf last[strips][taps];
  Right both[strips][taps];
  Sum start[strips];   // what sums begin with
  TW_UNROLL
  for (int strip = 0; strip < strips; ++strip) {
    const K k = first_k + first_strip + K(8 * strip);
    TW_UNROLL
    for (int r = 0; r < taps; ++r) {
      TW_UNROLL
      for (int pair = 0; pair < pairs; ++pair) take(weights[strip][r][pair], w, R(r), 2 * pair, k);
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
      const int channel = k.value + Sum::Map::column(lane, i);
      start[strip].values[i] = shape::bias && channel < shape::channels ? p.bias[channel] : 0.0f;
    }
  }

  Sum sums[kept][tiles][strips];
  const Reader reader{ring, zeros.data};
  const Staged staged{all_staged.at(Slot(warp)).address()};
  const Output out{p.y + (long long)first_n.value * (Output::len / plan::images)};
  Goal goals[stores];
  TW_UNROLL
  for (int i = 0; i < stores && !plan::whole; ++i) {
    const auto at = Stored::coords_of(32 * i + lane);
    const Pixel pixel(first_pixel.value + at.template get<Pixel>());
    const auto to = Places::coords_of(pixel.value) + X(block.get<X>()) + Y(first * shape::phases + phase) + first_k + first_strip +
                    K(at.template get<K>());
    const bool there = pixel.value < pixels && first_n.value + to.template get<N>() < shape::images && out.contains(to);
    goals[i] = {staged.at(at).address(), out.at(to).address(), there && 32 * i + lane < Stored::len};
  }
  int turn = 0;
  // Output row `o` of the block is complete.
  const auto finish = [&](int o, Sum (&row)[tiles][strips]) {
    if (plan::whole && o >= 0 && o < rows) {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) {
        TW_UNROLL
        for (int strip = 0; strip < strips; ++strip) {
          stage(row[tile][strip], sent.at(Slot(turn) + first_pixel + Pixel(16 * tile) + first_strip + K(8 * strip)));
        }
      }
      // The engine reads what all warps have written. Behind the barrier it has read all rows but the last one.
      tw::arch::fence_proxy_async();
      tw::arch::named_barrier_sync(1, 32 * warps);
      if (threadIdx.x == 0) {
        const Y y((first + o) * shape::phases + phase);
        tw::arch::box_store(p.out, sent.at(Slot(turn)).address(), first_k.value, block.template get<X>(), y.value, first_n.value);
        tw::arch::bulk_commit();
        tw::arch::bulk_wait_read<1>();
      }
      if (++turn == sent_rows) turn = 0;
    } else if (!plan::whole && o >= 0 && o < rows) {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) {
        TW_UNROLL
        for (int strip = 0; strip < strips; ++strip) {
          stage(row[tile][strip], staged.at(Pixel(16 * tile) + K(8 * strip)));
        }
      }
      __syncwarp();
      TW_UNROLL
      for (int i = 0; i < stores; ++i) {
        const auto part = tw::load<shape::vector>(goals[i].from);
        if (goals[i].inside) tw::store_global(goals[i].to + Output::offset(Y(o * shape::phases)), part);
      }
      __syncwarp();
    }
  };

  if (!live) {
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) sums[0][tile][strip] = start[strip];
    }
    for (int o = 0; o < rows; ++o) finish(o, sums[0]);
    if (plan::whole && threadIdx.x == 0) tw::arch::bulk_wait_read<0>();
    return;
  }

  int slot = 0, parity = 0;
  for (int base = 0; base < lines * plan::step; base += cycle) {
    const int output = base * up / down;
    TW_UNROLL
    for (int s = 0; s < cycle; s += plan::step) {
      if (base + s < lines * plan::step) {
        tw::arch::mbarrier_wait(full + slot, parity);
        TW_UNROLL
        for (int tile = 0; tile < tiles; ++tile) {
          const Pixel pixel(first_pixel.value + 16 * tile + lane % 16);
          TW_UNROLL
          for (int strip = 0; strip < strips; ++strip) {
            const K k = first_strip + K(8 * strip);
            TW_UNROLL
            for (int line = 0; line < plan::step; ++line) {
              const int j = s + line;
              // An output row that meets no tap here, its only input row.
              TW_UNROLL
              for (int o = first_output(j); o <= last_output(j); ++o) {
                if (up * j + shift - down * o >= taps) sums[place_of(o)][tile][strip] = start[strip];
              }
              TW_UNROLL
              for (int pair = 0; pair < pairs; ++pair) {
                const auto left = read<Left>(reader.row(Slot(slot), Y(line), pixel, 2 * pair + lane / 16, k));
                TW_UNROLL
                for (int o = first_output(j); o <= last_output(j); ++o) {
                  Sum& sum = sums[place_of(o)][tile][strip];
                  const int r = up * j + shift - down * o;
                  if (r < taps) tw::mma(sum, left, weights[strip][r][pair], j == first_input(o) && pair == 0 ? start[strip] : sum);
                }
              }
              if constexpr (odd && !tall) {
                const auto left = read<LeftHalf>(reader.row(Slot(slot), Y(line), pixel, cells_of_row - 1, k));
                TW_UNROLL
                for (int o = first_output(j); o <= last_output(j); ++o) {
                  Sum& sum = sums[place_of(o)][tile][strip];
                  const int r = up * j + shift - down * o;
                  if (r < taps) tw::mma(sum, left, last[strip][r], j == first_input(o) && pairs == 0 ? start[strip] : sum);
                }
              }
            }
            if constexpr (tall) {
              const auto left = read<Left>(reader.row(Slot(slot), Y(lane / 16), pixel, cells_of_row - 1, k));
              TW_UNROLL
              for (int o = first_output(s); o <= last_output(s + 1); ++o) {
                Sum& sum = sums[place_of(o)][tile][strip];
                const int r = s - o;
                const bool fresh = s + 1 == first_input(o) + (r >= 0) && pairs == 0;
                if (r >= 0 && r + 1 < taps) {
                  tw::mma(sum, left, both[strip][r], fresh ? start[strip] : sum);
                } else {
                  LeftHalf half;
                  half.bits[0] = left.bits[r < 0 ? 2 : 0];
                  half.bits[1] = left.bits[r < 0 ? 3 : 1];
                  tw::mma(sum, half, last[strip][r < 0 ? 0 : r], fresh ? start[strip] : sum);
                }
              }
            }
          }
        }
        // A lane speaks for its warp, or, where threads write to the ring, each for itself: tools that look for races know that way alone.
        __syncwarp();
        if (!plan::bulk || lane == 0) tw::arch::mbarrier_arrive(empty + slot);
        if (++slot == plan::slots) slot = 0, parity ^= 1;
        TW_UNROLL
        for (int o = first_output(s); o <= last_output(s + plan::step - 1); ++o) {
          if (last_input(o) < s + plan::step) finish(output + o, sums[place_of(o)]);
        }
      }
    }
  }
  if (plan::whole && threadIdx.x == 0) tw::arch::bulk_wait_read<0>();
}
