// Conversions between f32 and the short floats of the tensor cores: bits on one side, to the nearest, ties to even.
// A NaN stays a NaN; its other bits are of no meaning.
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {
namespace arch {

// bf16 is the upper half of an f32, so that this way is exact and needs no instruction of its own.
TW_DEVICE float float_of_bf16(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

// A double as a float rounded to odd: toward zero, with the last bit set if that was not exact. To round that once more, to a
// shorter type, is to round the double once; for bf16 no instruction does it before sm_90.
TW_DEVICE float float_odd(double v) {
  const float near = (float)v;
  const double back = near;
  const unsigned beyond = fabs(back) > fabs(v), inexact = back != v;
  return v != v ? near : __uint_as_float((__float_as_uint(near) - beyond) | inexact);
}

#ifdef TILEWRIGHT_HOST
// Out of line: kernels of many halves would be long.
[[gnu::noinline]] inline unsigned short f16_of(float value) {
  const unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return 0x7fff;
  if (size >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);  // from 2^16 on
  if (size >= 0x38800000u) {                                         // normal: from 2^-14 on
    const unsigned rebiased = size - (112u << 23);
    return (unsigned short)(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1)) >> 13);
  }
  // Subnormal: units of 2^-24. Below half a unit nothing is left, and the shift would be too long.
  const unsigned shift = 126 - (size >> 23), mantissa = (size & 0x7fffffu) | 0x800000u;
  if (shift > 24) return (unsigned short)sign;
  const unsigned whole = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), tie = 1u << (shift - 1);
  return (unsigned short)(sign | (whole + (rest > tie || (rest == tie && (whole & 1)))));
}
inline unsigned short f16_of_double(double value) { return f16_of(float_odd(value)); }
[[gnu::noinline]] inline float float_of_f16(unsigned short bits) {
  const unsigned sign = (unsigned)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return __uint_as_float(sign | (exponent + 112) << 23 | mantissa << 13);
  const float size = (float)mantissa * 0x1p-24f;
  return sign != 0 ? -size : size;
}
inline unsigned short bf16_of(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
inline unsigned f16x2_of(float low, float high) { return f16_of(low) | (unsigned)f16_of(high) << 16; }
inline unsigned bf16x2_of(float low, float high) { return bf16_of(low) | (unsigned)bf16_of(high) << 16; }
// f32 with 10 bits of mantissa, in the upper bits; ties away from zero.
inline unsigned tf32_of(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  return (bits + ((bits & 0x7f800000u) == 0x7f800000u ? 0 : 0x1000u)) & 0xffffe000u;
}
#else
__device__ __forceinline__ unsigned short f16_of(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ unsigned short f16_of_double(double value) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(value));
  return bits;
}
__device__ __forceinline__ float float_of_f16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ __forceinline__ unsigned short bf16_of(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// The instruction takes the upper half first.
__device__ __forceinline__ unsigned f16x2_of(float low, float high) {
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
__device__ __forceinline__ unsigned bf16x2_of(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
__device__ __forceinline__ unsigned tf32_of(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
#endif

}  // namespace arch
}  // namespace tw
