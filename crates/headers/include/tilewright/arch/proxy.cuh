// What threads wrote to shared memory, for those who read it past them: warpgroup products and bulk copies (sm_90).
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {
namespace arch {

// What the thread wrote, or knows to be written, is seen by bulk stores and warpgroup products that begin later. It stands behind
// the writes; a barrier to who begins them follows.
#ifdef TILEWRIGHT_HOST
inline void fence_proxy_async() { host::fence_proxy_async(); }
#else
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

}  // namespace arch
}  // namespace tw
