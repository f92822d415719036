//! Scalar functions of [`map`](super): the one source for the CPU, for kernels in Rust and, through NVRTC, for those in CUDA C++.
//!
//! Whoever takes this file in says which `scalar_fn` is meant: that of `tilewright-scalar` here, that of `tilewright-expr` in tests.

use super::scalar_fn;

/// `x` times the share of a normal distribution below `x`.
#[scalar_fn]
pub fn gelu(x: f32) -> f32 {
    let share = 1.0 + (x * 0.707_106_77).erf();
    0.5 * x * share
}

/// The derivative of the logarithm of the gamma function, for arguments above 0; NaN for others. Small arguments are moved up by the
/// recurrence, then the asymptotic series serves (Abramowitz and Stegun, 6.3.5 and 6.3.18).
#[scalar_fn]
pub fn digamma(x: f32) -> f32 {
    const TERMS: [f32; 4] = [-0.083_333_336, 0.008_333_334, -0.003_968_254, 0.004_166_667];
    if !(x > 0.0) {
        return f32::NAN;
    }
    let mut at = x;
    // What is moved is added up and taken away in the end: of what is taken away one by one, LLVM makes divisions of -1, which are longer
    // than reciprocals.
    let mut moved = 0.0;
    while at < 6.0 {
        moved += 1.0 / at;
        at += 1.0;
    }
    let inverse = 1.0 / at;
    let square = inverse * inverse;
    let series = square.polynomial(&TERMS) * square;
    at.ln() - 0.5 * inverse + series - moved
}
