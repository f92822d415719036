//! Thresholds and comparisons, of each value by itself.

use super::Constants;
use tilewright_dims::{Merge, Set, Union};
use tilewright_expr::{Expr, Number, World};

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "NPP's names")]
pub enum NppCmpOp {
    NPP_CMP_LESS,
    NPP_CMP_LESS_EQ,
    NPP_CMP_EQ,
    NPP_CMP_GREATER_EQ,
    NPP_CMP_GREATER,
}

fn holds<T: Number, S: Merge<B>, B: Set>(left: Expr<T, S>, op: NppCmpOp, right: Expr<T, B>) -> Expr<bool, Union<S, B>> {
    match op {
        NppCmpOp::NPP_CMP_LESS => left.lt(right),
        NppCmpOp::NPP_CMP_LESS_EQ => left.le(right),
        NppCmpOp::NPP_CMP_EQ => left.eq(right),
        NppCmpOp::NPP_CMP_GREATER_EQ => left.ge(right),
        NppCmpOp::NPP_CMP_GREATER => left.gt(right),
    }
}

/// `nppiCompare_8u_C1R` and the like: 255 where the comparison holds, else 0.
pub fn compare<T: Number, A: Merge<B>, B: Set>(
    src1: Expr<T, A>,
    src2: Expr<T, B>,
    op: NppCmpOp,
) -> Expr<u8, Union<A, B>> {
    holds(src1, op, src2).to::<u8>() * 255
}

/// `nppiCompareC_8u_C1R` and the like: the same against constants.
pub fn compare_c<T: Number, S: Merge<K::Set>, K: Constants<T>>(
    src: Expr<T, S>,
    constants: K,
    op: NppCmpOp,
) -> Expr<u8, Union<S, K::Set>> {
    compare(src, constants.expression(), op)
}

/// What becomes of one image by thresholds over dimensions that it has.
macro_rules! of_image {
    ($($(#[$meta:meta])* $name:ident($src:ident, $($arg:ident),*; $($op:ident)?) => $value:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name<T: Number, S: World + Merge<K::Set, Out = S>, K: Constants<T> + Copy>(
            $src: Expr<T, S>, $($arg: K,)* $($op: NppCmpOp,)?
        ) -> Expr<T, S> {
            $(let $arg = $arg.expression();)*
            $value
        }
    )* };
}
of_image! {
    /// `nppiThreshold_8u_C1R` and the like: the threshold where `src op threshold` holds. NPP takes `NPP_CMP_LESS` and `NPP_CMP_GREATER`.
    threshold(src, threshold; op) => replaced(src, op, threshold, threshold);
    /// `nppiThreshold_GT_8u_C1R` and the like: the threshold where `src` is greater.
    threshold_gt(src, threshold;) => replaced(src, NppCmpOp::NPP_CMP_GREATER, threshold, threshold);
    /// `nppiThreshold_LT_8u_C1R` and the like: the threshold where `src` is less.
    threshold_lt(src, threshold;) => replaced(src, NppCmpOp::NPP_CMP_LESS, threshold, threshold);
    /// `nppiThreshold_Val_8u_C1R` and the like: `value` where `src op threshold` holds.
    threshold_val(src, threshold, value; op) => replaced(src, op, threshold, value);
    /// `nppiThreshold_GTVal_8u_C1R` and the like: `value` where `src` is greater.
    threshold_gt_val(src, threshold, value;) => replaced(src, NppCmpOp::NPP_CMP_GREATER, threshold, value);
    /// `nppiThreshold_LTVal_8u_C1R` and the like: `value` where `src` is less.
    threshold_lt_val(src, threshold, value;) => replaced(src, NppCmpOp::NPP_CMP_LESS, threshold, value);
    /// `nppiThreshold_LTValGTVal_8u_C1R` and the like: `value_lt` where `src` is less than `threshold_lt`, else `value_gt` where it is
    /// greater than `threshold_gt`.
    threshold_lt_val_gt_val(src, threshold_lt, value_lt, threshold_gt, value_gt;) => {
        let high = replaced(src, NppCmpOp::NPP_CMP_GREATER, threshold_gt, value_gt);
        let low: Expr<bool, S> = src.lt(threshold_lt);
        low.select(value_lt, high)
    };
}

/// `value` where `src op threshold` holds, else `src`.
fn replaced<T: Number, S: World + Merge<B, Out = S>, B: Set>(
    src: Expr<T, S>,
    op: NppCmpOp,
    threshold: Expr<T, B>,
    value: Expr<T, B>,
) -> Expr<T, S> {
    let holds: Expr<bool, S> = holds(src, op, threshold);
    holds.select(value, src)
}
