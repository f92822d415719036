// Counts of common bits by the population count, on any GPU: 1024 bits of each row of a tile of 64 x 64 in shared memory, rows one word
// apart in the banks. A warp has 16 rows and 32 columns, a thread of it 2 and 8, as tensor cores share them out.
//
// Budget: 16 accumulators a thread, 16,896 bytes of shared memory a block of 256 threads.

constexpr int side = 64, depth = 32, threads = 256;
using Left = tw::Tensor<unsigned, tw::Layout<tw::Axis<I, 1, side, depth + 1, false>, tw::Axis<W, 1, depth, 1, false>>>;
using Right = tw::Tensor<unsigned, tw::Layout<tw::Axis<J, 1, side, depth + 1, false>, tw::Axis<W, 1, depth, 1, false>>>;
using Tiles = Order<side, side, 8>;

// Brings a tile's words of this depth; zeros where there are none. Neighbouring threads have neighbouring words.
template <class D, class Tensor> TW_DEVICE void bring(Matrix<const unsigned, D, W> from, D first, D end, W begin, W words, Tensor to) {
  for (const auto at : Tensor::partition(tw::arch::thread_of_block(), threads)) {
    const D row(first.value + at.template get<D>());
    const W word(begin.value + at.template get<W>());
    *to.at(at) = row < end && word < words ? *from.row(row).at(word) : 0u;
  }
}

extern "C" __global__ void __launch_bounds__(threads) products(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Left left = shared.take<Left>();
  const Right right = shared.take<Right>();
  const Tile tile = Tiles(p)[(int)blockIdx.x];
  const int thread = tw::arch::thread_of_block(), warp = thread / 32, lane = thread % 32;
  const I own_row(warp / 2 * 16 + lane / 4);
  const J own_column(warp % 2 * 32 + lane % 4 * 2);
  int sums[2][4][2] = {};
  for (W begin(0); begin < W(p.words); begin.value += depth) {
    bring(p.a(), I(tile.row * side), I(p.rows), begin, W(p.words), left);
    bring(p.b(), J(tile.column * side), J(p.columns), begin, W(p.words), right);
    __syncthreads();
    for (W w(0); w < W(depth); ++w.value) {
      unsigned a[2], b[4][2];
      TW_UNROLL
      for (int half = 0; half < 2; ++half) a[half] = left.at(own_row + w).at(I(8 * half)).load();
      TW_UNROLL
      for (int n = 0; n < 4; ++n) {
        TW_UNROLL
        for (int e = 0; e < 2; ++e) b[n][e] = right.at(own_column + w).at(J(8 * n + e)).load();
      }
      TW_UNROLL
      for (int half = 0; half < 2; ++half) {
        TW_UNROLL
        for (int n = 0; n < 4; ++n) {
          TW_UNROLL
          for (int e = 0; e < 2; ++e) sums[half][n][e] += __popc(a[half] & b[n][e]);
        }
      }
    }
    __syncthreads();
  }
  const Finish finish{p};
  TW_UNROLL
  for (int half = 0; half < 2; ++half) {
    const I i(tile.row * side + own_row.value + 8 * half);
    finish.row<1>(i, J(tile.column * side + warp % 2 * 32), [&](int, int n, int e) { return sums[half][n][e]; });
  }
}
