// Dimensions as types, and coordinates that do not mix. The same laws as in Rust (`tilewright_dims`): sums in any order,
// division that rounds down, comparisons along one dimension or over those that both sides have.
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

template <class D, int N> struct Fold;

// Declare one as `struct K : tw::Dim<K> { using Dim::Dim; };`.
template <class D> struct Dim {
  using Base = D;
  static constexpr int unit = 1;
  int value = 0;
  Dim() = default;
  TW_DEVICE explicit constexpr Dim(int value) : value(value) {}
  TW_DEVICE constexpr int along() const { return value; }
  // In units of N, rounded down.
  template <int N> TW_DEVICE constexpr Fold<D, N> fold() const { return Fold<D, N>(floor_div<N>(value)); }
  template <class E> TW_DEVICE constexpr E cast() const { return E(value); }
  TW_DEVICE constexpr D operator*(int factor) const { return D(value * factor); }
  TW_DEVICE constexpr D operator-() const { return D(-value); }
  // The remainder in 0..modulus.
  TW_DEVICE constexpr D operator%(int modulus) const { return D(value % modulus < 0 ? value % modulus + modulus : value % modulus); }
  template <class A> TW_DEVICE constexpr D& operator+=(A a) {
    static_assert(same<typename A::Base, D>, "what is added lies along another dimension: the sum has another type");
    value += a.along();
    return static_cast<D&>(*this);
  }
  template <class A> TW_DEVICE constexpr D& operator-=(A a) {
    static_assert(same<typename A::Base, D>, "what is subtracted lies along another dimension: the difference has another type");
    value -= a.along();
    return static_cast<D&>(*this);
  }
};

// D in units of N: Fold<K, 8>(3) is K(24).
template <class D, int N> struct Fold {
  static_assert(N > 0, "a fold has a positive unit");
  using Base = D;
  static constexpr int unit = N;
  int value = 0;
  Fold() = default;
  TW_DEVICE explicit constexpr Fold(int value) : value(value) {}
  // Rounds down.
  TW_DEVICE explicit constexpr Fold(D d) : value(floor_div<N>(d.value)) {}
  TW_DEVICE constexpr int along() const { return value * N; }
  TW_DEVICE constexpr D unfold() const { return D(value * N); }
  template <int M> TW_DEVICE constexpr Fold<D, M> fold() const {
    static_assert(M % N == 0 || N % M == 0, "one of the two units must divide the other");
    return Fold<D, M>(floor_div<M>(value * N));
  }
  template <class E> TW_DEVICE constexpr Fold<E, N> cast() const { return Fold<E, N>(value); }
  TW_DEVICE constexpr Fold operator*(int factor) const { return Fold(value * factor); }
  TW_DEVICE constexpr Fold operator-() const { return Fold(-value); }
  TW_DEVICE constexpr Fold operator%(int modulus) const {
    return Fold(value % modulus < 0 ? value % modulus + modulus : value % modulus);
  }
  TW_DEVICE constexpr Fold& operator+=(Fold a) { return value += a.value, *this; }
  TW_DEVICE constexpr Fold& operator-=(Fold a) { return value -= a.value, *this; }
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

// The coordinate along D, of coordinates or of one dimension; 0 of what has none.
template <class D, class At> TW_DEVICE constexpr D along(At at) { return D(coords(at).template get<D>()); }

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

// Without the coordinate along O.
template <class O> TW_DEVICE constexpr Coords<> without(Coords<>) { return {}; }
template <class O, class D, class... Ds> TW_DEVICE constexpr auto without(Coords<D, Ds...> c) {
  if constexpr (same<O, D>) {
    return c.rest;
  } else {
    const auto rest = without<O>(c.rest);
    return combined(Coords<D>{c.value, {}}, rest, 1);
  }
}

// A sum along one dimension is that dimension.
template <class... Ds> TW_DEVICE constexpr Coords<Ds...> simplified(Coords<Ds...> c) { return c; }
template <class D> TW_DEVICE constexpr D simplified(Coords<D> c) { return D(c.value); }

}  // namespace detail

template <class A, class B>
TW_DEVICE constexpr auto operator+(A a, B b) -> decltype(detail::simplified(detail::combined(coords(a), coords(b), 1))) {
  return detail::simplified(detail::combined(coords(a), coords(b), 1));
}
template <class A, class B>
TW_DEVICE constexpr auto operator-(A a, B b) -> decltype(detail::simplified(detail::combined(coords(a), coords(b), 1))) {
  return detail::simplified(detail::combined(coords(a), coords(b), -1));
}

// The same coordinates without the one along D.
template <class D, class... Ds> TW_DEVICE constexpr auto without(Coords<Ds...> c) {
  static_assert(Coords<Ds...>::template has<D>, "there is no such dimension among these coordinates");
  return detail::without<D>(c);
}

// The same coordinates with that along D counted along E instead; it adds to one that is there.
template <class D, class E, class... Ds> TW_DEVICE constexpr auto cast(Coords<Ds...> c) {
  return detail::combined(without<D>(c), Coords<E>{c.template get<D>(), {}}, 1);
}

// ---- comparisons ----------------------------------------------------------------------------------------------------------

// Along one dimension, in whatever units.
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

template <class A, class B> TW_DEVICE constexpr auto min(A a, B b) -> typename A::Base {
  static_assert(same<typename A::Base, typename B::Base>, "different dimensions do not compare");
  return typename A::Base(a.along() < b.along() ? a.along() : b.along());
}
template <class A, class B> TW_DEVICE constexpr auto max(A a, B b) -> typename A::Base {
  static_assert(same<typename A::Base, typename B::Base>, "different dimensions do not compare");
  return typename A::Base(a.along() < b.along() ? b.along() : a.along());
}

// Over the dimensions that both sides have; there must be one. They are no order: of two points, each may be larger along
// another dimension, and then neither all_lt nor all_ge holds.
#define TW_COMPARE(NAME, OP)                                                                                             \
  template <class B, class... Ds> TW_DEVICE constexpr bool NAME(Coords<Ds...> a, B rhs) {                                \
    const auto b = coords(rhs);                                                                                          \
    using Bs = decltype(coords(rhs));                                                                                    \
    static_assert((Bs::template has<Ds> || ...), "the two sides share no dimension: use one that both have");            \
    return ((!Bs::template has<Ds> || a.template get<Ds>() OP b.template get<Ds>()) && ...);                             \
  }
TW_COMPARE(all_eq, ==)
TW_COMPARE(all_lt, <)
TW_COMPARE(all_le, <=)
TW_COMPARE(all_gt, >)
TW_COMPARE(all_ge, >=)
#undef TW_COMPARE

template <class... Ds> TW_DEVICE constexpr bool all_non_negative(Coords<Ds...> c) {
  return ((c.template get<Ds>() >= 0) && ...);
}

// The smaller, the larger coordinate along each dimension that both sides have; the others as they are on the left.
template <class... Ds, class... Es> TW_DEVICE constexpr Coords<Ds...> min(Coords<Ds...> a, Coords<Es...> b) {
  Coords<Ds...> least = a;
  ((least = Coords<Es...>::template has<Ds> && b.template get<Ds>() < a.template get<Ds>()
                ? detail::added(least, b.template get<Ds>() - a.template get<Ds>(), (const Ds*)nullptr)
                : least), ...);
  return least;
}
template <class... Ds, class... Es> TW_DEVICE constexpr Coords<Ds...> max(Coords<Ds...> a, Coords<Es...> b) {
  Coords<Ds...> most = a;
  ((most = Coords<Es...>::template has<Ds> && a.template get<Ds>() < b.template get<Ds>()
               ? detail::added(most, b.template get<Ds>() - a.template get<Ds>(), (const Ds*)nullptr)
               : most), ...);
  return most;
}

// ---- ranges ---------------------------------------------------------------------------------------------------------------

// Coordinates of type D from `first` on in steps of STEP, for `for (K k : range(K(8)))`; none if the end is not beyond the start.
template <class D, int STEP = 1> struct Range {
  struct Iterator {
    int at;
    TW_DEVICE constexpr D operator*() const { return D(at); }
    TW_DEVICE constexpr void operator++() { at += STEP; }
    // Not yet at the end; a range that begins beyond it is empty.
    TW_DEVICE constexpr bool operator!=(Iterator end) const { return STEP > 0 ? at < end.at : at > end.at; }
  };
  int first, last;
  TW_DEVICE constexpr Iterator begin() const { return {first}; }
  TW_DEVICE constexpr Iterator end() const { return {last}; }
  template <int BY> TW_DEVICE constexpr Range<D, STEP * BY> by() const { return {first, last}; }
};

template <class D> TW_DEVICE constexpr Range<D> range(D end) { return {0, end.value}; }
template <class D> TW_DEVICE constexpr Range<D> range(D start, D end) { return {start.value, end.value}; }
template <class D> TW_DEVICE constexpr Range<D, -1> reverse_range(D end) { return {end.value - 1, -1}; }

}  // namespace tw
