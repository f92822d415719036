//! Warp collectives against their definitions.

use tilewright_headers::host_model::{Error, Schedule};

use crate::fixture::{compile, launch, random, run};

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f32,
    y: *mut f32,
}

const SUM: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const float* x; float* y; };
extern "C" __global__ void sum(const __grid_constant__ Params p) {
  float v = p.x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
  float* partial = (float*)tw::host::shared_memory();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
  for (int step = 16; step > 0; step >>= 1) v += __shfl_down_sync(0xffffffffu, v, step);
  if (threadIdx.x == 0) p.y[blockIdx.x] = v;
}
"#;

#[test]
fn a_block_sums_by_shuffles() {
    let Some(model) = compile("warp_sum", &[SUM]) else { return };
    let x: Vec<f32> = random(20 * 256, 3).iter().map(|v| (v * 100.0).round()).collect();
    for schedule in Schedule::ALL {
        let mut y = [f32::NAN; 20];
        run(&model, "sum", launch(20, 256, 32, schedule), Params { x: x.as_ptr(), y: y.as_mut_ptr() }).unwrap();
        for (block, sum) in y.iter().enumerate() {
            assert_eq!(*sum, x[block * 256..][..256].iter().sum::<f32>(), "block {block}, {schedule:?}");
        }
    }
}

/// Each lane writes one result of each collective; the halves of a warp use masks of their own.
const EACH: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { int* y; };
extern "C" __global__ void each(const __grid_constant__ Params p) {
  const int lane = threadIdx.x;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int* y = p.y + lane * 10;
  y[0] = __shfl_sync(half, lane * 10, 3, 16);
  y[1] = __shfl_up_sync(0xffffffffu, lane, 2);
  y[2] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
  y[3] = __shfl_xor_sync(0xffffffffu, lane, 5);
  y[4] = (int)__ballot_sync(half, lane % 3 == 0);
  y[5] = __any_sync(half, lane == 20);
  y[6] = __all_sync(half, lane < 16);
  y[7] = (int)__shfl_sync(0xffffffffu, 1000000000000ll + lane, 31 - lane) == (int)(1000000000000ll + 31 - lane);
  y[8] = 0;
  if (lane < 16) {  // lanes of the lower half go on alone, while the others wait already
    for (int i = 0; i < 5; ++i) y[8] += __shfl_xor_sync(0xffffu, lane, 1);
  }
  __syncwarp();
  y[9] = (int)__shfl_sync(0xffffffffu, (double)lane, 7);
}
"#;

#[test]
fn each_collective_does_as_defined() {
    let Some(model) = compile("warp_each", &[EACH]) else { return };
    for schedule in Schedule::ALL {
        let mut y = [-1i32; 320];
        run(&model, "each", launch(1, 32, 0, schedule), y.as_mut_ptr()).unwrap();
        for lane in 0..32i32 {
            let lower = lane < 16;
            let ballot = (0..32).filter(|l| l % 3 == 0 && (*l < 16) == lower).fold(0u32, |mask, l| mask | 1 << l);
            let truth = [
                if lower { 30 } else { 190 },
                if lane < 2 { lane } else { lane - 2 },
                if lane % 8 + 3 > 7 { lane } else { lane + 3 },
                lane ^ 5,
                ballot as i32,
                i32::from(!lower),
                i32::from(lower),
                1,
                if lower { 5 * (lane ^ 1) } else { 0 },
                7,
            ];
            assert_eq!(y[lane as usize * 10..][..10], truth, "lane {lane}, {schedule:?}");
        }
    }
}

#[test]
fn reading_a_lane_that_takes_no_part_is_reported() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { int* y; };
extern "C" __global__ void reads_the_absent(const __grid_constant__ Params p) {
  p.y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 16);
}"#;
    let Some(model) = compile("absent", &[text]) else { return };
    let mut y = [0i32; 48];
    let error = run(&model, "reads_the_absent", launch(1, 48, 0, Schedule::Forward), y.as_mut_ptr()).unwrap_err();
    assert!(
        matches!(&error, Error::Misuse { text, .. } if text.contains("0_absent.cu:5: a shuffle reads a lane")),
        "{error}"
    );
}

#[test]
fn different_masks_are_reported() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { int* y; };
extern "C" __global__ void masks(const __grid_constant__ Params p) {
  const unsigned mask = threadIdx.x < 20 ? 0xffffffffu : 0xfffffff0u;
  p.y[threadIdx.x] = __any_sync(mask, 1);
}"#;
    let Some(model) = compile("masks", &[text]) else { return };
    for schedule in Schedule::ALL {
        let mut y = [0i32; 32];
        let error = run(&model, "masks", launch(1, 32, 0, schedule), y.as_mut_ptr()).unwrap_err().to_string();
        assert!(
            error.contains("0xffffffff") && error.contains("0xfffffff0") && error.contains("0_masks.cu:6"),
            "{error}"
        );
    }
}
