// The CUDA thread that is running, its block, the block's barrier and its shared memory.
// What is only declared here is defined by the runtime (block.h), which stands in a translation unit of its own.
#pragma once

#include "tilewright/host/types.h"

namespace tw {
namespace host {

// A line of the kernel's source. As a default argument, `here()` is the caller's line.
struct Place {
  const char* file;
  int line;
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

enum class State : unsigned char { Ready, AtBarrier, InCollective, InWarpgroup, AtMbarrier, AtNamedBarrier, Finished };

struct Thread;
struct Product;

// Computes the results of a warp collective once every lane of `members` has deposited. `lanes` is the warp's first
// thread.
using Resolve = void (*)(Thread* lanes, unsigned members);

struct Block {
  uint3 index;
  dim3 threads_per_side;
  dim3 blocks_per_side;
  unsigned char* shared;
  unsigned long long shared_bytes;
  unsigned votes;  // threads whose predicate was true at the last barrier
  bool watched;    // whether accesses to shared memory are
};

struct Thread {
  uint3 index;
  unsigned linear;  // index within the block
  Block* block;
  State state;
  bool started;

  // What the thread waits for, and where.
  const char* operation;
  Place place;
  unsigned object;  // the number of the mbarrier or of the named barrier
  unsigned parity;  // of the phase of that mbarrier
  bool testing;     // whether the last test of an mbarrier said no

  // The collective's mask and meaning; what this lane deposited; what it will read.
  unsigned mask;
  Resolve resolve;
  unsigned long long value;
  unsigned source;
  unsigned long long result;

  // The warpgroup products that this thread has not waited for, oldest first; how many groups it committed; whether a fence
  // stands behind its last wait (host/wgmma.h).
  Product* products;
  unsigned product_groups;
  bool products_fenced;

  unsigned lane() const { return linear % 32; }
};

// The thread that is running. A fiber never changes its OS thread, so the address of this variable stays good.
extern __thread Thread* current;

// Waits for every thread of the block; all must stand at the same place.
void wait_for_block(bool predicate, const char* operation, Place place);

// Deposits, waits until every lane of `mask` that has not ended has done so, and resolves.
void wait_for_warp(unsigned mask, Resolve resolve, const char* operation, Place place);

// Deposits, waits until all 128 threads of the warpgroup have done so at the same place, and resolves: `lanes` is the
// warpgroup's first thread.
void wait_for_warpgroup(Resolve resolve, const char* operation, Place place);

// What fences and atomics order: a fence hands on what the thread did, and both learn what fences have handed on.
void meet_at_fence();
void meet_at_atomic();

// Lets the other threads of the block run.
void yield();

// Ends the launch with a message: the kernel broke a rule. Does not return.
[[noreturn]] void misuse(const char* rule, Place place);

// The block's dynamic shared memory, aligned to 1024 bytes; all ones (a NaN, a -1) when the block starts.
inline unsigned char* shared_memory() { return current->block->shared; }
inline unsigned long long shared_bytes() { return current->block->shared_bytes; }

}  // namespace host
}  // namespace tw

inline void __syncthreads(tw::host::Place place = tw::host::Place::here()) {
  tw::host::wait_for_block(false, "__syncthreads", place);
}
inline int __syncthreads_count(int predicate, tw::host::Place place = tw::host::Place::here()) {
  tw::host::wait_for_block(predicate != 0, "__syncthreads_count", place);
  return (int)tw::host::current->block->votes;
}
inline int __syncthreads_or(int predicate, tw::host::Place place = tw::host::Place::here()) {
  tw::host::wait_for_block(predicate != 0, "__syncthreads_or", place);
  return tw::host::current->block->votes != 0;
}
inline int __syncthreads_and(int predicate, tw::host::Place place = tw::host::Place::here()) {
  tw::host::wait_for_block(predicate == 0, "__syncthreads_and", place);
  return tw::host::current->block->votes == 0;
}
inline void __nanosleep(unsigned) { tw::host::yield(); }
inline void __trap(tw::host::Place place = tw::host::Place::here()) { tw::host::misuse("__trap", place); }
