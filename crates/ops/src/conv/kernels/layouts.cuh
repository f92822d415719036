// What the row kernel (rows.cu) goes by: dimensions, which rows meet which, and how everything lies in memory. The namespaces `shape` and
// `plan`, sizes and how the work is divided, stand before this text.
#include "tilewright/arch/grid.cuh"
#include "tilewright/arch/tensor_map.cuh"
#include "tilewright/arch/vector.cuh"
#include "tilewright/fragment.cuh"
#include "tilewright/layout.cuh"
#include "tilewright/swizzle.cuh"

using Element = shape::Element;   // as it is multiplied
using Held = shape::Held;         // as it stands in memory
using Written = shape::Written;   // as results stand there
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

// ---- layouts ---------------------------------------------------------------------------------------------------------------------

constexpr int channels = 8 * plan::strips;                      // of a block, read and written
constexpr int strip_depth = shape::group > 8 ? 16 : 8;         // channels that a strip of 8 reads
constexpr int cells = strip_depth / run;                       // of a tap
constexpr int cells_of_row = shape::taps_x * cells;            // of a row of the window
constexpr int pairs = cells_of_row / 2;                        // products of two cells
constexpr bool odd = cells_of_row % 2 != 0;                    // one cell is left
constexpr bool tall = odd && plan::step == 2 && up == 1 && down == 1;  // it is paired with that of the next row
// Columns of the input that a block's columns of the output need.
constexpr int reach = ((plan::columns - 1) * shape::down_x + (shape::taps_x - 1) * shape::spread_x - shape::shift_x) / shape::up_x + 1;
constexpr int tiles = plan::tiles, strips = plan::warp_strips;
constexpr int pixels = plan::images * plan::columns;
constexpr int warps_along = (pixels + 16 * tiles - 1) / (16 * tiles), warps = plan::strips / strips * warps_along;
constexpr int warps_of_block = warps + 1 + plan::whole;   // and one that brings rows, one that sends them

// Memory that swizzled copies leave, a row of the ring beginning where the pattern does.
constexpr int row_elements = (plan::images * reach * channels + 8 * channels - 1) / (8 * channels) * (8 * channels);
using Ring = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, plan::step * row_elements, false>,
                                        tw::Axis<Y, 1, plan::step, row_elements, false>,
                                        tw::Axis<C, 1, row_elements, 1, false>>>;
using Row = tw::Tensor<Held,
    tw::Swizzled<tw::Layout<tw::Axis<N, 1, plan::images, reach * channels, false>,
                            tw::Axis<X, 1, reach, channels, false>,
                            tw::Axis<C, 1, channels, 1, false>>,
                 run, plan::span>>;
constexpr unsigned row_bytes = (unsigned)(plan::images * reach * channels * (int)sizeof(Held));
// What the lanes of a warp hand to one another before they store it: cells of strips lie apart, so that banks differ.
using Staged = tw::Tensor<Written, tw::Layout<tw::Axis<K, 8, strips, (16 * tiles + 2) * 8, false>,
                                              tw::Axis<Pixel, 1, 16 * tiles, 8, false>, tw::Axis<K, 1, 8, 1, true>>>;
// What all warps hand to the copy engine where that stores whole rows: those of a step and two more, so that some are written while it
// reads others. Pixels
// follow one another as in the box that it sends, and those that fill up the last tile lie behind it.
constexpr int sent_pixels = 16 * tiles * warps_along, sent_row = (sent_pixels + 7) / 8 * 8 * channels, sent_rows = (plan::step * up + down - 1) / down + 2;
using Sent = tw::Tensor<Written, tw::Layout<tw::Axis<Slot, 1, sent_rows, sent_row, false>, tw::Axis<K, 1, sent_row, 1, false>>>;
using SentRow = tw::Tensor<Written, tw::Swizzled<tw::Layout<tw::Axis<Pixel, 1, sent_pixels, channels, false>,
                                                         tw::Axis<K, 1, channels, 1, false>>,
                                              run, plan::span>>;
// What a warp stores by itself, so many elements at once: lanes go along cells first.
constexpr int together = shape::vector < 16 / (int)sizeof(Written) ? shape::vector : 16 / (int)sizeof(Written);
using Stored = tw::Tensor<Written, tw::Packed<tw::Run<Pixel, 16 * tiles>, tw::Run<K, strips * 8 / together, together>>>;
using Output = tw::Tensor<Written, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, shape::out_height>, tw::Run<X, shape::out_width>,
                                              tw::Run<K, shape::channels>>>;
using Input = tw::Tensor<const Held, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, shape::height>, tw::Run<X, shape::width>,
                                                   tw::Run<C, shape::channels>>>;
using Weights = tw::Tensor<const Held, tw::Packed<tw::Run<K, shape::channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>,
                                                     tw::Run<C, shape::group>>>;
// Blocks: channels run fastest, so that neighbours read the same lines of memory.
using Blocks = tw::Tensor<char, tw::Packed<tw::Run<N, plan::blocks_n, plan::items * plan::images>, tw::Run<Y, plan::blocks_y, 1>,
                                           tw::Run<X, plan::blocks_x, plan::columns>, tw::Run<K, plan::blocks_k, channels>>>;
using Warps = tw::Tensor<char, tw::Packed<tw::Run<Pixel, warps_along, 16 * tiles>, tw::Run<K, plan::strips / strips, 8 * strips>>>;
// A pixel's image and column.
using Places = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, plan::columns>>>;
