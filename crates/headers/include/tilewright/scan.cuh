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

// The number of this block among those that have begun: of the blocks before it none waits to begin.
TW_DEVICE int ticket(unsigned* counter) {
  int* const answer = (int*)shared_memory();
  if (arch::thread_of_block() == 0) *answer = (int)atomicAdd(counter, 1u);
  arch::sync_block(Place::here());
  const int number = *answer;
  arch::sync_block(Place::here());
  return number;
}

// Tells other blocks that what this block's threads wrote before is there.
TW_DEVICE void publish(unsigned* flag, unsigned stage) {
  __threadfence();
  arch::sync_block(Place::here());
  if (arch::thread_of_block() == 0) *(volatile unsigned*)flag = stage;
}

// Waits until so many blocks have published this stage; what they wrote before is seen then.
TW_DEVICE void wait_for(const unsigned* flags, int count, unsigned stage) {
  for (int i = arch::thread_of_block(); i < count; i += arch::threads_of_block()) {
    while (*(const volatile unsigned*)(flags + i) < stage) {
    }
  }
  __threadfence();
  arch::sync_block(Place::here());
}

// Every block comes here when it needs the others' flags no more. The next launch finds zeros: the ticket's counter, then that of
// those who came, then the flags.
TW_DEVICE void leave(unsigned* counters, unsigned blocks) {
  if (!last_to_come(counters + 1, blocks)) return;
  for (unsigned i = arch::thread_of_block(); i < blocks; i += arch::threads_of_block()) counters[2 + i] = 0;
  if (arch::thread_of_block() == 0) counters[0] = 0;
}

}  // namespace tw
