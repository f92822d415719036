//! [`Convolved`]: the element types of convolutions.

use super::dense::Quad;
use super::host;
use super::problem::{Pass, Precision, Problem};
use crate::fused::{Fused, fuse};
use crate::tensor::Item;
use half::slice::HalfFloatSliceExt;
use std::sync::LazyLock;
use tilewright_expr::{In, Out, bf16, f16};

/// The copy of a tensor with four dimensions.
pub(crate) type Copies<T> = Fused<(In<T, Quad>,), Out<T, Quad>>;
/// The sums of a tensor over its first three dimensions, in f32.
pub(crate) type Sums<T> = Fused<(In<T, Quad>,), Out<f32, (super::dense::D3,)>>;

/// What input, weights and result of a convolution may hold: `f16`, `bf16` or `f32`.
#[diagnostic::on_unimplemented(
    message = "convolutions of `{Self}` are not computed",
    label = "expected `f16`, `bf16` or `f32`",
    note = "convert the tensor first, in an expression: `x.to::<f16>()`"
)]
pub trait Convolved: Item + sealed::Host {
    /// The type as a value.
    const PRECISION: Precision;
}

pub(crate) mod sealed {
    use super::{Copies, Sums};
    use crate::conv::problem::{Pass, Problem};

    /// What the CPU asks of elements.
    pub trait Host: Sized + 'static {
        /// Each as f32, exactly.
        fn widen(from: &[Self], to: &mut [f32]);
        /// Each rounded to nearest, halves to even.
        fn narrow(from: &[f32], to: &mut [Self]);
        /// [`host::forward`](crate::conv::host::forward), compiled where this crate is and not where it is called.
        fn forward(problem: &Problem, operands: [&[Self]; 2], bias: Option<&[f32]>, y: &mut [Self]);
        /// [`host::sums`](crate::conv::host::sums), likewise.
        fn sums_of(of: (Pass, &Problem), operands: [&[Self]; 2], bias: Option<&[f32]>, y: &mut [f32]);
        /// [`host::grad_input`](crate::conv::host::grad_input), likewise.
        fn grad_input(problem: &Problem, operands: [&[Self]; 2], dx: &mut [Self]);
        /// [`host::grad_weight`](crate::conv::host::grad_weight), likewise.
        fn grad_weight(problem: &Problem, operands: [&[Self]; 2], dw: &mut [f32]);
        /// The copy that makes any layout dense.
        fn copies() -> &'static Copies<Self>;
        /// The sums that make a bias's gradient.
        fn sums() -> &'static Sums<Self>;
    }
}
use sealed::Host;

macro_rules! element {
    ($T:ty, $precision:ident, $widen:expr, $narrow:expr) => {
        impl Convolved for $T {
            const PRECISION: Precision = Precision::$precision;
        }

        impl Host for $T {
            fn widen(from: &[Self], to: &mut [f32]) {
                $widen(from, to);
            }

            fn narrow(from: &[f32], to: &mut [Self]) {
                $narrow(from, to);
            }

            fn forward(problem: &Problem, operands: [&[Self]; 2], bias: Option<&[f32]>, y: &mut [Self]) {
                host::forward(problem, operands, bias, y);
            }

            fn sums_of(of: (Pass, &Problem), operands: [&[Self]; 2], bias: Option<&[f32]>, y: &mut [f32]) {
                host::sums(of, operands, bias, y);
            }

            fn grad_input(problem: &Problem, operands: [&[Self]; 2], dx: &mut [Self]) {
                host::grad_input(problem, operands, dx);
            }

            fn grad_weight(problem: &Problem, operands: [&[Self]; 2], dw: &mut [f32]) {
                host::grad_weight(problem, operands, dw);
            }

            fn copies() -> &'static Copies<Self> {
                static COPIES: LazyLock<Copies<$T>> = LazyLock::new(|| fuse(|x: In<$T, Quad>| x.store::<Quad>()));
                &COPIES
            }

            fn sums() -> &'static Sums<Self> {
                use super::dense::{D0, D1, D2, D3};
                static SUMS: LazyLock<Sums<$T>> =
                    LazyLock::new(|| fuse(|x: In<$T, Quad>| x.to::<f32>().sum::<(D0, D1, D2)>().store::<(D3,)>()));
                &SUMS
            }
        }
    };
}
element!(f16, F16, |from: &[f16], to| from.convert_to_f32_slice(to), |from, to: &mut [f16]| to
    .convert_from_f32_slice(from));
element!(bf16, Bf16, |from: &[bf16], to| from.convert_to_f32_slice(to), |from, to: &mut [bf16]| to
    .convert_from_f32_slice(from));
element!(f32, F32, |from: &[f32], to: &mut [f32]| to.copy_from_slice(from), |from: &[f32], to: &mut [f32]| to
    .copy_from_slice(from));
