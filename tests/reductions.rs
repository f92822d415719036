//! Reductions and scans of warps and blocks against sums over slices.

use crate::numbers::{Random, block};
use crate::runner::{Kernel, everywhere, read, reported, written};

const WARP: &str = r#"
#include "tilewright/reduce.cuh"
struct Bits {
  TW_DEVICE unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
struct Params { const int* x; const float* f; int* ints; float* floats; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int lane = threadIdx.x, x = p.x[lane];
  int* ints = p.ints + lane * 16;
  ints[0] = tw::warp_reduce(x, tw::Sum());
  ints[1] = tw::warp_reduce(x, tw::Min());
  ints[2] = tw::warp_reduce(x, tw::Max());
  ints[3] = (int)tw::warp_reduce((unsigned)x, tw::Sum());
  ints[4] = (int)tw::warp_reduce((unsigned)x, tw::Min());
  ints[5] = (int)tw::warp_reduce((unsigned)x, tw::Max());
  ints[6] = tw::warp_reduce<16>(x, tw::Min());
  ints[7] = tw::warp_reduce<8>(x, tw::Max());
  ints[8] = tw::warp_reduce<4>(x, tw::Min());
  ints[9] = tw::warp_reduce<2>(x, tw::Max());
  ints[10] = tw::warp_reduce<1>(x, tw::Max());
  ints[11] = (int)tw::warp_reduce((unsigned)x, Bits());
  ints[12] = (int)tw::warp_scan((unsigned)x, tw::Sum());
  ints[13] = tw::warp_scan(x, tw::Max());
  ints[14] = ints[15] = 0;
  if (lane < 11) ints[14] = tw::warp_reduce_first(x, tw::Max(), 11);
  const float f = p.f[lane];
  float* floats = p.floats + lane * 4;
  floats[0] = tw::warp_reduce(f, tw::Sum());
  floats[1] = tw::warp_reduce<8>(f, tw::Min());
  floats[2] = tw::warp_reduce(f, tw::Max());
  floats[3] = (float)tw::warp_reduce((double)f, tw::Sum());
}
"#;

fn group(x: &[i32], lane: usize, width: usize) -> &[i32] {
    &x[lane / width * width..][..width]
}

#[test]
fn warps() {
    let mut random = Random(5);
    let x: Vec<i32> = (0..32).map(|_| random.next() as i32).collect();
    let f = random.many(32, Random::small);
    let unsigned: Vec<u32> = x.iter().map(|v| *v as u32).collect();
    let sum = |x: &[i32]| x.iter().fold(0i32, |sum, v| sum.wrapping_add(*v));
    let min = |lane, width| *group(&x, lane, width).iter().min().unwrap();
    let max = |lane, width| *group(&x, lane, width).iter().max().unwrap();
    let args = [read(&x), read(&f), written::<i32>(512), written::<f32>(128)];
    everywhere(&block("warps", WARP, 32, 0), &args, |outputs, place| {
        let (ints, floats) = (outputs.get::<i32>(0), outputs.get::<f32>(1));
        for lane in 0..32 {
            let truth = [
                sum(&x),
                min(0, 32),
                max(0, 32),
                sum(&x),
                *unsigned.iter().min().unwrap() as i32,
                *unsigned.iter().max().unwrap() as i32,
                min(lane, 16),
                max(lane, 8),
                min(lane, 4),
                max(lane, 2),
                x[lane],
                x.iter().fold(0, |all, v| all | v),
                sum(&x[..=lane]),
                *x[..=lane].iter().max().unwrap(),
            ];
            assert_eq!(ints[lane * 16..][..14], truth, "{place}, lane {lane}");
            let (all, eight) = (f.iter().sum::<f32>(), &f[lane / 8 * 8..][..8]);
            let least = eight.iter().copied().fold(f32::INFINITY, f32::min);
            let most = f.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(floats[lane * 4..][..4], [all, least, most, all], "{place}, lane {lane}");
        }
        assert_eq!(ints[14], *x[..11].iter().max().unwrap(), "{place}");
    });
}

const BLOCK: &str = r#"
#include "tilewright/reduce.cuh"
struct Params { const int* x; int* all; int* first; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int thread = tw::arch::thread_of_block(), n = tw::arch::threads_of_block();
  const int x = p.x[blockIdx.x * n + thread];
  int* scratch = (int*)tw::shared_memory();
  const int sum = tw::block_reduce(x, tw::Sum(), scratch);
  const int most = tw::block_reduce(x, tw::Max(), scratch);
  const int least = tw::block_reduce_first(x, tw::Min(), scratch);
  const int again = tw::block_reduce_first(x, tw::Sum(), scratch);
  p.all[(blockIdx.x * n + thread) * 2] = sum;
  p.all[(blockIdx.x * n + thread) * 2 + 1] = most;
  if (thread != 0) return;
  p.first[blockIdx.x * 2] = least;
  p.first[blockIdx.x * 2 + 1] = again;
}
"#;

fn shaped(text: &str, shape: [u32; 3]) -> Kernel<'_> {
    Kernel { grid: [3, 1, 1], block: shape, ..block("blocks", text, 1, 128) }
}

#[test]
fn blocks_of_any_shape() {
    for shape in [[1, 1, 1], [31, 1, 1], [32, 1, 1], [33, 1, 1], [7, 5, 3], [256, 1, 1], [1000, 1, 1], [32, 32, 1]] {
        let threads = shape.iter().product::<u32>() as usize;
        let mut random = Random(threads as u64);
        let x: Vec<i32> = (0..3 * threads).map(|_| random.next() as i32 % 1_000_000).collect();
        let args = [read(&x), written::<i32>(6 * threads), written::<i32>(6)];
        everywhere(&shaped(BLOCK, shape), &args, |outputs, place| {
            let (all, first) = (outputs.get::<i32>(0), outputs.get::<i32>(1));
            for (i, block) in x.chunks(threads).enumerate() {
                let (sum, most) = (block.iter().sum::<i32>(), *block.iter().max().unwrap());
                for pair in all[2 * i * threads..][..2 * threads].chunks(2) {
                    assert_eq!(pair, [sum, most], "{place}, {shape:?}");
                }
                assert_eq!(first[2 * i..][..2], [*block.iter().min().unwrap(), sum], "{place}, {shape:?}");
            }
        });
    }
}

#[test]
fn misuse_is_reported() {
    let args = [read(&[1i32; 240]), written::<i32>(480), written::<i32>(6)];
    let absent = BLOCK.replace("const int sum", "if (thread == 70) return; const int sum");
    reported(&shaped(&absent, [80, 1, 1]), &args, &["a shuffle reads a lane that takes no part", ".cu:8"]);
    let alone = BLOCK.replace("const int sum", "if (thread >= 64) return; const int sum");
    reported(&shaped(&alone, [80, 1, 1]), &args, &["deadlock", "__syncthreads", ".cu:8"]);
    let warp = [read(&[1i32; 32]), read(&[1.0f32; 32]), written::<i32>(512), written::<f32>(128)];
    let mask = WARP.replace("tw::Max(), 11)", "tw::Max(), 10)");
    reported(&block("warps", &mask, 32, 0), &warp, &["the mask of a warp collective names the lane"]);
    let absent = WARP.replace("ints[0] =", "if (lane == 3) return; ints[0] =");
    reported(&block("warps", &absent, 32, 0), &warp, &["a shuffle reads a lane that takes no part", ".cu:10"]);
}
