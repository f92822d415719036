//! Arithmetic, bits, thresholds.

use super::{COUNT, bytes, each, floats, image, integers};
use crate::support::assert_same;
use tilewright_ops::npp::*;
use tilewright_ops::{Error, fuse};

const SCALES: [i32; 6] = [-3, 0, 1, 2, 7, 40];

/// `numerator / denominator * 2^-scale` to the nearest integer, halves to even, limited to `low..=high`: in exact integers.
fn rounded(numerator: i64, denominator: i64, scale: i32, low: i64, high: i64) -> i64 {
    let (mut n, mut d) = (i128::from(numerator), i128::from(denominator));
    if d < 0 {
        (n, d) = (-n, -d);
    }
    if scale < 0 {
        n <<= -scale
    } else {
        d <<= scale
    }
    let (floor, rest) = (n.div_euclid(d), n.rem_euclid(d));
    let up = 2 * rest > d || (2 * rest == d && floor % 2 != 0);
    (floor + i128::from(up)).clamp(i128::from(low), i128::from(high)) as i64
}

/// Sums, differences, products, quotients and squares of one type.
macro_rules! scaled {
    ($($test:ident $T:ty;)*) => { $(
        #[test]
        fn $test() -> Result<(), Error> {
            let (low, high) = (i64::from(<$T>::MIN), i64::from(<$T>::MAX));
            let (a, b): (Vec<$T>, Vec<$T>) = (integers(1, low, high), integers(2, low, high));
            let (x, y) = (image(&a)?, image(&b)?);
            let constants: [$T; 3] = [7, 3, <$T>::MAX - 2];
            let (p, q) = (|i: usize| i64::from(a[i]), |i: usize| i64::from(b[i]));
            let k = |i: usize| i64::from(constants[i % 3]);
            for scale in SCALES {
                let of = |n: i64, d: i64| rounded(n, d, scale, low, high) as $T;
                let images = fuse(move |a: Image<$T>, b: Image<$T>| {
                    (
                        add_sfs(a, b, scale).store::<(Y, X, C)>(),
                        sub_sfs(a, b, scale).store::<(Y, X, C)>(),
                        mul_sfs(a, b, scale).store::<(Y, X, C)>(),
                        div_sfs(a, b, scale).store::<(Y, X, C)>(),
                    )
                });
                let (sums, differences, products, quotients) = images.call(&x, &y)?;
                assert_eq!(sums.to_vec()?, each(|i| of(p(i) + q(i), 1)), "sums by {scale}");
                assert_eq!(differences.to_vec()?, each(|i| of(q(i) - p(i), 1)), "differences by {scale}");
                assert_eq!(products.to_vec()?, each(|i| of(p(i) * q(i), 1)), "products by {scale}");
                let end = |n: i64| match n.signum() {
                    0 => if <$T>::BITS == 8 { 254 } else { 0 },
                    1 => <$T>::MAX,
                    _ => <$T>::MIN,
                };
                let quotient = |i: usize| if p(i) == 0 { end(q(i)) } else { of(q(i), p(i)) };
                assert_eq!(quotients.to_vec()?, each(quotient), "quotients by {scale}");

                let with_constants = fuse(move |a: Image<$T>| {
                    (
                        add_c_sfs(a, constants, scale).store::<(Y, X, C)>(),
                        sub_c_sfs(a, constants, scale).store::<(Y, X, C)>(),
                        mul_c_sfs(a, constants, scale).store::<(Y, X, C)>(),
                        div_c_sfs(a, constants, scale).store::<(Y, X, C)>(),
                    )
                });
                let (sums, differences, products, quotients) = with_constants.call(&x)?;
                assert_eq!(sums.to_vec()?, each(|i| of(p(i) + k(i), 1)), "sums by {scale}");
                assert_eq!(differences.to_vec()?, each(|i| of(p(i) - k(i), 1)), "differences by {scale}");
                assert_eq!(products.to_vec()?, each(|i| of(p(i) * k(i), 1)), "products by {scale}");
                assert_eq!(quotients.to_vec()?, each(|i| of(p(i), k(i))), "quotients by {scale}");

                let squares = fuse(move |a: Image<$T>| sqr_sfs(a, scale).store::<(Y, X, C)>());
                assert_eq!(squares.call(&x)?.to_vec()?, each(|i| of(p(i) * p(i), 1)), "squares by {scale}");
            }
            Ok(())
        }
    )* };
}
scaled! {
    scaled_u8 u8;
    scaled_u16 u16;
    scaled_i16 i16;
}

#[test]
fn functions_of_bytes() -> Result<(), Error> {
    let a: Vec<u8> = (0..COUNT).map(|i| (i * 5 / 2) as u8).collect();
    let x = image(&a)?;
    for scale in [-4, 0, 2] {
        let functions = fuse(move |a: Image<u8>| {
            (
                sqrt_sfs(a, scale).store::<(Y, X, C)>(),
                ln_sfs(a, scale).store::<(Y, X, C)>(),
                exp_sfs(a, scale).store::<(Y, X, C)>(),
            )
        });
        let (roots, logarithms, exponentials) = functions.call(&x)?;
        let of = |f: fn(f64) -> f64| {
            each(|i| (f(f64::from(a[i])) * 2f64.powi(-scale)).round_ties_even().clamp(0.0, 255.0) as u8)
        };
        assert_eq!(roots.to_vec()?, of(f64::sqrt), "roots by {scale}");
        assert_eq!(logarithms.to_vec()?, of(f64::ln), "logarithms by {scale}");
        assert_eq!(exponentials.to_vec()?, of(f64::exp), "exponentials by {scale}");
        assert_eq!(logarithms.to_vec()?[0], 0, "of 0");
    }
    Ok(())
}

/// Each line rounds, also where a product and a difference are one kernel.
#[test]
fn of_floats() -> Result<(), Error> {
    let (mut a, b) = (floats(3), floats(4));
    (a[5], a[6]) = (0.0, -0.0);
    let (x, y) = (image(&a)?, image(&b)?);
    let images = fuse(|a: Image<f32>, b: Image<f32>| {
        (
            add(a, b).store::<(Y, X, C)>(),
            sub(a, b).store::<(Y, X, C)>(),
            mul(a, b).store::<(Y, X, C)>(),
            div(a, b).store::<(Y, X, C)>(),
        )
    });
    let (sums, differences, products, quotients) = images.call(&x, &y)?;
    assert_same("sums", &sums.to_vec()?, &each(|i| a[i] + b[i]));
    assert_same("differences", &differences.to_vec()?, &each(|i| b[i] - a[i]));
    assert_same("products", &products.to_vec()?, &each(|i| a[i] * b[i]));
    assert_same("quotients", &quotients.to_vec()?, &each(|i| b[i] / a[i]));

    let (factors, terms) = ([0.1, 1.7, -3.3], [0.5, 1e-3, 300.0]);
    let lines = fuse(move |a: Image<f32>, b: Image<f32>| {
        (
            sub_c(mul_c(a, factors), terms).store::<(Y, X, C)>(),
            div_c(add_c(a, terms), 0.3).store::<(Y, X, C)>(),
            abs_diff(sqr(a), abs(b)).store::<(Y, X, C)>(),
            sqrt(abs_diff_c(b, factors)).store::<(Y, X, C)>(),
        )
    });
    let (chain, quotients, distances, roots) = lines.call(&x, &y)?;
    assert_same("a chain", &chain.to_vec()?, &each(|i| a[i] * factors[i % 3] - terms[i % 3]));
    assert!(each(|i| a[i].mul_add(factors[i % 3], -terms[i % 3])) != chain.to_vec()?, "rounding once would show");
    assert_same("quotients", &quotients.to_vec()?, &each(|i| (a[i] + terms[i % 3]) / 0.3));
    assert_same("distances", &distances.to_vec()?, &each(|i| (a[i] * a[i] - b[i].abs()).abs()));
    assert_same("roots", &roots.to_vec()?, &each(|i| (b[i] - factors[i % 3]).abs().sqrt()));

    let powers = fuse(|a: Image<f32>| (ln(abs(a)).store::<(Y, X, C)>(), exp(div_c(a, 100.0)).store::<(Y, X, C)>()));
    let (logarithms, exponentials) = powers.call(&x)?;
    for (i, (l, e)) in logarithms.to_vec()?.iter().zip(exponentials.to_vec()?).enumerate() {
        let exact = [f64::from(a[i].abs()).ln(), f64::from(a[i] / 100.0).exp()];
        let close = |got: f32, exact: f64| f64::from(got) == exact || (f64::from(got) / exact - 1.0).abs() < 1e-6;
        assert!(close(*l, exact[0]) && close(e, exact[1]), "{}: {l} {e} {exact:?}", a[i]);
    }
    Ok(())
}

#[test]
fn bits() -> Result<(), Error> {
    let (a, b) = (bytes(5), bytes(6));
    let wide: Vec<i16> = integers(7, -32768, 32767);
    let images = fuse(|a: Image<u8>, b: Image<u8>| {
        (
            and(a, b).store::<(Y, X, C)>(),
            or(a, not(b)).store::<(Y, X, C)>(),
            xor(a, b).store::<(Y, X, C)>(),
            xor_c(and_c(or_c(a, 9), [0xf0, 0x3c, 0xff]), 0x55).store::<(Y, X, C)>(),
        )
    });
    let (ands, ors, xors, constants) = images.call(&image(&a)?, &image(&b)?)?;
    assert_eq!(ands.to_vec()?, each(|i| a[i] & b[i]));
    assert_eq!(ors.to_vec()?, each(|i| a[i] | !b[i]));
    assert_eq!(xors.to_vec()?, each(|i| a[i] ^ b[i]));
    assert_eq!(constants.to_vec()?, each(|i| ((a[i] | 9) & [0xf0, 0x3c, 0xff][i % 3]) ^ 0x55));
    let shifts = fuse(|a: Image<u8>, w: Image<i16>| {
        (
            l_shift_c(a, [1, 0, 7]).store::<(Y, X, C)>(),
            r_shift_c(a, 3).store::<(Y, X, C)>(),
            r_shift_c(w, [1, 4, 15]).store::<(Y, X, C)>(),
        )
    });
    let (left, right, signed) = shifts.call(&image(&a)?, &image(&wide)?)?;
    assert_eq!(left.to_vec()?, each(|i| a[i] << [1, 0, 7][i % 3]));
    assert_eq!(right.to_vec()?, each(|i| a[i] >> 3));
    assert_eq!(signed.to_vec()?, each(|i| wide[i] >> [1, 4, 15][i % 3]));
    let ends = fuse(|a: Image<u8>, w: Image<i16>| {
        (
            l_shift_c(a, [8, 9, 40]).store::<(Y, X, C)>(),
            r_shift_c(w, [16, 31, 70]).store::<(Y, X, C)>(),
            abs(w).store::<(Y, X, C)>(),
        )
    });
    let (gone, signs, distances) = ends.call(&image(&a)?, &image(&wide)?)?;
    assert_eq!(gone.to_vec()?, vec![0; COUNT]);
    assert_eq!(signs.to_vec()?, each(|i| wide[i] >> 15));
    assert_eq!(distances.to_vec()?, each(|i| wide[i].saturating_abs()));
    Ok(())
}

#[test]
fn thresholds() -> Result<(), Error> {
    let (a, b) = (bytes(8), floats(9));
    let (x, y) = (image(&a)?, image(&b)?);
    let (levels, value) = ([100, 7, 200], 33);
    type Holds<T> = fn(&T, &T) -> bool;
    let ops: [(NppCmpOp, Holds<u8>, Holds<f32>); 5] = [
        (NPP_CMP_LESS, u8::lt, f32::lt),
        (NPP_CMP_LESS_EQ, u8::le, f32::le),
        (NPP_CMP_EQ, u8::eq, f32::eq),
        (NPP_CMP_GREATER_EQ, u8::ge, f32::ge),
        (NPP_CMP_GREATER, u8::gt, f32::gt),
    ];
    for (op, holds, holds_float) in ops {
        let lines = fuse(move |a: Image<u8>, b: Image<f32>| {
            (
                threshold(a, levels, op).store::<(Y, X, C)>(),
                threshold_val(a, 100, value, op).store::<(Y, X, C)>(),
                compare_c(a, levels, op).store::<(Y, X, C)>(),
                compare(b, mul_c(b, -1.0), op).store::<(Y, X, C)>(),
            )
        });
        let (cut, valued, compared, pairs) = lines.call(&x, &y)?;
        assert_eq!(cut.to_vec()?, each(|i| if holds(&a[i], &levels[i % 3]) { levels[i % 3] } else { a[i] }), "{op:?}");
        assert_eq!(valued.to_vec()?, each(|i| if holds(&a[i], &100) { value } else { a[i] }), "{op:?}");
        assert_eq!(compared.to_vec()?, each(|i| if holds(&a[i], &levels[i % 3]) { 255 } else { 0 }), "{op:?}");
        assert_eq!(pairs.to_vec()?, each(|i| if holds_float(&b[i], &-b[i]) { 255 } else { 0 }), "{op:?}");
    }
    let lines = fuse(|a: Image<f32>| {
        (
            threshold_gt(threshold_lt(a, -20.5), [3.0, 4.0, 500.0]).store::<(Y, X, C)>(),
            threshold_gt_val(threshold_lt_val(a, -20.5, 1.0), 77.0, 2.0).store::<(Y, X, C)>(),
            threshold_lt_val_gt_val(a, 10.0, 90.0, 50.0, -1.0).store::<(Y, X, C)>(),
        )
    });
    let (limited, valued, both) = lines.call(&y)?;
    assert_same("limited", &limited.to_vec()?, &each(|i| b[i].max(-20.5).min([3.0, 4.0, 500.0][i % 3])));
    let one = |v: f32| if v < -20.5 { 1.0 } else { v };
    assert_same("valued", &valued.to_vec()?, &each(|i| if one(b[i]) > 77.0 { 2.0 } else { one(b[i]) }));
    let of = |v: f32| {
        if v < 10.0 {
            90.0
        } else if v > 50.0 {
            -1.0
        } else {
            v
        }
    };
    assert_same("both", &both.to_vec()?, &each(|i| of(b[i])));
    Ok(())
}
