// out = value, the twin of src/body/fill.rs: 16 KiB a block, in vectors where they fit.
#include "tilewright/arch/vector.cuh"
#include "tilewright/layout.cuh"

struct Params {
  long long size;
  float value;
  float* out;
};

extern "C" __global__ void fill_f32(const __grid_constant__ Params p) {
  constexpr int threads = 256, steps = 4;
  using Four = tw::Vector<float, 4>;
  const long long start = (long long)blockIdx.x * (threads * steps * 4);
  float* out = p.out + start;
  const long long left = p.size - start;
  if (left >= threads * steps * 4 && (unsigned long long)out % sizeof(Four) == 0) {
    for (int step = 0; step < steps; ++step) {
      ((Four*)out)[threadIdx.x + step * threads] = Four{{p.value, p.value, p.value, p.value}};
    }
    return;
  }
  for (int step = 0; step < 4 * steps; ++step) {
    const int at = threadIdx.x + step * threads;
    if (at < left) out[at] = p.value;
  }
}
