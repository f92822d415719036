// Counts of common bits by the tensor cores of a warp (sm_80 and up): 1024 bits of each row of a tile of 128 x 128 in a ring in shared
// memory, cells exchanged as a swizzle of 128 bytes does. A warp has 64 rows and 32 columns.
//
// Budget: 64 accumulators a thread, 98,304 bytes of shared memory a block of 256 threads.

constexpr int side = 128, depth = 32, slots = 3, threads = 256, warp_rows = 64, warp_columns = 32;
template <class D>
using Operand = tw::Tensor<unsigned, tw::Swizzled<tw::Layout<tw::Axis<D, 1, side, depth, false>, tw::Axis<W, 1, depth, 1, false>>, 4, 8>>;
using Left = Operand<I>;
using Right = Operand<J>;
using Tiles = Order<side, side, 8>;

struct Ring {
  TW_DEVICE static Left left(int slot) { return Left::over(tw::shared_memory() + slot * (Left::bytes + Right::bytes)); }
  TW_DEVICE static Right right(int slot) { return Right::over(left(slot).data + Left::storage); }
};

// Begins to bring a tile's words of this depth, four at a time; zeros where there are none.
template <class D, class Tensor> TW_DEVICE void bring(Matrix<const unsigned, D, W> from, D first, D end, W begin, W words, Tensor to) {
  constexpr int run = 4, runs = depth / run;
  for (int number = tw::arch::thread_of_block(); number < side * runs; number += threads) {
    const D in_tile(number / runs), row(first.value + in_tile.value);
    const W in_depth(number % runs * run), word(begin.value + in_depth.value);
    const bool there = row < end && word < words;
    const unsigned* source = there ? from.row(row).at(word) : from.first;
    tw::arch::copy_async<16>(to.data + Tensor::offset(in_tile + in_depth), source, there ? 16 : 0);
  }
}

extern "C" __global__ void __launch_bounds__(threads) products(const __grid_constant__ Params p) {
  const Tile tile = Tiles(p)[(int)blockIdx.x];
  const int warp = tw::arch::thread_of_block() / 32, lane = tw::arch::lane();
  const I first_row(warp / 4 * warp_rows);
  const J first_column(warp % 4 * warp_columns);
  const auto ask = [&](int chunk) {
    const W begin(chunk * depth);
    if (begin < W(p.words)) {
      bring(p.a(), I(tile.row * side), I(p.rows), begin, W(p.words), Ring::left(chunk % slots));
      bring(p.b(), J(tile.column * side), J(p.columns), begin, W(p.words), Ring::right(chunk % slots));
    }
    tw::arch::copy_async_commit();
  };
  tw::FragmentC<I, J, 16, 16, int> sums[4][2];
  TW_UNROLL
  for (int r = 0; r < 4; ++r) {
    TW_UNROLL
    for (int c = 0; c < 2; ++c) sums[r][c].fill(0);
  }
  ask(0);
  ask(1);
  const int chunks = (p.words + depth - 1) / depth;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    tw::arch::copy_async_wait<1>();
    __syncthreads();
    ask(chunk + 2);
    const Left left = Ring::left(chunk % slots);
    const Right right = Ring::right(chunk % slots);
    TW_UNROLL
    for (W w(0); w < W(depth); w.value += 8) {
      tw::FragmentA<tw::BitWord, I, W, 16, 8> a[4];
      tw::FragmentB<tw::BitWord, W, J, 8, 16> b[2];
      TW_UNROLL
      for (int r = 0; r < 4; ++r) a[r].load(left.at(first_row + w).at(I(16 * r)));
      TW_UNROLL
      for (int c = 0; c < 2; ++c) b[c].load(right.at(first_column + w).at(J(16 * c)));
      TW_UNROLL
      for (int r = 0; r < 4; ++r) {
        TW_UNROLL
        for (int c = 0; c < 2; ++c) tw::mma(sums[r][c], a[r], b[c], sums[r][c]);
      }
    }
  }
  const Finish finish{p};
  TW_UNROLL
  for (int r = 0; r < 4; ++r) {
    TW_UNROLL
    for (int half = 0; half < 2; ++half) {
      const I i(tile.row * side + first_row.value + 16 * r + 8 * half + lane / 4);
      finish.row<1>(i, J(tile.column * side + first_column.value), [&](int, int n, int e) {
        return sums[r][n / 2].values[4 * (n % 2) + 2 * half + e];
      });
    }
  }
}
