// A block's part of the work, and the ring through which its rows come. meeting.cuh stands before this text.

constexpr int channels = 8 * plan::strips; // of a block, read and written
constexpr bool whole_strips = shape::channels % channels == 0;   // whether all of them are there
constexpr int strip_depth = shape::group > 8 ? 16 : 8; // channels that a strip of 8 reads
// The first channel that is read for k's strip.
TW_DEVICE constexpr C read_by(K k) { return C(k.value / strip_depth * strip_depth); }
// The number of a channel's group, and its own number there.
template <class Channel> TW_DEVICE constexpr int group_of(Channel channel) { return channel.value / shape::group; }
template <class Channel> TW_DEVICE constexpr Channel of_group(Channel channel) { return Channel(channel.value % shape::group); }
// Columns of the input that a block's columns of the output need.
constexpr int reach = plan::reach;
constexpr int pixels = plan::images * plan::columns;   // of a row of a block's images

// Memory that swizzled copies leave, a row of the ring beginning where the pattern does.
constexpr int row_elements = (plan::images * reach * channels + 8 * channels - 1) / (8 * channels) * (8 * channels);
using Row = tw::Tensor<Held,
    tw::Swizzled<tw::Layout<tw::Axis<N, 1, plan::images, reach * channels, false>,
                            tw::Axis<X, 1, reach, channels, false>,
                            tw::Axis<C, 1, channels, 1, false>>,
                 run, plan::span>>;
constexpr unsigned row_bytes = (unsigned)(plan::images * reach * channels * (int)sizeof(Held));
// A pixel's image and column.
using Places = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, plan::columns>>>;
using Input = tw::Tensor<const Held, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, shape::height>, tw::Run<X, shape::width>,
                                                   tw::Run<C, shape::channels>>>;

// Blocks: channels run fastest, so that neighbours read the same lines of memory.
using Blocks = tw::Tensor<char, tw::Packed<tw::Run<N, plan::blocks_n, plan::items * plan::images>, tw::Run<Y, plan::blocks_y, 1>,
                                           tw::Run<X, plan::blocks_x, plan::columns>, tw::Run<K, plan::blocks_k, channels>>>;

// What a block computes of some images, from the first of them on.
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

  // Its phase's rows from `from` on, and the input rows that they meet.
  TW_DEVICE void take(int from, int count) {
    first = from;
    rows = count;
    y = Y(shape::pitch * down * first / up + phase * shape::phase_pitch + shape::origin_y);
    const int lines = live && rows > 0 ? floor_of<up>(down * (rows - 1) + window - 1 - shift) + 1 : 0;
    steps = (lines + plan::step - 1) / plan::step;
    const int above = tw::maximum(ceil_of<shape::pitch>(-y.value), 0);
    const int below = tw::minimum(floor_of<shape::pitch>(shape::height - 1 - y.value) + 1, lines);
    begin = above / plan::step;
    end = (below + plan::step - 1) / plan::step;
  }
};

// Of a block, for its first images.
TW_DEVICE Part part_of(int number) {
  const auto block = Blocks::coords_of(number);
  Part part;
  part.n = tw::along<N>(block);
  part.phase = block.template get<Y>() % shape::phases;
  part.live = shape::live_phase < 0 || part.phase == shape::live_phase;
  part.column = tw::along<X>(block);
  part.k = tw::along<K>(block);
  part.x = X(block.template get<X>() * shape::down_x / shape::up_x + shape::origin_x);
  const int first = block.template get<Y>() / shape::phases * plan::rows;
  const int all_rows = (shape::out_height - part.phase + shape::phases - 1) / shape::phases;
  part.take(first, tw::minimum(plan::rows, all_rows - first));
  return part;
}

// Rows of a phase, which are every `phases`-th.
using Phased = tw::Fold<Y, shape::phases>;
// Output row number `o` of a part, and line number `line` of its input rows.
TW_DEVICE Y output_row(const Part& part, int o) { return Phased(part.first + o) + Y(part.phase); }
TW_DEVICE Y input_row(const Part& part, int line) { return part.y + tw::Fold<Y, shape::pitch>(line); }

// The first of a block's images in its turn `item`, and whether there are any.
TW_DEVICE N images_of(const Part& part, int item) { return part.n + N(item * plan::images); }
TW_DEVICE bool there(N n) { return n.value < shape::images; }
// The nearest coordinate of `extent` many.
template <class At> TW_DEVICE At nearest(At at, int extent) { return At(tw::maximum(0, tw::minimum(at.value, extent - 1))); }

// A coordinate, or the nearest one of `extent` many where it is not `always` one of them.
template <bool always, class At> TW_DEVICE At within(At at, int extent) {
  if constexpr (always) return at;
  return nearest(at, extent);
}
constexpr bool whole_images = shape::images % plan::images == 0;

// Places of a ring in shared memory: one side fills them in turn, the other one empties them.
struct Turn {
  int place, parity;
  TW_DEVICE void next(int places) {
    if (++place == places) place = 0, parity ^= 1;
  }
};
TW_DEVICE Turn to_fill() { return {0, 1}; }
TW_DEVICE Turn to_empty() { return {0, 0}; }
// Steps that several warps take in turn, no more than the ring has places, or as many warps in each turn as `sharing`, of which each has its share of a
// row: whether the next one is that of warp number `own`.
constexpr int sharing = plan::bringing / plan::turns;
struct Shares {
  int next_turn;
  TW_DEVICE bool next(int own) {
    const bool mine = plan::turns == 1 || next_turn == own % plan::turns;
    if (++next_turn == plan::turns) next_turn = 0;
    return mine;
  }
};
// A lane's number among those of the warps that share a step with warp number `own`.
TW_DEVICE int sharer(int own) { return own / plan::turns * 32 + tw::arch::lane(); }
struct Gates {
  tw::arch::Mbarrier *full, *empty;
};
