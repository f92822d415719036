// Layouts of shared memory as the copy engine leaves it.
#pragma once

#include "tilewright/axes.cuh"

namespace tw {

// The layout L, whose elements come in cells of RUN (16 bytes), with the cells of each 128 bytes exchanged as copies with a swizzle
// of SPAN cells (2, 4, 8; 1 for none) do: the number of the line of 128 bytes is XORed into that of the cell. The tensor begins where the
// pattern does, at a multiple of 128 bytes times SPAN.
template <class L, int RUN, int SPAN> struct Swizzled {
  static_assert(SPAN == 1 || SPAN == 2 || SPAN == 4 || SPAN == 8, "a swizzle spans 1, 2, 4 or 8 cells of 16 bytes");
  using Set = typename L::Set;
  static constexpr int len = L::len, storage = L::storage;
  template <class D> static constexpr bool has = L::template has<D>;
  template <class D> TW_DEVICE static constexpr int extent() { return L::template extent<D>(); }
  // From an element's number in memory without the swizzle to the one with it, and back.
  TW_DEVICE static constexpr int swizzled(int at) {
    return at ^ (int)((unsigned)at / (8 * RUN) % SPAN * RUN);
  }
  template <class At> TW_DEVICE static constexpr int place(At at) { return swizzled(L::place(at)); }
  template <class O, class At> TW_DEVICE static constexpr int delta(O from, At by) {
    return place(detail::combined(from, by, 1)) - place(from);
  }
  TW_DEVICE static constexpr auto coords(int index) { return L::coords(index); }
};

}  // namespace tw
