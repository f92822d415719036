// Adds up the parts of a sum, in an order that follows from their number: each share of a block's threads takes every so many-th part, and
// the shares are added one after another. The namespace `plan` stands before this text.
#include "tilewright/arch/grid.cuh"
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"

struct Part : tw::Dim<Part> { using Dim::Dim; };
struct At : tw::Dim<At> { using Dim::Dim; };

struct Params {
  const float* parts;
  float* sum;
};

// A block's elements, of which a lane has some that follow one another.
using Lanes = tw::Tensor<char, tw::Packed<tw::Run<Part, plan::shares>, tw::Run<At, 32, plan::vector>>>;
using Blocks = tw::Tensor<char, tw::Packed<tw::Run<At, plan::blocks, 32 * plan::vector>>>;
using Shares = tw::Tensor<float, tw::Packed<tw::Run<Part, plan::shares>, tw::Run<At, 32 * plan::vector>>>;
// A part of the sum.
using Parts = tw::Tensor<const float, tw::Packed<tw::Run<Part, 1>, tw::Run<At, plan::elements>>>;
using Values = tw::Vector<float, plan::vector>;

TW_DEVICE void add(Values& sum, const Values& more) {
  TW_UNROLL
  for (int i = 0; i < plan::vector; ++i) sum[i] += more[i];
}

extern "C" __global__ void __launch_bounds__(32 * plan::shares) conv2d_add_parts(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Shares sums = shared.take<Shares>();
  const auto own = Lanes::coords_of(threadIdx.x);
  const Part share = tw::along<Part>(own);
  const At lane = tw::along<At>(own), at = lane + tw::along<At>(Blocks::coords_of(blockIdx.x));
  const bool inside = at.value < plan::elements;
  tw::arch::take_turn();
  Values sum{};
  TW_UNROLL_BY_8
  for (int part = share.value; part < plan::parts; part += plan::shares) {
    if (inside) add(sum, tw::load<plan::vector>(Parts{p.parts}.beyond(Part(part)).at(at).address()));
  }
  if constexpr (plan::shares > 1) {
    tw::store(sums.at(share + lane).address(), sum);
    __syncthreads();
    if (share.value != 0) return;
    TW_UNROLL
    for (int other = 1; other < plan::shares; ++other) add(sum, tw::load<plan::vector>(sums.at(Part(other) + lane).address()));
  }
  if (inside) tw::store_global(p.sum + at.value, sum);
}
