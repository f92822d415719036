// A transposed matrix of bytes: tiles of 64 lines x 64 bytes go through shared memory as words of four. Lines begin at multiples of four bytes, and
// have whole words, on both sides.
//
// Budget: 4,352 bytes of shared memory a block of 256 threads.

// Lines of a tile, and words of a line.
struct L : tw::Dim<L> { using Dim::Dim; };
struct W : tw::Dim<W> { using Dim::Dim; };
constexpr int lines = 64, words = lines / 4, threads = 256;

struct Params {
  const unsigned* from;  // lines of the operand, pitch words apart
  unsigned* to;          // lines of the result
  long long from_pitch, to_pitch;
  int count, length;     // lines of the operand, and bytes of each
};

// Lines lie one bank apart.
using Tile = tw::Tensor<unsigned, tw::Layout<tw::Axis<L, 1, lines, words + 1, false>, tw::Axis<W, 1, words, 1, false>>>;

extern "C" __global__ void __launch_bounds__(threads) turn_bytes(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Tile tile = shared.take<Tile>();
  const int thread = tw::arch::thread_of_block(), across = (p.length + lines - 1) / lines;
  const int first_line = (int)blockIdx.x / across * lines, first_byte = (int)blockIdx.x % across * lines;
  for (int number = thread; number < lines * words; number += threads) {
    const int line = number / words, word = number % words;
    const bool there = first_line + line < p.count && first_byte + 4 * word < p.length;
    *tile.at(L(line)).at(W(word)) = there ? p.from[(first_line + line) * p.from_pitch + first_byte / 4 + word] : 0u;
  }
  __syncthreads();
  for (int number = thread; number < lines * words; number += threads) {
    const int byte = number / words, word = number % words;
    unsigned turned = 0;
    TW_UNROLL
    for (int k = 0; k < 4; ++k) {
      const unsigned whole = tile.at(L(4 * word + k)).at(W(byte / 4)).load();
      turned |= (whole >> 8 * (byte % 4) & 0xffu) << 8 * k;
    }
    const bool there = first_byte + byte < p.length && first_line + 4 * word < p.count;
    if (there) p.to[(first_byte + byte) * p.to_pitch + first_line / 4 + word] = turned;
  }
}
