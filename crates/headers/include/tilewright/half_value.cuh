// f16 and bf16 as values of emitted kernels, which compute with them in float: casts, bits, memory.
#pragma once

#include "tilewright/half.cuh"

namespace tw {

template <class T> struct HalfBits {
  static TW_DEVICE T from(unsigned short v) {
    T value;
    value.bits = v;
    return value;
  }
  static TW_DEVICE T from(short v) { return from((unsigned short)v); }
};

// A NaN wins; -0 is smaller than +0.
template <> TW_DEVICE f16 minimum<f16>(f16 a, f16 b) { return f16(minimum((float)a, (float)b)); }
template <> TW_DEVICE f16 maximum<f16>(f16 a, f16 b) { return f16(maximum((float)a, (float)b)); }
template <> TW_DEVICE bf16 minimum<bf16>(bf16 a, bf16 b) { return bf16(minimum((float)a, (float)b)); }
template <> TW_DEVICE bf16 maximum<bf16>(bf16 a, bf16 b) { return bf16(maximum((float)a, (float)b)); }

// Rounded once, to the nearest, ties to even. From other types, and to them, through float.
template <> struct Cast<f16> {
  static TW_DEVICE f16 from(float v) { return f16(v); }
  static TW_DEVICE f16 from(double v) { return HalfBits<f16>::from(arch::f16_of_double(v)); }
};
template <> struct Cast<bf16> {
  static TW_DEVICE bf16 from(float v) { return bf16(v); }
  static TW_DEVICE bf16 from(double v) { return bf16(arch::float_odd(v)); }
};

template <> struct Bits<f16> : HalfBits<f16> {};
template <> struct Bits<bf16> : HalfBits<bf16> {};
template <> struct Bits<short> {
  static TW_DEVICE short from(unsigned short v) { return (short)v; }
  static TW_DEVICE short from(f16 v) { return (short)v.bits; }
  static TW_DEVICE short from(bf16 v) { return (short)v.bits; }
};

namespace arch {

template <> TW_DEVICE f16 far<f16>(const unsigned char* p) { return HalfBits<f16>::from(__ldg((const unsigned short*)p)); }
template <> TW_DEVICE bf16 far<bf16>(const unsigned char* p) { return HalfBits<bf16>::from(__ldg((const unsigned short*)p)); }
template <bool streaming> TW_DEVICE void store(f16* p, f16 v) { store<streaming>((unsigned short*)p, v.bits); }
template <bool streaming> TW_DEVICE void store(bf16* p, bf16 v) { store<streaming>((unsigned short*)p, v.bits); }

}  // namespace arch
}  // namespace tw
