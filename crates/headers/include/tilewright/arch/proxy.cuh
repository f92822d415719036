// What this thread wrote to shared memory, for those who read it past the caches: warpgroup products and bulk copies (sm_90).
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {
namespace arch {

// Between the writes and the barrier behind which another thread starts the read.
#ifdef TILEWRIGHT_HOST
inline void fence_proxy_async() {}
#else
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

}  // namespace arch
}  // namespace tw
