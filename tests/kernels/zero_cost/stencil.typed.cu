// Three rows weighted, by cursors that step down.
// One block of 64 threads, one for each column; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
tensor!(Picture: const f32, [Y: 66, X: 64]);
tensor!(Smooth: f32, [Y: 64, X: 64]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void stencil(const __grid_constant__ Params p) {
  const X x((int)threadIdx.x);
  auto from = Picture{p.x}.at(Y(0) + x);
  auto to = Smooth{p.y}.at(Y(0) + x);
  float above = *from;
  from.step(Y(1));
  float here = *from;
#pragma unroll 4
  for (Y y(0); y < Smooth::extent<Y>(); ++y.value) {
    from.step(Y(1));
    const float below = *from;
    *to = 0.25f * above + 0.5f * here + 0.25f * below;
    to.step(Y(1));
    above = here;
    here = below;
  }
}
