// Barriers in shared memory that count arrivals (mbarriers, sm_80 and up) and bytes (sm_90), and barriers of some warps of a block.
#pragma once

#include "tilewright/arch/copy.cuh"
#include "tilewright/arch/proxy.cuh"

namespace tw {
namespace arch {

// 8 bytes of shared memory, aligned to as many. It goes through phases: one ends when `count` arrivals and all expected bytes
// have come, and the next begins. Phase 0, 2, .. have parity 0. Waiting for the parity before the first phase returns at once.
struct Mbarrier {
  unsigned long long state;
};

// mbarrier_init: once, by one thread; then fence_barrier_init and a barrier of the block.
// mbarrier_invalidate: before its bytes serve another purpose.
// mbarrier_arrive: what the thread did before is seen by who waits.
// mbarrier_expect_tx: the phase waits for so many bytes more. mbarrier_arrive_expect_tx: the same, and an arrival.
// mbarrier_test, mbarrier_try_wait: whether the phase of this parity has ended; the second may sleep before it says no.
// mbarrier_wait: until it has.
// copy_async_arrive: an arrival once all copies that the thread has begun with copy_async have landed.
// fence_barrier_init: the copy engines and other blocks of the cluster see the mbarriers that the thread initialised.
// named_barrier_sync: until `count` threads have arrived at barrier `id` (1 to 15). All threads of a warp do the same, `count`
// is a multiple of 32. named_barrier_arrive: an arrival that waits for nobody.
#ifdef TILEWRIGHT_HOST
inline void mbarrier_init(Mbarrier* barrier, unsigned count, Place place = Place::here()) {
  host::mbarrier_init(barrier, count, place);
}
inline void mbarrier_invalidate(Mbarrier* barrier, Place place = Place::here()) { host::mbarrier_invalidate(barrier, place); }
inline void mbarrier_arrive(Mbarrier* barrier, Place place = Place::here()) { host::mbarrier_arrive(barrier, 1, 0, place); }
inline void mbarrier_expect_tx(Mbarrier* barrier, unsigned bytes, Place place = Place::here()) {
  host::mbarrier_arrive(barrier, 0, bytes, place);
}
inline void mbarrier_arrive_expect_tx(Mbarrier* barrier, unsigned bytes, Place place = Place::here()) {
  host::mbarrier_arrive(barrier, 1, bytes, place);
}
inline bool mbarrier_test(Mbarrier* barrier, unsigned parity, Place place = Place::here()) {
  return host::mbarrier_test(barrier, parity, place);
}
inline bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity, Place place = Place::here()) {
  return host::mbarrier_test(barrier, parity, place);
}
inline void mbarrier_wait(Mbarrier* barrier, unsigned parity, Place place = Place::here()) {
  host::mbarrier_wait(barrier, parity, place);
}
inline void copy_async_arrive(Mbarrier* barrier, Place place = Place::here()) {
  host::mbarrier_arrive_after_copies(barrier, place);
}
inline void fence_barrier_init() { host::fence_barrier_init(); }
inline void named_barrier_sync(unsigned id, unsigned count, Place place = Place::here()) {
  host::named_barrier(id, count, true, place);
}
inline void named_barrier_arrive(unsigned id, unsigned count, Place place = Place::here()) {
  host::named_barrier(id, count, false, place);
}
#else
__device__ __forceinline__ void mbarrier_init(Mbarrier* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbarrier_invalidate(Mbarrier* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void mbarrier_expect_tx(Mbarrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive_expect_tx(Mbarrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ bool mbarrier_test(Mbarrier* barrier, unsigned parity) {
  unsigned ended;
  asm volatile(
      "{\n.reg .pred ended;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
      "selp.u32 %0, 1, 0, ended;\n}"
      : "=r"(ended)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return ended != 0;
}
#if __CUDA_ARCH__ < 900
// Nothing there sleeps, and there are no clusters.
__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity) { return mbarrier_test(barrier, parity); }
__device__ __forceinline__ void fence_barrier_init() { __threadfence_block(); }
#else
__device__ __forceinline__ void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity) {
  unsigned ended;
  asm volatile(
      "{\n.reg .pred ended;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
      "selp.u32 %0, 1, 0, ended;\n}"
      : "=r"(ended)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return ended != 0;
}
#endif
__device__ __forceinline__ void mbarrier_wait(Mbarrier* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}
__device__ __forceinline__ void copy_async_arrive(Mbarrier* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void named_barrier_sync(unsigned id, unsigned count) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(unsigned id, unsigned count) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}
#endif

}  // namespace arch
}  // namespace tw
