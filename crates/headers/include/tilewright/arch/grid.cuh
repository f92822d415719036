// Overlap of a kernel's start with the end of the one before it in the stream (programmatic dependent launch, sm_90 and up).
#pragma once

namespace tw {
namespace arch {

// Waits until everything that the kernels before this one wrote is visible, then lets the next one be scheduled. Before this a
// kernel may touch nothing but its parameters.
#if !defined(TILEWRIGHT_HOST) && __CUDA_ARCH__ >= 900
__device__ __forceinline__ void take_turn() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
}
#elif defined(TILEWRIGHT_HOST)
inline void take_turn() {}
#else
__device__ __forceinline__ void take_turn() {}
#endif

}  // namespace arch
}  // namespace tw
