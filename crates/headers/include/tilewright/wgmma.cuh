// A warpgroup's product over typed dimensions: the accumulator that knows which element each thread holds, and operands in
// shared memory that know what they are (sm_90a).
#pragma once

#include "tilewright/arch/wgmma.cuh"
#include "tilewright/layout.cuh"

namespace tw {

// Bytes of a row in which a swizzle permutes.
TW_DEVICE constexpr int swizzle_bytes(arch::Swizzle swizzle) {
  return swizzle == arch::Swizzle::None ? 16 : 256 >> (int)swizzle;
}

// An operand over Row x K in shared memory, K contiguous: `rows` rows, each of 128, 64 or 32 bytes, one behind the other and
// permuted by the swizzle. `memory` stands at a multiple of 8 rows' bytes.
template <class T, class R, class K, int rows_, arch::Swizzle swizzle_> struct WgmmaOperand {
  using Element = T;
  using Row = R;
  using Depth = K;
  static constexpr arch::Swizzle swizzle = swizzle_;
  static_assert(swizzle != arch::Swizzle::None, "an operand is swizzled; for others form the descriptor by hand");
  static constexpr int rows = rows_, row_bytes = swizzle_bytes(swizzle), depth = row_bytes / (int)sizeof(T);
  static constexpr int bytes = rows * row_bytes;
  static_assert(sizeof(T) == 2 || same<T, BitWord>, "an operand has elements of 16 bits, or words of bits (BitWord)");
  static_assert(rows % 8 == 0, "an operand has a multiple of 8 rows");
  // Elements of the depth that one product takes.
  static constexpr int step = 32 / (int)sizeof(T);
  T* memory;

  // Where element (row, k) stands, in elements.
  static TW_DEVICE constexpr int offset(int row, int k) {
    const int at = row * row_bytes + k * (int)sizeof(T);
    return (at ^ (at >> 7 & (row_bytes / 16 - 1)) << 4) / (int)sizeof(T);
  }
  // Writes the element at these coordinates. Before a product reads it: fence_proxy_async, and a barrier of the warpgroup.
  template <class At> TW_DEVICE void store(At at, T value, Place place = Place::here()) const {
    const auto c = coords(at);
    T* to = memory + offset(c.template get<R>(), c.template get<K>());
#ifdef TILEWRIGHT_HOST
    host::shared_write(memory, to, sizeof(T), {place});
#else
    (void)place;
#endif
    *to = value;
  }
  // From row `row` and element `k` of the depth on: multiples of 8 and of `step`.
  TW_DEVICE unsigned long long descriptor(R row, K k, Place place = Place::here()) const {
#ifdef TILEWRIGHT_HOST
    const bool aligned = (unsigned long long)memory % (8 * row_bytes) == 0 && row.value % 8 == 0 && k.value % step == 0;
    if (!aligned) host::misuse("wgmma: an operand's memory, row or k is not at a multiple of 8 rows' bytes, of 8, of a step", place);
#endif
    const unsigned long long first = arch::wgmma_descriptor(memory, swizzle, 16, 8 * row_bytes, place);
    return arch::wgmma_advance(first, row.value * row_bytes + k.value * (int)sizeof(T));
  }
};

// The accumulator: 64 along I, `columns` along J, f32, or int where operands are bits, over the 128 threads of a warpgroup.
template <class I, class J, int columns_, class V = float> struct WgmmaAccumulator {
  using Row = I;
  using Column = J;
  static constexpr int rows = 64, columns = columns_, elements = columns / 2;
  V values[elements];

  // Where element `element` of thread `thread` (0 to 127 in its warpgroup) stands.
  static TW_DEVICE constexpr int row(int thread, int element) {
    return thread / 32 * 16 + thread % 32 / 4 + 8 * (element / 2 % 2);
  }
  static TW_DEVICE constexpr int column(int thread, int element) { return thread % 4 * 2 + element % 2 + 8 * (element / 4); }
  static TW_DEVICE constexpr Coords<I, J> coords(int thread, int element) {
    return {row(thread, element), {column(thread, element), {}}};
  }
  TW_DEVICE void fill(V value) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) values[i] = value;
  }
  // f(value, coords) for each of this thread's elements; f may change the value.
  template <class F> TW_DEVICE void for_each(F f) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) f(values[i], coords(arch::thread_of_block() % 128, i));
  }
  // Element by element, to any memory and any layout.
  template <class At> TW_DEVICE void scatter(At at, Place place = Place::here()) {
    for_each([&](V& value, Coords<I, J> element) { *at.at(element, place) = value; });
  }
  // d = a b, plus d if `accumulate`, over 32 bytes of the depth from `k` on and rows from `i` and `j` on. Between
  // wgmma_fence and wgmma_commit; the values are there once the group has been waited for.
  template <class A, class B, class K>
  TW_DEVICE void multiply(const A& a, I i, const B& b, J j, K k, bool accumulate, Place place = Place::here()) {
    static_assert(same<typename A::Element, typename B::Element>, "multiply: a and b have different element types");
    static_assert(same<typename A::Depth, K>, "multiply: k is not the dimension of a's depth");
    static_assert(same<typename B::Depth, K>, "multiply: k is not the dimension of b's depth");
    static_assert(same<typename A::Row, I>, "multiply: the dimension of a's rows is not that of the accumulator's");
    static_assert(same<typename B::Row, J>, "multiply: the dimension of b's rows is not that of the accumulator's columns");
    static_assert(A::rows >= rows, "multiply: a has fewer than 64 rows");
    static_assert(B::rows >= columns, "multiply: b has fewer rows than the accumulator has columns");
    const unsigned long long left = a.descriptor(i, k, place), right = b.descriptor(j, k, place);
    if constexpr (same<typename A::Element, BitWord>) {
      arch::Wgmma<BitWord, columns>::run(values, left, right, accumulate, place);
    } else {
      arch::Wgmma<typename A::Element, columns>::template run<false, false>(values, left, right, accumulate, place);
    }
  }
  // Until at most `left` groups are on their way.
  template <int left> TW_DEVICE void wait(Place place = Place::here()) {
    arch::wgmma_wait<left>(place);
    arch::hold(values);
  }
};

}  // namespace tw
