//! Statements, calls and constants of bodies.

use super::{X, case};
use crate::emitted::check_all;
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::{In, trace};

/// Shadowed and unusual names; values of blocks; a `let` that is set later.
#[scalar_fn]
fn named(x: f32, int: i32) -> f32 {
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
fn branched<T: Float>(x: T, n: i32) -> (T, i32) {
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
fn looped(n: u32, x: f32) -> (u32, f32) {
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

mod deep {
    use tilewright_expr::extend::{Float, scalar_fn};
    pub(super) const TABLE: [f64; 3] = [0.1, f64::INFINITY, -1e-300];

    #[scalar_fn]
    pub(in super::super) fn half<T: Float>(x: T) -> T {
        x * 0.5
    }

    pub(super) mod deeper {
        use tilewright_expr::extend::{Float, scalar_fn};

        /// Another function of that name.
        #[scalar_fn]
        pub(in super::super) fn half<T: Float>(x: T) -> T {
            super::half(x - 1.0) + 0.5
        }

        #[scalar_fn]
        pub(in super::super) fn parts(x: f32) -> (f32, i32, bool) {
            (x.fract(), x as i32, x > 0.5)
        }
    }
}

use deep::half;

/// Constants of the body and of modules; callees of two modules and of two types.
#[scalar_fn]
fn called<T: Float>(x: T, n: i32) -> (T, f64, i32, f32) {
    const LIMIT: i32 = 3 + 4;
    let y = half(x) + deep::deeper::half(x);
    let precise = deep::deeper::half::<f64>(deep::TABLE[n]) + half(x as f64);
    let (fract, whole, positive) = deep::deeper::parts(x as f32 * SCALE);
    let chosen: i32 = if positive { whole } else { MODULE[n as usize] as i32 };
    let three = deep::deeper::parts(fract).1;
    (y, precise, chosen.min(LIMIT) + three, fract + std::f32::consts::PI)
}

#[scalar_fn]
fn bits(x: f32, y: f64) -> (f32, f64, u32, u64) {
    let a = f32::from_bits(x.to_bits() ^ 0x8000_0001 & 0x007f_ffff);
    let up = if x.is_nan() { 0.0 } else { a };
    let b = f64::from_bits(y.to_bits() >> 1);
    let high = (y.to_bits() >> 32) as u32;
    (up, b, if y.is_nan() { 0 } else { high }, u64::from(x.is_sign_negative()) + f32::EPSILON.to_bits() as u64)
}

#[scalar_fn]
fn greatest(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

fn all() -> Vec<(String, crate::random::Case)> {
    macro_rules! stored {
        ($name:literal, |$($arg:ident: $t:ty),*| $body:expr, $($result:tt),*) => {
            case($name, trace(|$($arg: In<$t, (X,)>),*| {
                let results = $body;
                ($(results.$result.store::<(X,)>(),)*)
            }).graph)
        };
    }
    vec![
        stored!("named", |x: f32, n: i32| (named::of(x, n & 7), x), 0, 1),
        stored!("branched f32", |x: f32, n: i32| branched::of(x, n), 0, 1),
        stored!("branched f64", |x: f64, n: i32| branched::of(x, n & 15), 0, 1),
        stored!("looped", |n: u32, x: f32| looped::of(n, x), 0, 1),
        stored!("called f32", |x: f32, n: i32| called::of(x, n & 3), 0, 1, 2, 3),
        stored!("called f64", |x: f64, n: i32| called::of(x, n), 0, 1, 2, 3),
        stored!("bits", |x: f32, y: f64| bits::of(x, y), 0, 1, 2, 3),
        stored!("greatest", |a: u64, b: u64| (greatest::of(a, b), greatest::of(a >> 20, 12)), 0, 1),
    ]
}

#[test]
fn statements() {
    check_all("scalar_fn::subset::statements", all().into_iter());
}

#[test]
fn by_hand() {
    assert_eq!(named(2.0, 4), (1.0 + 4.0) + 0.25);
    assert_eq!(named(2.0, 3), (1.0 - 4.0) + (1.0 - 4.0));
    assert_eq!(branched(-3.0_f64, 2), (6.0, 11 + 2));
    assert_eq!(branched(20.0_f32, -8), (40.0, -1 + 8));
    assert_eq!(looped(0, f32::INFINITY).1, f32::INFINITY);
    assert_eq!(looped(0, 1e30), (250 << 26 ^ 251 << 27 ^ 252 << 28 ^ 254 << 30 ^ 255 << 31, -1.0));
    assert_eq!(called(0.0_f32, 9), (0.0, (-1e-300 - 1.0) * 0.5 + 0.5, 1, std::f32::consts::PI));
    assert_eq!(called(0.0_f32, -2).2, 1);
    assert_eq!((greatest(12, 18), greatest(0, 5), greatest(1 << 63, 96)), (6, 5, 32));
}
