// Pixels at listed places of a picture with padded rows; zero outside. Index arithmetic by hand.
// Blocks of 64 threads, one for each place; no shared memory.
#include "tilewright/prelude.cuh"
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void gather(const __grid_constant__ Params p) {
  const int n = 64 * blockIdx.x + threadIdx.x;
  const int y = p.places[n], x = p.places[256 + n];
  const bool inside = y >= 0 && y < 48 && x >= 0 && x < 40;
  for (int c = 0; c < 3; ++c) p.y[c * 256 + n] = inside ? p.x[y * 132 + x * 3 + c] : 0.0f;
}
