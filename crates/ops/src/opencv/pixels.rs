//! Bits, comparisons, thresholds, tables.

use super::arithmetic::Operand;
use super::{C, L};
use tilewright_dims::{First, Merge, Minus, Present, Set, Union, Without};
use tilewright_expr::{
    Bitwise, Expr, In, IntoExpr, Number, Per, Pixel, Reduced, Reducible, SameElement, Sampled, Value, World, constant,
};

macro_rules! bitwise {
    ($($(#[$meta:meta])* $name:ident $op:tt;)*) => { $(
        $(#[$meta])*
        pub fn $name<T: Bitwise, S, B: IntoExpr<Elem: SameElement<T> + Bitwise>>(src1: Expr<T, S>, src2: B) -> Expr<T, Union<S, B::Set>>
        where
            S: Merge<B::Set>,
        {
            src1 $op src2
        }
    )* };
}

bitwise! {
    /// The bits that both have.
    bitwise_and &;
    /// The bits that either has.
    bitwise_or |;
    /// The bits that one has.
    bitwise_xor ^;
}

/// All bits turned over.
pub fn bitwise_not<T: Bitwise, S: Set>(src: Expr<T, S>) -> Expr<T, S> {
    !src
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
pub enum CmpType {
    CMP_EQ,
    CMP_GT,
    CMP_GE,
    CMP_LT,
    CMP_LE,
    CMP_NE,
}

/// 255 where the comparison holds, else 0.
pub fn compare<T: Sampled, S: Merge<B::Set>, B: Operand<T>>(
    src1: Expr<T, S>,
    src2: B,
    how: CmpType,
) -> Expr<u8, Union<S, B::Set>> {
    let (a, b) = (src1.to::<<T as Pixel>::Real>(), src2.real());
    mask(match how {
        CmpType::CMP_EQ => a.eq(b),
        CmpType::CMP_GT => a.gt(b),
        CmpType::CMP_GE => a.ge(b),
        CmpType::CMP_LT => a.lt(b),
        CmpType::CMP_LE => a.le(b),
        CmpType::CMP_NE => a.ne(b),
    })
}

/// 255 where it holds.
fn mask<S: Set>(holds: Expr<bool, S>) -> Expr<u8, S> {
    holds.to::<u8>() * 255
}

/// What becomes of values above a threshold, and of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "OpenCV's names")]
pub enum ThresholdType {
    /// `maxval` above, 0 below.
    THRESH_BINARY,
    /// 0 above, `maxval` below.
    THRESH_BINARY_INV,
    /// The threshold above; others stay.
    THRESH_TRUNC,
    /// 0 below; others stay.
    THRESH_TOZERO,
    /// 0 above; others stay.
    THRESH_TOZERO_INV,
}

/// Values against `thresh`, which itself is not above. For integers `thresh` is rounded down and `maxval` to the nearest value of
/// the type. OpenCV's `THRESH_OTSU` and `THRESH_TRIANGLE`, which choose a threshold, are not here.
pub fn threshold<T: Sampled, S: World>(src: Expr<T, S>, thresh: f64, maxval: f64, how: ThresholdType) -> Expr<T, S> {
    let thresh = if <T as Value>::DTYPE.is_float() { thresh } else { thresh.floor() };
    let level = constant(thresh).to::<<T as Pixel>::Real>();
    let above: Expr<bool, S> = src.to::<<T as Pixel>::Real>().gt(level);
    let (zero, most, level) = (constant(T::default()), constant(maxval).to::<T>(), constant(thresh).to::<T>());
    match how {
        ThresholdType::THRESH_BINARY => above.select(most, zero),
        ThresholdType::THRESH_BINARY_INV => above.select(zero, most),
        ThresholdType::THRESH_TRUNC => above.select(level, src),
        ThresholdType::THRESH_TOZERO => above.select(src, zero),
        ThresholdType::THRESH_TOZERO_INV => above.select(zero, src),
    }
}

/// 255 where every channel is in `low..=high`, else 0.
pub fn in_range<T: Sampled, S, A: Operand<T>, B: Operand<T>>(
    src: Expr<T, S>,
    low: A,
    high: B,
) -> Expr<u8, Reduced<S, C>>
where
    S: World + Merge<A::Set, Out = S> + Merge<B::Set, Out = S> + Minus<Per<C>>,
    Per<C>: Minus<S, Out: First<Out: Reducible>>,
{
    let value = src.to::<<T as Pixel>::Real>();
    let (from, to): (Expr<bool, S>, Expr<bool, S>) = (value.ge(low.real()), value.le(high.real()));
    let both: Expr<bool, S> = from & to;
    mask(both.all::<C>())
}

/// Entry `src` of a table of 256; the table may have channels of its own.
pub fn lut<U: Number, S: Set, R: Set + Without<L, Was: Present<L>, Rest: Merge<S>>>(
    src: Expr<u8, S>,
    table: Expr<U, R>,
) -> Expr<U, Union<R::Rest, S>> {
    table.at::<L, _>(src.to::<i32>())
}

/// A table of 256 entries.
pub type Table<U> = In<U, (L,)>;
