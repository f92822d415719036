//! Kernels of several parameters on the host model: laid out like a struct of them.

use tilewright_headers::host_model::{Error, Schedule};
use tilewright_headers::layout::expand;

use crate::fixture::{compile, launch, random};

const MIXED: &str = r#"
#include "tilewright/prelude.cuh"
struct Pair { double a; int b; };
extern "C" __global__ void mixed(const float* __restrict__ x, unsigned char shift, float* y, const __grid_constant__ Pair pair,
                                 bool negate, short n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = (float)(x[i] * pair.a) + (float)(pair.b + shift);
  y[i] = negate ? -v : v;
}
extern "C" __global__ void nothing() {}
"#;

#[test]
fn values_and_pointers_of_all_sizes_arrive() {
    let Some(model) = compile("mixed", &[MIXED]) else { return };
    for (n, schedule) in [1usize, 31, 257].into_iter().zip(Schedule::ALL) {
        let (x, mut y) = (random(n, 7), vec![f32::NAN; n + 1]);
        let (x_at, y_at) = ((x.as_ptr() as usize).to_ne_bytes(), (y.as_mut_ptr() as usize).to_ne_bytes());
        let pair = [1.5f64.to_ne_bytes().as_slice(), &(-3i32).to_ne_bytes(), &[0; 4]].concat();
        let n_bytes = (n as i16).to_ne_bytes();
        let parameters: [&[u8]; 6] = [&x_at, &[200], &y_at, &pair, &[1], &n_bytes];
        let launch = launch(n.div_ceil(32) as u32, 32, 0, schedule);
        // SAFETY: both pointers are good for n elements, and the kernel stays below n.
        unsafe { model.run_with(0, "mixed", launch, &parameters) }.unwrap();
        let truth = x.iter().map(|v| -((f64::from(*v) * 1.5) as f32 + 197.0));
        assert!(y.iter().zip(truth).all(|(got, truth)| *got == truth), "{schedule:?}");
        assert!(y[n].is_nan());
    }
    // SAFETY: the kernel does nothing.
    unsafe { model.run_with(0, "nothing", launch(1, 1, 0, Schedule::Forward), &[]) }.unwrap();
}

#[test]
fn other_parameters_are_refused() {
    let Some(model) = compile("mixed", &[MIXED]) else { return };
    let refusal = |parameters: &[&[u8]]| {
        // SAFETY: none of these reaches the kernel.
        unsafe { model.run_with(0, "mixed", launch(1, 1, 0, Schedule::Forward), parameters) }.unwrap_err()
    };
    assert_eq!(refusal(&[]).to_string(), "kernel mixed takes 6 parameters, got 0");
    let wrong: [&[u8]; 6] = [&[0; 8], &[0; 1], &[0; 8], &[0; 12], &[0; 1], &[0; 2]];
    assert!(matches!(refusal(&wrong), Error::ParameterBytes { expected: 16, got: 12, .. }));
}

#[test]
fn declared_tensors_are_parameters() {
    let source = r#"
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X }
tensor!(In: const f32, [Y: 5, X: 7 => 8]);
tensor!(Out: f32, [X: 7, Y: 5]);
@tilewright*/
extern "C" __global__ void turn(In in, Out out, float factor) {
  const Y y(blockIdx.x);
  const X x(threadIdx.x);
  *out.at(x + y) = factor * *in.at(y + x);
}"#;
    let Some(model) = compile("turn", &[&expand(source).unwrap()]) else { return };
    let (x, mut y) = (random(5 * 7 * 8, 3), [f32::NAN; 35]);
    let addresses = [x.as_ptr() as usize, y.as_mut_ptr() as usize].map(usize::to_ne_bytes);
    let parameters: [&[u8]; 3] = [&addresses[0], &addresses[1], &2.0f32.to_ne_bytes()];
    // SAFETY: both hold what their layouts span.
    unsafe { model.run_with(0, "turn", launch(5, 7, 0, Schedule::Backward), &parameters) }.unwrap();
    for (row, column) in (0..35).map(|i| (i / 7, i % 7)) {
        assert_eq!(y[column * 5 + row], 2.0 * x[row * 7 * 8 + column * 8]);
    }
}
