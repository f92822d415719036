// Registers that warpgroups of a block hand to one another while they run (setmaxnreg, sm_90a).
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {
namespace arch {

// lend_registers: all warps of a warpgroup keep `count` registers a thread, and leave the others to the block.
// borrow_registers: all warps of a warpgroup have `count` a thread from here on, as soon as the block has them. The kernel is built for one
// block of a multiprocessor, and what all its warpgroups have together is no more than what they began with. `count` is a multiple of 8
// from 24 to 240. Code behind these that both sides go through has to do with the smaller count.
#ifdef TILEWRIGHT_HOST
template <int count> void lend_registers() {}
template <int count> void borrow_registers() {}
#else
template <int count> __device__ __forceinline__ void lend_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 240, "registers are lent in eights, 24 to 240");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> __device__ __forceinline__ void borrow_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 240, "registers are borrowed in eights, 24 to 240");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
#endif

}  // namespace arch
}  // namespace tw
