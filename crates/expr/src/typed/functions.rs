//! Elementary functions.

use super::expr::{Arg, Expr};
use super::literal::Float;
use tilewright_dims::{Merge, Set, Union};

/// Elementary functions: the same bits on host and device. Each says its largest measured error in units in the last place;
/// smaller formats than `f32` are computed in `f32`. Results outside a function's domain are NaN, NaN gives NaN, and 0 keeps
/// its sign where the function does.
///
/// ```
/// # use tilewright_expr::{Expr, World};
/// fn mish<S: World>(x: Expr<f32, S>) -> Expr<f32, S> {
///     x * x.softplus().tanh()
/// }
/// ```
impl<T, S: Set> Expr<T, S> {
    /// `e` to the power of `self`.
    ///
    /// Error below 1.0 in `f32`, 0.8 in `f64`.
    pub fn exp(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.exp(x))
    }

    /// 2 to the power of `self`.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn exp2(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.exp2(x))
    }

    /// 10 to the power of `self`.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn exp10(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.exp10(x))
    }

    /// `e` to the power of `self`, less 1: accurate near 0.
    ///
    /// Error below 0.9 in `f32`, 0.9 in `f64`.
    pub fn exp_m1(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.exp_m1(x))
    }

    /// The natural logarithm; of 0, minus infinity.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn ln(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.ln(x))
    }

    /// The logarithm to base 2; of a power of 2, exact.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn log2(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.log2(x))
    }

    /// The logarithm to base 10.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn log10(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.log10(x))
    }

    /// The natural logarithm of `1 + self`: accurate near 0.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn ln_1p(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.ln_1p(x))
    }

    /// The cube root, also of negative numbers.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn cbrt(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.cbrt(x))
    }

    /// The sine, of any number of radians.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn sin(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.sin(x))
    }

    /// The cosine, of any number of radians.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn cos(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.cos(x))
    }

    /// The tangent, of any number of radians.
    ///
    /// Error below 1.1 in `f32`, 0.9 in `f64`.
    pub fn tan(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.tan(x))
    }

    /// The arc sine, within a quarter turn of 0.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn asin(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.asin(x))
    }

    /// The arc cosine, from 0 to a half turn.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn acos(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.acos(x))
    }

    /// The arc tangent, within a quarter turn of 0.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn atan(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.atan(x))
    }

    /// The hyperbolic sine.
    ///
    /// Error below 0.8 in `f32`, 0.7 in `f64`.
    pub fn sinh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.sinh(x))
    }

    /// The hyperbolic cosine.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn cosh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.cosh(x))
    }

    /// The hyperbolic tangent.
    ///
    /// Error below 0.7 in `f32`, 0.7 in `f64`.
    pub fn tanh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.tanh(x))
    }

    /// The inverse of the hyperbolic sine.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn asinh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.asinh(x))
    }

    /// The inverse of the hyperbolic cosine, not negative.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn acosh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.acosh(x))
    }

    /// The inverse of the hyperbolic tangent.
    ///
    /// Error below 0.6 in `f32`, 0.6 in `f64`.
    pub fn atanh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.atanh(x))
    }

    /// The logistic function `1 / (1 + e^-x)`.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn sigmoid(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.sigmoid(x))
    }

    /// `ln(1 + e^x)`.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn softplus(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.softplus(x))
    }

    /// `x / (1 + e^-x)`.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn silu(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.silu(x))
    }

    /// The error function.
    ///
    /// Error below 0.9 in `f32`, 0.8 in `f64`.
    pub fn erf(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.erf(x))
    }

    /// `1 - erf(x)`, accurate where that is small.
    ///
    /// Error below 1.0 in `f32`, 1.0 in `f64`.
    pub fn erfc(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.erfc(x))
    }

    /// `x` times the probability that a normal variable is below it, `x (1 + erf(x / sqrt 2)) / 2`.
    ///
    /// Error below 1.0 in `f32`, 1.0 in `f64`.
    pub fn gelu(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.gelu(x))
    }

    /// Nearly [`Expr::gelu`]: `x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2` (Hendrycks and Gimpel, 2016).
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn gelu_tanh(self) -> Self
    where
        T: Float,
    {
        self.then(|g, x| g.gelu_tanh(x))
    }

    /// `self` to the power of `rhs`, with the special cases of C: `x^0` and `1^y` are 1 even of NaN; a negative number has
    /// powers with integers only.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn powf<R: Arg<T>>(self, rhs: R) -> Expr<T, Union<S, R::Set>>
    where
        T: Float,
        S: Merge<R::Set>,
    {
        self.then(|g, a| {
            let b = rhs.node(g);
            g.pow(a, b)
        })
    }

    /// `sqrt(self^2 + rhs^2)` without overflow on the way; infinite if either is, even if the other is NaN.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn hypot<R: Arg<T>>(self, rhs: R) -> Expr<T, Union<S, R::Set>>
    where
        T: Float,
        S: Merge<R::Set>,
    {
        self.then(|g, a| {
            let b = rhs.node(g);
            g.hypot(a, b)
        })
    }

    /// The angle of the point with height `self` above the axis and `rhs` along it, from minus to plus a half turn; the
    /// signs of zeros and infinite coordinates count as in C.
    ///
    /// Error below 0.8 in `f32`, 0.8 in `f64`.
    pub fn atan2<R: Arg<T>>(self, rhs: R) -> Expr<T, Union<S, R::Set>>
    where
        T: Float,
        S: Merge<R::Set>,
    {
        self.then(|g, a| {
            let b = rhs.node(g);
            g.atan2(a, b)
        })
    }

    /// [`Expr::sin`] and [`Expr::cos`], which share all but the last steps.
    pub fn sin_cos(self) -> (Self, Self)
    where
        T: Float,
    {
        (self.sin(), self.cos())
    }
}
