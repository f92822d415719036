//! Logarithm and power of arguments that need no special case: a third of the general functions' work in f32, where they are
//! much of what a function costs.

mod fits;

use tilewright_expr::extend::{Float, scalar_fn};

/// `ln(x)`, in f32 within 0.9 ulp.
#[scalar_fn]
pub(crate) fn logarithm<T: Float>(x: T) -> T {
    if T::IS_F32 {
        if x >= T::MIN_POSITIVE && x <= T::MAX {
            return ln_single(x as f32) as T;
        }
    }
    x.ln()
}

/// `x^y` of a positive `x`, in f32 within 1.1 ulp.
#[scalar_fn]
pub(crate) fn power<T: Float>(x: T, y: T) -> T {
    if T::IS_F32 { power_single(x as f32, y as f32) as T } else { x.powf(y) }
}

/// `x = 2^e m`, `m` between the roots of 1/2 and 2; `ln m = f - f^2 / 2 + f^3 P(f)` with `f = m - 1`.
#[scalar_fn]
fn ln_single(x: f32) -> f32 {
    let bits = x.to_bits() as i32;
    let e = (bits - 0x3f35_04f3) >> 23;
    let f = f32::from_bits((bits - (e << 23)) as u32) - 1.0;
    let n = e as f32;
    let square = f * f;
    let p = f.polynomial(&fits::LN_TAIL);
    let low = (p * f).mul_add(square, square * -0.5);
    let low = n.mul_add(fits::LN_2[1] as f32, low);
    let high = n * (fits::LN_2[0] as f32);
    // The larger first, so that what the sum loses is known.
    let sum = high + f;
    let rest = if e == 0 { 0.0 } else { (high - sum) + f };
    sum + (low + rest)
}

/// `ln(1 + f)` for `1 + f` from 2^-126 to 2^126, within 1.6 ulp around 0, too.
#[scalar_fn]
pub(crate) fn ln_1p_single(f: f32) -> f32 {
    let (whole, scale) = halvings(1.0 + f);
    // `(1 + f) 2^-e - 1`, rounded once.
    let f = f.mul_add(scale, scale - 1.0);
    let sum = whole.mul_add(fits::LN_2_STEP as f32, f);
    (f * f).mul_add(f.polynomial(&fits::LN_1P_TAIL), sum)
}

/// `2^23 e` and `2^-e` of `x = 2^e m`, `m` between the roots of 1/2 and 2, `e` from -126 to 126.
#[scalar_fn]
pub(crate) fn halvings(x: f32) -> (f32, f32) {
    let steps = (x.to_bits() as i32 - 0x3f35_04f3) & -0x0080_0000;
    (steps as f32, f32::from_bits((0x3f80_0000 - steps) as u32))
}

/// `1 / x` of an `x` from 2^-126 to 2^126, within 0.52 ulp: three steps of Newton's from the bits of `x`, the first two with the
/// constants that leave least. It takes no branch, which a division does.
#[scalar_fn]
pub(crate) fn reciprocal_single(x: f32) -> f32 {
    let y = f32::from_bits((fits::RECIPROCAL_START - x.to_bits() as i32) as u32);
    let y = y * (-x).mul_add(y, fits::RECIPROCAL_STEPS[0] as f32);
    let y = y * (-x).mul_add(y, fits::RECIPROCAL_STEPS[1] as f32);
    y.mul_add((-x).mul_add(y, 1.0), y)
}

/// `2^(y log2(x))`, the logarithm a sum of two floats: `x = 2^e m`, `m c = 1 + f` exactly with a `c` of three bits.
#[scalar_fn]
fn power_single(x: f32, y: f32) -> f32 {
    if !(x >= f32::MIN_POSITIVE && x <= f32::MAX && y.abs() <= f32::MAX) {
        return x.powf(y);
    }
    let bits = x.to_bits() as i32;
    let e = (bits - 0x3f35_04f3) >> 23;
    let m = f32::from_bits((bits - (e << 23)) as u32);
    let below = m < 0.8945;
    let above = m > 1.15;
    let c: f32 = if below { 1.25 } else { 1.0 };
    let c: f32 = if above { 0.75 } else { c };
    let step: f32 = if below { fits::LOW_STEP[0] as f32 } else { 0.0 };
    let step: f32 = if above { fits::HIGH_STEP[0] as f32 } else { step };
    let step_low: f32 = if below { fits::LOW_STEP[1] as f32 } else { 0.0 };
    let step_low: f32 = if above { fits::HIGH_STEP[1] as f32 } else { step_low };

    let f = m.mul_add(c, -1.0);
    let square = f * f;
    let square_low = f.mul_add(f, -square);
    let high = square.mul_add(-0.5, f);
    let low = square.mul_add(-0.5, f - high) - 0.5 * square_low;
    let low = (f * square).mul_add(f.polynomial(&fits::POWER_TAIL), low);
    let unit = fits::LOG2_E[0] as f32;
    let log = high * unit;
    let log_low = high.mul_add(unit, -log) + high * (fits::LOG2_E[1] as f32);
    let log_low = low.mul_add(unit, log_low + step_low);
    let whole = e as f32 + step;
    let sum = whole + log;
    let sum_low = if whole == 0.0 { log_low } else { ((whole - sum) + log) + log_low };

    let t = y * sum;
    if t.abs() > 250.0 {
        return if t > 0.0 { f32::INFINITY } else { 0.0 };
    }
    let t_low = y.mul_add(sum, -t) + y * sum_low;
    // 2^23 + 2^22, whose last place is 1: the sum's low bits are the nearest integer.
    let rounded = t + 12582912.0;
    let n = rounded.to_bits() as i32 - 0x4b40_0000;
    let r = (t - (rounded - 12582912.0)) + t_low;
    let v = r.polynomial(&fits::EXP2_TAIL).mul_add(r, 1.0);
    let half = n >> 1;
    v * f32::from_bits(((half + 127) << 23) as u32) * f32::from_bits(((n - half + 127) << 23) as u32)
}

/// `-s log2(q + k)` as a sum of two floats, whose second is below 1; an error of `2^-31 s`. `q + k` as for [`halvings`].
#[scalar_fn]
pub(crate) fn exponent_single(q: f32, k: f32, s: f32) -> (f32, f32) {
    let unit = fits::LOG2_E[0] as f32;
    let by = s * -unit;
    let by_low = s.mul_add(-(fits::LOG2_E[1] as f32), s.mul_add(-unit, -by));
    let (whole, scale) = halvings(q + k);
    // `(q + k) 2^-e - 1`: the sum is not rounded before.
    let f = q.mul_add(scale, k.mul_add(scale, -1.0));
    let square = f * f;
    let high = square.mul_add(-0.5, f);
    let low = square.mul_add(-0.5, f - high);
    let low = (f * square).mul_add(f.polynomial(&fits::WIDE_TAIL), low);
    let low = whole.mul_add(fits::LN_2_STEPS[1] as f32, low);
    let sum = whole.mul_add(fits::LN_2_STEPS[0] as f32, high);
    let sum_low = (whole.mul_add(fits::LN_2_STEPS[0] as f32, -sum) + high) + low;
    let t = by * sum;
    (t, by_low.mul_add(sum, by.mul_add(sum_low, by.mul_add(sum, -t))))
}

/// `2^(t + low)` between 2^-126 and 2^126.
#[scalar_fn]
pub(crate) fn power_of_two(t: f32, low: f32) -> f32 {
    // 2^23 + 2^22, whose last place is 1: the sum's low bits are the nearest integer.
    let rounded = (t + low) + 12582912.0;
    let r = (t - (rounded - 12582912.0)) + low;
    let v = r.polynomial(&fits::EXP2_TAIL).mul_add(r, 1.0);
    f32::from_bits(v.to_bits() + (rounded.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::{exponent_single, ln_1p_single, ln_single, power_of_two, power_single, reciprocal_single};

    fn steps(mut visit: impl FnMut(f32)) {
        let mut bits = 0x0080_0000u32;
        while bits < 0x7f80_0000 {
            visit(f32::from_bits(bits));
            bits += 3_571;
        }
    }

    fn ulp(got: f32, value: f64) -> f64 {
        let near = value.abs() as f32;
        let unit = f64::from(near.next_up()) - f64::from(near);
        (f64::from(got) - value).abs() / unit
    }

    #[test]
    fn logarithms_are_within_an_ulp() {
        let mut worst = (0.0, 0.0);
        let mut see = |x: f32| {
            let error = ulp(ln_single(x), f64::from(x).ln());
            if error > worst.0 {
                worst = (error, x);
            }
        };
        steps(&mut see);
        for k in 0..200_000 {
            see(0.5 + k as f32 * 1e-5);
        }
        assert!(worst.0 < 0.9, "{worst:?}");
    }

    #[test]
    fn logarithms_beside_one_are_within_two_ulp() {
        let mut worst = (0.0, 0.0);
        let mut see = |f: f32| {
            let error = ulp(ln_1p_single(f), f64::from(f).ln_1p());
            if error > worst.0 {
                worst = (error, f);
            }
        };
        steps(|f| {
            if f < 8e37 {
                see(f);
            }
            if f < 0.999 {
                see(-f);
            }
        });
        for k in 0..200_000 {
            see(-0.9 + k as f32 * 2e-5);
        }
        assert!(worst.0 < 1.7, "{worst:?}");
    }

    #[test]
    fn reciprocals_are_within_little_more_than_half_an_ulp() {
        let mut worst = (0.0, 0.0);
        let mut see = |x: f32| {
            let error = ulp(reciprocal_single(x), 1.0 / f64::from(x));
            if error > worst.0 {
                worst = (error, x);
            }
        };
        steps(|x| {
            if x < 8.5e37 {
                see(x);
            }
        });
        for k in 0..1 << 20 {
            see(1.0 + k as f32 / 1_048_576.0);
        }
        assert!(worst.0 < 0.52, "{worst:?}");
        assert!((reciprocal_single(f32::MIN_POSITIVE) - 8.507_059e37).abs() < 1e31);
    }

    #[test]
    fn powers_of_sums_are_within_two_ulp_of_the_first() {
        let mut worst = (0.0, 0.0, 0.0, 0.0);
        for s in [1.001f32, 2.0, 3.7, 9.99, 15.9] {
            for k in [0.0f32, 1.0, 3.0] {
                for step in 1..20_000 {
                    let q = step as f32 * 7.9e-4;
                    let value = (f64::from(q) + f64::from(k)).powf(-f64::from(s));
                    let (t, low) = exponent_single(q, k, s);
                    if t.abs() < 125.0 {
                        // What rounding the sum costs grows with `s`, as the part of the power in `zeta` falls.
                        let error = ulp(power_of_two(t, low), value) * (f64::from(q) / f64::from(q + k)).powf(s.into());
                        if error > worst.0 {
                            worst = (error, q, k, s);
                        }
                    }
                }
            }
        }
        assert!(worst.0 < 2.0, "{worst:?}");
    }

    #[test]
    fn powers_are_within_little_more_than_an_ulp() {
        let mut worst = (0.0, 0.0, 0.0);
        for y in [-0.001f32, -0.5, -1.001, -2.0, -3.7, -9.99, 1.5, 20.25] {
            steps(|x| {
                let value = f64::from(x).powf(f64::from(y));
                if (1e-37..3e38).contains(&value) {
                    let error = ulp(power_single(x, y), value);
                    if error > worst.0 {
                        worst = (error, x, y);
                    }
                }
            });
        }
        assert!(worst.0 < 1.1, "{worst:?}");
        assert_eq!(power_single(2.0, -300.0), 0.0);
        assert_eq!(power_single(3.0, 300.0), f32::INFINITY);
        assert_eq!(power_single(1.0, -300.0), 1.0);
    }
}
