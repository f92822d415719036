//! Products of bits, of a warp and of a warpgroup, through typed operands.

use crate::numbers::{Random, block};
use crate::runner::{Kernel, everywhere, read, written};
use tilewright_driver::TargetKind;

const WARP: &str = r#"
#include "tilewright/fragment.cuh"
struct I : tw::Dim<I> { using Dim::Dim; };
struct J : tw::Dim<J> { using Dim::Dim; };
struct W : tw::Dim<W> { using Dim::Dim; };
using LA = tw::Layout<tw::Axis<I, 1, 16, 8, false>, tw::Axis<W, 1, 8, 1, false>>;
using LB = tw::Layout<tw::Axis<J, 1, 8, 8, false>, tw::Axis<W, 1, 8, 1, false>>;
using LD = tw::Layout<tw::Axis<I, 1, 16, 8, false>, tw::Axis<J, 1, 8, 1, false>>;
struct Params { const unsigned* a; const unsigned* b; int* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const tw::Tensor<unsigned, LA> a{(unsigned*)tw::shared_memory()};
  const tw::Tensor<unsigned, LB> b{(unsigned*)(tw::shared_memory() + 512)};
  const tw::Tensor<const unsigned, LA> x{p.a};
  const tw::Tensor<const unsigned, LB> y{p.b};
  const tw::Tensor<int, LD> d{p.d};
  for (int i = (int)threadIdx.x; i < 128; i += 32) *a.at(I(i / 8)).at(W(i % 8)) = x.at(I(i / 8)).at(W(i % 8)).load();
  for (int i = (int)threadIdx.x; i < 64; i += 32) *b.at(J(i / 8)).at(W(i % 8)) = y.at(J(i / 8)).at(W(i % 8)).load();
  __syncwarp();
  tw::FragmentA<tw::BitWord, I, W, 16, 8> left;
  tw::FragmentB<tw::BitWord, W, J, 8, 8> right;
  tw::FragmentC<I, J, 16, 8, int> sum;
  sum.fill(1000);
  left.load(a.at(I(0)));
  right.load(b.at(J(0)));
  tw::mma(sum, left, right, sum);
  tw::mma(sum, left, right, sum);
  sum.scatter(d.at(I(0)));
}
"#;

const WARPGROUP: &str = r#"
#include "tilewright/wgmma.cuh"
struct I : tw::Dim<I> { using Dim::Dim; };
struct J : tw::Dim<J> { using Dim::Dim; };
struct W : tw::Dim<W> { using Dim::Dim; };
using A = tw::WgmmaOperand<tw::BitWord, I, W, 64, tw::arch::Swizzle::Bytes128>;
using B = tw::WgmmaOperand<tw::BitWord, J, W, WIDTH, tw::arch::Swizzle::Bytes128>;
using D = tw::Layout<tw::Axis<I, 1, 64, WIDTH, false>, tw::Axis<J, 1, WIDTH, 1, false>>;
struct Params { const tw::BitWord* a; const tw::BitWord* b; int* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const A a{(tw::BitWord*)tw::shared_memory()};
  const B b{(tw::BitWord*)(tw::shared_memory() + A::bytes)};
  const tw::Tensor<const tw::BitWord, tw::Layout<tw::Axis<I, 1, 64, 32, false>, tw::Axis<W, 1, 32, 1, false>>> x{p.a};
  const tw::Tensor<const tw::BitWord, tw::Layout<tw::Axis<J, 1, WIDTH, 32, false>, tw::Axis<W, 1, 32, 1, false>>> y{p.b};
  const tw::Tensor<int, D> d{p.d};
  for (W w(0); w < W(32); ++w.value) {
    for (I i((int)threadIdx.x); i < I(64); i.value += 128) a.store(i + w, x.at(i + w).load());
    for (J j((int)threadIdx.x); j < J(WIDTH); j.value += 128) b.store(j + w, y.at(j + w).load());
  }
  tw::arch::fence_proxy_async();
  __syncthreads();
  tw::WgmmaAccumulator<I, J, WIDTH, int> sum;
  sum.fill(77);
  tw::arch::wgmma_fence();
  for (W w(0); w < W(32); w.value += A::step) sum.multiply(a, I(0), b, J(0), w, ACCUMULATE);
  tw::arch::wgmma_commit();
  sum.wait<0>();
  sum.scatter(d.at(I(0)));
}
"#;

/// Words of random bits, thinned out towards the end so that counts differ.
fn words(count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| (random.next() >> 32) as u32 | if random.next().is_multiple_of(3) { u32::MAX } else { 0 })
        .collect()
}

fn counts(a: &[u32], b: &[u32], depth: usize) -> Vec<i32> {
    let common = |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as i32).sum::<i32>();
    a.chunks(depth).flat_map(|a| b.chunks(depth).map(move |b| common(a, b))).collect()
}

#[test]
fn of_a_warp() {
    let (a, b) = (words(128, 1), words(64, 2));
    let truth: Vec<i32> = counts(&a, &b, 8).into_iter().map(|count| 1000 + 2 * count).collect();
    everywhere(&block("bit_mma", WARP, 32, 1024), &[read(&a), read(&b), written::<i32>(128)], |outputs, place| {
        assert_eq!(outputs.get::<i32>(0), truth, "{place}");
    });
}

#[test]
fn of_a_warpgroup() {
    for (width, accumulate, before) in [(64, "true", 77), (128, "w > W(0)", 0), (192, "true", 77), (256, "w > W(0)", 0)]
    {
        let text = WARPGROUP.replace("WIDTH", &width.to_string()).replace("ACCUMULATE", accumulate);
        let kernel = Kernel { target: TargetKind::ArchSpecific, ..block("bit_wgmma", &text, 128, 64 << 10) };
        let (a, b) = (words(64 * 32, 3), words(width * 32, 4));
        let truth: Vec<i32> = counts(&a, &b, 32).into_iter().map(|count| before + count).collect();
        everywhere(&kernel, &[read(&a), read(&b), written::<i32>(64 * width)], |outputs, place| {
            assert_eq!(outputs.get::<i32>(0), truth, "{place}, {width} columns");
        });
    }
}
