// Sums over an axis that is stored in folds of eight.
// One warp for each sum; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, K }
tensor!(Folded: const f32, [K/8: 32, I: 16, K%8]);
tensor!(Sums: f32, [I: 16]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void reduce(const __grid_constant__ Params p) {
  const I i((int)blockIdx.x);
  const auto row = Folded{p.x}.at(i);
  float sum = 0.0f;
  for (K k((int)threadIdx.x); k < Folded::extent<K>(); k.value += 32) sum += *row.at(k);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x == 0) *Sums{p.y}.at(i) = sum;
}
