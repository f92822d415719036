//! Convolutions on the CPU, on all cores.
//!
//! Rows become f32 once for all taps that meet them; sums stay in registers, f32, in an order that follows from sizes alone. Every
//! product is one fused multiply-add, so that processors with wide registers and those without give the same bits.

mod blocks;
mod gather;
mod lanes;
mod pack;
mod products;
mod rows;
mod taps;
mod weights;

use super::element::Convolved;
use super::problem::{Pass, Problem};
use gather::Gather;
use pack::Sums;

/// The result from input and weights, and a bias that is added to each sum before it is rounded.
pub(super) fn forward<T: Convolved>(problem: &Problem, x_and_w: [&[T]; 2], bias: Option<&[f32]>, y: &mut [T]) {
    Gather::new(problem, Sums::Result, x_and_w, bias).run(y);
}

/// The sums of a forward pass, with their bias, or of an input's gradient, unrounded.
pub(super) fn sums<T: Convolved>(
    (pass, problem): (Pass, &Problem),
    operands: [&[T]; 2],
    bias: Option<&[f32]>,
    y: &mut [f32],
) {
    let of = if pass == Pass::GradInput { Sums::Input } else { Sums::Result };
    Gather::new(problem, of, operands, bias).run(y);
}

/// The input's gradient from the result's and the weights.
pub(super) fn grad_input<T: Convolved>(problem: &Problem, dy_and_w: [&[T]; 2], dx: &mut [T]) {
    Gather::new(problem, Sums::Input, dy_and_w, None).run(dx);
}

/// The weights' gradient, f32, from the input and the result's gradient.
pub(super) fn grad_weight<T: Convolved>(problem: &Problem, x_and_dy: [&[T]; 2], dw: &mut [f32]) {
    weights::grad_weight(problem, x_and_dy, dw);
}

/// Bytes that the weights' gradient needs for sums that are added in the end. Rows as f32, which each thread has, are not counted.
pub(super) fn workspace(problem: &Problem) -> usize {
    weights::workspace(problem)
}
