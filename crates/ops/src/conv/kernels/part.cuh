// 2-D convolution with groups, by rows: a block takes some rows of the output, some columns of some images, and some strips of 8
// channels. Rows of the input stream through a ring in shared memory, each is read once, and adds to all output rows that it is part
// of, which wait in registers until their last input row has come; rows outside the image are left out. With `shape::transposed` it is
// the gradient of the input. layouts.cuh, fused.cuh and exact.cuh stand before this text.
//
// Warps have roles: one brings rows into the ring, one sends whole rows to memory where a configuration says so, the others multiply.
// They meet at barriers in shared memory only, each place of a ring for itself.

struct Params {
  tw::TensorMap in, out;
  const Held* x;
  const Held* weights;
  const float* bias;
  Written* y;
  epilogue_Params epilogue;
};

using Sum = tw::FragmentC<Pixel, K, 16, 8>;
using Left = tw::FragmentA<Element, Pixel, Depth, 16, 2 * run>;
using Right = tw::FragmentB<Element, Depth, K, 2 * run, 8>;
using LeftHalf = tw::FragmentA<Element, Pixel, Depth, 16, run>;
using RightHalf = tw::FragmentB<Element, Depth, K, run, 8>;

// ---- a block's part --------------------------------------------------------------------------------------------------------------

// What a block computes, for its first images; those that follow take the same.
struct Part {
  N n;              // first image
  int phase, first; // output rows: those of one phase, every `phases`-th, from the phase's row `first` on
  int rows;
  X column;         // first output column
  K k;              // first channel
  Y y;              // first input row and column
  X x;
  int steps;        // of input rows; those from `begin` to `end` have rows inside the image
  int begin, end;
  bool live;        // whether any input row meets these output rows
};

TW_DEVICE Part part_of(int number) {
  const auto block = Blocks::coords_of(number);
  Part part;
  part.n = N(block.template get<N>());
  part.phase = block.template get<Y>() % shape::phases;
  part.first = block.template get<Y>() / shape::phases * plan::rows;
  const int all_rows = (shape::out_height - part.phase + shape::phases - 1) / shape::phases;
  part.rows = tw::minimum(plan::rows, all_rows - part.first);
  part.live = shape::live_phase < 0 || part.phase == shape::live_phase;
  part.column = X(block.template get<X>());
  part.k = K(block.template get<K>());
  part.y = Y(shape::pitch * down * part.first / up + part.phase * shape::phase_pitch + shape::origin_y);
  part.x = X(block.template get<X>() * shape::down_x / shape::up_x + shape::origin_x);
  const int lines = part.live && part.rows > 0 ? floor_of(down * (part.rows - 1) + window - 1 - shift, up) + 1 : 0;
  part.steps = (lines + plan::step - 1) / plan::step;
  const int above = tw::maximum(ceil_of(-part.y.value, shape::pitch), 0);
  const int below = tw::minimum(floor_of(shape::height - 1 - part.y.value, shape::pitch) + 1, lines);
  part.begin = above / plan::step;
  part.end = (below + plan::step - 1) / plan::step;
  return part;
}

// Whether there are output rows whose input rows all lie under the image.
constexpr int last_row = (shape::out_height - 1) / shape::phases;
constexpr bool rows_under_image =
    shape::origin_y + shape::pitch * first_input(last_row) + (shape::phases - 1) * shape::phase_pitch >= shape::height;

// The first of a block's images in its turn `item`, and whether there are any.
TW_DEVICE N images_of(const Part& part, int item) { return part.n + N(item * plan::images); }
TW_DEVICE bool there(N n) { return n.value < shape::images; }

// Places of a ring in shared memory: one side fills them in turn, the other one empties them.
struct Turn {
  int place, parity;
  TW_DEVICE void next(int places) {
    if (++place == places) place = 0, parity ^= 1;
  }
};
TW_DEVICE Turn to_fill() { return {0, 1}; }
TW_DEVICE Turn to_empty() { return {0, 0}; }
struct Gates {
  tw::arch::Mbarrier *full, *empty;
};
