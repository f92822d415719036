//! Elementary functions, built from the graph's own operations: host and device compute the same bits.
//!
//! Branch-free: what holds for a part of the arguments is chosen by selections. Methods, errors and costs are in
//! docs/notes/functions.md.

mod activation;
mod arc;
mod circle;
mod coefficients;
mod error_function;
mod exponential;
mod hyperbolic;
mod logarithm;
mod math;
mod power;
mod quadrant;

use crate::dtype::DType;
use crate::graph::{Graph, NodeId};
use math::{DOUBLE, Math, SINGLE};

impl Graph {
    /// `f` of `args`, in their own format if it is f32 or f64, and otherwise in f32.
    fn function<const N: usize>(
        &mut self,
        args: [NodeId; N],
        f: impl FnOnce(&mut Math<'_>, [NodeId; N]) -> NodeId,
    ) -> NodeId {
        let dtype = self.node(args[0]).dtype;
        if dtype == DType::F64 {
            return f(&mut Math { graph: self, format: &DOUBLE }, args);
        }
        let args = args.map(|a| self.cast(a, DType::F32));
        let value = f(&mut Math { graph: self, format: &SINGLE }, args);
        self.cast(value, dtype)
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*);)*) => {
        impl Graph { $(
            $(#[$doc])*
            pub fn $name(&mut self, $($arg: NodeId),*) -> NodeId {
                let value = self.function([$($arg),*], |m, [$($arg),*]| m.$name($($arg),*));
                self.called(stringify!($name), &[$($arg),*], value)
            }
        )* }
    };
}

functions! {
    /// `e^x`.
    exp(x);
    /// `e^x` of an `x` that is not positive; 0 below -87.7 (-708.7 in f64), where `e^x` is 0.7 of the smallest normal number.
    exp_of_negative(x);
    /// `2^x`.
    exp2(x);
    /// `10^x`.
    exp10(x);
    /// `e^x - 1`.
    exp_m1(x);
    /// The natural logarithm.
    ln(x);
    /// The logarithm to base 2.
    log2(x);
    /// The logarithm to base 10.
    log10(x);
    /// `ln(1 + x)`.
    ln_1p(x);
    /// `x^y`.
    pow(x, y);
    /// The cube root.
    cbrt(x);
    /// `sqrt(x^2 + y^2)`.
    hypot(x, y);
    /// The sine.
    sin(x);
    /// The cosine.
    cos(x);
    /// The tangent.
    tan(x);
    /// The arc sine.
    asin(x);
    /// The arc cosine.
    acos(x);
    /// The arc tangent.
    atan(x);
    /// The angle of the point (`x`, `y`).
    atan2(y, x);
    /// The hyperbolic sine.
    sinh(x);
    /// The hyperbolic cosine.
    cosh(x);
    /// The hyperbolic tangent.
    tanh(x);
    /// The inverse of `sinh`.
    asinh(x);
    /// The inverse of `cosh`.
    acosh(x);
    /// The inverse of `tanh`.
    atanh(x);
    /// `1 / (1 + e^-x)`.
    sigmoid(x);
    /// `ln(1 + e^x)`.
    softplus(x);
    /// `x sigmoid(x)`.
    silu(x);
    /// The error function.
    erf(x);
    /// `1 - erf(x)`.
    erfc(x);
    /// `x (1 + erf(x / sqrt 2)) / 2`.
    gelu(x);
    /// `x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2`.
    gelu_tanh(x);
}
