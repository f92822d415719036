// The element types of the tensor cores: f16, bf16, tf32, and pairs that fill a register. For storage and for operands: to
// compute, convert to float.
#pragma once

#include "tilewright/arch/half.cuh"

namespace tw {

// IEEE binary16. Conversion from float rounds to nearest even; from 65520 on it gives infinity.
struct f16 {
  unsigned short bits;
  f16() = default;
  TW_DEVICE explicit f16(float value) : bits(arch::f16_of(value)) {}
  TW_DEVICE explicit operator float() const { return arch::float_of_f16(bits); }
};

// The upper half of an f32. Conversion from float rounds to nearest even.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  TW_DEVICE explicit bf16(float value) : bits(arch::bf16_of(value)) {}
  TW_DEVICE explicit operator float() const { return arch::float_of_bf16(bits); }
};

// An f32 of which the tensor cores read 10 bits of mantissa. Conversion from float rounds to nearest, ties away from zero.
struct tf32 {
  unsigned bits;
  tf32() = default;
  TW_DEVICE explicit tf32(float value) : bits(arch::tf32_of(value)) {}
  TW_DEVICE explicit operator float() const {
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return __uint_as_float(nan ? bits : bits & 0xffffe000u);
  }
};

// The same of a finite number, in two instructions instead of four; NaN of what is not finite.
TW_DEVICE tf32 tf32_or_nan(float value) {
  tf32 rounded;
  rounded.bits = __float_as_uint(fmaf(value, 0.0f, __uint_as_float(__float_as_uint(value) + 0x1000u)));
  return rounded;
}

// Two of T in 4 bytes; `low` lies first in memory.
template <class T> struct Pair {
  unsigned bits;
  Pair() = default;
  TW_DEVICE Pair(T low, T high) : bits(low.bits | (unsigned)high.bits << 16) {}
  TW_DEVICE explicit Pair(float low, float high);
  TW_DEVICE T low() const { return part((unsigned short)bits); }
  TW_DEVICE T high() const { return part((unsigned short)(bits >> 16)); }

 private:
  static TW_DEVICE T part(unsigned short bits) {
    T value;
    value.bits = bits;
    return value;
  }
};
template <> TW_DEVICE Pair<f16>::Pair(float low, float high) : bits(arch::f16x2_of(low, high)) {}
template <> TW_DEVICE Pair<bf16>::Pair(float low, float high) : bits(arch::bf16x2_of(low, high)) {}

using f16x2 = Pair<f16>;
using bf16x2 = Pair<bf16>;

}  // namespace tw
