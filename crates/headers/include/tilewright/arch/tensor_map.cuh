// Bulk copies (sm_90): boxes of a tensor in global memory, and plain runs of bytes, moved by an engine while threads do other
// work. One thread begins them.
#pragma once

#include "tilewright/arch/barrier.cuh"

namespace tw {

// A tensor in global memory and the box of it that one copy moves, as the driver (or the host model) encodes it. It is a field
// of the kernel's parameters, which are `const __grid_constant__`.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

namespace arch {

// box_load: the box whose first element is at x, y, .. (innermost first, in elements) to shared memory, at a multiple of 128
// bytes; the swizzle's pattern begins at multiples of 1024 (128B), 512 (64B), 256 (32B). What lies outside the tensor becomes
// zeros. The bytes of a whole box are completed at `done`, which expects them.
// box_store: the box in shared memory to global memory, at coordinates of 0 and more, x a multiple of 16 bytes. What lies outside the
// tensor is not written, save that rows are written 16 bytes at a time.
// bulk_load, bulk_store: `bytes` in a row. Size and both addresses are multiples of 16.
// bulk_commit: the stores that the thread has begun since the last call become a group.
// bulk_wait<N>: until at most N groups are in flight. bulk_wait_read<N>: until at most N groups have still to read shared memory.
// Before the block ends, its thread waits for the reads at least.
// prefetch_map: brings the map itself near.
#ifdef TILEWRIGHT_HOST
inline void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, Place place = Place::here()) {
  const int at[] = {x};
  host::box_load(to, &map, at, 1, done, place);
}
inline void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, Place place = Place::here()) {
  const int at[] = {x, y};
  host::box_load(to, &map, at, 2, done, place);
}
inline void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z, Place place = Place::here()) {
  const int at[] = {x, y, z};
  host::box_load(to, &map, at, 3, done, place);
}
inline void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z, int u, Place place = Place::here()) {
  const int at[] = {x, y, z, u};
  host::box_load(to, &map, at, 4, done, place);
}
inline void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z, int u, int v,
                     Place place = Place::here()) {
  const int at[] = {x, y, z, u, v};
  host::box_load(to, &map, at, 5, done, place);
}
inline void box_store(const TensorMap& map, const void* from, int x, Place place = Place::here()) {
  const int at[] = {x};
  host::box_store(&map, at, 1, from, place);
}
inline void box_store(const TensorMap& map, const void* from, int x, int y, Place place = Place::here()) {
  const int at[] = {x, y};
  host::box_store(&map, at, 2, from, place);
}
inline void box_store(const TensorMap& map, const void* from, int x, int y, int z, Place place = Place::here()) {
  const int at[] = {x, y, z};
  host::box_store(&map, at, 3, from, place);
}
inline void box_store(const TensorMap& map, const void* from, int x, int y, int z, int u, Place place = Place::here()) {
  const int at[] = {x, y, z, u};
  host::box_store(&map, at, 4, from, place);
}
inline void box_store(const TensorMap& map, const void* from, int x, int y, int z, int u, int v, Place place = Place::here()) {
  const int at[] = {x, y, z, u, v};
  host::box_store(&map, at, 5, from, place);
}
inline void bulk_load(void* to, const void* from, unsigned bytes, Mbarrier* done, Place place = Place::here()) {
  host::bulk_load(to, from, bytes, done, place);
}
inline void bulk_store(void* to, const void* from, unsigned bytes, Place place = Place::here()) {
  host::bulk_store(to, from, bytes, place);
}
inline void bulk_commit() { host::commit_stores(); }
template <int N> inline void bulk_wait() { host::wait_for_stores(N, false); }
template <int N> inline void bulk_wait_read() { host::wait_for_stores(N, true); }
inline void prefetch_map(const TensorMap&) {}
#else
__device__ __forceinline__ void box_load(void* to, const TensorMap& map, Mbarrier* done, int x) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(
                   shared_address(to)),
               "l"(&map), "r"(shared_address(done)), "r"(x)
               : "memory");
}
__device__ __forceinline__ void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared_address(to)),
               "l"(&map), "r"(shared_address(done)), "r"(x), "r"(y)
               : "memory");
}
__device__ __forceinline__ void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];"
               ::"r"(shared_address(to)), "l"(&map), "r"(shared_address(done)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z, int u) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];"
               ::"r"(shared_address(to)), "l"(&map), "r"(shared_address(done)), "r"(x), "r"(y), "r"(z), "r"(u)
               : "memory");
}
__device__ __forceinline__ void box_load(void* to, const TensorMap& map, Mbarrier* done, int x, int y, int z, int u, int v) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%3, %4, %5, %6, %7}], [%2];"
               ::"r"(shared_address(to)), "l"(&map), "r"(shared_address(done)), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
               : "memory");
}
__device__ __forceinline__ void box_store(const TensorMap& map, const void* from, int x) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%2}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x)
               : "memory");
}
__device__ __forceinline__ void box_store(const TensorMap& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
}
__device__ __forceinline__ void box_store(const TensorMap& map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void box_store(const TensorMap& map, const void* from, int x, int y, int z, int u) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z), "r"(u)
               : "memory");
}
__device__ __forceinline__ void box_store(const TensorMap& map, const void* from, int x, int y, int z, int u, int v) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
               : "memory");
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Mbarrier* done) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(done))
               : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
#endif

}  // namespace arch
}  // namespace tw
