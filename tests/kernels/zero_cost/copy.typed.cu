// Rows to folds of eight.
// Blocks of 128 threads, one for each row; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, K }
tensor!(Rows: const f32, [I: 32, K: 128]);
tensor!(Folded: f32, [K/8: 16, I: 32, K%8]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void copy(const __grid_constant__ Params p) {
  const Rows rows{p.x};
  const Folded folded{p.y};
  const auto at = I((int)blockIdx.x) + K((int)threadIdx.x);
  *folded.at(at) = *rows.at(at);
}
