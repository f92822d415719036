// A matrix product in f32, the twin of src/body/product.rs: 64 x 64 elements a block, 4 x 4 a thread.
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, J, K }
folds! { I16 = I / 16, K4 = K / 4 }
tensor!(AHeld: f32, [K: 16 => 68, I: 64]);
tensor!(BHeld: f32, [K: 16, J: 64]);
tensor!(AThreads: u8, [I: 16, K: 16]);
tensor!(BThreads: u8, [K: 4, J: 64]);
tensor!(Threads: u8, [I/4: 16, J/4: 16]);
@tilewright*/

struct Params {
  long long i, j, k;
  const float *a, *b;
  float* c;
};

extern "C" __global__ void product(const __grid_constant__ Params p) {
  using Four = tw::Vector<float, 4>;
  tw::Shared shared;
  const AHeld a_tile = shared.take<AHeld>();
  const BHeld b_tile = shared.take<BHeld>();
  const int rows = (int)p.i, columns = (int)p.j, end = (int)p.k;
  const int across = (columns + 63) / 64, down = blockIdx.x / across * 64, along = blockIdx.x % across * 64;
  const float* a = p.a + (long long)down * end;
  const float* b = p.b + along;
  float* c = p.c + ((long long)down * columns + along);
  const auto a_own = AThreads::coords_of(threadIdx.x);
  const auto b_own = BThreads::coords_of(threadIdx.x);
  const auto own = Threads::coords_of(threadIdx.x);
  const int a_i = a_own.get<I>(), a_k = a_own.get<K>();
  const int b_k = b_own.get<K>(), b_j = b_own.get<J>();

  float a_next[4], b_next[4], sums[4][4] = {};
  const auto stage = [&](int step) {
    for (int n = 0; n < 4; ++n) {
      const int i = a_i + 16 * n, k = b_k + 4 * n;
      a_next[n] = down + i < rows && step + a_k < end ? a[(long long)step + (i * end + a_k)] : 0.0f;
      b_next[n] = step + k < end && along + b_j < columns ? b[(long long)step * columns + (k * columns + b_j)] : 0.0f;
    }
  };
  stage(0);
  for (int step = 0; step < end;) {
    for (int n = 0; n < 4; ++n) {
      *a_tile.at(a_own + I16(n)) = a_next[n];
      *b_tile.at(b_own + K4(n)) = b_next[n];
    }
    __syncthreads();
    step += 16;
    stage(step);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const Four left = *a_tile.as<Four>().at(own + K(k));
      const Four right = *b_tile.as<Four>().at(own + K(k));
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
  const int i0 = own.get<I>(), j0 = own.get<J>();
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (down + i0 + i < rows && along + j0 + j < columns) c[(i0 + i) * columns + (j0 + j)] = sums[i][j];
    }
  }
}
