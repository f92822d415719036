// Blocks of a cluster (sm_90 and up), which run at one time and reach each other's shared memory. On the host model every block is a
// cluster of its own.
#pragma once

#include "tilewright/arch/tensor_map.cuh"
#include "tilewright/arch/warp.cuh"

namespace tw {
namespace arch {

// cluster_rank: the block's number in its cluster.
// cluster_sync: until all threads of all blocks of the cluster are here; what they did before is seen. A block may not end while
// another one may still write to its shared memory or to its mbarriers.
// mbarrier_arrive_at: an arrival at the mbarrier that stands at the same place in block `rank`.
// box_load_to: as box_load, to the same place in each block whose bit is set in `ranks`, and completed at the mbarrier at the same
// place in each of them.
#ifdef TILEWRIGHT_HOST
inline void need_no_others(bool alone, const char* operation, Place place) {
  char rule[120];
  __builtin_snprintf(rule, sizeof rule, "%s: the host model's clusters have one block, this is meant for others", operation);
  if (!alone) host::misuse(rule, place);
}
inline unsigned cluster_rank() { return 0; }
inline void cluster_sync(Place place = Place::here()) { sync_block(place); }
inline void mbarrier_arrive_at(Mbarrier* barrier, unsigned rank, Place place = Place::here()) {
  need_no_others(rank == 0, "mbarrier_arrive_at", place);
  mbarrier_arrive(barrier, place);
}
inline void box_load_to(unsigned ranks, void* to, const TensorMap& map, Mbarrier* done, int x, int y, Place place = Place::here()) {
  need_no_others(ranks == 1, "box_load_to", place);
  box_load(to, map, done, x, y, place);
}
#else
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void cluster_sync(Place = {}) {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive_at(Mbarrier* barrier, unsigned rank, Place = {}) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}"
      ::"r"(shared_address(barrier)), "r"(rank)
      : "memory");
}
__device__ __forceinline__ void box_load_to(unsigned ranks, void* to, const TensorMap& map, Mbarrier* done, int x, int y,
                                            Place = {}) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
      ::"r"(shared_address(to)), "l"(&map), "r"(shared_address(done)), "r"(x), "r"(y), "h"((unsigned short)ranks)
      : "memory");
}
#endif

}  // namespace arch
}  // namespace tw
