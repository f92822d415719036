// Compound index: a thread has a number, a tile has coordinates, and a layout takes the one apart into the other. `partition`
// deals a tile out, `coords_of` says where a part begins, and `via index(..)` makes the lane a coordinate like any other.
// One warp; no shared memory.
#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, K, LANE }
tensor!(Tile: i32, [I: 8, K: 8]);
tensor!(Pairs: i32, [I: 8, K/2: 4]);
tensor!(Fragment: i32, [I: 8, K: 8] via index(LANE -> [I: 8, K/2: 4]));
@tilewright*/

struct Params {
  int* dealt;
  int* apart;
  int* paired;
};

extern "C" __global__ void lanes(const __grid_constant__ Params p) {
  const Tile dealt{p.dealt}, apart{p.apart};
  const Fragment paired{p.paired};
  const LANE lane(threadIdx.x);
  for (auto at : Tile::partition(threadIdx.x, blockDim.x)) *dealt.at(at) = lane.value;
  const auto own = Pairs::coords_of(threadIdx.x);
  for (K k : tw::range(K(2))) *apart.at(own + k) = lane.value;
  for (K k : tw::range(K(2))) *paired.at(lane + k) = lane.value;
}
