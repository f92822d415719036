//! Arithmetic between matrices, and between a matrix and a scalar.

use super::C;
use crate::picture::product;
use tilewright_dims::{Merge, Set, Union};
use tilewright_expr::colour::per_channel;
use tilewright_expr::{Expr, Float, Number, Per, Pixel, Sampled, Value, World, constant};

/// The floating-point type that elements of `T` are computed in: `f32` for 8 and 16 bits and `f32`, else `f64`.
type Real<T> = <T as Pixel>::Real;

/// What stands on the right: a matrix of any element type, a number for all channels, or an array of one for each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a matrix nor a scalar",
    label = "expected a matrix, an `f64`, or an array `[f64; channels]`"
)]
pub trait Operand<T: Sampled> {
    /// Its dimensions.
    type Set: Set;
    /// Its values in the type that is computed in.
    fn real(self) -> Expr<Real<T>, Self::Set>;
    /// Its values for sums and distances, for which scalars are rounded where pixels are integers.
    fn term(self) -> Expr<Real<T>, Self::Set>
    where
        Self: Sized,
    {
        self.real()
    }
}

/// A scalar beside integers, for what OpenCV computes in integers.
fn whole<T: Sampled>(scalar: f64) -> f64 {
    if <T as Value>::DTYPE.is_float() { scalar } else { scalar.round_ties_even() }
}

impl<T: Sampled, E: Number, S: Set> Operand<T> for Expr<E, S> {
    type Set = S;
    fn real(self) -> Expr<Real<T>, S> {
        self.to()
    }
}

impl<T: Sampled> Operand<T> for f64 {
    type Set = ();
    fn real(self) -> Expr<Real<T>, ()> {
        constant(self).to()
    }
    fn term(self) -> Expr<Real<T>, ()> {
        constant(whole::<T>(self)).to()
    }
}

impl<T: Sampled, const N: usize> Operand<T> for [f64; N] {
    type Set = Per<C>;
    fn real(self) -> Expr<Real<T>, Per<C>> {
        per_channel::<C, _, N>(self).to()
    }
    fn term(self) -> Expr<Real<T>, Per<C>> {
        per_channel::<C, _, N>(self.map(whole::<T>)).to()
    }
}

macro_rules! pairs {
    ($($(#[$meta:meta])* $name:ident |$a:ident, $b:ident| $value:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name<T: Sampled, S: Merge<B::Set>, B: Operand<T>>(src1: Expr<T, S>, src2: B) -> Expr<T, Union<S, B::Set>> {
            let ($a, $b) = (src1.to::<Real<T>>(), src2.term());
            ($value).to()
        }
    )* };
}

pairs! {
    /// The sum. Of `i32`, saturated, where OpenCV's wraps.
    add |a, b| a + b;
    /// The difference. Of `i32`, saturated, where OpenCV's wraps.
    subtract |a, b| a - b;
    /// The distance.
    absdiff |a, b| (a - b).abs();
    /// The smaller value; of floats NaN if either is, where OpenCV's depends on their order.
    min |a, b| a.min(b);
    /// The larger value; of floats NaN if either is, where OpenCV's depends on their order.
    max |a, b| a.max(b);
}

/// The product. OpenCV's `scale` is one more of these. A scalar is rounded to the type that is computed in, where OpenCV multiplies
/// by it in `f64`: floats may differ in their last bit, integers by 1.
pub fn multiply<T: Sampled, S: Merge<B::Set>, B: Operand<T>>(src1: Expr<T, S>, src2: B) -> Expr<T, Union<S, B::Set>>
where
    Union<S, B::Set>: Merge<(), Out = Union<S, B::Set>>,
{
    product(src1.to::<Real<T>>(), src2.real()).to()
}

/// The quotient; of integers, 0 where the divisor is 0. Scalars as for [`multiply`].
pub fn divide<T: Sampled, S: Merge<B::Set>, B: Operand<T>>(src1: Expr<T, S>, src2: B) -> Expr<T, Union<S, B::Set>>
where
    B::Set: World + Merge<Union<S, B::Set>, Out = Union<S, B::Set>>,
{
    let divisor = src2.real();
    let quotient = src1.to::<Real<T>>() / divisor;
    if <T as Value>::DTYPE.is_float() {
        return quotient.to();
    }
    let zero = constant(0.0f32).to::<Real<T>>();
    divisor.eq(zero).select(zero, quotient).to()
}

/// `alpha * src1 + (beta * src2 + gamma)`, each a multiply-add: OpenCV's vector code has them, the ends of its rows may not.
pub fn add_weighted<T: Sampled, S: World>(
    src1: Expr<T, S>,
    alpha: f64,
    src2: Expr<T, S>,
    beta: f64,
    gamma: f64,
) -> Expr<T, S> {
    let second: Expr<Real<T>, S> = scaled(src2.to(), beta, gamma);
    let sum: Expr<Real<T>, S> = src1.to::<Real<T>>().mul_add(constant(alpha).to::<Real<T>>(), second);
    sum.to()
}

/// `alpha * src + beta` as elements of `U`, in one multiply-add: OpenCV's vector code has one, the ends of its rows may not.
pub fn convert_to<U: Sampled, T: Sampled, S: World>(src: Expr<T, S>, alpha: f64, beta: f64) -> Expr<U, S> {
    if alpha == 1.0 && beta == 0.0 {
        return src.to();
    }
    // In the wider of both types' own.
    if <Real<U> as Value>::DTYPE == <Real<T> as Value>::DTYPE {
        return scaled::<Real<T>, S>(src.to(), alpha, beta).to();
    }
    scaled::<f64, S>(src.to(), alpha, beta).to()
}

fn scaled<R: Float, S: World>(value: Expr<R, S>, alpha: f64, beta: f64) -> Expr<R, S> {
    value.mul_add(constant(alpha).to::<R>(), constant(beta).to::<R>())
}

/// The square root, of floats.
pub fn sqrt<T: Float, S: Set>(src: Expr<T, S>) -> Expr<T, S> {
    src.sqrt()
}
