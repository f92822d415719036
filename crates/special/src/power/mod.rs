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

#[cfg(test)]
mod tests {
    use super::{ln_single, power_single};

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
