// Layouts: which element stands where, as a type.
#pragma once

#include "tilewright/coords.cuh"

namespace tw {

// One axis of memory: (coordinate along D / FOLD), modulo SIZE if WRAP, in steps of STRIDE elements.
template <class D, int FOLD, int SIZE, int STRIDE, bool WRAP> struct Axis {
  using Base = D;
  static constexpr int fold = FOLD, size = SIZE, stride = STRIDE, end = FOLD * SIZE;
  TW_DEVICE static constexpr int offset(int at) {
    const int steps = floor_div<FOLD>(at);
    return (WRAP ? floor_mod<SIZE>(steps) : steps) * STRIDE;
  }
  // From `from` to `from + by`.
  TW_DEVICE static constexpr int delta(int from, int by) {
    return FOLD == 1 && !WRAP ? by * STRIDE : offset(from + by) - offset(from);
  }
  // The axis counted in vectors of V elements.
  template <int V> struct Shortened {
    static_assert(STRIDE != 1 || SIZE % V == 0, "the innermost axis does not divide into vectors of this length");
    static_assert(STRIDE == 1 || SIZE == 1 || STRIDE % V == 0, "a stride does not divide by the vectors' length: pad it");
    using Type = Axis<D, STRIDE == 1 ? FOLD * V : FOLD, STRIDE == 1 ? SIZE / V : SIZE, STRIDE == 1 ? 1 : STRIDE / V, WRAP>;
  };
  // The axis cut to STEPS steps, if it is the one of E that does not wrap.
  template <class E> static constexpr bool cut = same<D, E> && !WRAP;
  template <class E, int STEPS> using Cut = Axis<D, FOLD, cut<E> ? STEPS : SIZE, STRIDE, WRAP>;
};

// Axes, outermost first.
template <class... As> struct Layout {
  using Set = Coords<>;
  static constexpr int len = 1, storage = 1;
  template <class D> static constexpr bool has = false;
  template <class D> TW_DEVICE static constexpr int extent() { return 0; }
  template <class At> TW_DEVICE static constexpr int place(At) { return 0; }
  template <class O, class At> TW_DEVICE static constexpr int delta(O, At) { return 0; }
  TW_DEVICE static constexpr Coords<> coords(int) { return {}; }
  template <class D> static constexpr int unit = 1;
};
template <class A, class... As> struct Layout<A, As...> {
  using Outermost = A;
  using Rest = Layout<As...>;
  // Its dimensions, as coordinates.
  using Set = decltype(detail::combined(typename Rest::Set{}, Coords<typename A::Base>{}, 1));
  // Elements that have coordinates, and those from the first to the last one.
  static constexpr int len = A::size * Rest::len;
  static constexpr int storage = (A::size - 1) * A::stride + Rest::storage;
  template <class D> static constexpr bool has = same<D, typename A::Base> || Rest::template has<D>;

  // The length along D: that of its coarsest axis.
  template <class D> TW_DEVICE static constexpr int extent() {
    constexpr int own = same<D, typename A::Base> ? A::end : 0, other = Rest::template extent<D>();
    return own > other ? own : other;
  }
  // Where the element at these coordinates is. Dimensions that the layout lacks are ignored, missing ones are zero.
  template <class At> TW_DEVICE static constexpr int place(At at) {
    return A::offset(at.template get<typename A::Base>()) + Rest::place(at);
  }
  // How far the element at `from + by` is from that at `from`.
  template <class O, class At> TW_DEVICE static constexpr int delta(O from, At by) {
    return A::delta(from.template get<typename A::Base>(), by.template get<typename A::Base>()) + Rest::delta(from, by);
  }
  // Coordinates of the element number `index`, counted along the last axis first.
  TW_DEVICE static constexpr Set coords(int index) {
    const int own = (int)((unsigned)index / Rest::len % A::size) * A::fold;
    return detail::combined(Rest::coords((int)((unsigned)index % Rest::len)), Coords<typename A::Base>{own, {}}, 1);
  }
  template <int V> using Vectors = Layout<typename A::template Shortened<V>::Type, typename As::template Shortened<V>::Type...>;
  template <class D, int STEPS> struct Cut {
    static_assert((A::template cut<D> || ... || As::template cut<D>), "the layout has no outermost axis of this dimension to cut");
    using Type = Layout<typename A::template Cut<D, STEPS>, typename As::template Cut<D, STEPS>...>;
  };
  // What a slice along D begins at a multiple of: the fold of the axis that is cut.
  template <class D> static constexpr int unit = A::template cut<D> ? A::fold : Rest::template unit<D>;
};

// ---- layouts without gaps ----------------------------------------------------------------------------------------------------

// SIZE steps of FOLD along D, for `Packed`.
template <class D, int SIZE, int FOLD = 1> struct Run {};

namespace detail {

template <class Axes, class... Runs> struct Pack { using Type = Axes; };
template <class... As, class D, int SIZE, int FOLD, class... Runs> struct Pack<Layout<As...>, Run<D, SIZE, FOLD>, Runs...> {
  // A finer axis of a dimension that has been there wraps.
  using Type = typename Pack<Layout<As..., Axis<D, FOLD, SIZE, Pack<Layout<>, Runs...>::Type::len, (same<D, typename As::Base> || ...)>>,
                             Runs...>::Type;
};

}  // namespace detail

// The runs as axes, outermost first, each as long in memory as what follows it.
template <class... Runs> using Packed = typename detail::Pack<Layout<>, Runs...>::Type;

// ---- derived dimensions: maps of coordinates that a layout goes through before its axes ------------------------------------

// The layout L behind the map M. A map has From (the dimensions that it reads, as Coords), hides<D>, extent<D>(), apply(coords), which
// adds what it gives, and undo(coords), the other way for those who enumerate elements.
template <class M, class L> struct Through {
  template <class D> static constexpr bool has = (L::template has<D> && !M::template hides<D>) || M::From::template has<D>;
  using Set = decltype(detail::combined(M::shown(typename L::Set{}), typename M::From{}, 1));
  static constexpr int len = L::len, storage = L::storage;
  template <class D> TW_DEVICE static constexpr int extent() {
    constexpr int own = L::template extent<D>(), read = M::template extent<D>();
    return own > read ? own : read;
  }
  template <class At> TW_DEVICE static constexpr int place(At at) { return L::place(M::apply(at)); }
  template <class O, class At> TW_DEVICE static constexpr int delta(O from, At by) {
    return place(detail::combined(from, by, 1)) - place(from);
  }
  TW_DEVICE static constexpr auto coords(int index) { return M::shown(L::coords(index)); }
};

// A swizzle that spares bank conflicts: of 2 * PAIRS cells, `P % PAIRS` is the pair, `C / FOLD % 2` the colour, and O the cell:
// (2 * pair + colour) ^ (pair / (RANKS / 2) & 1).
template <class P, int PAIRS, class C, int FOLD, class O, int RANKS> struct Checkerboard {
  static_assert(RANKS > 1 && RANKS % 2 == 0, "a checkerboard has an even number of ranks");
  using From = Coords<P, C>;
  template <class D> static constexpr bool hides = same<D, O>;
  template <class D> TW_DEVICE static constexpr int extent() { return same<D, P> ? PAIRS : same<D, C> ? 2 * FOLD : 0; }
  template <class At> TW_DEVICE static constexpr auto apply(At at) {
    const int pair = floor_mod<PAIRS>(at.template get<P>()), colour = floor_div<FOLD>(at.template get<C>()) & 1;
    const int cell = (2 * pair + colour) ^ (floor_div<RANKS / 2>(pair) & 1);
    return detail::combined(detail::without<O>(at), Coords<O>{cell, {}}, 1);
  }
  template <class At> TW_DEVICE static constexpr auto shown(At at) {
    const int cell = at.template get<O>();
    const int colour = (cell & 1) ^ (floor_div<RANKS>(cell) & 1);
    return detail::combined(detail::without<O>(at), From{cell >> 1, {colour * FOLD, {}}}, 1);
  }
};

// A compound index: a number along D becomes the coordinates of the element of L of that number.
template <class D, class L> struct Index {
  using From = Coords<D>;
  template <class E> static constexpr bool hides = false;
  template <class E> TW_DEVICE static constexpr int extent() { return same<D, E> ? L::len : 0; }
  template <class At> TW_DEVICE static constexpr auto apply(At at) {
    return detail::combined(at, L::coords(floor_mod<L::len>(at.template get<D>())), 1);
  }
  template <class At> TW_DEVICE static constexpr At shown(At at) { return at; }
};

}  // namespace tw
