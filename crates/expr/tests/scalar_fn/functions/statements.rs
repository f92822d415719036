//! Statements, calls and constants of bodies.

use tilewright_expr::extend::{Float, scalar_fn};

/// Shadowed and unusual names; values of blocks; a `let` that is set later.
#[scalar_fn]
pub(crate) fn named(x: f32, int: i32) -> f32 {
    let x = x * 0.5;
    let register = {
        let x = x + 1.0;
        x * x
    };
    let x = if int > 3 { x + register } else { x - register };
    let auto: f32;
    if int % 2 == 0 {
        auto = 0.25;
    } else {
        auto = x;
    }
    let x_2 = auto;
    let x = x + x_2;
    return x;
}

/// Branches with statements, as values of everything.
#[scalar_fn]
pub(crate) fn branched<T: Float>(x: T, n: i32) -> (T, i32) {
    let mut count = 0;
    let (a, b) = if x < 0.0 {
        count += 1;
        (-x, n)
    } else if x.is_nan() {
        count -= 1;
        (0.0, 3)
    } else {
        let twice = x + x;
        (twice, -n)
    };
    let y = match b & 7 {
        0 => a,
        1 | 2 => {
            count += 10;
            a * 2.0
        }
        3..=5 if count > 0 => 1.5,
        -4..0 => 7.0,
        _ => a - 1.0,
    };
    count = if y > 10.0 {
        let back = count * 2;
        back - 1
    } else {
        count
    };
    (y, count + b)
}

/// Every loop, with `break`, `continue` and an early return.
#[scalar_fn]
pub(crate) fn looped(n: u32, x: f32) -> (u32, f32) {
    let mut sum = 0u32;
    for i in 0..n % 50 {
        if i % 3 == 1 {
            continue;
        }
        for j in (i..i + 4).rev() {
            sum = sum * 31 + j;
        }
    }
    for k in 250u8..=255 {
        if k == 253 {
            continue;
        }
        sum ^= (k as u32) << k;
    }
    let mut y = x;
    let mut steps = 0;
    while y.abs() > 1.0 && y.is_finite() {
        y *= 0.37;
        steps += 1;
        if steps > 40 {
            return (sum, -1.0);
        }
    }
    loop {
        sum += 7;
        if sum % 5 == 0 {
            break;
        }
    }
    for _ in 0..3 {
        y += 0.125;
    }
    (sum + steps as u32, y)
}

const MODULE: [i16; 5] = [-3, 500, i16::MIN, 7, 1];
const SCALE: f32 = 1.0 / 3.0;

pub(crate) mod deep {
    use tilewright_expr::extend::{Float, scalar_fn};
    pub(crate) const TABLE: [f64; 3] = [0.1, f64::INFINITY, -1e-300];

    #[scalar_fn]
    pub(crate) fn half<T: Float>(x: T) -> T {
        x * 0.5
    }

    pub(crate) mod deeper {
        use tilewright_expr::extend::{Float, scalar_fn};

        /// Another function of that name.
        #[scalar_fn]
        pub(crate) fn half<T: Float>(x: T) -> T {
            super::half(x - 1.0) + 0.5
        }

        #[scalar_fn]
        pub(crate) fn parts(x: f32) -> (f32, i32, bool) {
            (x.fract(), x as i32, x > 0.5)
        }
    }
}

use deep::half;

/// Constants of the body and of modules; callees of two modules and of two types.
#[scalar_fn]
pub(crate) fn called<T: Float>(x: T, n: i32) -> (T, f64, i32, f32) {
    const LIMIT: i32 = 3 + 4;
    let y = half(x) + deep::deeper::half(x);
    let precise = deep::deeper::half::<f64>(deep::TABLE[n]) + half(x as f64);
    let (fract, whole, positive) = deep::deeper::parts(x as f32 * SCALE);
    let chosen: i32 = if positive { whole } else { MODULE[n as usize] as i32 };
    let three = deep::deeper::parts(fract).1;
    (y, precise, chosen.min(LIMIT) + three, fract + std::f32::consts::PI)
}

#[scalar_fn]
pub(crate) fn bits(x: f32, y: f64) -> (f32, f64, u32, u64) {
    let a = f32::from_bits(x.to_bits() ^ 0x8000_0001 & 0x007f_ffff);
    let up = if x.is_nan() { 0.0 } else { a };
    let b = f64::from_bits(y.to_bits() >> 1);
    let high = (y.to_bits() >> 32) as u32;
    (up, b, if y.is_nan() { 0 } else { high }, u64::from(x.is_sign_negative()) + f32::EPSILON.to_bits() as u64)
}

#[scalar_fn]
pub(crate) fn greatest(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}
