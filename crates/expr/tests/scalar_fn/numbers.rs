//! Arithmetic, casts and methods, at the values where something happens.

use super::{X, case};
use crate::emitted::check_all;
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::{In, trace};

/// Functions of two integers for each type: everything that wraps, masks, or divides.
macro_rules! integers {
    ($($t:ident $module:ident $half:literal $most:expr;)*) => { $(
        mod $module {
            use super::scalar_fn;
            #[scalar_fn]
            pub(super) fn arithmetic(a: $t, b: $t) -> ($t, $t, $t, $t) {
                (a + b * 3, a - b, a / b, a % b)
            }
            #[scalar_fn]
            pub(super) fn bits(a: $t, b: $t) -> ($t, $t, $t, $t) {
                let mut shifted = a << b;
                shifted ^= a >> 40;
                (shifted, a & !b | (b ^ 5), a.rotate_left(3) ^ b.rotate_right(a), a.pow(3) + a.wrapping_shl(33))
            }
            #[scalar_fn]
            pub(super) fn ends(a: $t, b: $t) -> ($t, $t, $t, bool) {
                let low = a.min(b).max(7);
                (low.clamp(1, 100), a.saturating_add(b), a.saturating_sub(b), a < b && a != $half || b >= $most)
            }
            #[scalar_fn]
            pub(super) fn counts(a: $t, b: $t) -> (u32, u32, u32, u64) {
                let distance = a.abs_diff(b) as u64;
                (a.leading_zeros(), a.trailing_zeros() + $t::BITS, b.count_ones(), distance + b.unsigned_abs() as u64)
            }
            #[scalar_fn]
            pub(super) fn casts(a: $t) -> (u8, i16, f32, f64) {
                (a as u8, a as i16, a as f32, a as f64)
            }
            #[scalar_fn]
            pub(super) fn wide_casts(a: $t) -> (i32, u32, i64, u64) {
                (a as i32, a as u32, a as i64, a as u64)
            }
            #[scalar_fn]
            pub(super) fn from_floats(x: f32, y: f64) -> ($t, $t) {
                (x as $t, y as $t)
            }
        }
    )* };
}
integers! {
    u8 of_u8 128 u8::MAX - 3; i8 of_i8 64 i8::MAX - 3; u16 of_u16 9000 u16::MAX - 9; i16 of_i16 -9000 i16::MIN + 9;
    u32 of_u32 70000 u32::MAX; i32 of_i32 -2147483648 i32::MAX; u64 of_u64 18446744073709551615 u64::MIN;
    i64 of_i64 -9223372036854775808 i64::MIN + 1;
}

#[test]
fn integers() {
    macro_rules! cases {
        ($($t:ident $module:ident),*) => { [$(
            {
                let t = trace(|a: In<$t, (X,)>, b: In<$t, (X,)>| {
                    let (w, x, y, z) = $module::arithmetic::of(a, b);
                    let (p, q, r, s) = $module::bits::of(a, b);
                    ((w.store::<(X,)>(), x.store::<(X,)>(), y.store::<(X,)>(), z.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", arithmetic"), t.graph)
            },
            {
                let t = trace(|a: In<$t, (X,)>, b: In<$t, (X,)>| {
                    let (w, x, y, z) = $module::ends::of(a, b);
                    let (p, q, r, s) = $module::counts::of(a, b);
                    ((w.store::<(X,)>(), x.store::<(X,)>(), y.store::<(X,)>(), z.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", ends"), t.graph)
            },
            {
                let t = trace(|a: In<$t, (X,)>, x: In<f32, (X,)>, y: In<f64, (X,)>| {
                    let (p, q, r, s) = $module::casts::of(a);
                    let (w, v, t, u) = $module::wide_casts::of(a);
                    let (m, n) = $module::from_floats::of(x, y);
                    ((p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()),
                     (w.store::<(X,)>(), v.store::<(X,)>(), t.store::<(X,)>(), u.store::<(X,)>()),
                     (m.store::<(X,)>(), n.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", casts"), t.graph)
            }
        ),*] };
    }
    let all = cases!(u8 of_u8, i8 of_i8, u16 of_u16, i16 of_i16, u32 of_u32, i32 of_i32, u64 of_u64, i64 of_i64);
    check_all("scalar_fn::numbers::integers", all.into_iter());
}

/// The rules, spelled out.
#[test]
fn integers_by_hand() {
    assert_eq!(of_i32::arithmetic(i32::MAX, 1), (i32::MIN + 2, i32::MAX - 1, i32::MAX, 0));
    assert_eq!(of_i32::arithmetic(i32::MIN, -1).2, i32::MIN);
    assert_eq!(of_i32::arithmetic(i32::MIN, -1).3, 0);
    assert_eq!((of_u8::arithmetic(9, 0).2, of_u8::arithmetic(9, 0).3), (0, 0));
    assert_eq!(of_u32::bits(1, 40).0, 1 << 8 ^ 1 >> 8);
    assert_eq!(of_i64::counts(i64::MIN, i64::MAX), (0, 127, 63, u64::MAX.wrapping_add(i64::MAX as u64)));
    assert_eq!(of_i8::from_floats(f32::NAN, -1e300), (0, -128));
    assert_eq!(of_u8::from_floats(3.99, -0.5), (3, 0));
    assert_eq!(of_i16::casts(-1), (255, -1, -1.0, -1.0));
}

#[scalar_fn]
fn arithmetic<T: Float>(x: T, y: T) -> (T, T, T, T) {
    // Rounded twice, and once.
    (x * y + 0.1, x.mul_add(y, 0.1), (x - y) / (x + 1e-3), x % y)
}

#[scalar_fn]
fn rounded<T: Float>(x: T) -> (T, T, T, T) {
    (x.floor() + x.ceil(), x.trunc() - x.round(), x.round_ties_even(), x.fract())
}

#[scalar_fn]
fn chosen<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.min(y), x.max(y), x.clamp(-1.5, T::PI), (-x).copysign(y))
}

#[scalar_fn]
fn asked<T: Float>(x: T, y: T) -> (bool, bool, bool, bool) {
    (x.is_nan() | y.is_infinite(), x.is_finite(), x.is_sign_negative() != y.is_sign_positive(), !(x < y) && x >= -y)
}

#[scalar_fn]
fn made<T: Float>(x: T, y: T) -> (T, T, T, T) {
    let limits = if y > 0.0 { T::MAX * T::EPSILON } else { T::MIN + T::MIN_POSITIVE };
    let ends = if x.abs() > 1.0 { T::INFINITY } else if x == 0.0 { T::NEG_INFINITY } else { x };
    (x.recip() + limits, ends, x.to_degrees().to_radians(), x.abs().sqrt() * T::LN_2 + T::FRAC_1_SQRT_2 - T::TAU / T::E)
}

#[scalar_fn]
fn cast<T: Float>(x: T, n: i64, m: u8) -> (T, f64, f32, i32) {
    let precise = if T::IS_F32 { 3 } else { 4 };
    (n as T + m as T, x as f64 * 2.0, x as f32 + 0.5, x as i32 + precise)
}

#[scalar_fn]
fn sums<T: Float>(x: T, n: i32) -> (T, T) {
    const TERMS: [f64; 4] = [1.0, -0.5, 1.0 / 3.0, -0.25];
    const STEPS: [i32; 3] = [7, -2, 1 << 20];
    (x.polynomial(&TERMS) + x.polynomial(&[0.1, 0.2, -0.3]), STEPS[n] as T * TERMS[(n & 3) as usize] as T)
}

#[test]
fn floats() {
    macro_rules! cases {
        ($($t:ident),*) => { [$(
            {
                let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
                    let (a, b, c, d) = arithmetic::of(x, y);
                    let (p, q, r, s) = rounded::of(x);
                    let (u, v, w, z) = made::of(x, y);
                    ((a.store::<(X,)>(), b.store::<(X,)>(), c.store::<(X,)>(), d.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()),
                     (u.store::<(X,)>(), v.store::<(X,)>(), w.store::<(X,)>(), z.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", arithmetic"), t.graph)
            },
            {
                let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>, n: In<i64, (X,)>, m: In<u8, (X,)>| {
                    let (a, b, c, d) = chosen::of(x, y);
                    let (p, q, r, s) = asked::of(x, y);
                    let (u, v, w, z) = cast::of(x, n, m);
                    let (g, h) = sums::of(x, n.wrapping_to::<i32>() & 7);
                    ((a.store::<(X,)>(), b.store::<(X,)>(), c.store::<(X,)>(), d.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()),
                     (u.store::<(X,)>(), v.store::<(X,)>(), w.store::<(X,)>(), z.store::<(X,)>()),
                     (g.store::<(X,)>(), h.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", choices"), t.graph)
            }
        ),*] };
    }
    check_all("scalar_fn::numbers::floats", cases!(f32, f64).into_iter());
}

/// A literal is of the function's type on both devices: C++ would compute with 2.1 in double.
#[test]
fn floats_by_hand() {
    assert_eq!(arithmetic(0.3_f32, 0.7).0, 0.3_f32 * 0.7 + 0.1_f32);
    assert_eq!(arithmetic(0.3_f32, 0.7).1, 0.3_f32.mul_add(0.7, 0.1));
    assert_eq!(rounded(2.5_f64), (5.0, -1.0, 2.0, 0.5));
    assert!(chosen(f32::NAN, 1.0).0.is_nan() && chosen(1.0, f32::NAN).1.is_nan());
    assert!(chosen(0.0, -0.0_f64).0.is_sign_negative() && chosen(-0.0, 0.0_f64).1.is_sign_positive());
    assert_eq!((cast(f32::NAN, 1 << 24, 1).0, cast(f32::NAN, 0, 0).3, cast(-1e30, 0, 0).3), (16_777_216.0, 3, i32::MIN + 4));
    assert_eq!(sums(2.0_f64, -1).1, f64::from(1 << 20) * -0.25);
    assert_eq!(sums(1.0_f64, 0).0, ((-0.25_f64 + 1.0 / 3.0) - 0.5) + 1.0 + ((-0.3_f64 + 0.2) + 0.1));
}
