#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, J, K, CELL, LANE }
folds! { K8 = K / 8, I16 = I / 16 }
tensor!(Plain: const f32, [I: 10, J: 10]);
tensor!(Folded: const f32, [K/8: 4, I: 4, K%8]);
tensor!(Padded: const f32, [I: 8 => 64, J: 32]);
tensor!(Swizzled: const f32, [K/16: 4, I/16: 8, CELL: 32] via checkerboard(8: I%16, K/8%2 -> CELL));
tensor!(Loaded: const f32, [K/16: 4, I/16: 8, CELL: 32]
    via index(LANE -> [K/8: 2, I: 16])
    via checkerboard(8: I%16, K/8%2 -> CELL));
tensor!(Tile: f32, [K: 16, I: 32]);
tensor!(Turned: f32, [I: 32 => 17, K: 16]);
@tilewright*/

struct Params {
  const float* x;   // 1024 numbers
  const int* points;
  int* results;
  float* y;
};

// Offsets of points, in every way to say them.
extern "C" __global__ void offsets(const __grid_constant__ Params p) {
  const int t = threadIdx.x + blockIdx.x * blockDim.x;
  const int i = p.points[4 * t], j = p.points[4 * t + 1], k = p.points[4 * t + 2], lane = p.points[4 * t + 3];
  int* const r = p.results + 16 * t;
  const Folded folded{p.x};
  const Swizzled swizzled{p.x};
  r[0] = Plain::offset(I(i) + J(j));
  r[1] = Folded::offset(K(k) + I(i));
  r[2] = folded.at(K(k - 5)).at(I(i)).rebase().at(K(2)).at(K(3)).offset();
  r[3] = swizzled.at(I(i - 9)).at(K(k)).rebase().at(I(9)).offset();
  r[4] = Swizzled::offset(I(i) + K(k));
  r[5] = Loaded::offset(LANE(lane) + I16(1) + K(16));
  r[6] = Padded::offset(J(j) + I(i));
  r[7] = Folded{p.x}.slice<K, 2>(K8(1)).at(K(k) + I(i)).offset();
  r[8] = Folded{p.x}.as<float4>().at(K(k)).at(I(i)).offset();
  r[9] = Swizzled::contains(I(i) + K(k));
  auto cursor = folded.at(I(i) + K(0));
  cursor.step(K(k));
  r[10] = cursor.offset();
  r[11] = tw::min(K8(1), K(k)).value * 1000 + tw::max(K(k), K8(1)).value;
  const auto a = I(i) + J(j);
  const auto b = J(k) + I(lane);
  r[12] = tw::all_lt(a, b) + 2 * tw::all_ge(a, b) + 4 * tw::all_eq(a, b) + 8 * tw::all_non_negative(a - b);
  const auto least = tw::min(a, b + K(1));
  r[13] = least.get<I>() * 1000 + least.get<J>();
  r[14] = tw::cast<J, K>(a).get<K>() * 1000 + tw::without<J>(a).get<I>();
  r[15] = K(k).fold<8>().value * 1000 + (K(k) % 8).value;
}

// Turns a tile in shared memory; each coordinate is visited once, whatever the padding. One block of any size.
extern "C" __global__ void turned(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Turned turned = shared.take<Turned>();
  const Tile x{const_cast<float*>(p.x)}, y{p.y};
  for (auto at : Tile::partition(threadIdx.x, blockDim.x)) *turned.at(at) = *x.at(at);
  __syncthreads();
  for (auto at : Turned::partition(threadIdx.x, blockDim.x)) *y.at(at) = *turned.at(at) + 1.0f;
  if (threadIdx.x == 0) {
    int visits = 0;
    for (I i : tw::range(Turned::extent<I>()).by<2>()) {
      for (K k : tw::reverse_range(K(16))) visits += (*turned.at(i).at(k) == *x.at(k + i));
    }
    for (K8 k : tw::range(K8(5), K8(2))) visits += k.value;
    p.results[0] = visits;
  }
}
