// The inner loop of a product: two tiles in folds of four, in shared memory. Index arithmetic by hand.
// One block of 16 x 16 threads, one for each result; 2048 bytes of shared memory.
#include "tilewright/prelude.cuh"
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void matmul(const __grid_constant__ Params p) {
  float* const shared = (float*)tw::shared_memory();
  const int thread = 16 * threadIdx.y + threadIdx.x;
  shared[thread] = p.x[thread];
  shared[256 + thread] = p.x[256 + thread];
  __syncthreads();
  const float* const b = shared + 256;
  const int i = threadIdx.y, j = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    sum += shared[(k >> 2) * 64 + i * 4 + (k & 3)] * b[(k >> 2) * 64 + j * 4 + (k & 3)];
  }
  p.y[i * 16 + j] = sum;
}
