// What kernels that go by rows have in common: dimensions, and which rows meet which. The namespaces `shape` and `plan`, sizes and how
// the work is divided, stand before this text.
#include "tilewright/arch/grid.cuh"
#include "tilewright/arch/registers.cuh"
#include "tilewright/arch/tensor_map.cuh"
#include "tilewright/arch/vector.cuh"
#include "tilewright/fragment.cuh"
#include "tilewright/layout.cuh"
#include "tilewright/swizzle.cuh"

using Element = shape::Element;   // as it is multiplied
using Held = shape::Held;         // as it stands in memory
constexpr int run = 16 / (int)sizeof(Held);   // elements of a cell, the 16 bytes that a matrix has in a row

// Images, rows, columns, and channels that are read; channels that are written.
struct N : tw::Dim<N> { using Dim::Dim; };
struct Y : tw::Dim<Y> { using Dim::Dim; };
struct X : tw::Dim<X> { using Dim::Dim; };
struct C : tw::Dim<C> { using Dim::Dim; };
struct K : tw::Dim<K> { using Dim::Dim; };
// Taps of the window.
struct R : tw::Dim<R> { using Dim::Dim; };
struct S : tw::Dim<S> { using Dim::Dim; };
// Pixels of a block's output row, image after image; what a row of the window adds up, tap after tap; places of the ring.
struct Pixel : tw::Dim<Pixel> { using Dim::Dim; };
struct Depth : tw::Dim<Depth> { using Dim::Dim; };
struct Slot : tw::Dim<Slot> { using Dim::Dim; };
// Lanes of a warp.
struct Lane : tw::Dim<Lane> { using Dim::Dim; };

// ---- how the taps of a column meet rows: input row j and output row o of a block meet at tap up * j + shift - down * o ----------

constexpr int up = shape::up_y, down = shape::down_y, shift = shape::shift_y, taps = shape::taps_y;
// As many output rows wait for an input row as it has taps, or, where a stride is undone, as many as there are from one to the next.
constexpr int window = taps > up ? taps : up;
// Without branches, which the compiler would have to see through before it knows that arrays can be registers.
template <int b> TW_DEVICE constexpr int floor_of(int a) { return tw::floor_div<b>(a); }
template <int b> TW_DEVICE constexpr int ceil_of(int a) { return -tw::floor_div<b>(-a); }
// The first and the last output row that input row j is part of, and the first and the last input row of output row o.
TW_DEVICE constexpr int first_output(int j) { return ceil_of<down>(up * j + shift - (window - 1)); }
TW_DEVICE constexpr int last_output(int j) { return floor_of<down>(up * j + shift); }
TW_DEVICE constexpr int first_input(int o) { return ceil_of<up>(down * o - shift); }
TW_DEVICE constexpr int last_input(int o) { return floor_of<up>(down * o + window - 1 - shift); }
// The most output rows that so many input rows are part of, from a multiple of their number on.
TW_DEVICE constexpr int most_outputs(int rows) {
  int most = 1;
  for (int j = 0; j < 2 * rows; j += rows) {
    const int outputs = last_output(j + rows - 1) - first_output(j) + 1;
    most = outputs > most ? outputs : most;
  }
  return most;
}
// Calls `f` with each output row that input row j is part of, and the number of the tap, which may be none. So many times for every row: the compiler
// does not unroll a loop whose length it learns only from the one around.
template <class F> TW_DEVICE void each_output(int j, F f) {
  constexpr int most = most_outputs(1);
  TW_UNROLL
  for (int i = 0; i < most; ++i) {
    const int o = first_output(j) + i;
    if (o <= last_output(j)) f(o, up * j + shift - down * o);
  }
}
// Whether the step whose first row is `s` completes output row `o`.
TW_DEVICE constexpr bool completes(int s, int o) { return o <= last_output(s + plan::step - 1) && last_input(o) < s + plan::step; }
// Output rows in registers, and the input rows after which their places come round again.
constexpr int kept = most_outputs(plan::step);
TW_DEVICE constexpr int round() {
  int rows = plan::step;
  while (rows * up % down != 0 || rows * up / down % kept != 0) rows += plan::step;
  return rows;
}
constexpr int cycle = round();
TW_DEVICE constexpr int place_of(int o) { return tw::floor_mod<kept>(o); }

// ---- what is read and what is written under a tap ---------------------------------------------------------------------------------

// Along D: UP times the place that is read is DOWN * written + SPREAD * tap - SHIFT; where that is no whole place, nothing is read.
template <class D, class Tap, int DOWN, int SPREAD, int SHIFT, int UP = 1> struct Under {
  template <class At> TW_DEVICE static constexpr int up_times(At at) {
    return tw::along<D>(at).value * DOWN + tw::along<Tap>(at).value * SPREAD - SHIFT;
  }
  TW_DEVICE static constexpr D whole(int up_times) { return D(up_times / UP); }
};
// Of the input under the result, by the definition; and of what a block reads under what it writes.
using Rows = Under<Y, R, shape::stride_y, shape::dilation_y, shape::padding_y>;
using Columns = Under<X, S, shape::stride_x, shape::dilation_x, shape::padding_x>;
using Across = Under<X, S, shape::down_x, shape::spread_x, shape::shift_x, shape::up_x>;
