// Projection: a tensor takes from a coordinate the dimensions that it has, and ignores the others. One and the same `at` reads a
// gain for each N and a bias for each C.
// One block, a thread for each total; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { N, C, X }
tensor!(Samples: const i32, [N: 2, C: 3, X: 4]);
tensor!(Gain: const i32, [N: 2]);
tensor!(Bias: const i32, [C: 3]);
tensor!(Totals: i32, [N: 2, C: 3]);
@tilewright*/

struct Params {
  const int* samples;
  const int* gain;
  const int* bias;
  int* totals;
};

extern "C" __global__ void totals(const __grid_constant__ Params p) {
  const Samples samples{p.samples};
  const Gain gain{p.gain};
  const Bias bias{p.bias};
  const Totals totals{p.totals};
  for (auto own : Totals::partition(threadIdx.x, blockDim.x)) {
    int total = 0;
    for (X x : tw::range(Samples::extent<X>())) {
      const auto at = own + x;
      total += *samples.at(at) * *gain.at(at) + *bias.at(at);
    }
    *totals.at(own) = total;
  }
}
