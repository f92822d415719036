// Adds up the parts of a sum, in an order that follows from their number: each share of a block's threads takes every so many-th part, and the shares
// are added one after another. The namespace `plan` stands before this text.
#include "tilewright/arch/grid.cuh"
#include "tilewright/layout.cuh"

struct Part : tw::Dim<Part> { using Dim::Dim; };
struct At : tw::Dim<At> { using Dim::Dim; };

struct Params {
  const float* parts;
  float* sum;
};

constexpr int shares = 8;
using Shares = tw::Tensor<float, tw::Packed<tw::Run<Part, shares>, tw::Run<At, 32>>>;

extern "C" __global__ void __launch_bounds__(32 * shares) conv2d_add_parts(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Shares sums = shared.take<Shares>();
  const int share = threadIdx.x / 32, at = blockIdx.x * 32 + threadIdx.x % 32;
  tw::arch::take_turn();
  float sum = 0.0f;
  TW_UNROLL_BY_8
  for (int part = share; part < plan::parts; part += shares) {
    if (at < plan::elements) sum += p.parts[(long long)part * plan::elements + at];
  }
  *sums.at(Part(share) + At(threadIdx.x % 32)) = sum;
  __syncthreads();
  if (share != 0 || at >= plan::elements) return;
  float all = 0.0f;
  TW_UNROLL
  for (int other = 0; other < shares; ++other) all += sums.at(Part(other) + At(threadIdx.x % 32)).load();
  p.sum[at] = all;
}
