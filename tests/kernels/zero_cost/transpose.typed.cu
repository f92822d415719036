// A picture transposed, tile by tile, through shared memory.
// Blocks of 32 x 8 threads for tiles of 32 x 32; 4224 bytes of shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
tensor!(Picture: const f32, [Y: 64, X: 96]);
tensor!(Turned: f32, [X: 96, Y: 64]);
tensor!(Tile: f32, [Y: 32 => 33, X: 32]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void transpose(const __grid_constant__ Params p) {
  const Picture picture{p.x};
  const Tile tile{(float*)tw::shared_memory()};
  const auto corner = Y(32 * (int)blockIdx.y) + X(32 * (int)blockIdx.x);
  const int lane = threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) {
    const auto within = Y(row) + X(lane);
    *tile.at(within) = *picture.at(corner).at(within);
  }
  __syncthreads();
  const Turned turned{p.y};
  for (int row = threadIdx.y; row < 32; row += 8) {
    const auto within = Y(lane) + X(row);
    *turned.at(corner).at(within) = *tile.at(within);
  }
}
