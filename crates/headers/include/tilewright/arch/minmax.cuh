// Minimum and maximum of f32 as one instruction each (sm_80 and up): a NaN wins, -0 is smaller than +0.
#pragma once

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
inline float minimum(float a, float b) {
  const bool first = a < b || (a == b && __float_as_int(a) < 0);
  return a != a ? a : (first ? a : b);
}
inline float maximum(float a, float b) {
  const bool first = a > b || (a == b && __float_as_int(a) >= 0);
  return a != a ? a : (first ? a : b);
}
#else
__device__ __forceinline__ float minimum(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ __forceinline__ float maximum(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
#endif

}  // namespace arch
}  // namespace tw
