//! Any implementation of the passes against the reference: on the CPU, on the host model, on a GPU.

use super::reference::{self, Exact};
use crate::support::Random;
use ndarray::{Array1, Array4};
use tilewright_expr::{bf16, f16};
use tilewright_ops::conv::{Pass, Precision, Problem};

/// What results hold before they are computed: exact in every precision, and far from every result.
pub(crate) const POISON: f32 = -4224.0;

/// What an implementation promises. The error of a sum of products is at most
/// `(product + terms * sum) * (sum of the products' magnitudes)`, whatever the order of the `terms` additions, where each rounds by
/// at most `sum` of what it has made: any partial sum is smaller than the magnitudes' sum. Then comes one rounding to the result's type.
#[derive(Clone, Copy)]
pub(crate) struct Accuracy {
    /// Relative error of a product, before it is added.
    pub(crate) product: f64,
    /// Relative error of an addition.
    pub(crate) sum: f64,
}

impl Accuracy {
    /// Fused multiply-adds in f32: products are exact, sums are rounded to 24 bits. The first-order bound gets a thousandth for the rest.
    pub(crate) const FMA: Accuracy = Accuracy { product: 0.0, sum: 1.001 / (1u64 << 24) as f64 };

    /// Of [`Operands::whole`]: whatever the order of additions, nothing is rounded but the result.
    pub(crate) const WHOLE: Accuracy = Accuracy { product: 0.0, sum: 0.0 };
}

/// Operands of all passes, values of the problem's precision.
#[derive(Clone)]
pub(crate) struct Operands {
    pub(crate) problem: Problem,
    pub(crate) x: Vec<f32>,
    pub(crate) w: Vec<f32>,
    pub(crate) dy: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
}

impl Operands {
    /// Random ones, between -1 and 1; half of the problems have a bias.
    pub(crate) fn random(problem: &Problem, seed: u64) -> Operands {
        let mut r = Random(seed);
        let mut values = |extents: [usize; 4]| {
            r.vec(extents.iter().product(), |r| rounded(problem.precision, (r.unit() * 2.0 - 1.0) as f32))
        };
        let [x, w, dy] = [problem.input_extents(), problem.weight_extents(), problem.output_extents()].map(&mut values);
        let bias = seed.is_multiple_of(2).then(|| r.vec(problem.channels(), |r| (r.unit() * 4.0 - 2.0) as f32));
        Operands { problem: *problem, x, w, dy, bias }
    }

    /// Whole numbers from -3 to 3, which every type has: sums of fewer than 1.8 million products are exact in f32, and a product too many or too
    /// few is seen in any of them, where bounds of thousands of roundings leave room for one.
    pub(crate) fn whole(problem: &Problem, seed: u64) -> Operands {
        let (mut r, mut operands) = (Random(seed), Operands::random(problem, seed));
        let bias = operands.bias.iter_mut().flatten();
        let all = [&mut operands.x, &mut operands.w, &mut operands.dy].into_iter().flatten();
        all.chain(bias).for_each(|value| *value = r.below(7) as f32 - 3.0);
        operands
    }

    /// Any values within bounds, as the kernels promise, and whole numbers exactly.
    pub(crate) fn both(problem: &Problem, seed: u64, accuracy: Accuracy) -> [(Operands, Accuracy); 2] {
        [(Operands::random(problem, seed), accuracy), (Operands::whole(problem, seed), Accuracy::WHOLE)]
    }

    /// As [`Operands::random`], with infinities and a NaN in each, and in the corners, which stand beside padding.
    pub(crate) fn not_finite(problem: &Problem, seed: u64) -> Operands {
        let (mut r, mut operands) = (Random(seed + 1), Operands::random(problem, seed));
        for values in [&mut operands.x, &mut operands.w, &mut operands.dy] {
            for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
                let at = r.below(values.len() as u64) as usize;
                values[at] = value;
            }
            let corner = if r.below(2) == 0 { 0 } else { values.len() - 1 };
            values[corner] = f32::INFINITY;
        }
        operands
    }

    /// The two operands of a pass, in its order, with their extents.
    pub(crate) fn of(&self, pass: Pass) -> [(&[f32], [usize; 4]); 2] {
        let p = &self.problem;
        let x = (self.x.as_slice(), p.input_extents());
        let w = (self.w.as_slice(), p.weight_extents());
        let dy = (self.dy.as_slice(), p.output_extents());
        match pass {
            Pass::Forward => [x, w],
            Pass::GradInput => [dy, w],
            Pass::GradWeight => [x, dy],
        }
    }

    /// What a pass is to give.
    pub(crate) fn exact(&self, pass: Pass) -> Exact {
        let [a, b] = self.of(pass).map(|(values, extents)| array(extents, values));
        let bias = self.bias.as_ref().map(|bias| bias.iter().map(|b| f64::from(*b)).collect::<Array1<f64>>());
        reference::pass(pass, &self.problem, [&a, &b], bias.as_ref())
    }
}

/// The extents of a pass's result.
pub(crate) fn result_extents(problem: &Problem, pass: Pass) -> [usize; 4] {
    match pass {
        Pass::Forward => problem.output_extents(),
        Pass::GradInput => problem.input_extents(),
        Pass::GradWeight => problem.weight_extents(),
    }
}

/// Computes `pass` by `implementation`, which writes over a poisoned result, and compares. Panics at the first value that is off by
/// more than `accuracy` allows; `what` says which implementation it was.
pub(crate) fn check(
    what: &str,
    (pass, operands): (Pass, &Operands),
    accuracy: Accuracy,
    implementation: impl FnOnce(Pass, &Operands, &mut [f32]),
) {
    let mut got = vec![POISON; result_extents(&operands.problem, pass).iter().product()];
    implementation(pass, operands, &mut got);
    let precision = if pass == Pass::GradWeight { Precision::F32 } else { operands.problem.precision };
    compare(&format!("{what}, {pass:?} of {:?}", operands.problem), precision, accuracy, &got, &operands.exact(pass));
}

/// Panics at the first of `got` that is not what it has to be. Values that are not finite have to be the same ones.
pub(crate) fn compare(what: &str, precision: Precision, accuracy: Accuracy, got: &[f32], exact: &Exact) {
    assert_eq!(got.len(), exact.values.len(), "{what}: elements");
    for ((got, (at, exact_value)), (magnitude, terms)) in
        got.iter().zip(exact.values.indexed_iter()).zip(exact.magnitudes.iter().zip(&exact.terms))
    {
        if !exact_value.is_finite() {
            let same = f64::from(*got) == *exact_value || (got.is_nan() && exact_value.is_nan());
            assert!(same, "{what}: at {at:?} {got}, expected {exact_value}");
            continue;
        }
        let sum = (accuracy.product + f64::from(*terms) * accuracy.sum) * magnitude;
        let allowed = sum + result_rounding(precision, exact_value.abs() + sum);
        let error = (f64::from(*got) - exact_value).abs();
        assert!(
            error <= allowed,
            "{what}: at {at:?} {got}, expected {exact_value}: off by {error:e}, allowed {allowed:e}"
        );
    }
}

/// Half a unit in the last place of values up to `value`, normal or not.
fn result_rounding(precision: Precision, value: f64) -> f64 {
    let (bits, smallest) = match precision {
        Precision::F16 => (11, -25),
        Precision::Bf16 => (8, -134),
        Precision::F32 => (24, -150),
    };
    value * 2f64.powi(-bits) + 2f64.powi(smallest)
}

/// `value` in a precision.
pub(crate) fn rounded(precision: Precision, value: f32) -> f32 {
    match precision {
        Precision::F16 => f16::from_f32(value).to_f32(),
        Precision::Bf16 => bf16::from_f32(value).to_f32(),
        Precision::F32 => value,
    }
}

/// Values as the reference wants them.
pub(crate) fn array(extents: [usize; 4], values: &[f32]) -> Array4<f64> {
    Array4::from_shape_vec(extents, values.iter().map(|v| f64::from(*v)).collect()).expect("as many values")
}
