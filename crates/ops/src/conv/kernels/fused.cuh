// An expression that becomes part of the kernel: `epilogue`, a function of a place and of its sum, stands before meeting.cuh.

// What the expression makes of a sum. It is the kernel's type that is stored.
template <class Params> TW_DEVICE Written made_of(const Params& p, N n, Y y, X x, K k, float sum) {
  if constexpr (shape::expression) {
    return epilogue(p.epilogue, n.value, y.value, x.value, k.value, sum);
  } else {
    return Written(sum);
  }
}

// Neighbouring channels for which it is called at once, and what it loads for a lane's sums of a row.
constexpr int at_once = shape::channels % 2 == 0 ? 2 : 1;
template <class Sum> struct Beside {
  epilogue_Ahead of[tiles][strips][Sum::elements / at_once];
};

constexpr bool whole_tiles = pixels % (16 * tiles) == 0, whole_columns = shape::out_width % plan::columns == 0;

// Calls `with` for a lane's sums of a row, as many at once, with where they are. Outside of the image it is the nearest place inside, whose
// result nothing stores: with a branch the loads of one place would wait for those of another.
template <class Sum, class With>
TW_DEVICE void each_place(N first_n, X first_x, K first_k, Pixel first_pixel, const With& with) {
  TW_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TW_UNROLL
    for (int i = 0; i < Sum::elements; i += at_once) {
      // A lane's number is none below 0, which the compiler does not know: divisions of what is are longer.
      const auto at = Sum::coords(tw::arch::lane() & 31, i);
      const Pixel pixel = within<whole_tiles>(first_pixel + Tile(tile) + tw::along<Pixel>(at), pixels);
      const auto place = Places::Layout::coords(pixel.value);
      const N n = within<whole_images>(first_n + tw::along<N>(place), shape::images);
      const X x = within<whole_columns>(first_x + tw::along<X>(place), shape::out_width);
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        const K k = first_k + Strip(strip) + tw::along<K>(at);
        with(tile, strip, i, n, x, within<whole_strips>(k, shape::channels - at_once + 1));
      }
    }
  }
}

// Loads what the expression takes for a lane's sums of output row `y`, or of the nearest one.
template <class Params, class Sum>
TW_DEVICE void ask(const Params& p, N first_n, Y y, X first_x, K first_k, Pixel first_pixel, Beside<Sum>& beside) {
  y = nearest(y, shape::out_height);
  each_place<Sum>(first_n, first_x, first_k, first_pixel, [&](int tile, int strip, int i, N n, X x, K k) {
    epilogue_ahead(p.epilogue, n.value, y.value, x.value, k.value, beside.of[tile][strip][i / at_once]);
  });
}

// Replaces a lane's sums of output row `y` by what the expression makes of them, which f32 holds exactly.
template <class Params, class Sum>
TW_DEVICE void apply(const Params& p, N first_n, Y y, X first_x, K first_k, Pixel first_pixel, const Beside<Sum>& beside,
                     Sum (&row)[tiles][strips]) {
  each_place<Sum>(first_n, first_x, first_k, first_pixel, [&](int tile, int strip, int i, N n, X x, K k) {
    float* const sums = row[tile][strip].values + i;
    const auto& ahead = beside.of[tile][strip][i / at_once];
    if constexpr (at_once == 2) {
      const float given[] = {sums[0], sums[1]};
      Written made[2];
      epilogue(p.epilogue, n.value, y.value, x.value, k.value, ahead, given, made);
      sums[0] = (float)made[0], sums[1] = (float)made[1];
    } else {
      sums[0] = (float)epilogue(p.epilogue, n.value, y.value, x.value, k.value, ahead, sums[0]);
    }
  });
}
