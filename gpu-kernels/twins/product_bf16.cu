// A matrix product of bf16 on tensor cores, the twin of src/body/product_bf16.rs: 64 x 64 elements a block, 32 x 32 a warp.
#include "tilewright/arch/mma.cuh"
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, J, K }
folds! { I32 = I / 32, J32 = J / 32, I16 = I / 16, J8 = J / 8, K16 = K / 16 }
tensor!(AHeld: u16, [I: 64 => 40, K: 32]);
tensor!(BHeld: u16, [J: 64 => 40, K: 32]);
tensor!(AThreads: u8, [I: 32, K/8: 4]);
tensor!(BThreads: u8, [J: 32, K/8: 4]);
tensor!(Warps: u8, [I/32: 2, J/32: 2]);
tensor!(ALanes: u8, [I: 8, K/2: 4]);
tensor!(BLanes: u8, [J: 8, K/2: 4]);
tensor!(SumLanes: u8, [I: 8, J/2: 4]);
@tilewright*/

struct Params {
  long long i, j, k;
  const unsigned short *a, *b;
  float* c;
};

using Pair = tw::Vector<unsigned short, 2>;
using Eight = tw::Vector<unsigned short, 8>;

// Eight elements of a row; zeros where there are none.
TW_DEVICE Eight eight(const unsigned short* matrix, int row, int column, int rows, int columns, bool whole) {
  Eight values;
  if (whole && row < rows && column < columns) return *(const Eight*)(matrix + (row * columns + column));
  for (int i = 0; i < 8; ++i) {
    values[i] = row < rows && column + i < columns ? matrix[row * columns + column + i] : (unsigned short)0;
  }
  return values;
}

TW_DEVICE unsigned bits(Pair pair) { return pair[0] | (unsigned)pair[1] << 16; }

extern "C" __global__ void product_bf16(const __grid_constant__ Params p) {
  tw::Shared shared;
  const AHeld a_tile = shared.take<AHeld>();
  const BHeld b_tile = shared.take<BHeld>();
  const int rows = (int)p.i, columns = (int)p.j, end = (int)p.k;
  const int across = (columns + 63) / 64, down = blockIdx.x / across * 64, along = blockIdx.x % across * 64;
  const unsigned short* a = p.a + (long long)down * end;
  const unsigned short* b = p.b + (long long)along * end;
  float* c = p.c + ((long long)down * columns + along);
  const bool whole = end % 8 == 0 && ((unsigned long long)a | (unsigned long long)b) % sizeof(Eight) == 0;
  const auto a_own = AThreads::coords_of(threadIdx.x);
  const auto b_own = BThreads::coords_of(threadIdx.x);
  const auto warp = Warps::coords_of(threadIdx.x / 32);
  const auto a_lane = ALanes::coords_of(threadIdx.x % 32) + warp;
  const auto b_lane = BLanes::coords_of(threadIdx.x % 32) + warp;
  const int a_i = a_own.get<I>(), a_k = a_own.get<K>();
  const int b_j = b_own.get<J>(), b_k = b_own.get<K>();

  Eight a_next[2], b_next[2];
  float sums[2][4][4] = {};
  const auto stage = [&](int step) {
    for (int n = 0; n < 2; ++n) {
      a_next[n] = eight(a, a_i + 32 * n, a_k + step, rows - down, end, whole);
      b_next[n] = eight(b, b_j + 32 * n, b_k + step, columns - along, end, whole);
    }
  };
  stage(0);
  for (int step = 0; step < end;) {
    for (int n = 0; n < 2; ++n) {
      *a_tile.as<Eight>().at(a_own + I32(n)) = a_next[n];
      *b_tile.as<Eight>().at(b_own + J32(n)) = b_next[n];
    }
    __syncthreads();
    step += 32;
    stage(step);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      unsigned right[4][2];
      for (int n = 0; n < 4; ++n) {
        for (int half = 0; half < 2; ++half) {
          right[n][half] = bits(*b_tile.as<Pair>().at(b_lane + K16(k) + J8(n) + K(8 * half)));
        }
      }
      for (int m = 0; m < 2; ++m) {
        unsigned left[4];
        for (int part = 0; part < 4; ++part) {
          left[part] = bits(*a_tile.as<Pair>().at(a_lane + K16(k) + I16(m) + I(part % 2 * 8) + K(part / 2 * 8)));
        }
        for (int n = 0; n < 4; ++n) {
          tw::arch::Mma<tw::bf16, 16>::run(sums[m][n], left, right[n], sums[m][n], tw::Place::here());
        }
      }
    }
    __syncthreads();
  }
  const auto own = SumLanes::coords_of(threadIdx.x % 32) + warp;
  const int i0 = own.get<I>(), j0 = own.get<J>();
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 4; ++n) {
      for (int part = 0; part < 4; ++part) {
        const int i = i0 + 16 * m + part / 2 * 8, j = j0 + 8 * n + part % 2;
        if (down + i < rows && along + j < columns) c[i * columns + j] = sums[m][n][part];
      }
    }
  }
}
