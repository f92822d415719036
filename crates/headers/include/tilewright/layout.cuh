// Typed dimensions in kernels: coordinates that do not mix, and layouts that say where they are. The same laws as in Rust
// (`tilewright_dims`): sums in any order, projection, division that rounds down, cursors that never lose a carry.
// Compiles with NVRTC and with any C++17 compiler, after prelude.cuh.
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {

template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;

// Quotient and remainder by N that round down: a shift and a mask where N is a power of two.
template <int N> TW_DEVICE constexpr int floor_div(int a) {
  if constexpr ((N & (N - 1)) == 0) {
    int shift = 0;
    while ((1 << shift) < N) ++shift;
    return a >> shift;
  } else {
    return a / N - (a % N < 0);
  }
}
template <int N> TW_DEVICE constexpr int floor_mod(int a) {
  if constexpr ((N & (N - 1)) == 0) {
    return a & (N - 1);
  } else {
    return a % N < 0 ? a % N + N : a % N;
  }
}

// ---- dimensions -----------------------------------------------------------------------------------------------------------

// Declare one as `struct K : tw::Dim<K> { using Dim::Dim; };`.
template <class D> struct Dim {
  using Base = D;
  int value = 0;
  Dim() = default;
  TW_DEVICE explicit constexpr Dim(int value) : value(value) {}
  TW_DEVICE constexpr int along() const { return value; }
};

// D in units of N: Fold<K, 8>(3) is K(24).
template <class D, int N> struct Fold {
  static_assert(N > 0, "a fold has a positive unit");
  using Base = D;
  int value = 0;
  Fold() = default;
  TW_DEVICE explicit constexpr Fold(int value) : value(value) {}
  // Rounds down.
  TW_DEVICE explicit constexpr Fold(D d) : value(floor_div<N>(d.value)) {}
  TW_DEVICE constexpr int along() const { return value * N; }
};

// ---- coordinates ----------------------------------------------------------------------------------------------------------

// A coordinate along each of the dimensions; get<D>() of one that is not among them is 0.
template <class... Ds> struct Coords;
template <> struct Coords<> {
  template <class D> TW_DEVICE constexpr int get() const { return 0; }
  template <class D> static constexpr bool has = false;
};
template <class D, class... Ds> struct Coords<D, Ds...> {
  int value;
  Coords<Ds...> rest;
  template <class E> TW_DEVICE constexpr int get() const {
    if constexpr (same<D, E>) {
      return value;
    } else {
      return rest.template get<E>();
    }
  }
  template <class E> static constexpr bool has = same<D, E> || Coords<Ds...>::template has<E>;
};

// What a sum is made of, as coordinates.
TW_DEVICE constexpr Coords<> coords() { return {}; }
template <class D> TW_DEVICE constexpr auto coords(D d) -> Coords<typename D::Base> { return {d.along(), {}}; }
template <class... Ds> TW_DEVICE constexpr Coords<Ds...> coords(Coords<Ds...> c) { return c; }

namespace detail {
template <class Sum> TW_DEVICE constexpr Sum combined(Sum sum, Coords<>, int) { return sum; }
template <class D, class... Ds> TW_DEVICE constexpr Coords<D, Ds...> added(Coords<D, Ds...> sum, int value, const D*) {
  return {sum.value + value, sum.rest};
}
template <class D, class E, class... Es> TW_DEVICE constexpr Coords<E, Es...> added(Coords<E, Es...> sum, int value, const D* d) {
  return {sum.value, added(sum.rest, value, d)};
}
template <class... Cs, class D, class... Ds> TW_DEVICE constexpr auto combined(Coords<Cs...> sum, Coords<D, Ds...> more, int sign) {
  if constexpr (Coords<Cs...>::template has<D>) {
    return combined(added(sum, sign * more.value, (const D*)nullptr), more.rest, sign);
  } else {
    return combined(Coords<D, Cs...>{sign * more.value, sum}, more.rest, sign);
  }
}
}  // namespace detail

template <class A, class B> TW_DEVICE constexpr auto operator+(A a, B b) -> decltype(detail::combined(coords(a), coords(b), 1)) {
  return detail::combined(coords(a), coords(b), 1);
}
template <class A, class B> TW_DEVICE constexpr auto operator-(A a, B b) -> decltype(detail::combined(coords(a), coords(b), 1)) {
  return detail::combined(coords(a), coords(b), -1);
}

// Comparisons along one dimension, in whatever units.
#define TW_COMPARE(OP)                                                                                                   \
  template <class A, class B> TW_DEVICE constexpr auto operator OP(A a, B b)->decltype(a.along() OP b.along()) {          \
    static_assert(same<typename A::Base, typename B::Base>, "different dimensions do not compare");                      \
    return a.along() OP b.along();                                                                                       \
  }
TW_COMPARE(==)
TW_COMPARE(!=)
TW_COMPARE(<)
TW_COMPARE(<=)
TW_COMPARE(>)
TW_COMPARE(>=)
#undef TW_COMPARE

// ---- layouts --------------------------------------------------------------------------------------------------------------

// One axis of memory: (coordinate along D / FOLD), modulo SIZE if WRAP, in steps of STRIDE elements.
template <class D, int FOLD, int SIZE, int STRIDE, bool WRAP> struct Axis {
  using Base = D;
  static constexpr int end = FOLD * SIZE;
  TW_DEVICE static constexpr int offset(int at) {
    const int steps = floor_div<FOLD>(at);
    return (WRAP ? floor_mod<SIZE>(steps) : steps) * STRIDE;
  }
};

// Axes, outermost first.
template <class... As> struct Layout {
  template <class D> static constexpr bool has = (same<D, typename As::Base> || ...);
  // The length along D.
  template <class D> TW_DEVICE static constexpr int extent() {
    int most = 0;
    ((most = same<D, typename As::Base> && As::end > most ? As::end : most), ...);
    return most;
  }
  // Where the element at these coordinates is. Dimensions that the layout lacks are ignored.
  template <class... Ds> TW_DEVICE static constexpr int offset(Coords<Ds...> at) {
    static_assert((has<Ds> || ...), "none of these dimensions is one of the layout's");
    return (As::offset(at.template get<typename As::Base>()) + ... + 0);
  }
  template <class... Ds> TW_DEVICE static constexpr bool contains(Coords<Ds...> at) {
    return ((at.template get<typename As::Base>() >= 0 &&
             at.template get<typename As::Base>() < extent<typename As::Base>()) && ...);
  }
};

// A place in a tensor. It keeps coordinates, and computes an offset only when it is dereferenced.
template <class T, class L, class C> struct Cursor {
  T* data;
  C at_;
  template <class More> TW_DEVICE constexpr auto at(More more) const {
    const auto sum = at_ + more;
    return Cursor<T, L, decltype(tw::coords(sum))>{data, sum};
  }
  template <class More> TW_DEVICE void step(More more) { at_ = at_ + more; }
  TW_DEVICE constexpr int offset() const { return L::offset(at_); }
  TW_DEVICE constexpr bool in_range() const { return L::contains(at_); }
  TW_DEVICE T& operator*() const { return data[offset()]; }
};

// Elements of T laid out as L.
template <class T, class L> struct Tensor {
  using Layout = L;
  T* data;
  template <class At> TW_DEVICE auto at(At at) const { return Cursor<T, L, decltype(coords(at))>{data, coords(at)}; }
  template <class At> TW_DEVICE static constexpr int offset(At at) { return L::offset(coords(at)); }
  template <class D> TW_DEVICE static constexpr D extent() { return D(L::template extent<D>()); }
};

}  // namespace tw
