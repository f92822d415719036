//! Greatest common divisors and least common multiples.
//!
//! Divisors are found on magnitudes by shifts and subtractions, so that `gcd(MIN, 6)` is 2. What does not fit wraps: `gcd(MIN, 0)`
//! is MIN, as in NumPy and PyTorch.

use tilewright_expr::extend::scalar_fn;

/// Stein's algorithm: steps of a subtraction and a shift, with half the registers once both fit in 32 bits. `gcd(0, x) = x`.
#[scalar_fn]
pub fn gcd_u64(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let a_twos = a.trailing_zeros();
    let b_twos = b.trailing_zeros();
    let twos = a_twos.min(b_twos);
    let mut u = a >> a_twos;
    let mut v = b >> b_twos;
    while (u | v) >> 32 != 0 {
        let mut rest = u.max(v) - u.min(v);
        v = u.min(v);
        if rest as u32 == 0 {
            if rest == 0 {
                return v << twos;
            }
            rest >>= 32;
        }
        u = rest >> (rest as u32).trailing_zeros();
    }
    (odd_divisor(u as u32, v as u32) as u64) << twos
}

/// As [`gcd_u64`].
#[scalar_fn]
pub fn gcd_u32(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let a_twos = a.trailing_zeros();
    let b_twos = b.trailing_zeros();
    odd_divisor(a >> a_twos, b >> b_twos) << a_twos.min(b_twos)
}

/// Of two numbers, one of them odd, none 0.
#[scalar_fn]
fn odd_divisor(a: u32, b: u32) -> u32 {
    let mut u = a;
    let mut v = b;
    while u != 0 {
        let rest = u.max(v) - u.min(v);
        v = u.min(v);
        u = rest >> rest.trailing_zeros();
    }
    v
}

/// As [`gcd_u64`].
#[scalar_fn]
pub fn gcd_u16(a: u16, b: u16) -> u16 {
    gcd_u32(a as u32, b as u32) as u16
}

/// As [`gcd_u64`].
#[scalar_fn]
pub fn gcd_u8(a: u8, b: u8) -> u8 {
    gcd_u32(a as u32, b as u32) as u8
}

/// Of the magnitudes.
#[scalar_fn]
pub fn gcd_i64(a: i64, b: i64) -> i64 {
    gcd_u64(a.unsigned_abs(), b.unsigned_abs()) as i64
}

/// Of the magnitudes.
#[scalar_fn]
pub fn gcd_i32(a: i32, b: i32) -> i32 {
    gcd_u32(a.unsigned_abs(), b.unsigned_abs()) as i32
}

/// Of the magnitudes.
#[scalar_fn]
pub fn gcd_i16(a: i16, b: i16) -> i16 {
    gcd_u32(a.unsigned_abs() as u32, b.unsigned_abs() as u32) as i16
}

/// Of the magnitudes.
#[scalar_fn]
pub fn gcd_i8(a: i8, b: i8) -> i8 {
    gcd_u32(a.unsigned_abs() as u32, b.unsigned_abs() as u32) as i8
}

/// `a / gcd(a, b) * b`, 0 where either is 0; wraps.
#[scalar_fn]
pub fn lcm_u64(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return 0;
    }
    (a / gcd_u64(a, b)).wrapping_mul(b)
}

/// As [`lcm_u64`].
#[scalar_fn]
pub fn lcm_u32(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 {
        return 0;
    }
    (a / gcd_u32(a, b)).wrapping_mul(b)
}

/// As [`lcm_u64`].
#[scalar_fn]
pub fn lcm_u16(a: u16, b: u16) -> u16 {
    lcm_u32(a as u32, b as u32) as u16
}

/// As [`lcm_u64`].
#[scalar_fn]
pub fn lcm_u8(a: u8, b: u8) -> u8 {
    lcm_u32(a as u32, b as u32) as u8
}

/// The magnitude of the wrapped multiple, as in PyTorch.
#[scalar_fn]
pub fn lcm_i64(a: i64, b: i64) -> i64 {
    (lcm_u64(a.unsigned_abs(), b.unsigned_abs()) as i64).wrapping_abs()
}

/// As [`lcm_i64`].
#[scalar_fn]
pub fn lcm_i32(a: i32, b: i32) -> i32 {
    (lcm_u32(a.unsigned_abs(), b.unsigned_abs()) as i32).wrapping_abs()
}

/// As [`lcm_i64`].
#[scalar_fn]
pub fn lcm_i16(a: i16, b: i16) -> i16 {
    (lcm_u32(a.unsigned_abs() as u32, b.unsigned_abs() as u32) as i16).wrapping_abs()
}

/// As [`lcm_i64`].
#[scalar_fn]
pub fn lcm_i8(a: i8, b: i8) -> i8 {
    (lcm_u32(a.unsigned_abs() as u32, b.unsigned_abs() as u32) as i8).wrapping_abs()
}
