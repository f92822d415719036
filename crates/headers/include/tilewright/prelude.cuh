// What every emitted kernel may call: operations whose meaning is the same, bit for bit, as the host evaluator's.
// Integers wrap, shifts mask, x / 0 is 0; floats are IEEE and never contracted; casts saturate, round half to even, NaN gives 0.
// Compiles with NVRTC and no other header; under TILEWRIGHT_HOST, with any C++17 compiler after the host model's shim.
#pragma once

#ifdef TILEWRIGHT_HOST
#define TW_DEVICE inline
#define TW_NOINLINE inline
#else
#define TW_DEVICE __device__ __forceinline__
#define TW_NOINLINE __device__ __noinline__
#endif
#define TW_ALIGN(bytes) alignas(bytes)
#ifdef TILEWRIGHT_HOST
#define TW_UNROLL
#define TW_UNROLL_BY_8
#define TW_NO_UNROLL
#else
#define TW_UNROLL _Pragma("unroll")
#define TW_UNROLL_BY_8 _Pragma("unroll 8")
#define TW_NO_UNROLL _Pragma("unroll 1")
#endif

#include "tilewright/arch/grid.cuh"
#include "tilewright/arch/memory.cuh"
#include "tilewright/arch/minmax.cuh"
#include "tilewright/arch/reciprocal.cuh"
#include "tilewright/arch/shared.cuh"

namespace tw {

// ---- integers: the unsigned type that wraps, the range -------------------------------------------------------------------

template <class T> struct Int;
template <> struct Int<bool> { using U = unsigned; static constexpr long long low = 0; static constexpr unsigned long long high = 1; };
template <> struct Int<unsigned char> { using U = unsigned; static constexpr long long low = 0; static constexpr unsigned long long high = 255; };
template <> struct Int<signed char> { using U = unsigned; static constexpr long long low = -128; static constexpr unsigned long long high = 127; };
template <> struct Int<unsigned short> { using U = unsigned; static constexpr long long low = 0; static constexpr unsigned long long high = 65535; };
template <> struct Int<short> { using U = unsigned; static constexpr long long low = -32768; static constexpr unsigned long long high = 32767; };
template <> struct Int<unsigned> { using U = unsigned; static constexpr long long low = 0; static constexpr unsigned long long high = 4294967295ull; };
template <> struct Int<int> { using U = unsigned; static constexpr long long low = -2147483647ll - 1; static constexpr unsigned long long high = 2147483647ull; };
template <> struct Int<unsigned long long> { using U = unsigned long long; static constexpr long long low = 0; static constexpr unsigned long long high = ~0ull; };
template <> struct Int<long long> { using U = unsigned long long; static constexpr long long low = -9223372036854775807ll - 1; static constexpr unsigned long long high = 9223372036854775807ull; };

template <class T> TW_DEVICE T add(T a, T b) { return (T)((typename Int<T>::U)a + (typename Int<T>::U)b); }
template <class T> TW_DEVICE T sub(T a, T b) { return (T)((typename Int<T>::U)a - (typename Int<T>::U)b); }
template <class T> TW_DEVICE T mul(T a, T b) { return (T)((typename Int<T>::U)a * (typename Int<T>::U)b); }
template <class T> TW_DEVICE T neg(T a) { return (T)((typename Int<T>::U)0 - (typename Int<T>::U)a); }
template <class T> TW_DEVICE T fma(T a, T b, T c) { return add(mul(a, b), c); }
template <class T> TW_DEVICE T div(T a, T b) {
  if (b == 0) return 0;
  if (Int<T>::low < 0 && b == (T)-1) return neg(a);
  return (T)(a / b);
}
template <class T> TW_DEVICE T rem(T a, T b) {
  if (b == 0 || (Int<T>::low < 0 && b == (T)-1)) return 0;
  return (T)(a % b);
}
template <class T> TW_DEVICE T abs(T a) { return a < (T)0 ? neg(a) : a; }
template <class T> TW_DEVICE T minimum(T a, T b) { return b < a ? b : a; }
template <class T> TW_DEVICE T maximum(T a, T b) { return a < b ? b : a; }
template <class T> TW_DEVICE T bit_and(T a, T b) { return (T)(a & b); }
template <class T> TW_DEVICE T bit_or(T a, T b) { return (T)(a | b); }
template <class T> TW_DEVICE T bit_xor(T a, T b) { return (T)(a ^ b); }
template <class T> TW_DEVICE T invert(T a) { return (T)~a; }
template <class T> TW_DEVICE T shl(T a, T b) { return (T)((typename Int<T>::U)a << ((unsigned)b & (8 * sizeof(T) - 1))); }
template <class T> TW_DEVICE T shr(T a, T b) { return (T)(a >> ((unsigned)b & (8 * sizeof(T) - 1))); }
// The bits of an integer below 32 bits, and how many bits above them there are not.
template <class T> struct Width { static constexpr unsigned spare = sizeof(T) < 4 ? 32 - 8 * sizeof(T) : 0; };
template <class T> TW_DEVICE unsigned own_bits(T a) { return (unsigned)a << Width<T>::spare >> Width<T>::spare; }
template <class T> TW_DEVICE T count_ones(T a) {
  return (T)(sizeof(T) == 8 ? __popcll((unsigned long long)a) : __popc(own_bits(a)));
}
template <class T> TW_DEVICE T leading_zeros(T a) {
  return (T)(sizeof(T) == 8 ? __clzll((long long)a) : __clz((int)own_bits(a)) - (int)Width<T>::spare);
}
template <class T> TW_DEVICE T floor(T a) { return a; }
template <class T> TW_DEVICE T ceil(T a) { return a; }
template <class T> TW_DEVICE T trunc(T a) { return a; }
template <class T> TW_DEVICE T round(T a) { return a; }
template <class T> TW_DEVICE T sqrt(T a) { return a; }

// On bool, + is "or", * is "and", - is "exclusive or".
template <> TW_DEVICE bool add<bool>(bool a, bool b) { return a | b; }
template <> TW_DEVICE bool sub<bool>(bool a, bool b) { return a ^ b; }
template <> TW_DEVICE bool mul<bool>(bool a, bool b) { return a & b; }
template <> TW_DEVICE bool div<bool>(bool a, bool b) { return a & b; }
template <> TW_DEVICE bool rem<bool>(bool, bool) { return false; }
template <> TW_DEVICE bool neg<bool>(bool a) { return a; }
template <> TW_DEVICE bool abs<bool>(bool a) { return a; }
template <> TW_DEVICE bool invert<bool>(bool a) { return !a; }
template <> TW_DEVICE bool count_ones<bool>(bool a) { return a; }
template <> TW_DEVICE bool leading_zeros<bool>(bool a) { return !a; }
template <> TW_DEVICE bool shl<bool>(bool a, bool) { return a; }
template <> TW_DEVICE bool shr<bool>(bool a, bool) { return a; }

// ---- floats ---------------------------------------------------------------------------------------------------------------

// Exact, so that whichever function computes it gives the same.
template <> TW_DEVICE float rem<float>(float a, float b) { return fmodf(a, b); }
template <> TW_DEVICE double rem<double>(double a, double b) { return fmod(a, b); }
template <> TW_DEVICE float abs<float>(float a) { return fabsf(a); }
template <> TW_DEVICE double abs<double>(double a) { return fabs(a); }
template <> TW_DEVICE float sqrt<float>(float a) { return __fsqrt_rn(a); }
template <> TW_DEVICE double sqrt<double>(double a) { return __dsqrt_rn(a); }
template <> TW_DEVICE float floor<float>(float a) { return floorf(a); }
template <> TW_DEVICE double floor<double>(double a) { return ::floor(a); }
template <> TW_DEVICE float ceil<float>(float a) { return ceilf(a); }
template <> TW_DEVICE double ceil<double>(double a) { return ::ceil(a); }
template <> TW_DEVICE float trunc<float>(float a) { return truncf(a); }
template <> TW_DEVICE double trunc<double>(double a) { return ::trunc(a); }
template <> TW_DEVICE float round<float>(float a) { return rintf(a); }
template <> TW_DEVICE double round<double>(double a) { return rint(a); }

// A NaN wins; -0 is smaller than +0.
template <> TW_DEVICE float minimum<float>(float a, float b) { return arch::minimum(a, b); }
template <> TW_DEVICE float maximum<float>(float a, float b) { return arch::maximum(a, b); }
template <> TW_DEVICE double minimum<double>(double a, double b) {
  const bool first = a < b || (a == b && __double_as_longlong(a) < 0);
  return a != a ? a : (first ? a : b);
}
template <> TW_DEVICE double maximum<double>(double a, double b) {
  const bool first = a > b || (a == b && __double_as_longlong(a) >= 0);
  return a != a ? a : (first ? a : b);
}

// ---- casts ----------------------------------------------------------------------------------------------------------------

// An integer clamped to the range of To.
template <class To, class From> TW_DEVICE To narrow(From v) {
  if (v < (From)0) return (long long)v < Int<To>::low ? (To)Int<To>::low : (To)v;
  return (unsigned long long)v > Int<To>::high ? (To)Int<To>::high : (To)v;
}

template <class To> struct Cast {  // to an integer
  static TW_DEVICE To from(float v) {
    if (sizeof(To) == 8) {
      if (v != v) return 0;
      return Int<To>::low < 0 ? (To)__float2ll_rn(v) : (To)__float2ull_rn(v);
    }
    if (sizeof(To) == 4) return Int<To>::low < 0 ? (To)__float2int_rn(v) : (To)__float2uint_rn(v);
    return narrow<To>(__float2int_rn(v));
  }
  static TW_DEVICE To from(double v) {
    if (v != v) return 0;
    if (sizeof(To) == 8) {
      return Int<To>::low < 0 ? (To)__double2ll_rn(v) : (To)__double2ull_rn(v);
    }
    if (sizeof(To) == 4) return Int<To>::low < 0 ? (To)__double2int_rn(v) : (To)__double2uint_rn(v);
    return narrow<To>(__double2int_rn(v));
  }
  static TW_DEVICE To from(bool v) { return v ? 1 : 0; }
  template <class From> static TW_DEVICE To from(From v) { return narrow<To>(v); }
};
template <> struct Cast<float> {
  template <class From> static TW_DEVICE float from(From v) { return (float)v; }
};
template <> struct Cast<double> {
  template <class From> static TW_DEVICE double from(From v) { return (double)v; }
};
template <> struct Cast<bool> {
  template <class From> static TW_DEVICE bool from(From v) { return v != (From)0; }
};

// `v` as a To: floats to integers round half to even, everything clamps, NaN gives 0.
template <class To, class From> TW_DEVICE To cast(From v) { return Cast<To>::from(v); }
// An unsigned integer of one or two bytes, the first of which is byte `at` of a word: the bits of 2^23 + n, less 2^23.
template <int bytes, int at> TW_DEVICE float small(unsigned word) {
  return __uint_as_float(arch::bytes<(bytes == 1 ? 0x7440 : 0x7410) + (bytes == 1 ? at : at * 0x11)>(word, 0x4b000000u)) - 8388608.0f;
}

// ---- division of several values by one ------------------------------------------------------------------------------------

// A divisor with its correctly rounded reciprocal, or NaN where the short division below would not be exact.
struct Divisor {
  float value, reciprocal;
};
TW_DEVICE Divisor divisor(float d) {
  const float size = fabsf(d);
  const bool plain = size >= 0x1p-40f && size <= 0x1p40f && (__float_as_uint(d) & 0x7fffffu) != 0x7fffffu;
  // An approximation within one unit in the last place and one Newton step: correctly rounded, save for mantissas of ones.
  const float r = arch::reciprocal(d);
  return {d, plain ? fmaf(fmaf(-d, r, 1.0f), r, r) : __uint_as_float(0x7fffffffu)};
}

// a / d, correctly rounded wherever `regular` holds for the result: a quotient near the true one, and one correction by its
// exact remainder (Markstein). An overflow or a NaN on the way makes the result NaN, which is not regular.
TW_DEVICE float quotient(float a, Divisor d) {
  const float q = a * d.reciprocal;
  return fmaf(fmaf(-q, d.value, a), d.reciprocal, q);
}
TW_DEVICE bool regular(float q) { return fabsf(q) >= 0x1p-40f; }

// The division itself, out of line.
static TW_NOINLINE float divide(float a, float d) { return a / d; }

// ---- bits -----------------------------------------------------------------------------------------------------------------

// Between integers.
template <class To> struct Bits {
  template <class From> static TW_DEVICE To from(From v) { return (To)v; }
};
template <> struct Bits<float> { static TW_DEVICE float from(int v) { return __int_as_float(v); } };
template <> struct Bits<int> {
  static TW_DEVICE int from(float v) { return __float_as_int(v); }
  static TW_DEVICE int from(unsigned v) { return (int)v; }
};
template <> struct Bits<double> { static TW_DEVICE double from(long long v) { return __longlong_as_double(v); } };
template <> struct Bits<long long> {
  static TW_DEVICE long long from(double v) { return __double_as_longlong(v); }
  static TW_DEVICE long long from(unsigned long long v) { return (long long)v; }
};
template <> struct Bits<unsigned> {
  static TW_DEVICE unsigned from(float v) { return __float_as_uint(v); }
  static TW_DEVICE unsigned from(int v) { return (unsigned)v; }
};
template <> struct Bits<unsigned long long> {
  static TW_DEVICE unsigned long long from(double v) { return (unsigned long long)__double_as_longlong(v); }
  static TW_DEVICE unsigned long long from(long long v) { return (unsigned long long)v; }
};

// The same bits as a To of the same size.
template <class To, class From> TW_DEVICE To bits(From v) { return Bits<To>::from(v); }

// A 64-bit value from the two halves that a vector load brought, and back.
template <class T> TW_DEVICE T join(unsigned low, unsigned high) { return (T)((unsigned long long)high << 32 | low); }
template <> TW_DEVICE double join<double>(unsigned low, unsigned high) {
  return __longlong_as_double((long long)((unsigned long long)high << 32 | low));
}
template <class T> TW_DEVICE unsigned low(T v) { return (unsigned)(unsigned long long)v; }
template <class T> TW_DEVICE unsigned high(T v) { return (unsigned)((unsigned long long)v >> 32); }
template <> TW_DEVICE unsigned low<double>(double v) { return (unsigned)(unsigned long long)__double_as_longlong(v); }
template <> TW_DEVICE unsigned high<double>(double v) { return (unsigned)((unsigned long long)__double_as_longlong(v) >> 32); }

// ---- boxes and coordinates made on the device -----------------------------------------------------------------------------

// `v` clamped to low..high. Where that changes it, the launch has failed: `error` keeps the first index seen, plus one.
TW_DEVICE int guard(int v, int low, int high, unsigned* error, int index) {
  const int clamped = v < low ? low : (v > high ? high : v);
  if (clamped != v) atomicCAS(error, 0u, (unsigned)index + 1u);
  return clamped;
}

// As above, for a coordinate, which is itself what is reported: in 31 bits, below a set one.
TW_DEVICE int guard(int v, int low, int high, unsigned* error) {
  const int clamped = v < low ? low : (v > high ? high : v);
  if (clamped != v) {
    const int shown = v < -(1 << 30) ? -(1 << 30) : (v > (1 << 30) - 1 ? (1 << 30) - 1 : v);
    atomicCAS(error, 0u, 0x80000000u | ((unsigned)shown & 0x7fffffffu));
  }
  return clamped;
}

}  // namespace tw
