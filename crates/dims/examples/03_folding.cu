// Folding and carry: `K8(1)` is a block of eight along K and adds to K exactly. Windows of eight columns that begin three columns
// into a block end in the next, and nobody has to say so.
// One block, a thread for each row; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, K }
folds! { K8 = K / 8 }
tensor!(A: const i32, [K/8: 3, I: 2, K%8]);
tensor!(Sums: i32, [I: 2, K/8: 2]);
@tilewright*/

struct Params {
  const int* a;
  int* sums;
};

extern "C" __global__ void window_sums(const __grid_constant__ Params p) {
  const A a{p.a};
  const Sums sums{p.sums};
  const I i(threadIdx.x);
  if (i >= A::extent<I>()) return;
  for (K8 block : tw::range(K8(2))) {
    int sum = 0;
    for (K k : tw::range(K(3), K(11))) sum += *a.at(i + block + k);
    *sums.at(i + block) = sum;
  }
}
