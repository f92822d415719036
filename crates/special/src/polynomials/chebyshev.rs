//! Chebyshev polynomials of the four kinds. With `y^2 - 1 = d`, `(y + sqrt(d))^n = a + b sqrt(d)` has `a = T_n`, `b = U_(n-1)`:
//! a power by repeated squaring, in sums of two floats, for any `n` and any `y`.

use crate::pair::{pair_product, pair_sum, two_sum};
use tilewright_expr::extend::{Float, scalar_fn};

/// `T_n(x)`, `cos(n t)` of `x = cos(t)`.
#[scalar_fn]
pub fn chebyshev_polynomial_t<T: Float>(x: T, n: T) -> T {
    let (dh, dl) = below_square(x);
    chebyshev_value(0, x, 0.0, dh, dl, n)
}

/// `U_n(x)`, `sin((n + 1) t) / sin(t)`.
#[scalar_fn]
pub fn chebyshev_polynomial_u<T: Float>(x: T, n: T) -> T {
    let (dh, dl) = below_square(x);
    chebyshev_value(1, x, 0.0, dh, dl, n)
}

/// `V_n(x)`, `cos((n + 1/2) t) / cos(t / 2)`.
#[scalar_fn]
pub fn chebyshev_polynomial_v<T: Float>(x: T, n: T) -> T {
    let (dh, dl) = below_square(x);
    chebyshev_value(2, x, 0.0, dh, dl, n)
}

/// `W_n(x)`, `sin((n + 1/2) t) / sin(t / 2)`.
#[scalar_fn]
pub fn chebyshev_polynomial_w<T: Float>(x: T, n: T) -> T {
    let (dh, dl) = below_square(x);
    chebyshev_value(3, x, 0.0, dh, dl, n)
}

/// `x^2 - 1`.
#[scalar_fn]
fn below_square<T: Float>(x: T) -> (T, T) {
    let one = 1.0;
    let (ah, al) = two_sum(x, one);
    let (bh, bl) = two_sum(x, -one);
    pair_product(ah, al, bh, bl)
}

/// Of `y`, with `d = y^2 - 1`: T, U, V and W for `kind` 0 to 3.
#[scalar_fn]
pub(super) fn chebyshev_value<T: Float>(kind: i32, yh: T, yl: T, dh: T, dl: T, n: T) -> T {
    let zero = 0.0;
    let one = 1.0;
    if n.is_nan() {
        return n;
    }
    let degree = n as i64;
    if degree < 1 {
        return if n <= -one { zero } else { one };
    }
    let (ah, al, bh, bl) = chebyshev_power(yh, yl, dh, dl, degree);
    // U = a + y b, V = a + (y - 1) b, W = a + (y + 1) b
    let shift = if kind == 2 { -one } else { zero };
    let shift = if kind == 3 { one } else { shift };
    let (fh, fl) = pair_sum(yh, yl, shift, zero);
    let (gh, gl) = pair_product(fh, fl, bh, bl);
    let (h, l) = pair_sum(ah, al, gh, gl);
    let value = if kind == 0 { ah + al } else { h + l };
    if value.is_nan() && !yh.is_nan() {
        // Past the largest float, where the parts are infinite.
        let negative = yh < zero && degree & 1 == 1;
        return if negative { -T::INFINITY } else { T::INFINITY };
    }
    value
}

/// `a` and `b` of `(y + sqrt(d))^n = a + b sqrt(d)`, bit by bit from the highest: at most 63 steps.
#[scalar_fn]
fn chebyshev_power<T: Float>(yh: T, yl: T, dh: T, dl: T, n: i64) -> (T, T, T, T) {
    let mut ah = yh;
    let mut al = yl;
    let mut bh = 1.0;
    let mut bl = 0.0;
    let mut bit: i32 = 62 - n.leading_zeros() as i32;
    while bit >= 0 {
        // (a + b s)^2 = a^2 + d b^2 + 2 a b s
        let (ph, pl) = pair_product(ah, al, ah, al);
        let (qh, ql) = pair_product(dh, dl, bh, bl);
        let (qh, ql) = pair_product(qh, ql, bh, bl);
        let (rh, rl) = pair_product(ah, al, bh, bl);
        let (th, tl) = pair_sum(ph, pl, qh, ql);
        ah = th;
        al = tl;
        bh = rh + rh;
        bl = rl + rl;
        if (n >> bit) & 1 == 1 {
            // (a + b s) (y + s)
            let (ph, pl) = pair_product(ah, al, yh, yl);
            let (qh, ql) = pair_product(dh, dl, bh, bl);
            let (rh, rl) = pair_product(bh, bl, yh, yl);
            let (uh, ul) = pair_sum(ah, al, rh, rl);
            let (th, tl) = pair_sum(ph, pl, qh, ql);
            ah = th;
            al = tl;
            bh = uh;
            bl = ul;
        }
        bit -= 1;
    }
    (ah, al, bh, bl)
}
