// y = a x + y, the twin of src/body/saxpy.rs: 4096 elements a block, in vectors where both rows are aligned.
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"

struct Params {
  long long size;
  float a;
  const float* x;
  float* y;
};

extern "C" __global__ void saxpy(const __grid_constant__ Params p) {
  constexpr int threads = 256, steps = 4;
  using Four = tw::Vector<float, 4>;
  const long long start = (long long)blockIdx.x * (threads * steps * 4);
  const float* x = p.x + start;
  float* y = p.y + start;
  const long long left = p.size - start;
  if (left >= threads * steps * 4 && ((unsigned long long)x | (unsigned long long)y) % sizeof(Four) == 0) {
    Four from[steps], to[steps];
    for (int step = 0; step < steps; ++step) {
      from[step] = ((const Four*)x)[threadIdx.x + step * threads];
      to[step] = ((const Four*)y)[threadIdx.x + step * threads];
    }
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < 4; ++i) to[step][i] = fmaf(p.a, from[step][i], to[step][i]);
      ((Four*)y)[threadIdx.x + step * threads] = to[step];
    }
    return;
  }
  for (int step = 0; step < 4 * steps; ++step) {
    const int at = threadIdx.x + step * threads;
    if (at < left) y[at] = fmaf(p.a, x[at], y[at]);
  }
}
