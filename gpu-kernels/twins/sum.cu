// Sums of a row, each block's share by itself, the twin of src/body/sum.rs: chunks of 256 vectors.
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I }
tensor!(Held: f32, [I: 256]);
@tilewright*/

struct Params {
  long long size, shares;
  const float* x;
  float* sums;
};

extern "C" __global__ void sum_f32(const __grid_constant__ Params p) {
  constexpr int threads = 256, chunk = threads * 4;
  using Four = tw::Vector<float, 4>;
  tw::Shared shared;
  const Held tile = shared.take<Held>();
  const int thread = threadIdx.x;
  Four own = {{0.0f, 0.0f, 0.0f, 0.0f}};
  for (long long start = (long long)blockIdx.x * chunk; start < p.size; start += (long long)gridDim.x * chunk) {
    const float* x = p.x + start;
    const long long left = p.size - start;
    Four values;
    if (left >= chunk && (unsigned long long)x % sizeof(Four) == 0) {
      values = ((const Four*)x)[thread];
    } else {
      for (int i = 0; i < 4; ++i) values[i] = thread * 4 + i < left ? x[thread * 4 + i] : 0.0f;
    }
    for (int i = 0; i < 4; ++i) own[i] = own[i] + values[i];
  }
  *tile.at(I(thread)) = (own[0] + own[2]) + (own[1] + own[3]);
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) *tile.at(I(thread)) = *tile.at(I(thread)) + *tile.at(I(thread + half));
  }
  if (thread == 0) p.sums[blockIdx.x] = *tile.at(I(0));
}
