// What the gradient of the weights multiplies: rows of the input, and rows of the result's gradient, which stay in registers until the
// last input row that meets them has come. part.cuh stands before this text.
#include "tilewright/arch/copy.cuh"

// Two taps' channels, one after the other.
struct Both : tw::Dim<Both> { using Dim::Dim; };

struct Params {
  tw::TensorMap in, given;
  const Held* x;
  const Held* dy;
  float* sums;   // of every part, or the result where there is one part
  of_x::image_Params input;
  of_dy::image_Params gradient;
};

constexpr int halves = strip_depth / 8;   // strips that a strip of the result has met
constexpr int depth = 2 * run;            // pixels of a product
constexpr int tiles = plan::tiles;
using Tile = tw::Fold<Pixel, depth>;
constexpr int warps_along = (pixels + depth * tiles - 1) / (depth * tiles), warps = plan::strips * halves * warps_along;
constexpr bool filled = pixels % (depth * tiles) == 0;   // no place of a tile is left without a pixel
constexpr int pairs = (shape::taps_x + 1) / 2;           // of taps of a row of the window

using Warps = tw::Tensor<char, tw::Packed<tw::Run<Pixel, warps_along, depth * tiles>, tw::Run<K, plan::strips, 8>, tw::Run<C, halves, 8>>>;
using Output = tw::Tensor<const Held, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, shape::out_height>, tw::Run<X, shape::out_width>,
                                                tw::Run<K, shape::channels>>>;
// A place of the ring: a row of the input, and behind it one of the result's gradient.
using GivenRow = tw::Tensor<Held,
    tw::Swizzled<tw::Layout<tw::Axis<N, 1, plan::images, plan::columns * channels, false>,
                            tw::Axis<X, 1, plan::columns, channels, false>,
                            tw::Axis<K, 1, channels, 1, false>>,
                 run, plan::span>>;
constexpr int given_elements = (pixels * channels + 8 * channels - 1) / (8 * channels) * (8 * channels);
constexpr unsigned given_bytes = (unsigned)(pixels * channels * (int)sizeof(Held));
using Ring = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, row_elements + given_elements, false>,
                                        tw::Axis<C, 1, row_elements + given_elements, 1, false>>>;
using Zeros = tw::Tensor<Held, tw::Packed<tw::Run<K, run>>>;
using Barriers = tw::Tensor<tw::arch::Mbarrier, tw::Packed<tw::Run<Slot, 2 * plan::slots>>>;

// Whether a step, which is an input row, brings that row, which some tap has to meet, and whether it brings a row of the result's gradient.
TW_DEVICE bool brings_input(const Part& part, int step) { return step >= part.begin && step % down < taps; }
TW_DEVICE bool brings_given(const Part& part, int step) { return step % down == 0 && step / down < part.rows; }

// ---- bringing rows ---------------------------------------------------------------------------------------------------------------

// Whether threads write to the ring, and not the copy engine alone.
constexpr bool by_threads = !plan::bulk_input || !plan::bulk_given;
// Threads copy asynchronously from 4 bytes on, unless they also write what they have evaluated: arrivals behind copies are no order of that.
constexpr bool asynchronous = !shape::computed_input && !shape::computed_given && shape::vector * sizeof(Held) >= 4;

// A row of so many columns of a block's images in memory, from (n, y, x, c) on, by a warp: zeros where there is none.
template <class From, class Channel, int columns, class To>
TW_DEVICE void copy_row(const Held* memory, To to, N n, Y y, X x, Channel c, int own) {
  if constexpr (!asynchronous) {
    read_row<From, Channel, columns>(InMemory<From>{memory}, to, n, y, x, c, own);
  } else {
    constexpr int part = shape::vector, bytes = part * (int)sizeof(Held);
    using Parts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, columns>, tw::Run<Channel, channels / part, part>>>;
    const From from = From{memory}.beyond(n);
    for (auto at : Parts::partition(sharer(own), 32 * sharing)) {
      const auto source = at + y + x + c;
      const bool inside = From::contains(source) && n.value + at.template get<N>() < shape::images;
      tw::arch::copy_async<bytes>(to.at(at).address(), inside ? from.at(source).address() : memory, inside ? bytes : 0);
    }
  }
}

template <class Params>
TW_DEVICE void bring_input(const Params& p, Held* to, const Part& part, int step, N n, tw::arch::Mbarrier* full, int own) {
  const Y y = input_row(part, step);
  if constexpr (plan::bulk_input) {
    if (sharer(own) == 0) tw::arch::box_load(to, p.in, full, part.k.value, part.x.value, y.value, n.value);
  } else if constexpr (shape::computed_input) {
    read_row<Input, C, reach>(Computed<of_x::image_Params>{p.input}, Row{to}, n, y, part.x, part.k.cast<C>(), own);
  } else {
    copy_row<Input, C, reach>(p.x, Row{to}, n, y, part.x, part.k.cast<C>(), own);
  }
}

template <class Params>
TW_DEVICE void bring_given(const Params& p, Held* to, const Part& part, int step, N n, tw::arch::Mbarrier* full, int own) {
  const Y y = output_row(part, step / down);
  if constexpr (plan::bulk_given) {
    if (sharer(own) == 0) tw::arch::box_load(to, p.given, full, part.k.value, part.column.value, y.value, n.value);
  } else if constexpr (shape::computed_given) {
    read_row<Output, K, plan::columns>(Computed<of_dy::image_Params>{p.gradient}, GivenRow{to}, n, y, part.column, part.k, own);
  } else {
    copy_row<Output, K, plan::columns>(p.dy, GivenRow{to}, n, y, part.column, part.k, own);
  }
}

// Of the warps that bring rows number `own`, which take steps in turn: as far ahead as the ring has room, over the ends of images.
TW_DEVICE void bring(const Params& p, Ring ring, const Part& part, Gates gates, int own) {
  if (!by_threads && tw::arch::lane() != 0) return;
  Turn turn = to_fill();
  Shares mine{0};
  for (int item = 0; item < plan::items && there(images_of(part, item)); ++item) {
    const N n = images_of(part, item);
    for (int step = 0; step < part.end; ++step) {
      const bool input = brings_input(part, step), given = brings_given(part, step);
      if (!input && !given) continue;
      const Turn now = turn;
      turn.next(plan::slots);
      if (!mine.next(own)) continue;
      tw::arch::Mbarrier* const full = gates.full + now.place;
      tw::arch::mbarrier_wait(gates.empty + now.place, now.parity);
      const unsigned bytes = (plan::bulk_input && input ? row_bytes : 0u) + (plan::bulk_given && given ? given_bytes : 0u);
      if (!by_threads) tw::arch::mbarrier_arrive_expect_tx(full, bytes);
      if (by_threads && sharer(own) == 0 && bytes > 0) tw::arch::mbarrier_expect_tx(full, bytes);
      Held* const to = ring.at(Slot(now.place)).address();
      if (given) bring_given(p, to + row_elements, part, step, n, full, own);
      if (input) bring_input(p, to, part, step, n, full, own);
      if (by_threads && asynchronous) tw::arch::copy_async_arrive(full);
      if (by_threads && !asynchronous) tw::arch::mbarrier_arrive(full);
    }
  }
}

// ---- reading them ----------------------------------------------------------------------------------------------------------------

using Left = tw::FragmentA<Element, Both, Pixel, 16, depth>;
using Right = tw::FragmentB<Element, Pixel, K, depth, 8>;

// Elements of 2 bytes are turned over on their way: a lane reads a row of 16 bytes of a matrix. Nothing does that for 4 bytes. There a lane
// reads channels that follow one another at a pixel, four of them for two products, or two where one is left, and rows of products are
// what makes these its own: lanes go along as many taps first, and then along the channels.
constexpr bool turned = sizeof(Held) == 2;
constexpr int matrices = turned ? 1 : 2;                       // that are read at once
constexpr int lefts = (pairs + matrices - 1) / matrices;       // times in a row of the window
template <class Matrix> constexpr int reads = turned ? 1 : 2;  // of a lane

// What stands in a row of a product: which tap of a row of the window, and which of the 8 channels.
struct Met {
  int tap, channel;
};
TW_DEVICE constexpr Met met(int pair, int row) {
  if (turned) return {2 * pair + row / 8, row % 8};
  const int first = pair / 2 * 2;
  const int wide = first + 1 < pairs ? 4 : 2, lane = row % 8;
  return {2 * first + lane % wide, lane / wide * wide + row / 8 + 2 * (pair - first)};
}

// Where a lane reads in a place of the ring, in bytes; far before it where there is no pixel or no tap, which is zero. It is the
// same for every row.
constexpr int nowhere = -(1 << 30);
struct Reader {
  const Held* zeros;
  int input[tiles][lefts][reads<Left>], given[tiles][reads<Right>];

  // `read` and `written` are a warp's channels.
  TW_DEVICE void prepare(Pixel first, C read, K written) {
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      const Pixel begin = first + Tile(tile);
      TW_UNROLL
      for (int i = 0; i < reads<Right>; ++i) {
        const auto at = turned ? Right::row_coords_trans(tw::arch::lane()) : Right::coords(tw::arch::lane(), i);
        const Pixel pixel = begin + tw::along<Pixel>(at);
        given[tile][i] = pixel < Pixel(pixels)
            ? in_bytes(row_elements + GivenRow::offset(Places::coords_of(pixel.value) + written + tw::along<K>(at))) : nowhere;
      }
      TW_UNROLL
      for (int left = 0; left < lefts; ++left) {
        TW_UNROLL
        for (int i = 0; i < reads<Left>; ++i) {
          const auto at = turned ? Left::row_coords_trans(tw::arch::lane()) : Left::coords(tw::arch::lane(), 2 * i);
          const Met own = met(matrices * left, at.template get<Both>());
          const Pixel pixel = begin + tw::along<Pixel>(at);
          const auto place = Places::coords_of(pixel.value);
          const X x = Across::whole(Across::up_times(place + S(own.tap)));
          const C c = read + C(own.channel);
          input[tile][left][i] = pixel < Pixel(pixels) && own.tap < shape::taps_x ? in_bytes(Row::offset(tw::along<N>(place) + x + c)) : nowhere;
        }
      }
    }
  }

  // The matrices of one or two products.
  template <class Matrix = Left> TW_DEVICE void left(const Held* from, int tile, int left, Matrix (&to)[matrices]) const {
    constexpr bool all = filled && shape::taps_x % 2 == 0;
    const int (&offsets)[reads<Matrix>] = input[tile][left];
    if constexpr (turned) {
      tw::arch::ldmatrix<Matrix::registers, true>(to[0].bits, at<all>(from, offsets[0]));
    } else if (matrices * left + 1 < pairs) {
      deal<4, all>(from, offsets, to);
    } else {
      deal<2, all>(from, offsets, to);
    }
  }

  template <class Matrix = Right> TW_DEVICE Matrix right(const Held* from, int tile) const {
    Matrix matrix;
    if constexpr (turned) {
      tw::arch::ldmatrix<Matrix::registers, true>(matrix.bits, at<filled>(from, given[tile][0]));
    } else {
      TW_UNROLL
      for (int i = 0; i < Matrix::elements; ++i) matrix.set(i, tw::tf32_or_nan((float)*at<filled>(from, given[tile][i])));
    }
    return matrix;
  }

 private:
  TW_DEVICE static int in_bytes(int offset) { return offset * (int)sizeof(Held); }

  // Zeros stand before the ring: whichever is further on.
  template <bool all> TW_DEVICE const Held* at(const Held* from, int offset) const {
    const int there = (int)tw::arch::shared_address(from) + offset;
    return (const Held*)tw::arch::shared_pointer((unsigned)(all ? there : tw::maximum(there, (int)tw::arch::shared_address(zeros))));
  }

  // Vectors at the pixels of a lane become its elements: of each product two rows, at each pixel. What is not finite becomes NaN, which has the
  // sum computed anew.
  template <int wide, bool all, class Matrix> TW_DEVICE void deal(const Held* from, const int (&offsets)[reads<Matrix>], Matrix (&to)[matrices]) const {
    TW_UNROLL
    for (int i = 0; i < reads<Matrix>; ++i) {
      const auto values = tw::load<wide>(at<all>(from, offsets[i]));
      TW_UNROLL
      for (int slot = 0; slot < wide; ++slot) to[slot / 2].set(2 * i + slot % 2, tw::tf32_or_nan((float)values[slot]));
    }
  }
};
