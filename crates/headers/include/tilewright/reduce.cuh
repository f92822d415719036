// Reductions over the lanes of a warp and the threads of a block. An operation is any function of two values that is
// associative and commutative; for floats the order of the steps is the one below, the same on every machine.
#pragma once

#include "tilewright/arch/vector.cuh"
#include "tilewright/arch/warp.cuh"
#include "tilewright/layout.cuh"

namespace tw {

struct Sum {
  template <class T> TW_DEVICE T operator()(T a, T b) const { return a + b; }
};
// Of floats: a NaN wins.
struct Min {
  template <class T> TW_DEVICE T operator()(T a, T b) const { return minimum(a, b); }
};
struct Max {
  template <class T> TW_DEVICE T operator()(T a, T b) const { return maximum(a, b); }
};

// Over each group of `width` lanes (a power of two up to 32); every lane gets its group's result. All 32 lanes take part.
template <int width = 32, class T, class Op> TW_DEVICE T warp_reduce(T value, Op op, Place place = Place::here()) {
  static_assert(width >= 1 && width <= 32 && (width & (width - 1)) == 0, "a width is a power of two up to 32");
  constexpr bool integer = same<T, int> || same<T, unsigned>;
  if constexpr (width == 32 && integer && same<Op, Sum>) {
    return arch::redux_sum(arch::whole_warp, value, place);
  } else if constexpr (width == 32 && integer && same<Op, Min>) {
    return arch::redux_min(arch::whole_warp, value, place);
  } else if constexpr (width == 32 && integer && same<Op, Max>) {
    return arch::redux_max(arch::whole_warp, value, place);
  } else {
    TW_UNROLL
    for (int step = width / 2; step > 0; step /= 2) {
      value = op(value, arch::shuffle_xor(value, step, place));
    }
    return value;
  }
}

// Over the first `count` lanes (1 to 32), which alone take part; the result is in lane 0.
template <class T, class Op> TW_DEVICE T warp_reduce_first(T value, Op op, int count, Place place = Place::here()) {
  const unsigned mask = arch::whole_warp >> (32 - count);
  TW_UNROLL
  for (int step = 16; step > 0; step /= 2) {
    const int source = arch::lane() + step;
    const T other = arch::shuffle(mask, value, source < count ? source : arch::lane(), place);
    if (source < count) value = op(value, other);
  }
  return value;
}

// Lane i gets op over lanes 0 to i, in their order. All 32 lanes take part.
template <class T, class Op> TW_DEVICE T warp_scan(T value, Op op, Place place = Place::here()) {
  TW_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const int source = arch::lane() - step;
    const T other = arch::shuffle(arch::whole_warp, value, source < 0 ? arch::lane() : source, place);
    if (source >= 0) value = op(other, value);
  }
  return value;
}

// Elements of T that a reduction over a block wants in shared memory: one a warp.
TW_DEVICE int block_reduce_elements() { return (arch::threads_of_block() + 31) / 32; }

namespace detail {
// Each warp's result in shared memory, visible to all threads; gives the number of warps.
template <class T, class Op> TW_DEVICE int reduce_warps(T value, Op op, T* scratch, Place place) {
  const int thread = arch::thread_of_block(), threads = arch::threads_of_block();
  const int lanes = threads - thread / 32 * 32;
  value = lanes < 32 ? warp_reduce_first(value, op, lanes, place) : warp_reduce(value, op, place);
  if (arch::lane() == 0) store(scratch + thread / 32, Vector<T, 1>{{value}}, place);
  arch::sync_block(place);
  return (threads + 31) / 32;
}
}  // namespace detail

// Over all threads of the block, of any shape; every thread gets the result. `scratch` has block_reduce_elements() elements
// in shared memory, and is free again afterwards. All threads call it.
template <class T, class Op> TW_DEVICE T block_reduce(T value, Op op, T* scratch, Place place = Place::here()) {
  const int warps = detail::reduce_warps(value, op, scratch, place);
  T result = load<1>((const T*)scratch, place)[0];
  for (int warp = 1; warp < warps; ++warp) result = op(result, load<1>((const T*)scratch + warp, place)[0]);
  arch::sync_block(place);
  return result;
}

// The same; the result is in thread 0 of the block alone, the others get something else.
template <class T, class Op> TW_DEVICE T block_reduce_first(T value, Op op, T* scratch, Place place = Place::here()) {
  const int warps = detail::reduce_warps(value, op, scratch, place);
  if (arch::thread_of_block() < warps) {
    value = warp_reduce_first(load<1>((const T*)scratch + arch::lane(), place)[0], op, warps, place);
  }
  arch::sync_block(place);
  return value;
}

}  // namespace tw
