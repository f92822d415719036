// Type safety and commutativity: a coordinate names its dimension, so that `y + x` and `x + y` are one place, in whatever order
// the axes lie in memory. A picture is turned without a word about how.
// One block, a thread for each row; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
tensor!(Rows: const i32, [Y: 3, X: 5]);
tensor!(Columns: i32, [X: 5, Y: 3]);
@tilewright*/

struct Params {
  const int* rows;
  int* columns;
};

extern "C" __global__ void turned(const __grid_constant__ Params p) {
  const Rows rows{p.rows};
  const Columns columns{p.columns};
  const Y y(threadIdx.x);
  if (y < Rows::extent<Y>()) {
    for (X x : tw::range(Rows::extent<X>())) *columns.at(x + y) = *rows.at(y + x);
  }
}
