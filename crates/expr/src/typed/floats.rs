//! Functions of floats that are composed of arithmetic.

use super::expr::{Arg, Expr, Union3};
use super::literal::Float;
use crate::graph::{Binary, Unary};
use tilewright_dims::{Merge, Set, Union};

impl<T, S: Set> Expr<T, S> {
    /// `1 / self`, rounded once.
    pub fn recip(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.recip(a))
    }

    /// `1 / sqrt(self)`: the root is rounded, and so is its reciprocal.
    pub fn rsqrt(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| {
            let root = g.unary(Unary::Sqrt, a);
            g.recip(root)
        })
    }

    /// `self` to the power of `n`: [`Expr::pow`] of `|n|`, and where `n` is negative its reciprocal.
    pub fn powi(self, n: i32) -> Self
    where
        T: Float,
    {
        self.then(|g, a| {
            let power = g.power(a, n.unsigned_abs());
            if n < 0 { g.recip(power) } else { power }
        })
    }

    /// `|self|` with the sign of `sign`; the sign of a NaN is taken for `+`.
    pub fn copysign<R: Arg<T>>(self, sign: R) -> Expr<T, Union<S, R::Set>>
    where
        T: Float,
        S: Merge<R::Set>,
    {
        self.then(|g, a| {
            let b = sign.node(g);
            g.copysign(a, b)
        })
    }

    /// Whether this is not a number.
    pub fn is_nan(self) -> Expr<bool, S>
    where
        T: Float,
    {
        self.then(|g, a| g.rounded(Binary::Ne, a, a))
    }

    /// Whether this is infinite, of either sign.
    pub fn is_infinite(self) -> Expr<bool, S>
    where
        T: Float,
    {
        self.then(|g, a| g.against_infinity(Binary::Eq, a))
    }

    /// Whether this is a number, and not infinite.
    pub fn is_finite(self) -> Expr<bool, S>
    where
        T: Float,
    {
        self.then(|g, a| g.against_infinity(Binary::Lt, a))
    }

    /// `self - self.trunc()`, exactly; of infinities NaN.
    pub fn fract(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.fract(a))
    }

    /// The nearest integer, halves away from zero: Rust's `round`.
    pub fn round_half_away(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.round_half_away(a))
    }

    /// `self + t * (to - self)`: `self` where `t` is 0. The difference is rounded, then the whole, once; where `t` is 1 the
    /// result may miss `to` by the rounding of the difference.
    pub fn lerp<B: Arg<T>, F: Arg<T>>(self, to: B, t: F) -> Expr<T, Union3<S, B::Set, F::Set>>
    where
        T: Float,
        S: Merge<B::Set>,
        Union<S, B::Set>: Merge<F::Set>,
    {
        self.then(|g, a| {
            let (b, t) = (to.node(g), t.node(g));
            g.between(a, b, t)
        })
    }
}
