// What the row kernel multiplies: weights, which stay, and input rows, which come through the ring. exact.cuh stands before this text.

using Sum = tw::FragmentC<Pixel, K, 16, 8>;
using Left = tw::FragmentA<Element, Pixel, Depth, 16, 2 * run>;
using Right = tw::FragmentB<Element, Depth, K, 2 * run, 8>;
using LeftHalf = tw::FragmentA<Element, Pixel, Depth, 16, run>;
using RightHalf = tw::FragmentB<Element, Depth, K, run, 8>;

// ---- weights ---------------------------------------------------------------------------------------------------------------------

// Weights that follow one another along what is summed up stand side by side.
constexpr bool side_by_side = !shape::transposed && shape::group % 2 == 0 && sizeof(Held) == 2;

// The channel, or the last one that there is.
template <class Channel> TW_DEVICE Channel within(Channel channel) {
  return whole_strips ? channel : tw::min(channel, Channel(shape::channels - 1));
}
// A tap as the definition counts it: for a gradient the window is turned round.
TW_DEVICE R turned(R r) { return shape::transposed ? R(shape::taps_y - 1 - r.value) : r; }
TW_DEVICE S turned(S s) { return shape::transposed ? S(shape::taps_x - 1 - s.value) : s; }

// Of a row's weights for a strip, the part that begins at `first`; zero between groups and where there are no channels. Every load
// takes place, so that none waits for another.
template <class Fragment, class At> TW_DEVICE void take(Fragment& to, Weights w, At first) {
  constexpr int together = side_by_side ? 2 : 1;
  const K strip = tw::along<K>(first);
  const C own = read_by(strip);
  TW_UNROLL
  for (int i = 0; i < Fragment::elements; i += together) {
    const auto at = Fragment::coords(tw::arch::lane(), i);
    const Depth depth = tw::along<Depth>(first + at);
    const C c = channel_of(depth);
    const K k = tw::along<K>(at);
    const R r = tw::along<R>(first);
    const S s = tap_of(depth);
    const Held* from;
    if constexpr (shape::transposed) {
      const K read = within(own + c).cast<K>();
      from = w.at(read + turned(r) + turned(s) + of_group(within(strip + k)).cast<C>()).address();
    } else {
      from = w.at(within(strip + k) + r + s + of_group(c)).address();
    }
    const auto values = tw::load<together>(from);
    const bool same_group = shape::group >= 8 || c.value / shape::group == k.value / shape::group;
    const bool inside = whole_strips || (own.value + c.value < shape::channels && strip.value + k.value < shape::channels);
    TW_UNROLL
    for (int e = 0; e < together; ++e) to.set(i + e, same_group && inside ? (Element)values[e] : Element(0.0f));
  }
}

// As above, of a block's own weights: a row of a matrix is what follows one another, or a column where that is summed up.
template <class Fragment, class At> TW_DEVICE void take(Fragment& to, Own own, At first) {
  const int lane = tw::arch::lane();
  const auto at = first + (shape::transposed ? Fragment::row_coords_trans(lane) : Fragment::row_coords(lane));
  const Depth depth = tw::along<Depth>(at);
  const C c = channel_of(depth);
  const K k = tw::along<K>(at);
  const R r = tw::along<R>(at);
  const S s = tap_of(depth);
  const Held* row;
  if constexpr (shape::transposed) {
    const C read = read_by(tw::along<K>(first)) + c;
    row = own.at(read.cast<K>() + turned(r) + turned(s) + of_group(k).cast<C>()).address();
  } else {
    row = own.at(k + r + s + of_group(c)).address();
  }
  tw::arch::ldmatrix<Fragment::registers, shape::transposed>(to.bits, row);
}

// Where a block's own weights stand.
TW_DEVICE Own own_weights(Ring ring) { return {ring.at(Slot(through_ring ? first_own : 0)).address()}; }

// Brings them there, by all warps that multiply.
TW_DEVICE void fetch_weights(const Params& p, Ring ring, K first) {
  const Own own = own_weights(ring);
  const Weights w{p.weights};
  for (auto at : OwnCells::partition(threadIdx.x, 32 * warps)) {
    const bool inside = whole_strips || first + tw::along<K>(at) < K(shape::channels);
    tw::arch::copy_async<16>(own.at(at).address(), inside ? w.at(at + first).address() : p.weights, inside ? 16 : 0);
  }
}

// Whether halves of registers are numbers: an exponent of ones and its lowest bit are a carry.
struct Halves {
  static constexpr unsigned exponents = shape::exponent * 0x10001u, one = (shape::exponent & (0u - shape::exponent)) * 0x10001u;
  unsigned carries = 0;
  template <class Fragment> TW_DEVICE void add(const Fragment& fragment) {
    TW_UNROLL
    for (int i = 0; i < Fragment::registers; ++i) carries |= (fragment.bits[i] & exponents) + one;
  }
  TW_DEVICE bool finite() const { return (carries & 0x80008000u) == 0; }
};

// Lays the weights that rest into shared memory, for all of a block's strips: every warp that multiplies some matrices. Whether these are finite.
TW_DEVICE bool lay_down(const Params& p, Resting resting, K first, int warp) {
  const Weights w{p.weights};
  Halves halves;
  for (auto at : Matrices::partition(warp, warps)) {
    Right matrix;
    take(matrix, w, first + R(held_rows) + at);
    *resting.at(at + Lane(tw::arch::lane())) = {{matrix.bits[0], matrix.bits[1]}};
    halves.add(matrix);
  }
  return halves.finite();
}

// A warp's operands that stay: weights of its strips, and what sums begin with.
struct Weighing {
  Resting resting;   // from the warp's first strip on
  Right of[strips][held_rows][matrices];
  RightHalf last[strips][taps];
  Right both[strips][taps];
  Sum start[strips];

  // Those of two cells of a row of the window.
  TW_DEVICE Right two(int strip, int r, int pair) const {
    if (plan::resting == 0 || r < held_rows) return of[strip][r < held_rows ? r : 0][pair];
    const auto bits = resting.at(Strip(strip) + R(r - held_rows) + Pair(pair) + Lane(tw::arch::lane())).load();
    Right matrix;
    matrix.bits[0] = bits[0];
    matrix.bits[1] = bits[1];
    return matrix;
  }

  // The weights of strips from channel `first` of `w` on.
  template <class From> TW_DEVICE void take_all(From w, K first) {
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      const K k = first + Strip(strip);
      TW_UNROLL
      for (int r = 0; r < taps; ++r) {
        TW_UNROLL
        for (int pair = 0; r < held_rows && pair < pairs; ++pair) take(of[strip][r][pair], w, k + R(r) + Pair(pair));
        if constexpr (odd) take(last[strip][r], w, k + R(r) + Cell(cells_of_row - 1));
      }
      if constexpr (tall) {
        TW_UNROLL
        for (int r = 0; r + 1 < taps; ++r) {
          both[strip][r].bits[0] = last[strip][r].bits[0];
          both[strip][r].bits[1] = last[strip][r + 1].bits[0];
        }
      }
    }
  }

  // Whether those in registers are finite.
  TW_DEVICE bool finite() const {
    Halves halves;
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      TW_UNROLL
      for (int r = 0; r < taps; ++r) {
        TW_UNROLL
        for (int pair = 0; r < held_rows && pair < pairs; ++pair) halves.add(of[strip][r][pair]);
        if constexpr (odd) halves.add(last[strip][r]);
      }
    }
    return halves.finite();
  }

  // What sums begin with, of strips from channel `first` on.
  TW_DEVICE void take_start(const Params& p, K first) {
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      TW_UNROLL
      for (int i = 0; i < Sum::elements; ++i) {
        const K k = first + Strip(strip) + tw::along<K>(Sum::coords(tw::arch::lane(), i));
        start[strip].values[i] = shape::bias && k < K(shape::channels) ? Bias{p.bias}.at(k).load() : 0.0f;
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
    for (int i = 0; i < Fragment::registers; ++i) {
      const float value = __uint_as_float(left.bits[i]);
      // Where sums that are not finite are computed anew, it does not matter how they came about.
      left.bits[i] = shape::watched ? tw::tf32_or_nan(value).bits : Element(value).bits;
    }
  }
  return left;
}

// No place of a tile is left without a pixel. Places without one read zeros.
constexpr bool filled = pixels == 16 * tiles * warps_along;

// Where this lane's rows of 16 bytes begin in a row of the ring, in bytes: for two cells of a window's row side by side, and for the one that is
// left over (the next row's too, where rows are paired). They are the same for every row.
struct Reader {
  Ring ring;
  const Held* zeros;
  int two[tiles][strips][matrices], one[tiles][strips];

  TW_DEVICE void prepare(Pixel first_pixel, K first_strip) {
    const int lane = tw::arch::lane();   // names a row of a matrix: of 16 pixels, of a cell and the next one
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      const Pixel pixel = first_pixel + Tile(tile) + Pixel(lane % 16);
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        const K k = first_strip + Strip(strip);
        // Strips of the same channels read the same, and once.
        const bool again = strip % sharing != 0;
        TW_UNROLL
        for (int pair = 0; pair < pairs; ++pair) {
          two[tile][strip][pair] = again ? two[tile][strip - 1][pair] : tw::arch::kept(offset(pixel, Y(0), Cell(2 * pair + lane / 16), k));
        }
        if constexpr (odd) {
          one[tile][strip] = again ? one[tile][strip - 1] : tw::arch::kept(offset(pixel, Y(tall ? lane / 16 : 0), Cell(cells_of_row - 1), k));
        }
      }
    }
  }
  // Zeros stand behind the ring: whichever comes first.
  TW_DEVICE const Held* row(Slot slot, Y y, int offset) const {
    const int there = (int)tw::arch::shared_address(ring.at(slot + y).address()) + offset;
    return (const Held*)tw::arch::shared_pointer((unsigned)(
        filled && shape::up_x == 1 ? there : tw::minimum(there, (int)tw::arch::shared_address(zeros))));
  }

 private:
  static constexpr int nowhere = 1 << 30;
  static constexpr int sharing = strips % (strip_depth / 8) == 0 ? strip_depth / 8 : 1;

  // Of a pixel, a cell of the window's row; far behind it where there is no pixel, or a stride is undone and no column is read.
  TW_DEVICE static int offset(Pixel pixel, Y y, Cell cell, K k) {
    const auto at = Places::coords_of(pixel.value) + tap_of(cell);
    const int column = Across::up_times(at);
    if (pixel >= Pixel(pixels) || (shape::up_x > 1 && column % shape::up_x != 0)) return nowhere;
    const C c = read_by(k) + channel_of(cell);
    return (int)sizeof(Held) * (Ring::offset(y) + Row::offset(tw::along<N>(at) + Across::whole(column) + c));
  }
};

// Threads copy asynchronously from 4 bytes on.
constexpr bool asynchronous = !shape::computed && shape::vector * sizeof(Held) >= 4;

// Brings one input row of a block's images into the ring: by one thread and the copy engine, or by a warp that copies, or loads and stores,
// number `own` of them.
template <class Params>
TW_DEVICE void fetch(const Params& p, Ring ring, Slot slot, Y line, N n, Y y, X x, C c, tw::arch::Mbarrier* full, int own) {
  if constexpr (plan::bulk) {
    tw::arch::box_load(ring.at(slot + line).address(), p.in, full, c.value, x.value, y.value, n.value);
    return;
  }
  const Row row{ring.at(slot + line).address()};
  if constexpr (shape::computed) {
    const Computed<image_Params> image{p.image};
    touch_row<Input, C, reach>(image, n, y + tw::Fold<Y, shape::pitch>(plan::step * plan::turns), x, c, own);
    read_row<Input, C, reach>(image, row, n, y, x, c, own);
  } else if constexpr (!asynchronous) {
    read_row<Input, C, reach>(InMemory<Input>{p.x}, row, n, y, x, c, own);
  } else {
    constexpr int part = shape::vector, bytes = part * (int)sizeof(Held);
    using Parts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, reach>, tw::Run<C, channels / part, part>>>;
    const Input from = Input{p.x}.beyond(n);
    for (auto at : Parts::partition(sharer(own), 32 * sharing)) {
      const auto source = at + x + c + y;
      const bool inside = from.contains(source) && n.value + at.template get<N>() < shape::images;
      tw::arch::copy_async<bytes>(row.at(at).address(), inside ? from.at(source).address() : p.x, inside ? bytes : 0);
    }
  }
}

// What this warp has read may be overwritten, and what it wrote may be sent: both by the copy engine, hence the fence. It waits for matrices
// that are still on their way, too, which an arrival at a barrier overtakes.
TW_DEVICE void settle() {
  if constexpr (plan::bulk || plan::whole) tw::arch::fence_proxy_async();
  if constexpr (!plan::bulk) __threadfence_block();
  __syncwarp();
}
// A lane speaks for its warp, or, where threads write to the ring, each for itself: tools that look for races know that way alone.
TW_DEVICE void leave(Gates gates, int place) {
  if (!plan::bulk || tw::arch::lane() == 0) tw::arch::mbarrier_arrive(gates.empty + place);
}

// Of the warps that bring rows number `own`, which take steps in turn: as far ahead as the ring has room, over the ends of images.
TW_DEVICE void bring(const Params& p, Ring ring, Gates gates, int own) {
  if (plan::bulk && tw::arch::lane() != 0) return;
  Turn turn = to_fill();
  Shares mine{0};
  for (int item = 0; item < plan::items; ++item) {
    const Part part = part_of(blockIdx.x, item);
    if (part.rows <= 0) break;
    for (int step = part.begin; step < part.end; ++step, turn.next(plan::slots)) {
      if (!mine.next(own)) continue;
      tw::arch::Mbarrier* const full = gates.full + turn.place;
      // Places that weights pass through are left once more than others.
      tw::arch::mbarrier_wait(gates.empty + turn.place, turn.parity ^ (through_ring && turn.place >= first_own));
      if (plan::bulk) tw::arch::mbarrier_arrive_expect_tx(full, plan::step * row_bytes);
      for (int line = 0; line < plan::step; ++line) {
        const Y y = input_row(part, step * plan::step + line);
        fetch(p, ring, Slot(turn.place), Y(line), part.n, y, part.x, part.k.cast<C>(), full, own);
      }
      if (!plan::bulk && asynchronous) tw::arch::copy_async_arrive(full);
      if (!plan::bulk && !asynchronous) tw::arch::mbarrier_arrive(full);
    }
  }
}
