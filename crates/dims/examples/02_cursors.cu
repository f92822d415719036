// Cursors: a place in a tensor that collects coordinates, and finds its element only when it is read. A neighbour is
// `here.at(X(1))`, a walk is `here.step(X(1))`, and both cross from block to block of a folded layout by themselves.
// One block, a thread for each row; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
tensor!(Picture: const i32, [X/4: 3, Y: 2, X%4]);
tensor!(Sums: i32, [Y: 2, X: 12]);
@tilewright*/

struct Params {
  const int* picture;
  int* sums;
};

extern "C" __global__ void three_point_sums(const __grid_constant__ Params p) {
  const Y y(threadIdx.x);
  auto here = Picture{p.picture}.at(y + X(0));
  auto sum = Sums{p.sums}.at(y + X(0));
  for (; here.in_range(); here.step(X(1)), sum.step(X(1))) {
    int total = 0;
    for (X by : tw::range(X(-1), X(2))) total += here.at(by).value_or(0);
    *sum = total;
  }
}
