// A matrix stored the other way round, the twin of src/body/transpose.rs: 32 x 32 elements a block, through shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
folds! { Y8 = Y / 8, X8 = X / 8 }
tensor!(Reading: u8, [Y: 8, X: 32]);
tensor!(Writing: u8, [X: 8, Y: 32]);
tensor!(Staged: f32, [Y: 32 => 33, X: 32]);
@tilewright*/

struct Params {
  long long y, x;
  const float* from;
  float* to;
};

extern "C" __global__ void transpose_f32(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Staged tile = shared.take<Staged>();
  const int across = ((int)p.x + 31) / 32, rows = (int)p.y, columns = (int)p.x;
  const int down = blockIdx.x / across * 32, along = blockIdx.x % across * 32;
  const float* from = p.from + ((long long)down * columns + along);
  float* to = p.to + ((long long)along * rows + down);

  const auto reading = Reading::coords_of(threadIdx.x);
  float read[4];
  for (int step = 0; step < 4; ++step) {
    const int y = reading.get<Y>() + 8 * step, x = reading.get<X>();
    read[step] = down + y < rows && along + x < columns ? from[y * columns + x] : 0.0f;
  }
  for (int step = 0; step < 4; ++step) *tile.at(reading + Y8(step)) = read[step];
  __syncthreads();

  const auto writing = Writing::coords_of(threadIdx.x);
  for (int step = 0; step < 4; ++step) {
    const int x = writing.get<X>() + 8 * step, y = writing.get<Y>();
    if (down + y < rows && along + x < columns) to[x * rows + y] = *tile.at(writing + X8(step));
  }
}
