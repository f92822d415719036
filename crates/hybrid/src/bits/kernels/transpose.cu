// A transposed matrix of bits: blocks of 256 rows x 1024 columns in shared memory. A warp exchanges 32 x 32 bits in five steps, each of which
// swaps the off-diagonal quarters of all squares of one size between lanes, and leaves them in their place; then columns go out as rows.
//
// Budget: 33,920 bytes of shared memory a block of 256 threads.

// Rows of the result, which are the operand's columns; words of 32 of the operand's rows, and rows in one; words of 32 columns, and columns.
struct R : tw::Dim<R> { using Dim::Dim; };
struct L : tw::Dim<L> { using Dim::Dim; };
struct W : tw::Dim<W> { using Dim::Dim; };
constexpr int blocks = 8, words = 32, threads = 256;

struct Params {
  const unsigned* from;  // rows x pitch words
  unsigned* to;          // columns x to_pitch words
  long long from_pitch, to_pitch;
  int rows, columns;
};

// Rows of a block lie one bank apart, blocks of 32 of them four more.
using Square = tw::Tensor<unsigned, tw::Layout<tw::Axis<R, 1, blocks, 33 * 32 + 4, false>, tw::Axis<L, 1, 32, 33, false>,
                                              tw::Axis<W, 1, words, 1, false>>>;

// Lane l has row l of 32 x 32 bits, and then column l.
TW_DEVICE unsigned exchanged(unsigned bits) {
  const int lane = tw::arch::lane();
  unsigned low = 0x0000ffffu;
  TW_UNROLL
  for (int size = 16; size > 0; size /= 2, low ^= low << size) {
    const unsigned other = tw::arch::shuffle_xor(bits, size, tw::Place::here());
    bits = lane & size ? (bits & ~low) | (other >> size & low) : (bits & low) | (other & low) << size;
  }
  return bits;
}

extern "C" __global__ void __launch_bounds__(threads) transpose(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Square square = shared.take<Square>();
  const int thread = tw::arch::thread_of_block(), warp = thread / 32, lane = thread % 32;
  const int columns = (p.columns + 32 * words - 1) / (32 * words);
  const int first_row = (int)blockIdx.x / columns * 32 * blocks, first_word = (int)blockIdx.x % columns * words;
  for (L l(0); l < L(32); ++l.value) {
    const int row = first_row + 32 * warp + l.value, word = first_word + lane;
    const bool there = row < p.rows && word * 32ll < p.columns;
    *square.at(R(warp)).at(l).at(W(lane)) = there ? p.from[row * p.from_pitch + word] : 0u;
  }
  __syncwarp();
  for (W w(0); w < W(words); ++w.value) {
    const auto own = square.at(R(warp)).at(L(lane)).at(w);
    *own = exchanged(own.load());
  }
  __syncthreads();
  // Eight words of a row go out together.
  for (int number = thread; number < 32 * words * blocks; number += threads) {
    const R r(number % blocks);
    const int column = number / blocks, to_row = 32 * first_word + column, to_word = first_row / 32 + r.value;
    const bool there = to_row < p.columns && to_word * 32ll < p.rows;
    if (there) p.to[to_row * p.to_pitch + to_word] = square.at(r).at(L(column % 32)).at(W(column / 32)).load();
  }
}
