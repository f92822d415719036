// Pixels at listed places of a picture with padded rows; zero outside.
// Blocks of 64 threads, one for each place; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { N, Y, X, C, Q }
tensor!(Picture: const f32, [Y: 48 => 132, X: 40, C: 3]);
tensor!(Places: const i32, [Q: 2, N: 256]);
tensor!(Pixels: f32, [C: 3, N: 256]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void gather(const __grid_constant__ Params p) {
  const N n(64 * (int)blockIdx.x + (int)threadIdx.x);
  const auto place = Places{p.places}.at(n);
  const auto pixel = Picture{p.x}.at(Y(*place.at(Q(0))) + X(*place.at(Q(1))));
  const bool inside = pixel.in_range();
  const Pixels pixels{p.y};
  for (C c(0); c < Picture::extent<C>(); ++c.value) *pixels.at(n).at(c) = inside ? *pixel.at(c) : 0.0f;
}
