// Atomic operations. Blocks run on several OS threads, so these are real ones.
#pragma once

#include "tilewright/host/thread.h"

namespace tw {
namespace host {

// T, kept out of deduction: `atomicAdd(&unsigned_counter, 1)` is fine.
template <class T> struct Given { using Type = T; };

inline void order_atomic() {
  if (current->block->watched) meet_at_atomic();
}

// Replaces `*address` by `change(*address)`; gives what was there before.
template <class T, class Change>
T exchange_with(T* address, Change change) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are of 4 or 8 bytes");
  T before, after;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  do {
    after = change(before);
  } while (!__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  order_atomic();
  return before;
}

// The sum; integers wrap.
template <class T> T wrapping_sum(T a, T b) {
  T sum;
  __builtin_add_overflow(a, b, &sum);
  return sum;
}
inline float wrapping_sum(float a, float b) { return a + b; }
inline double wrapping_sum(double a, double b) { return a + b; }

}  // namespace host
}  // namespace tw

template <class T> T atomicAdd(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return tw::host::wrapping_sum(before, value); });
}
template <class T> T atomicSub(T* address, typename tw::host::Given<T>::Type value) {
  return atomicAdd(address, (T)(0u - (T)value));
}
template <class T> T atomicMin(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return value < before ? value : before; });
}
template <class T> T atomicMax(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return before < value ? value : before; });
}
template <class T> T atomicAnd(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return before & value; });
}
template <class T> T atomicOr(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return before | value; });
}
template <class T> T atomicXor(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T before) { return before ^ value; });
}
template <class T> T atomicExch(T* address, typename tw::host::Given<T>::Type value) {
  return tw::host::exchange_with(address, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* address, typename tw::host::Given<T>::Type expected, typename tw::host::Given<T>::Type value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are of 4 or 8 bytes");
  __atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  tw::host::order_atomic();
  return expected;
}
