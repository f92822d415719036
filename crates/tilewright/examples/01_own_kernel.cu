// Blurs along X: every pixel goes a part of the way to the mean of itself and its two neighbours.
#include "tilewright/layout.cuh"

/*@tilewright
dims! { Y, X }
tensor!(In: const f32, [Y: 6, X: 8]);
tensor!(Out: f32, [Y: 6, X: 8]);
@tilewright*/

extern "C" __global__ void blur(In in, Out out, float strength) {
  const Y y(blockIdx.x);
  const X x(threadIdx.x);
  const X left = tw::max(x - X(1), X(0));
  const X right = tw::min(x + X(1), In::extent<X>() - X(1));
  const float here = *in.at(y + x);
  const float mean = (*in.at(y + left) + here + *in.at(y + right)) / 3.0f;
  *out.at(y + x) = here + strength * (mean - here);
}
