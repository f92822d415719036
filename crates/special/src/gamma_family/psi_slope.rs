//! The derivative of digamma.

use super::psi_fits as fits;
use crate::circle::sin_half_turns;
use tilewright_expr::extend::{Float, scalar_fn};

/// `psi'(x)`, the sum of `1 / (x + k)^2`.
///
/// +infinity at 0 and at negative integers, 0 at +infinity; NaN at -infinity, where it has no limit.
#[scalar_fn]
pub fn trigamma<T: Float>(x: T) -> T {
    if x > 0.0 {
        return trigamma_right(x);
    }
    if x == -T::INFINITY {
        return T::NAN;
    }
    let s = sin_half_turns(x - x.round_ties_even());
    let q = T::PI / s;
    // (pi / sin(pi x))^2 - psi'(1 - x)
    q.mul_add(q, -trigamma_right(1.0 - x))
}

/// Of a positive `x`: a polynomial from 1 to 3, with `psi'(x + 1) + 1 / x^2` below; beyond, `1 / h + R(1 / h^2) / h^3` with
/// `h = x - 1/2`. One division for both.
#[scalar_fn]
fn trigamma_right<T: Float>(x: T) -> T {
    let r = 1.0 / (if x < 1.0 { x } else { x - 0.5 });
    if x < 3.0 {
        let v = if x < 1.0 { x - 1.0 } else { x - 2.0 };
        let p = if T::IS_F32 {
            v.polynomial(&fits::TRIGAMMA_NEAR_SINGLE)
        } else {
            v.polynomial(&fits::TRIGAMMA_NEAR_DOUBLE)
        };
        return if x < 1.0 { r.mul_add(r, p) } else { p };
    }
    if !T::IS_F32 {
        if x < 8.0 {
            return (x - 5.0).polynomial(&fits::TRIGAMMA_MIDDLE);
        }
    }
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::TRIGAMMA_FAR_SINGLE) } else { z.polynomial(&fits::TRIGAMMA_FAR_DOUBLE) };
    p.mul_add(r * z, r)
}
