// Values that meet in one place of memory. Whichever order they come in, the place holds the same bits in the end: what two
// values become does not depend on which of them was first, nor on how others are bracketed.
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {
namespace scattered {

// What two values become.
struct Sum {
  template <class T> static TW_DEVICE T of(T a, T b) { return add(a, b); }
};
struct Min {
  template <class T> static TW_DEVICE T of(T a, T b) { return minimum(a, b); }
};
struct Max {
  template <class T> static TW_DEVICE T of(T a, T b) { return maximum(a, b); }
};
struct And {
  template <class T> static TW_DEVICE T of(T a, T b) { return bit_and(a, b); }
};
struct Or {
  template <class T> static TW_DEVICE T of(T a, T b) { return bit_or(a, b); }
};
struct Xor {
  template <class T> static TW_DEVICE T of(T a, T b) { return bit_xor(a, b); }
};

// The bits of a value, the lowest ones of a word. Halves have a member for them.
template <class T> struct Word {
  using Type = unsigned;
  static TW_DEVICE unsigned of(T value) { return value.bits; }
  static TW_DEVICE T from(unsigned word) {
    T value;
    value.bits = (unsigned short)word;
    return value;
  }
};
template <class T, class Unsigned> struct WordOfInteger {
  using Type = unsigned;
  static TW_DEVICE unsigned of(T value) { return (Unsigned)value; }
  static TW_DEVICE T from(unsigned word) { return (T)(Unsigned)word; }
};
template <> struct Word<bool> : WordOfInteger<bool, unsigned char> {};
template <> struct Word<unsigned char> : WordOfInteger<unsigned char, unsigned char> {};
template <> struct Word<signed char> : WordOfInteger<signed char, unsigned char> {};
template <> struct Word<unsigned short> : WordOfInteger<unsigned short, unsigned short> {};
template <> struct Word<short> : WordOfInteger<short, unsigned short> {};
template <> struct Word<float> {
  using Type = unsigned;
  static TW_DEVICE unsigned of(float value) { return __float_as_uint(value); }
  static TW_DEVICE float from(unsigned word) { return __uint_as_float(word); }
};
template <> struct Word<double> {
  using Type = unsigned long long;
  static TW_DEVICE unsigned long long of(double value) { return (unsigned long long)__double_as_longlong(value); }
  static TW_DEVICE double from(unsigned long long word) { return __longlong_as_double((long long)word); }
};

// Exchanges the word that holds the value until nobody else does at the same time. Values of 1 and 2 bytes have neighbours in
// their word, which stay what they are; memory is allocated in whole words.
template <class By, class T> TW_DEVICE void meet(By, T* place, T value) {
  using Bits = typename Word<T>::Type;
  const unsigned long long address = (unsigned long long)place;
  const unsigned shift = (unsigned)(address % sizeof(Bits)) * 8;
  const Bits mask = (Bits)(~(Bits)0 >> (8 * (sizeof(Bits) - sizeof(T)))) << shift;
  Bits* const word = (Bits*)(address - address % sizeof(Bits));
  Bits before = *(const volatile Bits*)word;
  while (true) {
    const T met = By::of(Word<T>::from((before & mask) >> shift), value);
    const Bits after = (before & ~mask) | (Bits)(Word<T>::of(met) << shift);
    if (after == before) return;
    const Bits seen = atomicCAS(word, before, after);
    if (seen == before) return;
    before = seen;
  }
}

// Integers of 32 and 64 bits: one operation of the memory.
TW_DEVICE void meet(Sum, unsigned* place, unsigned value) { atomicAdd(place, value); }
TW_DEVICE void meet(Sum, int* place, int value) { atomicAdd((unsigned*)place, (unsigned)value); }
TW_DEVICE void meet(Sum, unsigned long long* place, unsigned long long value) { atomicAdd(place, value); }
TW_DEVICE void meet(Sum, long long* place, long long value) {
  atomicAdd((unsigned long long*)place, (unsigned long long)value);
}
TW_DEVICE void meet(Min, unsigned* place, unsigned value) { atomicMin(place, value); }
TW_DEVICE void meet(Min, int* place, int value) { atomicMin(place, value); }
TW_DEVICE void meet(Min, unsigned long long* place, unsigned long long value) { atomicMin(place, value); }
TW_DEVICE void meet(Min, long long* place, long long value) { atomicMin(place, value); }
TW_DEVICE void meet(Max, unsigned* place, unsigned value) { atomicMax(place, value); }
TW_DEVICE void meet(Max, int* place, int value) { atomicMax(place, value); }
TW_DEVICE void meet(Max, unsigned long long* place, unsigned long long value) { atomicMax(place, value); }
TW_DEVICE void meet(Max, long long* place, long long value) { atomicMax(place, value); }
TW_DEVICE void meet(And, unsigned* place, unsigned value) { atomicAnd(place, value); }
TW_DEVICE void meet(And, int* place, int value) { atomicAnd(place, value); }
TW_DEVICE void meet(And, unsigned long long* place, unsigned long long value) { atomicAnd(place, value); }
TW_DEVICE void meet(And, long long* place, long long value) {
  atomicAnd((unsigned long long*)place, (unsigned long long)value);
}
TW_DEVICE void meet(Or, unsigned* place, unsigned value) { atomicOr(place, value); }
TW_DEVICE void meet(Or, int* place, int value) { atomicOr(place, value); }
TW_DEVICE void meet(Or, unsigned long long* place, unsigned long long value) { atomicOr(place, value); }
TW_DEVICE void meet(Or, long long* place, long long value) {
  atomicOr((unsigned long long*)place, (unsigned long long)value);
}
TW_DEVICE void meet(Xor, unsigned* place, unsigned value) { atomicXor(place, value); }
TW_DEVICE void meet(Xor, int* place, int value) { atomicXor(place, value); }
TW_DEVICE void meet(Xor, unsigned long long* place, unsigned long long value) { atomicXor(place, value); }
TW_DEVICE void meet(Xor, long long* place, long long value) {
  atomicXor((unsigned long long*)place, (unsigned long long)value);
}

}  // namespace scattered
}  // namespace tw
