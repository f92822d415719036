//! Conversion, channels, copies, fills.

use super::{C, NppiSize, Picture, X, Y};
use crate::npp::Constants;
use crate::npp::arithmetic::scaled;
use tilewright_dims::{Merge, Present, Set, Union, Without};
use tilewright_expr::colour::{Channels, stack};
use tilewright_expr::{Border, Expr, Integer, Number, Per, Pixel, Sampled, Value, World};

/// `nppiConvert_8u32f_C1R` and the like: another element type that holds every value. Others saturate, halves rounded to even, which
/// is not measured without a rounding mode.
pub fn convert<U: Number, T: Number, S: Set>(src: Expr<T, S>) -> Expr<U, S> {
    src.to()
}

/// How fractions become integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "NPP's names")]
pub enum NppRoundMode {
    /// To the nearest, halves to even.
    NPP_RND_NEAR,
    /// To the nearest, halves away from 0.
    NPP_RND_FINANCIAL,
    /// Towards 0.
    NPP_RND_ZERO,
}

/// `nppiConvert_32f8u_C1R` and the like: another integer type, rounded and saturated. NaN becomes 0.
pub fn convert_rounded<U: Integer, T: Sampled, S: World>(src: Expr<T, S>, mode: NppRoundMode) -> Expr<U, S> {
    convert_sfs(src, mode, 0)
}

/// `nppiConvert_32f8u_C1RSfs` and the like: the same of `src * 2^-scale`.
pub fn convert_sfs<U: Integer, T: Sampled, S: World>(src: Expr<T, S>, mode: NppRoundMode, scale: i32) -> Expr<U, S> {
    let value: Expr<<T as Pixel>::Real, S> = scaled(src.to::<<T as Pixel>::Real>(), scale);
    match mode {
        NppRoundMode::NPP_RND_NEAR => value.to(),
        NppRoundMode::NPP_RND_FINANCIAL => value.round_half_away().to(),
        NppRoundMode::NPP_RND_ZERO => value.trunc_to(),
    }
}

/// `nppiSwapChannels_8u_C3R` and the like, also `C4C3R`: channel `i` is channel `order[i]` of `src`.
pub fn swap_channels<T, S: Set + Without<C, Was: Present<C>>, const N: usize>(
    src: Expr<T, S>,
    order: [i32; N],
) -> Expr<T, S> {
    src.reorder::<C>(&order)
}

/// `nppiCopy_8u_C3P3R`, `C4P4R` and the like: the channels, each an image.
pub fn copy_to_planes<const N: usize, T, S: Without<C, Was: Present<C>>>(src: Expr<T, S>) -> [Expr<T, S::Rest>; N] {
    std::array::from_fn(|i| src.channel::<C>(i))
}

/// `nppiCopy_8u_P3C3R`, `P4C4R` and the like: images as the channels of one.
pub fn copy_from_planes<A: Channels<Set: Merge<Per<C>>>>(planes: A) -> Expr<A::Elem, Union<A::Set, Per<C>>> {
    stack::<C, A>(planes)
}

/// `nppiDup_8u_C1C3R`, `C1C4R` and the like: an image as each of `N` channels.
pub fn dup<const N: usize, T: Value, S: Set + Merge<Per<C>>>(src: Expr<T, S>) -> Expr<T, Union<S, Per<C>>> {
    stack::<C, _>([src; N])
}

/// What constants fill: rows and columns of them.
pub type Filled<T, K> = Expr<T, Union<Union<<K as Constants<T>>::Set, Per<Y>>, Per<X>>>;

/// `nppiSet_8u_C3R` and the like: an image of constants.
pub fn set<T: Number, K: Constants<T, Set: Merge<Per<Y>>>>(value: K, size: NppiSize) -> Filled<T, K>
where
    Union<K::Set, Per<Y>>: Merge<Per<X>>,
{
    value.expression().repeat::<Y>(size.height).repeat::<X>(size.width)
}

/// Borders of one kind, around an image that lies `top` and `left` in a larger one.
fn bordered<T: Value, S: Picture>(
    src: Expr<T, S>,
    size: NppiSize,
    top: usize,
    left: usize,
    border: Border<T>,
) -> Expr<T, S> {
    // As much below as the result is high: what is too much is cut.
    let rows = src.pad::<Y>(top, size.height, border).slice::<Y>(0, size.height);
    rows.pad::<X>(left, size.width, border).slice::<X>(0, size.width)
}

macro_rules! borders {
    ($($nppi:literal, $says:literal: $name:ident $border:expr;)*) => { $(
        #[doc = concat!("`", $nppi, "_8u_C1R` and the like: an image of `size` that holds `src` from row `top` and column `left` on, and")]
        #[doc = concat!("around it ", $says, ". What does not fit is cut.")]
        pub fn $name<T: Value, S: Picture>(src: Expr<T, S>, size: NppiSize, top: usize, left: usize) -> Expr<T, S> {
            bordered(src, size, top, left, $border)
        }
    )* };
}
borders! {
    "nppiCopyReplicateBorder", "the nearest pixels": copy_replicate_border Border::Replicate;
    "nppiCopyWrapBorder", "`src` again and again": copy_wrap_border Border::Wrap;
}

/// `nppiCopyConstBorder_8u_C1R` and the like: as [`copy_replicate_border`], with a value around the image.
pub fn copy_const_border<T: Number, S: Picture>(
    src: Expr<T, S>,
    size: NppiSize,
    top: usize,
    left: usize,
    value: T,
) -> Expr<T, S> {
    bordered(src, size, top, left, Border::Constant(value))
}

/// `nppiCopyConstBorder_8u_C3R` and the like: as [`copy_const_border`], with a value for each channel.
pub fn copy_const_border_channels<T: Number, S, const N: usize>(
    src: Expr<T, S>,
    size: NppiSize,
    top: usize,
    left: usize,
    value: [T; N],
) -> Expr<T, Union<S::Rest, Per<C>>>
where
    S: Without<C, Was: Present<C>, Rest: Picture + Merge<Per<C>>>,
{
    stack::<C, _>(std::array::from_fn::<_, N, _>(|i| {
        bordered(src.channel::<C>(i), size, top, left, Border::Constant(value[i]))
    }))
}
