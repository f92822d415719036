// 1 / d within one unit in the last place, for normal d with a normal reciprocal.
#pragma once

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
inline float reciprocal(float d) { return 1.0f / d; }
#else
__device__ __forceinline__ float reciprocal(float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  return r;
}
#endif

}  // namespace arch
}  // namespace tw
