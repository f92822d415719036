// An expression that becomes part of the kernel: `epilogue`, a function of a place and of its sum, stands before meeting.cuh.

// What the expression makes of a sum. It is the kernel's type that is stored.
template <class Params> TW_DEVICE Written made_of(const Params& p, N n, Y y, X x, K k, float sum) {
  if constexpr (shape::expression) {
    return epilogue(p.epilogue, n.value, y.value, x.value, k.value, sum);
  } else {
    return Written(sum);
  }
}

// Replaces a lane's sums of output row `y` by what the expression makes of them, which f32 holds exactly: two neighbouring channels at
// once where there are two.
template <class Params, class Sum>
TW_DEVICE void apply(const Params& p, N first_n, Y y, X first_x, K first_k, Pixel first_pixel, Sum (&row)[tiles][strips]) {
  TW_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TW_UNROLL
    for (int i = 0; i < Sum::elements; i += 2) {
      const auto at = Sum::coords(tw::arch::lane(), i);
      const Pixel pixel = first_pixel + Tile(tile) + tw::along<Pixel>(at);
      const auto place = Places::coords_of(pixel.value);
      const N n = first_n + tw::along<N>(place);
      const X x = first_x + tw::along<X>(place);
      if (pixel.value >= pixels || n.value >= shape::images || x.value >= shape::out_width) continue;
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        const K k = first_k + Strip(strip) + tw::along<K>(at);
        float(&sums)[Sum::elements] = row[tile][strip].values;
        if constexpr (shape::expression && shape::channels % 2 == 0) {
          if (k.value >= shape::channels) continue;
          const float given[] = {sums[i], sums[i + 1]};
          Written made[2];
          epilogue(p.epilogue, n.value, y.value, x.value, k.value, given, made);
          sums[i] = (float)made[0], sums[i + 1] = (float)made[1];
        } else {
          TW_UNROLL
          for (int e = 0; e < 2; ++e) {
            if (k.value + e < shape::channels) sums[i + e] = (float)made_of(p, n, y, x, k + K(e), sums[i + e]);
          }
        }
      }
    }
  }
}
