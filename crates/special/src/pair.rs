//! Sums of two floats, the second below half a unit of the first: twice the digits.

use tilewright_expr::extend::{Float, scalar_fn};

/// `a + b`, exactly.
#[scalar_fn]
pub(crate) fn two_sum<T: Float>(a: T, b: T) -> (T, T) {
    let h = a + b;
    let back = h - a;
    (h, (a - (h - back)) + (b - back))
}

/// `a + b`, exactly, of an `a` that is not smaller.
#[scalar_fn]
pub(crate) fn fast_sum<T: Float>(a: T, b: T) -> (T, T) {
    let h = a + b;
    (h, b - (h - a))
}

/// The sum of two pairs.
#[scalar_fn]
pub(crate) fn pair_sum<T: Float>(ah: T, al: T, bh: T, bl: T) -> (T, T) {
    let (h, e) = two_sum(ah, bh);
    let (l, f) = two_sum(al, bl);
    let (h, e) = fast_sum(h, e + l);
    fast_sum(h, e + f)
}

/// The product of two pairs.
#[scalar_fn]
pub(crate) fn pair_product<T: Float>(ah: T, al: T, bh: T, bl: T) -> (T, T) {
    let h = ah * bh;
    let e = ah.mul_add(bh, -h);
    fast_sum(h, al.mul_add(bh, ah.mul_add(bl, e)))
}

/// A pair times a float.
#[scalar_fn]
pub(crate) fn pair_times<T: Float>(ah: T, al: T, b: T) -> (T, T) {
    let h = ah * b;
    let e = ah.mul_add(b, -h);
    fast_sum(h, al.mul_add(b, e))
}

/// A pair over a float.
#[scalar_fn]
pub(crate) fn pair_over<T: Float>(ah: T, al: T, b: T) -> (T, T) {
    let q = ah / b;
    let rest = (-q).mul_add(b, ah) + al;
    fast_sum(q, rest / b)
}
