// 1 / d within one unit in the last place of f32, within 2^-19 of itself in f64, for normal d with a normal reciprocal.
#pragma once

// Whether f64 is to be avoided: GPUs for pictures have 64 times fewer units of it. Compute capability 8.0, 9.0 and 10.0 have many.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ % 100 != 0
#define TW_SLOW_F64 1
#else
#define TW_SLOW_F64 0
#endif

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
inline float reciprocal(float d) { return 1.0f / d; }
inline double reciprocal(double d) { return 1.0 / d; }
#else
__device__ __forceinline__ float reciprocal(float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  return r;
}
__device__ __forceinline__ double reciprocal(double d) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
  return r;
}
#endif

}  // namespace arch
}  // namespace tw
