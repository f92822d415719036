//! One thread an element: sources side by side, several kernels in a source, grids in three dimensions.

use tilewright_headers::host_model::{Launch, Schedule};

use crate::fixture::{self, compile, launch, random, run};

const SCALE: &str = r#"
#include "tilewright/prelude.cuh"
#define FACTOR 3.0f
struct Params { const float* x; float* y; long long n; };
__device__ __forceinline__ float change(float v) { return __fmaf_rn(v, FACTOR, 1.0f); }
extern "C" __global__ void __launch_bounds__(256) map(const __grid_constant__ Params p) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.n) return;
  p.y[i] = change(__ldg(p.x + i));
}
struct Params_fill { float* y; long long n; };
extern "C" __global__ void fill(const __grid_constant__ Params_fill p) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const long long i = (long long)block * blockDim.x * blockDim.y * blockDim.z + thread;
  if (i < p.n) p.y[i] = (float)i;
}
"#;

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f32,
    y: *mut f32,
    n: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Fill {
    y: *mut f32,
    n: i64,
}

#[test]
fn every_element_is_mapped_once_under_every_schedule() {
    let Some(model) = compile("map", &[SCALE]) else { return };
    for n in [1, 31, 256, 257, 40_009] {
        let x = random(n, n as u32);
        let truth: Vec<f32> = x.iter().map(|v| v.mul_add(3.0, 1.0)).collect();
        for schedule in Schedule::ALL {
            let mut y = vec![f32::NAN; n];
            let params = Params { x: x.as_ptr(), y: y.as_mut_ptr(), n: n as i64 };
            run(&model, "map", launch(n.div_ceil(256) as u32, 256, 0, schedule), params).unwrap();
            assert_eq!(y, truth, "n = {n}, {schedule:?}");
        }
    }
}

#[test]
fn blocks_and_threads_are_counted_x_first() {
    let Some(model) = compile("fill", &[SCALE]) else { return };
    assert_eq!(model.kernels(0), ["map", "fill"]);
    for schedule in Schedule::ALL {
        let mut y = vec![f32::NAN; 2 * 3 * 4 * 5 * 6 * 7];
        let params = Fill { y: y.as_mut_ptr(), n: y.len() as i64 };
        run(&model, "fill", Launch { grid: [2, 3, 4], block: [5, 6, 7], shared_bytes: 0, schedule }, params).unwrap();
        assert!(y.iter().enumerate().all(|(i, &v)| v == i as f32), "{schedule:?}: {y:?}");
    }
}

#[test]
fn sources_may_share_names() {
    // More than one translation unit holds; `FACTOR`, `Params`, `change` and `map` stand in each.
    let texts: Vec<String> = (0..70).map(|i| SCALE.replace("FACTOR 3.0f", &format!("FACTOR {i}.0f"))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Some(model) = compile("sources_may_share_names", &texts) else { return };
    for source in [0, 1, 63, 64, 69] {
        let (x, mut y) = ([2.0f32], [f32::NAN]);
        let params = [x.as_ptr() as usize, y.as_mut_ptr() as usize, 1].map(usize::to_ne_bytes).concat();
        // SAFETY: both pointers are good for one element, and n is 1.
        unsafe { model.run(source, "map", fixture::launch(1, 1, 0, Schedule::Forward), &params) }.unwrap();
        assert_eq!(y, [2.0 * source as f32 + 1.0]);
    }
}
