// Rows to folds of eight. Index arithmetic by hand.
// Blocks of 128 threads, one for each row; no shared memory.
#include "tilewright/prelude.cuh"
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void copy(const __grid_constant__ Params p) {
  const int i = blockIdx.x, k = threadIdx.x;
  p.y[(k >> 3) * 256 + i * 8 + (k & 7)] = p.x[i * 128 + k];
}
