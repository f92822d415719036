// Matrices in the registers of a warp, by name: operands A and B and the accumulator C of mma.sync, over typed dimensions.
// A fragment knows which element each lane holds, loads and stores itself at a cursor, and multiplies only what fits.
#pragma once

#include "tilewright/arch/matrix.cuh"
#include "tilewright/arch/mma.cuh"
#include "tilewright/half.cuh"
#include "tilewright/layout.cuh"

namespace tw {

namespace detail {

template <class T> struct Plain { using Type = T; };
template <class T> struct Plain<const T> { using Type = T; };
template <class T> struct Plain<T&> { using Type = typename Plain<T>::Type; };

// May memory of E be read as a matrix of T? The tensor cores read an f32 as a tf32 by leaving bits out, and words as bits.
template <class T, class E> inline constexpr bool holds = same<T, E>;
template <> inline constexpr bool holds<tf32, float> = true;
template <> inline constexpr bool holds<BitWord, unsigned> = true;

template <class Row, class Column> TW_DEVICE constexpr Coords<Row, Column> place_of(int row, int column) {
  return {row, {column, {}}};
}

// A row of an 8 x 8 matrix is one access, so `count` elements along D have to be neighbours.
template <class D, class At> TW_DEVICE void check_neighbours(At at, int count, const char* advice, Place place) {
#ifdef TILEWRIGHT_HOST
  for (int i = 1; i < count; ++i) {
    if (at.at(D(i)).offset() != at.offset() + i) host::misuse(advice, place);
  }
#else
  (void)at, (void)count, (void)advice, (void)place;
#endif
}

// What fragments A and B share: registers of 32 bits that hold elements of T over Row x Column. `Map` says which ones.
template <class T, class R, class C, int count, class Map> struct Registers {
  using Element = T;
  using Row = R;
  using Column = C;
  static constexpr int registers = count;                              // of a lane
  static constexpr int elements = count * (4 / (int)sizeof(T));        // of a lane
  unsigned bits[count];

  // Where element `element` of lane `lane` stands in the matrix.
  static TW_DEVICE constexpr Coords<R, C> coords(int lane, int element) {
    return place_of<R, C>(Map::row(lane, element), Map::column(lane, element));
  }
  TW_DEVICE T get(int element) const {
    T value;
    if constexpr (sizeof(T) == 2) {
      value.bits = (unsigned short)(bits[element / 2] >> 16 * (element % 2));
    } else {
      value.bits = bits[element];
    }
    return value;
  }
  TW_DEVICE void set(int element, T value) {
    if constexpr (sizeof(T) == 2) {
      const int shift = 16 * (element % 2);
      bits[element / 2] = (bits[element / 2] & ~(0xffffu << shift)) | (unsigned)value.bits << shift;
    } else {
      bits[element] = value.bits;
    }
  }
  TW_DEVICE void fill(T value) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) set(i, value);
  }
  // f(value, coords) for each of this lane's elements.
  template <class F> TW_DEVICE void for_each(F f) const {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) f(get(i), coords(arch::lane(), i));
  }
  // Each of this lane's elements becomes f(coords).
  template <class F> TW_DEVICE void generate(F f) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) set(i, f(coords(arch::lane(), i)));
  }
  // Element by element, from any memory and any layout.
  template <class At> TW_DEVICE void gather(At at, Place place = Place::here()) {
    generate([&](Coords<R, C> element) { return (T)at.at(element, place).load(); });
  }

  // The matrix whose first element is at `at`, from shared memory by ldmatrix: 16 bytes along `Map::Inner` are neighbours.
  template <class At> TW_DEVICE void load(At at, Place place = Place::here()) {
    move<false, typename Map::Inner>(at, row_coords(arch::lane()), place);
  }
  // The same from memory where 8 elements along the other dimension are neighbours.
  template <class At> TW_DEVICE void load_trans(At at, Place place = Place::here()) {
    static_assert(sizeof(T) == 2, "a transposed load moves elements of 16 bits");
    move<true, typename Map::Outer>(at, row_coords_trans(arch::lane()), place);
  }
  // Where the row starts whose address this lane gives to ldmatrix, and to ldmatrix.trans.
  static TW_DEVICE constexpr Coords<R, C> row_coords(int lane) {
    return place_of<R, C>(Map::load_row(lane), Map::load_column(lane));
  }
  static TW_DEVICE constexpr Coords<R, C> row_coords_trans(int lane) {
    return place_of<R, C>(Map::load_trans_row(lane), Map::load_trans_column(lane));
  }

 private:
  template <bool transposed, class Inner, class At> TW_DEVICE void move(At at, Coords<R, C> row, Place place) {
    static_assert(holds<T, typename Plain<decltype(*at.data)>::Type>, "load: the tensor's elements are not the fragment's");
    const auto start = at.at(row, place);
    const char* advice =
        transposed ? "load_trans: a column's elements are not neighbours in memory (load is for the other order, gather for any)"
                   : "load: a row's elements are not neighbours in memory (load_trans is for the other order, gather for any)";
    check_neighbours<Inner>(start, 16 / (int)sizeof(T), advice, place);
    arch::ldmatrix<count, transposed>(bits, start.data + start.offset(), place);
  }
};

// Register r of A: rows lane / 4 + 8 (r % 2), columns from 8 or 4 times r / 2 on.
template <class T, class I, class K, int count> struct MapA {
  using Inner = K;
  using Outer = I;
  static constexpr int per_register = 4 / (int)sizeof(T), wide = 4 * per_register;
  static TW_DEVICE constexpr int row(int lane, int element) { return lane / 4 + 8 * (element / per_register % 2); }
  static TW_DEVICE constexpr int column(int lane, int element) {
    return lane % 4 * per_register + element % per_register + wide * (element / per_register / 2);
  }
  static TW_DEVICE constexpr int load_row(int lane) { return lane % 8 + 8 * (lane / 8 % 2); }
  static TW_DEVICE constexpr int load_column(int lane) { return wide * (lane % (8 * count) / 16); }
  static TW_DEVICE constexpr int load_trans_row(int lane) { return 8 * (lane / 8 % 2); }
  static TW_DEVICE constexpr int load_trans_column(int lane) { return lane % 8 + 8 * (lane % (8 * count) / 16); }
};

// Of B, every `deep` registers hold 8 columns: register r has column lane / 4 and rows from 8 or 4 times r % deep on.
template <class T, class K, class J, int count, int deep> struct MapB {
  using Inner = K;
  using Outer = J;
  static constexpr int per_register = 4 / (int)sizeof(T), wide = 4 * per_register;
  static TW_DEVICE constexpr int row(int lane, int element) {
    return lane % 4 * per_register + element % per_register + wide * (element / per_register % deep);
  }
  static TW_DEVICE constexpr int column(int lane, int element) { return lane / 4 + 8 * (element / per_register / deep); }
  static TW_DEVICE constexpr int load_row(int lane) { return wide * (matrix(lane) % deep); }
  static TW_DEVICE constexpr int load_column(int lane) { return lane % 8 + 8 * (matrix(lane) / deep); }
  static TW_DEVICE constexpr int load_trans_row(int lane) { return lane % 8 + 8 * (matrix(lane) % deep); }
  static TW_DEVICE constexpr int load_trans_column(int lane) { return 8 * (matrix(lane) / deep); }

 private:
  static TW_DEVICE constexpr int matrix(int lane) { return lane / 8 % count; }
};

// Of A: two registers for each 16 bytes of a row. Of B: `deep`, one for each 16 bytes of a column, for each 8 columns.
template <class T, int columns> inline constexpr int left_registers = columns * (int)sizeof(T) / 8;
template <class T, int rows> inline constexpr int right_depth = rows * (int)sizeof(T) / 16;
template <class T, class I, class K, int columns>
using LeftRegisters = Registers<T, I, K, left_registers<T, columns>, MapA<T, I, K, left_registers<T, columns>>>;
template <class T, class K, class J, int columns, int deep>
using RightRegisters = Registers<T, K, J, columns / 8 * deep, MapB<T, K, J, columns / 8 * deep, deep>>;

}  // namespace detail

// The left operand: `rows` = 16 along I, `columns` along K: 8 or 16 (f16, bf16), 4 or 8 (tf32), 8 (BitWord).
template <class T, class I, class K, int rows_, int columns_> struct FragmentA : detail::LeftRegisters<T, I, K, columns_> {
  static constexpr int rows = rows_, columns = columns_, count = detail::left_registers<T, columns>;
  static_assert(rows == 16, "operand A has 16 rows");
  static_assert(columns * sizeof(T) == 16 || columns * sizeof(T) == 32, "operand A has 16 or 32 bytes a row");
  using Map = detail::MapA<T, I, K, count>;

  // To shared memory by stmatrix (sm_90): `at` is where the first element goes, 16 bytes along K are neighbours.
  template <class At> TW_DEVICE void store(At at, Place place = Place::here()) const {
    const auto start = at.at(this->row_coords(arch::lane()), place);
    detail::check_neighbours<K>(start, 8, "store: a row's elements are not neighbours in memory (try store_trans)", place);
    put<false>(start.data + start.offset(), place);
  }
  // The same where 8 elements along I are neighbours.
  template <class At> TW_DEVICE void store_trans(At at, Place place = Place::here()) const {
    const auto start = at.at(this->row_coords_trans(arch::lane()), place);
    detail::check_neighbours<I>(start, 8, "store_trans: a column's elements are not neighbours in memory (try store)", place);
    put<true>(start.data + start.offset(), place);
  }

 private:
  template <bool transposed> TW_DEVICE void put(T* row, Place place) const {
    static_assert(sizeof(T) == 2, "store moves elements of 16 bits");
    arch::stmatrix<count, transposed>(row, this->bits, place);
  }
};

// The right operand: `rows` along K as A has columns, `columns` = 8 or 16 along J.
template <class T, class K, class J, int rows_, int columns_>
struct FragmentB : detail::RightRegisters<T, K, J, columns_, detail::right_depth<T, rows_>> {
  static constexpr int rows = rows_, columns = columns_, deep = detail::right_depth<T, rows>;
  static_assert(columns == 8 || columns == 16, "operand B has 8 or 16 columns");
  static_assert(rows * sizeof(T) == 16 || rows * sizeof(T) == 32, "operand B has 16 or 32 bytes a column");
  using Map = detail::MapB<T, K, J, columns / 8 * deep, deep>;
};

// The accumulator: f32, or int where operands are bits; `rows` = 16 along I, `columns` = 8 or 16 along J.
template <class I, class J, int rows_, int columns_, class V = float> struct FragmentC {
  using Row = I;
  using Column = J;
  static constexpr int rows = rows_, columns = columns_, elements = columns / 2;
  static_assert(rows == 16, "an accumulator has 16 rows");
  static_assert(columns == 8 || columns == 16, "an accumulator has 8 or 16 columns");
  V values[elements];

  struct Map {
    static TW_DEVICE constexpr int row(int lane, int element) { return lane / 4 + 8 * (element / 2 % 2); }
    static TW_DEVICE constexpr int column(int lane, int element) { return lane % 4 * 2 + element % 2 + 8 * (element / 4); }
  };
  // Where element `element` of lane `lane` stands in the matrix.
  static TW_DEVICE constexpr Coords<I, J> coords(int lane, int element) {
    return detail::place_of<I, J>(Map::row(lane, element), Map::column(lane, element));
  }
  TW_DEVICE void fill(V value) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) values[i] = value;
  }
  TW_DEVICE void add(const FragmentC& other) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) values[i] += other.values[i];
  }
  // f(value, coords) for each of this lane's elements; f may change the value.
  template <class F> TW_DEVICE void for_each(F f) {
    TW_UNROLL
    for (int i = 0; i < elements; ++i) f(values[i], coords(arch::lane(), i));
  }
  // Element by element, from and to any memory and any layout.
  template <class At> TW_DEVICE void gather(At at, Place place = Place::here()) {
    for_each([&](V& value, Coords<I, J> element) { value = (V)at.at(element, place).load(); });
  }
  template <class At> TW_DEVICE void scatter(At at, Place place = Place::here()) {
    using Stored = typename detail::Plain<decltype(*at.data)>::Type;
    for_each([&](V& value, Coords<I, J> element) { *at.at(element, place) = (Stored)value; });
  }
  // The same matrix as a left operand of the next product, its elements rounded to T.
  template <class T> TW_DEVICE FragmentA<T, I, J, rows, columns> as() const {
    static_assert(sizeof(T) == 2, "an accumulator becomes an operand of f16 or bf16");
    FragmentA<T, I, J, rows, columns> result;
    TW_UNROLL
    for (int i = 0; i < elements / 2; ++i) result.bits[i] = Pair<T>(values[2 * i], values[2 * i + 1]).bits;
    return result;
  }
};

// d = a b + c, by all 32 lanes. d may be c.
template <class D, class A, class B, class C>
TW_DEVICE void mma(D& d, const A& a, const B& b, const C& c, Place place = Place::here()) {
  static_assert(same<typename A::Element, typename B::Element>, "mma: a and b have different element types");
  static_assert(same<typename A::Column, typename B::Row>, "mma: the dimension of a's columns is not that of b's rows");
  static_assert(A::columns == B::rows, "mma: a's columns and b's rows are not as many");
  static_assert(same<typename A::Row, typename C::Row>, "mma: the dimension of c's rows is not that of a's rows");
  static_assert(same<typename B::Column, typename C::Column>, "mma: the dimension of c's columns is not that of b's columns");
  static_assert(B::columns == C::columns, "mma: c's columns and b's columns are not as many");
  static_assert(same<C, D>, "mma: d is not of c's type");
  TW_UNROLL
  for (int tile = 0; tile < B::columns / 8; ++tile) {
    arch::Mma<typename A::Element, A::columns>::run(d.values + 4 * tile, a.bits, b.bits + B::deep * tile, c.values + 4 * tile,
                                                    place);
  }
}

}  // namespace tw
