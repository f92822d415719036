//! Matrices, and the slow truth about them.

use super::super::super::control::Control;
use super::super::super::late::Order;
use super::super::super::staging::Staging;
use super::super::pipeline::Watch;
use super::super::plan::PanelPlan;
use crate::store::{Extents, ReadTyped, Source};
use ndarray::{Array2, s};

pub(super) const ORDERS: [Order; 4] = [Order::Late, Order::Random(1), Order::Random(2), Order::Random(3)];
pub(super) const STAGING: Staging =
    Staging { slots: 3, slots_back: 2, elements: 60, threads: 2, is_locked: true, releases: true };

pub(super) fn watch<'a>(plan: &PanelPlan, control: Control<'a>) -> Watch<'a> {
    Watch { control, before: 0, steps: plan.steps() }
}

/// Pseudo-random numbers in -1..1.
pub(super) fn random(seed: u64, rows: usize, columns: usize) -> Array2<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1;
    Array2::from_shape_simple_fn((rows, columns), || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

pub(super) fn identity(size: usize) -> Array2<f64> {
    Array2::from_shape_fn((size, size), |(i, j)| f64::from(u8::from(i == j)))
}

/// Matrices by name, some of them hard for a factorisation without pivots, or with pivots from a part of a panel alone.
pub(super) fn square(size: usize) -> Vec<(&'static str, Array2<f64>)> {
    let grade = |(i, j): (usize, usize)| 10_f64.powf(-6.0 * (i + j) as f64 / (2 * size) as f64);
    let unordered = random(2, size, size);
    let half = size / 2;
    let saddle =
        |(i, j): (usize, usize)| f64::from(u8::from(i + half == j || j + half == i || (i == j && i >= 2 * half)));
    let mut small = random(4, size, size);
    small.slice_mut(s![..half, ..half]).mapv_inplace(|x| x * 1e-12);
    // The largest element of each column stands in the last row that is left.
    let rising = Array2::from_shape_fn((size, size), |(i, j)| ((i + 1) as f64).powi(2) + unordered[[i, j]]);
    vec![
        ("random", random(1, size, size)),
        ("graded", Array2::from_shape_fn((size, size), |at| unordered[at] * grade(at))),
        ("Hilbert", Array2::from_shape_fn((size, size), |(i, j)| 1.0 / (i + j + 1) as f64)),
        ("permutation", Array2::from_shape_fn((size, size), |(i, j)| f64::from(u8::from((size - i + 2) % size == j)))),
        ("saddle", Array2::from_shape_fn((size, size), saddle)),
        ("small leading block", small),
        ("rising", rising),
    ]
}

/// A symmetric positive definite matrix.
pub(super) fn positive(seed: u64, size: usize) -> Array2<f64> {
    let a = random(seed, size, size);
    product(&a, &a.t().to_owned()) + identity(size) * size as f64
}

/// A sum of products with twice the digits.
fn dot(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut high, mut low) = (0.0, 0.0);
    for (x, y) in pairs {
        let product: f64 = x * y;
        let sum: f64 = high + product;
        let part = sum - high;
        low += x.mul_add(y, -product) + (high - (sum - part)) + (product - part);
        high = sum;
    }
    high + low
}

pub(super) fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| dot((0..a.ncols()).map(|k| (a[[i, k]], b[[k, j]]))))
}

/// The largest sum of absolute values in a column.
pub(super) fn norm(a: &Array2<f64>) -> f64 {
    a.columns().into_iter().map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// `norm(got - expected) / (scale * size * epsilon)`; NaN is as bad as can be.
pub(super) fn residual(got: &Array2<f64>, expected: &Array2<f64>, scale: f64) -> f64 {
    let off = got - expected;
    if off.iter().any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    match norm(&off) {
        0.0 => 0.0,
        distance => distance / (scale * got.nrows().max(1) as f64 * f64::EPSILON),
    }
}

/// All of a source.
pub(super) fn whole(source: &dyn Source) -> Array2<f64> {
    let Extents { rows, columns } = source.extents();
    let mut values = vec![f64::NAN; rows * columns];
    source.read(&source.extents().whole(), &mut values).unwrap();
    Array2::from_shape_vec((rows, columns), values).unwrap()
}
