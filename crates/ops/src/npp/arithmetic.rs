//! Arithmetic: of floats, rounded once a line, and of integers with a scale factor.
//!
//! A function whose name ends in `_sfs` stands for NPP's `..RSfs` of `8u`, `16u` and `16s`: the exact result times `2^-scale`, halves
//! rounded to even, saturated. `scale` may be negative.

use super::Constants;
use crate::picture::product;
use tilewright_dims::{Merge, Set, Union};
use tilewright_expr::{Expr, Float, Integer, Number, Pixel, Sampled, World, constant};

/// Integers whose results NPP scales.
#[diagnostic::on_unimplemented(
    message = "results of `{Self}` are not scaled",
    label = "expected `u8`, `u16` or `i16`",
    note = "floats have functions without `_sfs`"
)]
pub trait Scaled: Integer {
    /// A type in which sums and products are exact, and quotients exact enough to be rounded right.
    type Wide: Float;
}
impl Scaled for u8 {
    type Wide = f32;
}
impl Scaled for u16 {
    type Wide = f64;
}
impl Scaled for i16 {
    type Wide = f64;
}

/// `value * 2^-scale`, rounded half to even and saturated.
pub(super) fn scaled<T: Number, W: Float, S: World>(value: Expr<W, S>, scale: i32) -> Expr<T, S> {
    let scaled: Expr<W, S> = value * constant(2.0f64.powi(scale.saturating_neg())).to::<W>();
    scaled.to()
}

/// Functions of two images and of an image and constants, of floats and of scaled integers: `left` is the second image.
macro_rules! arithmetic {
    ($($nppi:literal, $says:literal, $says_constants:literal:
        $images:ident $images_sfs:ident $constants:ident $constants_sfs:ident |$left:ident, $right:ident| $value:expr;
    )*) => { $(
        arithmetic!(@floats $nppi, $says, $says_constants: $images $constants |$left, $right| $value;);

        #[doc = concat!("`", $nppi, "_8u_C1RSfs` and the like: ", $says, ", scaled.")]
        pub fn $images_sfs<T: Scaled, A: Set, B: Merge<A>>(src1: Expr<T, A>, src2: Expr<T, B>, scale: i32) -> Expr<T, Union<B, A>>
        where
            Union<B, A>: World,
        {
            let ($left, $right) = (src2.to::<T::Wide>(), src1.to::<T::Wide>());
            scaled($value, scale)
        }

        #[doc = concat!("`", $nppi, "C_8u_C1RSfs` and the like: ", $says_constants, ", scaled.")]
        pub fn $constants_sfs<T: Scaled, S: Merge<K::Set>, K: Constants<T>>(src: Expr<T, S>, constants: K, scale: i32) -> Expr<T, Union<S, K::Set>>
        where
            Union<S, K::Set>: World,
        {
            let ($left, $right) = (src.to::<T::Wide>(), constants.expression().to::<T::Wide>());
            scaled($value, scale)
        }
    )* };
    (@floats $nppi:literal, $says:literal, $says_constants:literal: $images:ident $constants:ident |$left:ident, $right:ident| $value:expr;) => {
        #[doc = concat!("`", $nppi, "_32f_C1R` and the like: ", $says, ".")]
        pub fn $images<T: Float, A: Set, B: Merge<A>>(src1: Expr<T, A>, src2: Expr<T, B>) -> Expr<T, Union<B, A>>
        where
            Union<B, A>: World,
        {
            let ($left, $right) = (src2, src1);
            $value
        }

        #[doc = concat!("`", $nppi, "C_32f_C1R` and the like: ", $says_constants, ".")]
        pub fn $constants<T: Float, S: Merge<K::Set>, K: Constants<T>>(src: Expr<T, S>, constants: K) -> Expr<T, Union<S, K::Set>>
        where
            Union<S, K::Set>: World,
        {
            let ($left, $right) = (src, constants.expression());
            $value
        }
    };
}

arithmetic! {
    "nppiAdd", "the sum", "`src + constants`": add add_sfs add_c add_c_sfs |left, right| left + right;
    "nppiSub", "`src2 - src1`", "`src - constants`": sub sub_sfs sub_c sub_c_sfs |left, right| left - right;
    "nppiMul", "the product", "`src * constants`": mul mul_sfs mul_c mul_c_sfs |left, right| product(left, right);
}
arithmetic! { @floats
    "nppiDiv", "`src2 / src1`; by 0 infinity", "`src / constants`": div div_c |left, right| left / right;
}

/// `nppiDiv_8u_C1RSfs` and the like: `src2 / src1`, scaled. By 0 the end of the range whatever the scale, and of 0 by 0 254 of `u8` and
/// 0 of 16 bits.
pub fn div_sfs<T: Scaled, A: Set, B: Merge<A>>(src1: Expr<T, A>, src2: Expr<T, B>, scale: i32) -> Expr<T, Union<B, A>>
where
    Union<B, A>: World,
{
    let (left, right) = (src2.to::<T::Wide>(), src1.to::<T::Wide>());
    let quotient: Expr<T::Wide, Union<B, A>> = left / right;
    of_zeros(quotient, scale)
}

/// A scaled quotient, 0 / 0 included.
fn of_zeros<T: Scaled, S: World>(quotient: Expr<T::Wide, S>, scale: i32) -> Expr<T, S> {
    let of_zeros = if size_of::<T>() == 1 { 254.0 } else { 0.0 };
    quotient.is_nan().select(constant(of_zeros).to::<T>(), scaled::<T, T::Wide, _>(quotient, scale))
}

/// `nppiDivC_8u_C1RSfs` and the like: `src / constants`, scaled. By 0 as [`div_sfs`]; NPP's is measured of `u8`
/// without a scale.
pub fn div_c_sfs<T: Scaled, S: Merge<K::Set>, K: Constants<T>>(
    src: Expr<T, S>,
    constants: K,
    scale: i32,
) -> Expr<T, Union<S, K::Set>>
where
    K::Set: Merge<S>,
    Union<S, K::Set>: World,
{
    let (left, right) = (src.to::<T::Wide>(), constants.expression().to::<T::Wide>());
    of_zeros(left / right, scale)
}

/// Functions of one image, of floats and of scaled integers.
macro_rules! functions {
    ($($nppi:literal, $says:literal, $says_integers:literal: $name:ident $sfs:ident |$x:ident| $value:expr;)*) => { $(
        #[doc = concat!("`", $nppi, "_32f_C1R` and the like: ", $says, ".")]
        pub fn $name<T: Float, S: World>(src: Expr<T, S>) -> Expr<T, S> {
            let $x = src;
            $value
        }

        #[doc = concat!("`", $nppi, "_8u_C1RSfs` and the like: ", $says, ", scaled.", $says_integers)]
        pub fn $sfs<T: Scaled, S: World>(src: Expr<T, S>, scale: i32) -> Expr<T, S> {
            let $x = src.to::<T::Wide>();
            scaled::<T, T::Wide, S>($value, scale)
        }
    )* };
}

functions! {
    "nppiSqr", "the square", "": sqr sqr_sfs |x| product(x, x);
    "nppiSqrt", "the square root", " Of negative numbers 0.": sqrt sqrt_sfs |x| x.sqrt();
    "nppiLn", "the natural logarithm", " Of 0 the end of the range: of `u8` 0, as NPP's. Of negative numbers 0; NPP's is -32768 without a scale.":
        ln ln_sfs |x| x.ln();
    "nppiExp", "the exponential", "": exp exp_sfs |x| x.exp();
}

/// `nppiAbs_16s_C1R`, `nppiAbs_32f_C1R` and the like: the absolute value, of -32768 32767.
pub fn abs<T: Sampled, S: Set>(src: Expr<T, S>) -> Expr<T, S> {
    src.to::<<T as Pixel>::Real>().abs().to()
}

/// `nppiAbsDiff_8u_C1R` and the like: the distance.
pub fn abs_diff<T: Number, A: Merge<B>, B: Set>(src1: Expr<T, A>, src2: Expr<T, B>) -> Expr<T, Union<A, B>> {
    src1.abs_diff(src2)
}

/// `nppiAbsDiffC_8u_C1R` and the like: the distance from constants.
pub fn abs_diff_c<T: Number, S: Merge<K::Set>, K: Constants<T>>(
    src: Expr<T, S>,
    constants: K,
) -> Expr<T, Union<S, K::Set>> {
    src.abs_diff(constants.expression())
}
