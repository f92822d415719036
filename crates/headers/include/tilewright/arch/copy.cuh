// Copies from global to shared memory that a thread begins and waits for later (cp.async, sm_80 and up).
#pragma once

#include "tilewright/arch/caller.cuh"

namespace tw {
namespace arch {

// The address within the block's shared memory, as PTX wants it.
#ifdef TILEWRIGHT_HOST
inline unsigned shared_address(const void* p) { return (unsigned)((const unsigned char*)p - host::shared_memory()); }
#else
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#endif

// copy_async: BYTES (4, 8 or 16) from global to shared memory, both aligned to as many. The first `valid` are read, zeros follow;
// with none valid nothing is read. 16 bytes pass by the L1 cache.
// copy_async_commit: what the thread has begun since the last call becomes a group.
// copy_async_wait<N>: until at most N of the thread's groups are in flight. Other threads see what landed past a barrier.
// copy_async_wait_all: until nothing of the thread is in flight.
#ifdef TILEWRIGHT_HOST
template <int BYTES>
inline void copy_async(void* to, const void* from, int valid = BYTES, Place place = Place::here()) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "an asynchronous copy has 4, 8 or 16 bytes");
  host::copy_async(to, from, BYTES, (unsigned)valid, place);
}
inline void copy_async_commit() { host::commit_copies(); }
template <int N> inline void copy_async_wait() { host::wait_for_copies(N); }
inline void copy_async_wait_all() { host::wait_for_all_copies(); }
#else
template <int BYTES>
__device__ __forceinline__ void copy_async(void* to, const void* from, int valid = BYTES, Place = Place::here()) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "an asynchronous copy has 4, 8 or 16 bytes");
  const unsigned long long source = __cvta_generic_to_global(from);
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(source), "r"(valid) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(source), "n"(BYTES), "r"(valid)
                 : "memory");
  }
}
__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void copy_async_wait() {
  static_assert(N >= 0, "so many groups stay in flight");
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void copy_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

}  // namespace arch
}  // namespace tw
