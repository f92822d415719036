// Tiles of tensors in global memory, brought to shared memory by the threads of a block, 16 bytes at a time.
#pragma once

#include "tilewright/arch/copy.cuh"
#include "tilewright/layout.cuh"

namespace tw {
namespace detail {

// The coordinates of vector number `i` of a tile laid out as L: `STEP` elements along the first dimension, which runs fastest.
template <class L, int STEP, class... Ds> struct Walk {
  static constexpr int count = 1;
  TW_DEVICE static constexpr Coords<> at(int) { return {}; }
};
template <class L, int STEP, class D, class... Ds> struct Walk<L, STEP, D, Ds...> {
  static constexpr int steps = L::template extent<D>() / STEP;
  static constexpr int count = steps * Walk<L, 1, Ds...>::count;
  TW_DEVICE static constexpr Coords<D, Ds...> at(int i) { return {i % steps * STEP, Walk<L, 1, Ds...>::at(i / steps)}; }
};

// Whether runs of N elements along D lie side by side in A.
template <class A, class D, int N> TW_DEVICE constexpr bool side_by_side() {
  const int extent = A::Layout::template extent<D>();
  for (int start = 0; start < 8 * N && start < extent; start += N) {
    const int first = A::offset(D(start));
    if (first % N != 0) return false;
    for (int i = 1; i < N && start + i < extent; ++i) {
      if (A::offset(D(start + i)) != first + i) return false;
    }
  }
  return true;
}

}  // namespace detail

// Begins to copy the tile of `from` whose first element is at `origin`; it is as large as `to`, a tensor in shared memory. Of the
// tile's dimensions, all of which are named, `Inner` comes first: its elements lie side by side in both tensors, in runs of 16
// bytes at multiples of 16, and `origin` along it is a multiple of such a run. What lies outside `from` becomes zeros. Each of
// `threads` threads copies its share; the caller commits and waits (arch/copy.cuh), and sees what others copied past a barrier.
template <class Inner, class... Outer, class From, class To, class At>
TW_DEVICE void load_tile(From from, To to, At origin, int thread, int threads, Place place = Place::here()) {
  using T = typename To::Element;
  using Source = typename From::Element;
  static_assert(same<Source, T> || same<Source, const T>, "a tile has the elements of the tensor that it comes from");
  constexpr int run = 16 / (int)sizeof(T), columns = To::Layout::template extent<Inner>();
  static_assert(columns % run == 0, "a tile is whole runs of 16 bytes along its first dimension");
  static_assert(detail::side_by_side<To, Inner, run>(), "the first dimension's elements lie side by side in the tile");
  static_assert(detail::side_by_side<From, Inner, run>(), "the first dimension's elements lie side by side in the tensor");
  using Walk = detail::Walk<typename To::Layout, run, Inner, Outer...>;
  static_assert(Walk::count * run == To::len, "all dimensions of the tile are named");
  for (int i = thread; i < Walk::count; i += threads) {
    const auto in_tile = Walk::at(i);
    const auto at = detail::combined(coords(origin), in_tile, 1);
    const int left = From::Layout::template extent<Inner>() - at.template get<Inner>();
    const int valid = From::contains(at) ? (left < run ? left : run) : 0;
    const Source* source = from.data + (valid == 0 ? 0 : From::offset(at));
    arch::copy_async<16>(to.data + To::offset(in_tile), source, valid * (int)sizeof(T), place);
  }
}

}  // namespace tw
