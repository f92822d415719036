//! Channels mixed. Integers are truncated by twists and rounded half upwards by greys, as NPP's, and saturated. The order of NPP's
//! sums is not measured; here products are added from left to right, each in one multiply-add of `f32`.

use super::C;
use tilewright_dims::{Merge, Present, Set, Union, Without};
use tilewright_expr::{Expr, Number, Per, Value};

/// What an image of three channels is without them, and with others.
type Twisted<S> = Union<<S as Without<C>>::Rest, Per<C>>;

/// `nppiColorTwist32f_8u_C3R`, `nppiColorTwist_32f_C3R` and the like: channel `i` is `twist[i][3]` and the three channels times the others.
pub fn color_twist<T: Number, S>(src: Expr<T, S>, twist: [[f32; 4]; 3]) -> Expr<T, Twisted<S>>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
{
    let (factors, terms) = (twist.map(|[a, b, c, _]| [a, b, c]), twist.map(|row| row[3]));
    let mixed = src.to::<f32>().mix::<C, C>((factors, terms));
    if <T as Value>::DTYPE.is_float() { mixed.to() } else { mixed.trunc().to() }
}

/// `nppiColorToGray_8u_C3C1R`, `C4C1R` and the like: the sum of the channels times `coefficients`.
pub fn color_to_gray<T: Number, S, const N: usize>(src: Expr<T, S>, coefficients: [f32; N]) -> Expr<T, S::Rest>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
    Twisted<S>: Without<C, Was: Present<C>, Rest = S::Rest>,
{
    let grey = src.to::<f32>().mix::<C, C>([coefficients]).channel::<C>(0);
    if <T as Value>::DTYPE.is_float() { grey.to() } else { (grey + 0.5).floor().to() }
}

/// `nppiRGBToGray_8u_C3C1R` and the like: `0.299 R + 0.587 G + 0.114 B`.
pub fn rgb_to_gray<T: Number, S>(src: Expr<T, S>) -> Expr<T, S::Rest>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
    Twisted<S>: Without<C, Was: Present<C>, Rest = S::Rest>,
{
    color_to_gray(src, [0.299, 0.587, 0.114])
}
