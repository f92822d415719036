// What the texts of scalar functions are written with beside the prelude: the twins of `tilewright_expr::extend::scalar`, which
// have the same names and give the same bits.
#pragma once
#include "tilewright/prelude.cuh"

namespace tw {

// ---- floats where a text does not know whether it has integers ------------------------------------------------------------

template <> TW_DEVICE float add<float>(float a, float b) { return a + b; }
template <> TW_DEVICE double add<double>(double a, double b) { return a + b; }
template <> TW_DEVICE float sub<float>(float a, float b) { return a - b; }
template <> TW_DEVICE double sub<double>(double a, double b) { return a - b; }
template <> TW_DEVICE float mul<float>(float a, float b) { return a * b; }
template <> TW_DEVICE double mul<double>(double a, double b) { return a * b; }
template <> TW_DEVICE float div<float>(float a, float b) { return a / b; }
template <> TW_DEVICE double div<double>(double a, double b) { return a / b; }
template <> TW_DEVICE float neg<float>(float a) { return -a; }
template <> TW_DEVICE double neg<double>(double a) { return -a; }

// ---- casts and tables -----------------------------------------------------------------------------------------------------

// As Rust's `as`: to an integer, floats lose their fraction and saturate, and integers keep their lowest bits.
template <class To> struct As {
  static TW_DEVICE To from(float v) { return cast<To>(trunc(v)); }
  static TW_DEVICE To from(double v) { return cast<To>(trunc(v)); }
  template <class From> static TW_DEVICE To from(From v) { return (To)v; }
};
template <> struct As<float> {
  template <class From> static TW_DEVICE float from(From v) { return (float)v; }
};
template <> struct As<double> {
  template <class From> static TW_DEVICE double from(From v) { return (double)v; }
};
template <class To, class From> TW_DEVICE To as(From v) { return As<To>::from(v); }

// An element of a table; beyond its end, the last one.
template <class T, int size, class Index> TW_DEVICE T at(const T (&table)[size], Index index) {
  if (sizeof(Index) <= 4) return table[(unsigned)index < (unsigned)size ? (unsigned)index : size - 1u];
  const unsigned long long wide = (unsigned long long)index;
  return table[wide < (unsigned long long)size ? (unsigned)wide : size - 1u];
}

template <class T> TW_DEVICE T clamp(T a, T low, T high) { return minimum(maximum(a, low), high); }

// Several results.
template <class A, class B> struct Two { A a; B b; };
template <class A, class B, class C> struct Three { A a; B b; C c; };
template <class A, class B, class C, class D> struct Four { A a; B b; C c; D d; };

// ---- integers -------------------------------------------------------------------------------------------------------------

template <class T> struct Unsigned { using type = T; };
template <> struct Unsigned<signed char> { using type = unsigned char; };
template <> struct Unsigned<short> { using type = unsigned short; };
template <> struct Unsigned<int> { using type = unsigned; };
template <> struct Unsigned<long long> { using type = unsigned long long; };

template <class T, class Count> TW_DEVICE T left(T a, Count count) { return shl(a, (T)((unsigned)count & (8 * sizeof(T) - 1))); }
template <class T, class Count> TW_DEVICE T right(T a, Count count) { return shr(a, (T)((unsigned)count & (8 * sizeof(T) - 1))); }
template <class T> TW_DEVICE typename Unsigned<T>::type unsigned_abs(T a) { return (typename Unsigned<T>::type)abs(a); }
template <class T> TW_DEVICE typename Unsigned<T>::type abs_diff(T a, T b) {
  using U = typename Unsigned<T>::type;
  return a < b ? sub((U)b, (U)a) : sub((U)a, (U)b);
}
template <class T> TW_DEVICE unsigned zeros_before(T a) { return (unsigned)(unsigned char)leading_zeros(a); }
template <class T> TW_DEVICE unsigned zeros_behind(T a) { return (unsigned)(unsigned char)count_ones(bit_and(invert(a), sub(a, (T)1))); }
template <class T> TW_DEVICE unsigned ones(T a) { return (unsigned)(unsigned char)count_ones(a); }
template <class T, class Count> TW_DEVICE T rotate_left(T a, Count count) {
  using U = typename Unsigned<T>::type;
  const unsigned by = (unsigned)count & (8 * sizeof(T) - 1);
  return by == 0 ? a : (T)bit_or(left((U)a, by), right((U)a, 8 * (unsigned)sizeof(T) - by));
}
template <class T, class Count> TW_DEVICE T rotate_right(T a, Count count) { return rotate_left(a, 0u - (unsigned)count); }
template <class T> TW_DEVICE T saturating_add(T a, T b) {
  const T sum = add(a, b);
  const bool over = Int<T>::low < 0 ? (b < (T)0 ? sum > a : sum < a) : sum < a;
  return over ? (Int<T>::low < 0 && b < (T)0 ? (T)Int<T>::low : (T)Int<T>::high) : sum;
}
template <class T> TW_DEVICE T saturating_sub(T a, T b) {
  const T rest = sub(a, b);
  const bool over = Int<T>::low < 0 ? (b < (T)0 ? rest < a : rest > a) : rest > a;
  return over ? (Int<T>::low < 0 && b < (T)0 ? (T)Int<T>::high : (T)Int<T>::low) : rest;
}
template <class T, class Count> TW_DEVICE T pow(T base, Count exponent) {
  T power = (T)1;
  for (unsigned rest = (unsigned)exponent; rest != 0; rest >>= 1) {
    if (rest & 1) power = mul(power, base);
    base = mul(base, base);
  }
  return power;
}

// ---- floats ---------------------------------------------------------------------------------------------------------------

template <class T> struct Limits;
template <> struct Limits<float> {
  static TW_DEVICE float epsilon() { return 0x1p-23f; }
  static TW_DEVICE float max() { return 0x1.fffffep127f; }
  static TW_DEVICE float min_positive() { return 0x1p-126f; }
  static TW_DEVICE float infinity() { return __uint_as_float(0x7f800000u); }
  static TW_DEVICE float nan() { return __uint_as_float(0x7fc00000u); }
};
template <> struct Limits<double> {
  static TW_DEVICE double epsilon() { return 0x1p-52; }
  static TW_DEVICE double max() { return 0x1.fffffffffffffp1023; }
  static TW_DEVICE double min_positive() { return 0x1p-1022; }
  static TW_DEVICE double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
  static TW_DEVICE double nan() { return __longlong_as_double(0x7ff8000000000000ll); }
};

TW_DEVICE float mul_add(float a, float b, float c) { return fmaf(a, b, c); }
TW_DEVICE double mul_add(double a, double b, double c) { return ::fma(a, b, c); }
TW_DEVICE float round_away(float a) { return roundf(a); }
TW_DEVICE double round_away(double a) { return ::round(a); }
TW_DEVICE float copysign(float a, float sign) { return copysignf(a, sign); }
TW_DEVICE double copysign(double a, double sign) { return ::copysign(a, sign); }
TW_DEVICE bool is_sign_negative(float a) { return __float_as_int(a) < 0; }
TW_DEVICE bool is_sign_negative(double a) { return __double_as_longlong(a) < 0; }
template <class T> TW_DEVICE bool is_sign_positive(T a) { return !is_sign_negative(a); }
template <class T> TW_DEVICE bool is_nan(T a) { return a != a; }
template <class T> TW_DEVICE bool is_infinite(T a) { return abs(a) == Limits<T>::infinity(); }
template <class T> TW_DEVICE bool is_finite(T a) { return abs(a) < Limits<T>::infinity(); }
template <class T> TW_DEVICE T recip(T a) { return (T)1.0 / a; }
template <class T> TW_DEVICE T fract(T a) { return a - trunc(a); }
template <class T> TW_DEVICE T to_degrees(T a) { return a * (T)57.29577951308232; }
template <class T> TW_DEVICE T to_radians(T a) { return a * (T)0.017453292519943295; }

// terms[0] + terms[1] x + ..
template <class T, class V, int count> TW_DEVICE T polynomial(T x, const V (&terms)[count]) {
  T sum = as<T>(terms[count - 1]);
  TW_UNROLL
  for (int i = count - 2; i >= 0; --i) sum = mul_add(sum, x, as<T>(terms[i]));
  return sum;
}

}  // namespace tw
