// The inner loop of a product: two tiles in folds of four, in shared memory.
// One block of 16 x 16 threads, one for each result; 2048 bytes of shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, J, K }
tensor!(A: f32, [K/4: 4, I: 16, K%4]);
tensor!(B: f32, [K/4: 4, J: 16, K%4]);
tensor!(C: f32, [I: 16, J: 16]);
@tilewright*/
struct Params { const float* x; const int* places; float* y; };

extern "C" __global__ void matmul(const __grid_constant__ Params p) {
  float* const shared = (float*)tw::shared_memory();
  const int thread = 16 * (int)threadIdx.y + (int)threadIdx.x;
  shared[thread] = p.x[thread];
  shared[256 + thread] = p.x[256 + thread];
  __syncthreads();
  const A a{shared};
  const B b{shared + 256};
  const I i((int)threadIdx.y);
  const J j((int)threadIdx.x);
  float sum = 0.0f;
  for (K k(0); k < A::extent<K>(); ++k.value) sum += *a.at(i + k) * *b.at(j + k);
  *C{p.y}.at(i + j) = sum;
}
