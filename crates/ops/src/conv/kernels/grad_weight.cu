// The gradient of a convolution's weights: a block takes some strips of 8 channels and some stages, each a few rows of a few images, and
// adds up what every tap has met there. Pixels are what is summed over: a product has two taps of 8 read channels each, 8 written
// channels, and so many pixels, read from shared memory transposed. The namespaces `shape` and `plan` stand before this text.
#include "tilewright/arch/copy.cuh"
#include "tilewright/arch/grid.cuh"
#include "tilewright/fragment.cuh"
#include "tilewright/layout.cuh"

using Element = shape::Element;   // as it is multiplied
using Held = shape::Held;         // as it stands in memory

struct N : tw::Dim<N> { using Dim::Dim; };
struct Y : tw::Dim<Y> { using Dim::Dim; };
struct X : tw::Dim<X> { using Dim::Dim; };
struct C : tw::Dim<C> { using Dim::Dim; };
struct K : tw::Dim<K> { using Dim::Dim; };
struct R : tw::Dim<R> { using Dim::Dim; };
struct S : tw::Dim<S> { using Dim::Dim; };
// Pixels of a stage; two taps' channels, one after the other; places for stages; parts of the sum; pairs of taps; a lane and its elements.
struct Pixel : tw::Dim<Pixel> { using Dim::Dim; };
struct Both : tw::Dim<Both> { using Dim::Dim; };
struct Slot : tw::Dim<Slot> { using Dim::Dim; };
struct Part : tw::Dim<Part> { using Dim::Dim; };
struct Pair : tw::Dim<Pair> { using Dim::Dim; };
struct Lane : tw::Dim<Lane> { using Dim::Dim; };
struct Value : tw::Dim<Value> { using Dim::Dim; };

struct Params {
  const Held* x;
  const Held* dy;
  float* sums;   // of every part, or the result where there is one part
};

constexpr int channels = 8 * plan::strips;
constexpr int halves = shape::group > 8 ? 2 : 1;   // strips that a strip of the result has met
constexpr int warps = plan::strips * halves * plan::along;
constexpr int depth = 32 / (int)sizeof(Held);      // pixels of a product
// What a stage reads of an image.
constexpr int lines = (plan::rows - 1) * shape::stride_y + (shape::taps_y - 1) * shape::dilation_y + 1;
constexpr int reach = (shape::out_width - 1) * shape::stride_x + (shape::taps_x - 1) * shape::dilation_x + 1;
constexpr int pixels = plan::images * plan::rows * shape::out_width;
constexpr int products = (pixels + depth - 1) / depth;

// An odd number of cells of 16 bytes from pixel to pixel, so that 8 of them lie in different banks.
constexpr int run = 16 / (int)sizeof(Held);
constexpr int pitch = (channels / run / 2 * 2 + 1) * run;
using Read = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, plan::images * lines * reach * pitch, false>,
                                        tw::Axis<N, 1, plan::images, lines * reach * pitch, false>,
                                        tw::Axis<Y, 1, lines, reach * pitch, false>, tw::Axis<X, 1, reach, pitch, false>,
                                        tw::Axis<C, 1, channels, 1, false>>>;
using Given = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, products * depth * pitch, false>,
                                         tw::Axis<Pixel, 1, products * depth, pitch, false>, tw::Axis<K, 1, channels, 1, false>>>;
static_assert(pitch >= channels, "a pixel holds a block's channels");
// A stage's pixels.
using Places = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, plan::rows>, tw::Run<X, shape::out_width>>>;
// One image; the whole tensors are larger than offsets reach.
using Input = tw::Tensor<const Held, tw::Packed<tw::Run<Y, shape::height>, tw::Run<X, shape::width>, tw::Run<C, shape::channels>>>;
using Output = tw::Tensor<const Held, tw::Packed<tw::Run<Y, shape::out_height>, tw::Run<X, shape::out_width>,
                                                tw::Run<K, shape::channels>>>;
using Weights = tw::Tensor<float, tw::Packed<tw::Run<K, shape::channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>,
                                            tw::Run<C, shape::group>>>;
using Blocks = tw::Tensor<char, tw::Packed<tw::Run<Part, plan::parts>, tw::Run<K, plan::blocks_k, channels>>>;
using Stages = tw::Tensor<char, tw::Packed<tw::Run<N, plan::stages_n, plan::images>, tw::Run<Y, plan::stages_y, plan::rows>>>;
using Warps = tw::Tensor<char, tw::Packed<tw::Run<Pixel, plan::along>, tw::Run<K, plan::strips, 8>, tw::Run<C, halves, 8>>>;

TW_DEVICE Input input_of(const Params& p, int n) { return {p.x + (long long)n * Input::len}; }
TW_DEVICE Output output_of(const Params& p, int n) { return {p.dy + (long long)n * Output::len}; }

// ---- pairs of taps: two columns of a row; two rows of the last column, where their number is odd; the tap that is left -----------

constexpr int in_row = shape::taps_x / 2;                          // pairs of a row
constexpr int across = shape::taps_y * in_row;
constexpr int below = shape::taps_x % 2 * (shape::taps_y / 2);
constexpr int pairs = (shape::taps_y * shape::taps_x + 1) / 2;
constexpr int divisor = in_row > 0 ? in_row : 1;
TW_DEVICE constexpr int row_of(int pair, int second) {
  return pair < across ? pair / divisor : pair < across + below ? 2 * (pair - across) + second : shape::taps_y - 1;
}
TW_DEVICE constexpr int column_of(int pair, int second) {
  return pair < across ? 2 * (pair % divisor) + second : shape::taps_x - 1;
}
TW_DEVICE constexpr bool there(int pair, int second) { return pair < across + below || second == 0; }
TW_DEVICE constexpr int from_tap(int pair, int second) {
  return Read::offset(Y(row_of(pair, second) * shape::dilation_y) + X(column_of(pair, second) * shape::dilation_x));
}

// ---- bringing stages -------------------------------------------------------------------------------------------------------------

// Threads copy asynchronously from 4 bytes on.
constexpr bool asynchronous = shape::vector * sizeof(Held) >= 4;
template <class To, class From> TW_DEVICE void copy(To to, From from, bool inside, const Held* any) {
  if constexpr (asynchronous) {
    constexpr int bytes = shape::vector * (int)sizeof(Held);
    tw::arch::copy_async<bytes>(to.address(), inside ? from.address() : any, inside ? bytes : 0);
  } else {
    *to = inside ? from.load() : Held(0.0f);
  }
}

TW_DEVICE void bring(const Params& p, Read read, Given given, Slot slot, int stage, K k) {
  using Cells = tw::Run<C, channels / shape::vector, shape::vector>;
  using ReadParts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, lines>, tw::Run<X, reach>, Cells>>;
  using GivenParts = tw::Tensor<char, tw::Packed<tw::Run<Pixel, pixels>, Cells>>;
  const auto first = Stages::coords_of(stage);
  const int n = first.template get<N>(), y = first.template get<Y>();
  TW_NO_UNROLL
  for (auto at : ReadParts::partition(threadIdx.x, 32 * warps)) {
    const int own = n + at.template get<N>();
    const auto source = Y(y * shape::stride_y + at.template get<Y>() - shape::padding_y) +
                        X(at.template get<X>() - shape::padding_x) + C(k.value + at.template get<C>());
    copy(read.at(slot + at), input_of(p, own).at(source), own < shape::images && Input::contains(source), p.x);
  }
  TW_NO_UNROLL
  for (auto at : GivenParts::partition(threadIdx.x, 32 * warps)) {
    const auto place = Places::coords_of(at.template get<Pixel>());
    const int own = n + place.template get<N>();
    const K channel(at.template get<C>());
    const auto source = Y(y + place.template get<Y>()) + X(place.template get<X>()) + k + channel;
    copy(given.at(slot + Pixel(at.template get<Pixel>()) + channel), output_of(p, own).at(source),
         own < shape::images && Output::contains(source), p.dy);
  }
}

// ---- products --------------------------------------------------------------------------------------------------------------------

using Sum = tw::FragmentC<Both, K, 16, 8>;
using Left = tw::FragmentA<Element, Both, Pixel, 16, depth>;
using Right = tw::FragmentB<Element, Pixel, K, depth, 8>;

// Where a pixel's first tap stands in a stage. Pixels that fill up the last product meet zeros.
TW_DEVICE int place_of(int pixel) {
  const auto at = Places::coords_of(pixel < pixels ? pixel : 0);
  return Read::offset(N(at.template get<N>()) + Y(at.template get<Y>() * shape::stride_y) + X(at.template get<X>() * shape::stride_x));
}

// Adds the products of so many pixels to the sums of all taps. `x` and `dy` begin at the warp's channels.
TW_DEVICE void multiply(Sum (&sums)[pairs], const Held* x, const Held* dy, int first) {
  const int lane = tw::arch::lane();
  Right right;
  if constexpr (sizeof(Held) == 2) {
    const auto row = Right::row_coords_trans(lane);
    tw::arch::ldmatrix<Right::registers, true>(right.bits, dy + Given::offset(Pixel(first + row.template get<Pixel>())));
    const auto own = Left::row_coords_trans(lane);
    const int second = own.template get<Both>() / 8;
    const Held* const from = x + place_of(first + own.template get<Pixel>());
    // From a pair's first tap to its second: one column, one row, or none.
    const Held* const beside = from + second * Read::offset(X(shape::dilation_x));
    const Held* const under = from + second * Read::offset(Y(shape::dilation_y));
    TW_UNROLL
    for (int pair = 0; pair < pairs; ++pair) {
      const Held* const tap = pair < across ? beside : pair < across + below ? under : from;
      Left left;
      tw::arch::ldmatrix<Left::registers, true>(left.bits, tap + from_tap(pair, 0));
      tw::mma(sums[pair], left, right, sums[pair]);
    }
  } else {
    right.generate([&](tw::Coords<Pixel, K> at) {
      return Element((float)dy[Given::offset(Pixel(first + at.template get<Pixel>()) + K(at.template get<K>()))]);
    });
    TW_UNROLL
    for (int pair = 0; pair < pairs; ++pair) {
      Left left;
      left.generate([&](tw::Coords<Both, Pixel> at) {
        const int both = at.template get<Both>(), tap = both / 8 != 0 ? from_tap(pair, there(pair, 1)) : from_tap(pair, 0);
        return Element((float)x[place_of(first + at.template get<Pixel>()) + tap + Read::offset(C(both % 8))]);
      });
      tw::mma(sums[pair], left, right, sums[pair]);
    }
  }
}

// ---- results ---------------------------------------------------------------------------------------------------------------------

// What a tap has met in a block's stages, by the definition: sums that are not finite are computed anew, since tensor cores multiply the
// zeros of padding and between narrow groups too, and a zero times an infinity is NaN.
TW_DEVICE float sum_of(const Params& p, int begin, int end, K k, R r, S s, C c) {
  float sum = 0.0f;
  const C own(k.value / shape::group * shape::group + c.value);
  TW_NO_UNROLL
  for (int stage = begin; stage < end; ++stage) {
    const auto first = Stages::coords_of(stage);
    TW_NO_UNROLL
    for (auto at : Places::points()) {
      const int n = first.template get<N>() + at.template get<N>();
      const Y y(first.template get<Y>() + at.template get<Y>());
      const X x(at.template get<X>());
      const auto source = Y(y.value * shape::stride_y + r.value * shape::dilation_y - shape::padding_y) +
                          X(x.value * shape::stride_x + s.value * shape::dilation_x - shape::padding_x) + own;
      if (n >= shape::images || y.value >= shape::out_height || !Input::contains(source)) continue;
      const Held read = input_of(p, n).at(source).load(), given = output_of(p, n).at(y + x + k).load();
      sum = fmaf((float)read, (float)given, sum);
    }
  }
  return sum;
}

TW_DEVICE void store(const Params& p, const Sum (&sums)[pairs], int part, int begin, int end, K k, C half) {
  const Weights to{p.sums + (long long)part * Weights::len};
  TW_UNROLL
  for (int pair = 0; pair < pairs; ++pair) {
    TW_UNROLL
    for (int i = 0; i < Sum::elements; ++i) {
      const auto at = Sum::coords(tw::arch::lane(), i);
      const int both = at.template get<Both>(), second = both / 8, read = both % 8, written = at.template get<K>();
      const K own = k + K(written);
      const R r(row_of(pair, second));
      const S s(column_of(pair, second));
      const C c(shape::group > 8 ? half.value + read : read % shape::group);
      const bool same_group = shape::group >= 8 || read / shape::group == written / shape::group;
      if (!same_group || !there(pair, second) || own.value >= shape::channels) continue;
      const float value = sums[pair].values[i];
      *to.at(own + r + s + c) = value * 0.0f == 0.0f ? value : sum_of(p, begin, end, own, r, s, c);
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * warps) conv2d_grad_weight(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Read read = shared.take<Read>();
  const Given given = shared.take<Given>();
  const auto block = Blocks::coords_of(blockIdx.x);
  const int part = block.get<Part>(), begin = part * plan::items;
  const int end = tw::minimum(begin + plan::items, plan::stages_n * plan::stages_y);
  const K k(block.get<K>());
  const auto own = Warps::coords_of(threadIdx.x / 32);
  const int along = own.get<Pixel>();
  const K strip(own.get<K>());
  const C half(own.get<C>());

  // Pixels that fill up the last product.
  using Rest = tw::Tensor<char, tw::Packed<tw::Run<Slot, plan::slots>, tw::Run<Pixel, products * depth - pixels + 1>, tw::Run<K, channels>>>;
  for (auto at : Rest::partition(threadIdx.x, 32 * warps)) {
    if (at.get<Pixel>() > 0) *given.at(at + Pixel(pixels - 1)) = Held(0.0f);
  }
  tw::arch::take_turn();
  TW_NO_UNROLL
  for (int ahead = 0; ahead < plan::slots - 1; ++ahead) {
    if (begin + ahead < end) bring(p, read, given, Slot(ahead), begin + ahead, k);
    tw::arch::copy_async_commit();
  }

  Sum sums[pairs];
  TW_UNROLL
  for (int pair = 0; pair < pairs; ++pair) sums[pair].fill(0.0f);
  int slot = 0;
  TW_NO_UNROLL
  for (int stage = begin; stage < end; ++stage) {
    tw::arch::copy_async_wait<plan::slots - 2>();
    __syncthreads();
    const int next = stage + plan::slots - 1;
    if (next < end) bring(p, read, given, Slot(slot == 0 ? plan::slots - 1 : slot - 1), next, k);
    tw::arch::copy_async_commit();
    const int own_strip = strip.value / (8 * halves) * (8 * halves) + half.value;
    const Held* const x = read.at(Slot(slot) + C(own_strip)).address();
    const Held* const dy = given.at(Slot(slot) + strip).address();
    TW_NO_UNROLL
    for (int product = along; product < products; product += plan::along) multiply(sums, x, dy, depth * product);
    slot = slot + 1 == plan::slots ? 0 : slot + 1;
  }

  // Warps of the same strip add up, one after another, through memory that stages have left.
  tw::arch::copy_async_wait_all();
  using Handed = tw::Tensor<float, tw::Packed<tw::Run<K, plan::strips, 8>, tw::Run<C, halves, 8>, tw::Run<Pair, pairs>,
                                             tw::Run<Value, Sum::elements>, tw::Run<Lane, 32>>>;
  const auto handed = Handed::over(tw::shared_memory()).at(strip + half + Lane(tw::arch::lane()));
  TW_NO_UNROLL
  for (int from = 1; from < plan::along; ++from) {
    __syncthreads();
    TW_UNROLL
    for (int pair = 0; pair < pairs && along == from; ++pair) {
      TW_UNROLL
      for (int i = 0; i < Sum::elements; ++i) *handed.at(Pair(pair) + Value(i)) = sums[pair].values[i];
    }
    __syncthreads();
    TW_UNROLL
    for (int pair = 0; pair < pairs && along == 0; ++pair) {
      TW_UNROLL
      for (int i = 0; i < Sum::elements; ++i) sums[pair].values[i] += handed.at(Pair(pair) + Value(i)).load();
    }
  }
  if (along == 0) store(p, sums, part, begin, end, k + strip, half);
}
