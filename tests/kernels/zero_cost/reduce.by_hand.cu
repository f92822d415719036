// Sums over an axis that is stored in folds of eight. Index arithmetic by hand.
// One warp for each sum; no shared memory.
#include "tilewright/prelude.cuh"
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void reduce(const __grid_constant__ Params p) {
  const int i = blockIdx.x;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < 256; k += 32) sum += p.x[(k >> 3) * 128 + i * 8 + (k & 7)];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x == 0) p.y[i] = sum;
}
