// A tiled matrix product, C[i, j] = sum over k of A[i, k] B[k, j], without index arithmetic: blocks, threads and registers are
// layouts, places are sums of coordinates, and each tensor takes what it has of them. What lies beyond the edges is a mask.
// Six blocks of 64 threads, sixteen sums in registers each; 8320 bytes of shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, J, K }
tensor!(A: const f32, [I: 50, K: 75]);
tensor!(B: const f32, [K: 75, J: 70]);
tensor!(C: f32, [I: 50, J: 70]);
tensor!(Blocks: u8, [I/32: 2, J/32: 3]);
tensor!(ATile: f32, [I: 32 => 33, K: 32]);
tensor!(BTile: f32, [K: 32, J: 32]);
tensor!(Threads: u8, [I: 8, J: 8]);
tensor!(Sums: f32, [I/8: 4, J/8: 4]);
@tilewright*/

struct Params {
  const float* a;
  const float* b;
  float* c;
};

extern "C" __global__ void product(const __grid_constant__ Params p) {
  const A a{p.a};
  const B b{p.b};
  const C c{p.c};
  tw::Shared shared;
  const ATile a_tile = shared.take<ATile>();
  const BTile b_tile = shared.take<BTile>();
  tw::Local<Sums> sums{};
  const auto corner = Blocks::coords_of(blockIdx.x), own = Threads::coords_of(threadIdx.x);

  for (K step : tw::range(A::extent<K>()).by<32>()) {
    for (auto at : ATile::partition(threadIdx.x, blockDim.x)) *a_tile.at(at) = a.at(corner + step + at).value_or(0);
    for (auto at : BTile::partition(threadIdx.x, blockDim.x)) *b_tile.at(at) = b.at(corner + step + at).value_or(0);
    __syncthreads();
    for (K k : tw::range(ATile::extent<K>())) {
      for (auto at : Sums::points()) *sums.at(at) += *a_tile.at(own + at + k) * *b_tile.at(own + at + k);
    }
    __syncthreads();
  }

  for (auto at : Sums::points()) {
    const auto result = c.at(corner + own + at);
    if (result.in_range()) *result = *sums.at(at);
  }
}
