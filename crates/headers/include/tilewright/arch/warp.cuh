// What the lanes of a warp, and the warps of a block, do together.
#pragma once

#include "tilewright/arch/caller.cuh"

namespace tw {
namespace arch {

constexpr unsigned whole_warp = 0xffffffffu;

#ifdef TILEWRIGHT_HOST
inline int lane() { return (int)host::current->lane(); }
inline int thread_of_block() { return (int)host::current->linear; }
inline int threads_of_block() {
  const dim3& side = host::current->block->threads_per_side;
  return (int)(side.x * side.y * side.z);
}
inline void sync_block(Place place) { __syncthreads(place); }
template <class T> T shuffle(unsigned mask, T value, int source, Place place) {
  return __shfl_sync(mask, value, source, 32, place);
}
template <class T> T shuffle_xor(T value, int flip, Place place) { return __shfl_xor_sync(whole_warp, value, flip, 32, place); }
#else
__device__ __forceinline__ int lane() {
  int number;
  asm("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}
__device__ __forceinline__ int thread_of_block() {
  return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__device__ __forceinline__ int threads_of_block() { return (int)(blockDim.x * blockDim.y * blockDim.z); }
__device__ __forceinline__ void sync_block(Place) { __syncthreads(); }
template <class T> __device__ __forceinline__ T shuffle(unsigned mask, T value, int source, Place) {
  return __shfl_sync(mask, value, source);
}
template <class T> __device__ __forceinline__ T shuffle_xor(T value, int flip, Place) {
  return __shfl_xor_sync(whole_warp, value, flip);
}
#endif

// The same number, of each lane its own, by a whole warp. The assembler works a number out again where it sees how, a swizzled offset in six
// instructions and the thread's own number among them; it does not see through what comes from another lane.
TW_DEVICE int kept(int number, Place place = Place::here()) { return shuffle(whole_warp, number, lane(), place); }

// Sum, minimum and maximum of a 32-bit integer over the lanes of `mask`, in one instruction (redux.sync, sm_80).
#ifdef TILEWRIGHT_HOST
template <class T, class Op> T redux(unsigned mask, T value, Op op, Place place) {
  T result = value;
  bool first = true;
  for (int source = 0; source < 32; ++source) {
    if (!(mask >> source & 1)) continue;
    const T other = __shfl_sync(mask, value, source, 32, place);
    result = first ? other : op(result, other);
    first = false;
  }
  return result;
}
#define TW_REDUX(NAME, OP, T, EXPRESSION)                                                                       \
  inline T redux_##NAME(unsigned mask, T value, Place place) {                                                  \
    return redux(mask, value, [](T a, T b) { return (T)(EXPRESSION); }, place);                                 \
  }
#else
#define TW_REDUX(NAME, OP, T, EXPRESSION)                                                                       \
  __device__ __forceinline__ T redux_##NAME(unsigned mask, T value, Place) {                                    \
    T result;                                                                                                   \
    asm volatile("redux.sync." OP " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask));                       \
    return result;                                                                                              \
  }
#endif
TW_REDUX(sum, "add.s32", int, (unsigned)a + (unsigned)b)
TW_REDUX(sum, "add.u32", unsigned, a + b)
TW_REDUX(min, "min.s32", int, b < a ? b : a)
TW_REDUX(min, "min.u32", unsigned, b < a ? b : a)
TW_REDUX(max, "max.s32", int, a < b ? b : a)
TW_REDUX(max, "max.u32", unsigned, a < b ? b : a)
#undef TW_REDUX

}  // namespace arch
}  // namespace tw
