// Memory seen through a layout, and places in it that accumulate coordinates.
#pragma once

#include "tilewright/arch/caller.cuh"
#include "tilewright/axes.cuh"

namespace tw {

namespace detail {

// Whether every coordinate along the dimensions of Ds lies inside.
template <class L, class At, class... Ds> TW_DEVICE constexpr bool inside(At at, Coords<Ds...>) {
  return ((at.template get<Ds>() >= 0 && at.template get<Ds>() < L::template extent<Ds>()) && ...);
}
template <class L, class... Ds> TW_DEVICE constexpr void assert_meets(Coords<Ds...>) {
  static_assert((L::template has<Ds> || ...), "none of these dimensions is one of the layout's");
}
template <class T, class U> struct LikeConst { using Type = U; };
template <class T, class U> struct LikeConst<const T, U> { using Type = const U; };

}  // namespace detail

// A place in a tensor. It keeps coordinates, and computes an offset only when it is dereferenced, so that a.at(x).at(y) is
// a.at(x + y) on every layout: what carries from one fold into the next is never lost.
template <class T, class L, class C, class Name = void, class Origin = Coords<>> struct Cursor {
  T* data;
  int base;       // the offset at `origin`
  Origin origin;
  C moved;        // since `origin`
  Place place;    // of the last `at`

  // The place that lies this much further.
  template <class More> TW_DEVICE constexpr auto at(More more, Place place = Place::here()) const {
    detail::assert_meets<L>(tw::coords(more));
    const auto sum = detail::combined(moved, tw::coords(more), 1);
    return Cursor<T, L, decltype(detail::combined(moved, tw::coords(more), 1)), Name, Origin>{data, base, origin, sum, place};
  }
  template <class More> TW_DEVICE constexpr auto operator[](More more) const { return at(more, Place{}); }
  // Moves by this much, in place, along dimensions that the cursor has.
  template <class More> TW_DEVICE void step(More more) { moved = detail::combined(moved, tw::coords(more), 1); }
  // The same place, its offset computed now. A carry is not lost, for the coordinates so far are kept where an axis is folded.
  TW_DEVICE constexpr auto rebase() const {
    const auto so_far = coords();
    return Cursor<T, L, Coords<>, Name, decltype(coords())>{data, offset(), so_far, {}, place};
  }
  TW_DEVICE constexpr auto coords() const { return detail::combined(moved, origin, 1); }
  TW_DEVICE constexpr int offset() const { return base + L::delta(origin, moved); }
  TW_DEVICE constexpr bool in_range() const { return detail::inside<L>(coords(), typename L::Set{}); }
  TW_DEVICE T* address() const { return data + offset(); }
#ifdef TILEWRIGHT_HOST
  auto operator*() const { return host::Element<Cursor>{*this}; }
#else
  TW_DEVICE T& operator*() const { return data[offset()]; }
#endif
  // The element by value; where a conversion follows, `*cursor` would be a second one on the host model.
  TW_DEVICE T load() const { return *(*this); }
  // The element, or `outside` if a coordinate lies outside.
  TW_DEVICE T value_or(T outside) const { return in_range() ? load() : outside; }

  using Element = T;
  using Layout = L;
  using Named = Name;
};

// Elements of T laid out as L. `Name` is what messages of the host model call it.
template <class T, class L, class Name = void> struct Tensor {
  using Element = T;
  using Layout = L;
  // Elements that have coordinates, elements from the first to the last one, and bytes of these.
  static constexpr int len = L::len, storage = L::storage;
  static constexpr int bytes = storage * (int)sizeof(T);

  T* data;

  // This memory as such a tensor.
  TW_DEVICE static constexpr Tensor over(void* memory) { return {(T*)memory}; }
  template <class At> TW_DEVICE constexpr auto at(At at, Place place = Place::here()) const {
    detail::assert_meets<L>(coords(at));
    return Cursor<T, L, decltype(coords(at)), Name>{data, L::place(Coords<>{}), {}, coords(at), place};
  }
  template <class At> TW_DEVICE constexpr auto operator[](At where) const { return at(where, Place{}); }
  template <class At> TW_DEVICE static constexpr int offset(At at) {
    detail::assert_meets<L>(coords(at));
    return L::place(coords(at));
  }
  template <class At> TW_DEVICE static constexpr bool contains(At at) {
    return detail::inside<L>(coords(at), typename L::Set{});
  }
  // The length along D, all of its folds together.
  template <class D> TW_DEVICE static constexpr D extent() {
    static_assert(L::template has<D>, "the tensor has no such dimension");
    return D(L::template extent<D>());
  }
  // Coordinates of element number `index`, counted along the last axis first. Numbers beyond the last begin again.
  TW_DEVICE static constexpr auto coords_of(int index) { return L::coords(floor_mod<len>(index)); }

  // The coordinates of elements number first, first + step, ..
  struct Points {
    struct Iterator {
      int index, step;
      TW_DEVICE constexpr auto operator*() const { return L::coords(index); }
      TW_DEVICE constexpr void operator++() { index += step; }
      TW_DEVICE constexpr bool operator!=(Iterator end) const { return index < end.index; }
    };
    int first, step;
    TW_DEVICE constexpr Iterator begin() const { return {first, step}; }
    TW_DEVICE constexpr Iterator end() const { return {len, step}; }
  };
  // Every element, each once.
  TW_DEVICE static constexpr Points points() { return {0, 1}; }
  // The share of worker number `worker` of so many: together they have each element once.
  TW_DEVICE static constexpr Points partition(int worker, int workers) { return {worker, workers}; }

  // The same tensor so many steps further along its outermost axis, in 64 bits: of memory that is longer than offsets of 32 reach.
  template <class D> TW_DEVICE constexpr Tensor beyond(D steps) const {
    using Axis = typename L::Outermost;
    static_assert(same<typename D::Base, typename Axis::Base>, "the tensor's outermost axis is one of another dimension");
    static_assert(Axis::fold == 1, "a step along the tensor's outermost axis is more than one coordinate");
    return {data + (long long)steps.value * Axis::stride};
  }

  // The part that begins at `start` and is STEPS steps of the outermost axis of D long; `start` is a multiple of its unit.
  template <class D, int STEPS, class S> TW_DEVICE constexpr auto slice(S start) const {
    static_assert(same<typename S::Base, D>, "the slice begins along another dimension than it is cut");
    return Tensor<T, typename L::template Cut<D, STEPS>::Type, Name>{data + L::place(coords(start))};
  }
  // The same memory as elements of E, each as long as several of T; the innermost axis, which is contiguous, has fewer steps.
  template <class E> TW_DEVICE constexpr auto as() const {
    static_assert(sizeof(E) % sizeof(T) == 0, "the new element is not a multiple of the old one");
    using V = typename detail::LikeConst<T, E>::Type;
    return Tensor<V, typename L::template Vectors<(int)(sizeof(E) / sizeof(T))>, Name>{(V*)data};
  }
};

// A tensor of one thread, in registers where loops over its points are unrolled: `Local<Sums> sums{};` begins with zeros.
template <class A> struct Local {
  typename A::Element memory[A::storage];
  template <class At> TW_DEVICE constexpr auto at(At at, Place place = Place::here()) { return A{memory}.at(at, place); }
};

// Hands out shared memory, one tensor after another: `Shared shared; const A a = shared.take<A>();`.
struct Shared {
  int taken = 0;
  TW_DEVICE static constexpr int rounded(int bytes) { return (bytes + 127) / 128 * 128; }
  // What the launch has to ask for.
  template <class... Ts> static constexpr int bytes = (rounded(Ts::bytes) + ... + 0);
  // Aligned to 128 bytes, or a multiple of them.
  template <class A, int ALIGNED = 128> TW_DEVICE A take() {
    static_assert(ALIGNED % 128 == 0 && ALIGNED <= 1024, "shared memory is aligned to a multiple of 128 bytes, up to 1024");
    const int from = (taken + ALIGNED - 1) / ALIGNED * ALIGNED;
    taken = from + rounded(A::bytes);
    return A::over(shared_memory() + from);
  }
};

}  // namespace tw
