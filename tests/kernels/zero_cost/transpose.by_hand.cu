// A picture transposed, tile by tile, through shared memory. Index arithmetic by hand.
// Blocks of 32 x 8 threads for tiles of 32 x 32; 4224 bytes of shared memory.
#include "tilewright/prelude.cuh"
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void transpose(const __grid_constant__ Params p) {
  float* const tile = (float*)tw::shared_memory();
  const int y = 32 * blockIdx.y, x = 32 * blockIdx.x;
  const int lane = threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) tile[row * 33 + lane] = p.x[(y + row) * 96 + (x + lane)];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8) p.y[(x + row) * 64 + (y + lane)] = tile[lane * 33 + row];
}
