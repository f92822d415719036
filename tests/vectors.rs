//! The runner itself: a kernel that doubles numbers, and one that stands at a barrier alone.

use crate::runner::{Kernel, everywhere, read, reported, value, written};
use tilewright_driver::TargetKind;

const TWICE: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const float* x; float* y; int n; };
extern "C" __global__ void twice(const __grid_constant__ Params p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.y[i] = 2.0f * p.x[i];
}
"#;

fn kernel(text: &str) -> Kernel<'_> {
    let target = TargetKind::Plain;
    Kernel { name: "twice", text, entry: "twice", grid: [3, 1, 1], block: [64, 1, 1], shared_bytes: 0, target }
}

#[test]
fn a_kernel_runs_everywhere() {
    let x: Vec<f32> = (0..150).map(|i| i as f32).collect();
    everywhere(&kernel(TWICE), &[read(&x), written::<f32>(160), value(150i32)], |outputs, place| {
        let y = outputs.get::<f32>(0);
        assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x), "{place}");
        assert!(y[150..].iter().all(|y| y.is_nan()), "{place}");
    });
}

#[test]
fn a_mutant_is_reported() {
    let mutant = TWICE.replace("if (i < p.n)", "if (threadIdx.x > 0) __syncthreads(); if (i < p.n)");
    let args = [read(&[1.0f32; 150]), written::<f32>(150), value(150i32)];
    reported(&kernel(&mutant), &args, &["deadlock", "__syncthreads", "twice.cu:6"]);
}
