//! Hankel's series: `sqrt(2 / (pi x)) (P cos(a) - Q sin(a))` with `a = x - pi / 4` or `x - 3 pi / 4`, whose sine and cosine are
//! sums of those of `x` itself, so that no digit of the phase is lost.

use super::hankel_fits as fits;
use tilewright_expr::extend::{Float, scalar_fn};

/// Of order 0; `cosine` and `sine` are those of `a`, times `sqrt(2)`.
#[scalar_fn]
pub(super) fn hankel_first<T: Float>(x: T, cosine: T, sine: T) -> T {
    if x == T::INFINITY {
        return 0.0;
    }
    let r = 1.0 / x;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::P0_SINGLE) } else { z.polynomial(&fits::P0_DOUBLE) };
    let q = if T::IS_F32 { z.polynomial(&fits::Q0_SINGLE) } else { z.polynomial(&fits::Q0_DOUBLE) };
    // 1 / sqrt(pi)
    let scale = 0.5641895835477563 / x.sqrt();
    scale * (cosine + (p * cosine - q * r * sine))
}

/// As [`hankel_first`], of order 1.
#[scalar_fn]
pub(super) fn hankel_second<T: Float>(x: T, cosine: T, sine: T) -> T {
    if x == T::INFINITY {
        return 0.0;
    }
    let r = 1.0 / x;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::P1_SINGLE) } else { z.polynomial(&fits::P1_DOUBLE) };
    let q = if T::IS_F32 { z.polynomial(&fits::Q1_SINGLE) } else { z.polynomial(&fits::Q1_DOUBLE) };
    let scale = 0.5641895835477563 / x.sqrt();
    scale * (cosine + (p * cosine - q * r * sine))
}
