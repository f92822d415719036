//! Channels mixed. The order of NPP's sums and its rounding of integers are not measured; here products are added from left to right,
//! each in one multiply-add of `f32`, and integers are rounded half to even and saturated.

use super::C;
use tilewright_dims::{Merge, Present, Set, Union, Without};
use tilewright_expr::{Expr, Number, Per};

/// What an image of three channels is without them, and with others.
type Twisted<S> = Union<<S as Without<C>>::Rest, Per<C>>;

/// `nppiColorTwist32f_8u_C3R`, `nppiColorTwist_32f_C3R` and the like: channel `i` is `twist[i][3]` and the three channels times the others.
pub fn color_twist<T: Number, S>(src: Expr<T, S>, twist: [[f32; 4]; 3]) -> Expr<T, Twisted<S>>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
{
    let (factors, terms) = (twist.map(|[a, b, c, _]| [a, b, c]), twist.map(|row| row[3]));
    src.to::<f32>().mix::<C, C>((factors, terms)).to()
}

/// `nppiColorToGray_8u_C3C1R`, `C4C1R` and the like: the sum of the channels times `coefficients`.
pub fn color_to_gray<T: Number, S, const N: usize>(src: Expr<T, S>, coefficients: [f32; N]) -> Expr<T, S::Rest>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
    Twisted<S>: Without<C, Was: Present<C>, Rest = S::Rest>,
{
    src.to::<f32>().mix::<C, C>([coefficients]).channel::<C>(0).to()
}

/// `nppiRGBToGray_8u_C3C1R` and the like: `0.299 R + 0.587 G + 0.114 B`.
pub fn rgb_to_gray<T: Number, S>(src: Expr<T, S>) -> Expr<T, S::Rest>
where
    S: Set + Without<C, Was: Present<C>, Rest: Merge<Per<C>>>,
    Twisted<S>: Without<C, Was: Present<C>, Rest = S::Rest>,
{
    color_to_gray(src, [0.299, 0.587, 0.114])
}
