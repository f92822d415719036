// Scans of rows by threads that share them: every value becomes what the values up to it make together.
#pragma once

#include "tilewright/collective.cuh"

namespace tw {

// What stands before a thread's chunk, which has this total. Neighbouring threads have neighbouring chunks, `threads` of them
// those of a row's turn. `carry` is what stands before the turn, and then what stands before the row's next one.
template <int threads, class T, class Op> TW_DEVICE T before(T total, T& carry, T* warps, Op op) {
  constexpr int levels = threads >= 32 ? 5 : threads >= 16 ? 4 : threads >= 8 ? 3 : threads >= 4 ? 2 : threads >= 2 ? 1 : 0;
  const int thread = arch::thread_of_block();
  T others[levels + 1];
  TW_UNROLL
  for (int level = 0; level < levels; ++level) {
    others[level] = neighbour(total, 1 << level);
    total = op(total, others[level]);
  }
  T first = carry;
  if constexpr (threads <= 32) {
    carry = op(carry, total);
  } else {
    const int mine = thread / 32, from = thread / threads * (threads / 32);
    if (thread % 32 == 0) warps[mine] = total;
    arch::sync_block(Place::here());
    for (int warp = from; warp < from + threads / 32; ++warp) {
      if (warp == mine) first = carry;
      carry = op(carry, warps[warp]);
    }
    arch::sync_block(Place::here());
  }
  TW_UNROLL
  for (int level = levels - 1; level >= 0; --level) {
    if (thread >> level & 1) first = op(first, others[level]);
  }
  return first;
}

// Scans a turn of a row: `values` are the thread's. With `rows`, so many neighbouring threads are of neighbouring rows.
template <int threads, int rows, int count, class T, class Op>
TW_DEVICE void scan(T (&values)[count], T& carry, unsigned char* scratch, Op op) {
  T sum = values[0];
  TW_UNROLL
  for (int i = 1; i < count; ++i) sum = op(sum, values[i]);
  if constexpr (rows == 0) {
    sum = before<threads>(sum, carry, (T*)scratch, op);
  } else {
    // Totals go to threads whose neighbours are of the same row, and come back. The pitch is odd: no two meet in a bank.
    constexpr int pitch = threads + 1;
    T* const all = (T*)scratch;
    const int thread = arch::thread_of_block();
    T& own = all[thread % rows * pitch + thread / rows];
    T& other = all[thread / threads * pitch + thread % threads];
    own = sum;
    arch::sync_block(Place::here());
    other = before<threads>(other, carry, all + rows * pitch, op);
    arch::sync_block(Place::here());
    sum = own;
  }
  TW_UNROLL
  for (int i = 0; i < count; ++i) values[i] = sum = op(sum, values[i]);
}

}  // namespace tw
