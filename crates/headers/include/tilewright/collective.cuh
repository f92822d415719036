// What the threads of a block need to reduce rows together: values of neighbours, whatever their type.
#pragma once

#include "tilewright/arch/warp.cuh"

namespace tw {

// The value of the lane whose number differs by `flip`.
template <class T> TW_DEVICE T neighbour(T value, int flip) {
  if constexpr (sizeof(T) >= 4) {
    return arch::shuffle_xor(value, flip, Place::here());
  } else {
    return (T)arch::shuffle_xor((int)value, flip, Place::here());
  }
}

// What another block has left in memory.
template <class T> TW_DEVICE T partial(const unsigned char* place) { return *(const volatile T*)place; }

// Whether this block is the last of `blocks` to come here; what the others wrote before is seen then. All threads come.
TW_DEVICE bool last_to_come(unsigned* counter, unsigned blocks) {
  unsigned* const answer = (unsigned*)shared_memory();
  __threadfence();
  arch::sync_block(Place::here());
  if (arch::thread_of_block() == 0) {
    const unsigned before = atomicAdd(counter, 1u);
    // The next launch finds 0.
    if (before + 1 == blocks) *counter = 0;
    *answer = before + 1 == blocks;
  }
  arch::sync_block(Place::here());
  const bool last = *answer != 0;
  __threadfence();
  arch::sync_block(Place::here());
  return last;
}

// Waits until all blocks of the grid have come here for the `turn`-th time (1, 2, ..); what they wrote before is seen then. All
// blocks must be resident at once, and all threads come.
TW_DEVICE void meet(unsigned* counters, unsigned turn) {
  __threadfence();
  arch::sync_block(Place::here());
  if (arch::thread_of_block() == 0) {
    const unsigned all = turn * gridDim.x;
    atomicAdd(counters, 1u);
    while (atomicAdd(counters, 0u) < all) __nanosleep(32);
  }
  arch::sync_block(Place::here());
  __threadfence();
}

// The end of a kernel whose blocks have met: the next launch finds zeros.
TW_DEVICE void part(unsigned* counters) {
  if (last_to_come(counters + 1, gridDim.x) && arch::thread_of_block() == 0) counters[0] = 0;
}

}  // namespace tw
