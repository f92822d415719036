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

// ---- how the taps of a column meet rows: input row j and output row o of a block meet at tap up * j + shift - down * o ----------

constexpr int up = shape::up_y, down = shape::down_y, shift = shape::shift_y, taps = shape::taps_y;
// As many output rows wait for an input row as it has taps, or, where a stride is undone, as many as there are from one to the next.
constexpr int window = taps > up ? taps : up;
TW_DEVICE constexpr int floor_of(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
TW_DEVICE constexpr int ceil_of(int a, int b) { return -floor_of(-a, b); }
// The first and the last output row that input row j is part of, and the first and the last input row of output row o.
TW_DEVICE constexpr int first_output(int j) { return ceil_of(up * j + shift - (window - 1), down); }
TW_DEVICE constexpr int last_output(int j) { return floor_of(up * j + shift, down); }
TW_DEVICE constexpr int first_input(int o) { return ceil_of(down * o - shift, up); }
TW_DEVICE constexpr int last_input(int o) { return floor_of(down * o + window - 1 - shift, up); }
TW_DEVICE constexpr int most_at_once() {
  int most = 1;
  for (int j = 0; j < 2 * plan::step; j += plan::step) {
    const int at_once = last_output(j + plan::step - 1) - first_output(j) + 1;
    most = at_once > most ? at_once : most;
  }
  return most;
}
// Output rows in registers, and the input rows after which their places come round again.
constexpr int kept = most_at_once();
TW_DEVICE constexpr int round() {
  int rows = plan::step;
  while (rows * up % down != 0 || rows * up / down % kept != 0) rows += plan::step;
  return rows;
}
constexpr int cycle = round();
TW_DEVICE constexpr int place_of(int o) { return (o % kept + kept) % kept; }
