//! Elementary functions.

use super::expr::{Arg, Expr};
use super::literal::Float;
use tilewright_dims::{Merge, Set, Union};

macro_rules! functions {
    ($($(#[$meta:meta])* $name:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name(self) -> Self
        where
            T: Float,
        {
            self.then(|g, x| g.$name(x))
        }
    )* };
}

macro_rules! functions_of_two {
    ($($(#[$meta:meta])* $name:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name<R: Arg<T>>(self, rhs: R) -> Expr<T, Union<S, R::Set>>
        where
            T: Float,
            S: Merge<R::Set>,
        {
            self.then(|g, a| {
                let b = rhs.node(g);
                g.$name(a, b)
            })
        }
    )* };
}

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
    functions! {
        /// `e` to the power of `self`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        exp;
        /// 2 to the power of `self`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        exp2;
        /// 10 to the power of `self`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        exp10;
        /// `e` to the power of `self`, less 1: accurate near 0.
        ///
        /// Error below 0.9 in `f32`, 0.7 in `f64`.
        exp_m1;
        /// The natural logarithm; of 0, minus infinity.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        ln;
        /// The logarithm to base 2; of a power of 2, exact.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        log2;
        /// The logarithm to base 10.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        log10;
        /// The natural logarithm of `1 + self`: accurate near 0.
        ///
        /// Error below 0.7 in `f32`, 0.6 in `f64`.
        ln_1p;
        /// The cube root, also of negative numbers.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        cbrt;
        /// The sine, of any number of radians.
        ///
        /// Error below 0.8 in `f32`, 0.7 in `f64`.
        sin;
        /// The cosine, of any number of radians.
        ///
        /// Error below 0.8 in `f32`, 0.7 in `f64`.
        cos;
        /// The tangent, of any number of radians.
        ///
        /// Error below 1.0 in `f32`, 0.8 in `f64`.
        tan;
        /// The arc sine, within a quarter turn of 0.
        ///
        /// Error below 0.7 in `f32`, 0.6 in `f64`.
        asin;
        /// The arc cosine, from 0 to a half turn.
        ///
        /// Error below 0.7 in `f32`, 0.6 in `f64`.
        acos;
        /// The arc tangent, within a quarter turn of 0.
        ///
        /// Error below 0.7 in `f32`, 0.6 in `f64`.
        atan;
        /// The hyperbolic sine.
        ///
        /// Error below 0.8 in `f32`, 0.6 in `f64`.
        sinh;
        /// The hyperbolic cosine.
        ///
        /// Error below 0.7 in `f32`, 0.7 in `f64`.
        cosh;
        /// The hyperbolic tangent.
        ///
        /// Error below 0.7 in `f32`, 0.6 in `f64`.
        tanh;
        /// The inverse of the hyperbolic sine.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        asinh;
        /// The inverse of the hyperbolic cosine, not negative.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        acosh;
        /// The inverse of the hyperbolic tangent.
        ///
        /// Error below 0.6 in `f32`, 0.6 in `f64`.
        atanh;
        /// The logistic function `1 / (1 + e^-x)`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        sigmoid;
        /// `ln(1 + e^x)`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        softplus;
        /// `x / (1 + e^-x)`.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        silu;
        /// The error function.
        ///
        /// Error below 0.8 in `f32`, 0.9 in `f64`.
        erf;
        /// `1 - erf(x)`, accurate where that is small.
        ///
        /// Error below 0.9 in `f32`, 1.0 in `f64`.
        erfc;
        /// `x` times the probability that a normal variable is below it, `x (1 + erf(x / sqrt 2)) / 2`.
        ///
        /// Error below 0.9 in `f32`, 1.0 in `f64`.
        gelu;
        /// Nearly [`Expr::gelu`]: `x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2` (Hendrycks and Gimpel, 2016).
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        gelu_tanh;
    }

    functions_of_two! {
        /// `self` to the power of `rhs`, with the special cases of C: `x^0` and `1^y` are 1 even of NaN; a negative number has
        /// powers with integers only.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        pow;
        /// `sqrt(self^2 + rhs^2)` without overflow on the way; infinite if either is, even if the other is NaN.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        hypot;
        /// The angle of the point with height `self` above the axis and `rhs` along it, from minus to plus a half turn; the
        /// signs of zeros and infinite coordinates count as in C.
        ///
        /// Error below 0.8 in `f32`, 0.8 in `f64`.
        atan2;
    }

    /// [`Expr::sin`] and [`Expr::cos`], which share all but the last steps.
    pub fn sin_cos(self) -> (Self, Self)
    where
        T: Float,
    {
        (self.sin(), self.cos())
    }
}
