//! Greatest common divisors and least common multiples.
//!
//! Divisors are found on magnitudes by shifts and subtractions, so that `gcd(MIN, 6)` is 2. What does not fit wraps: `gcd(MIN, 0)`
//! is MIN, as in NumPy and PyTorch.

use tilewright_expr::extend::scalar_fn;

/// `gcd(0, x) = x`. Stein's algorithm on the CPU: steps of a shift and a subtraction. On GPUs with many units of f64 it is Euclid's, with
/// the nearest quotient from a rough reciprocal: whatever whole number is taken for it, what remains has the same divisors.
#[scalar_fn(cuda = "
    unsigned long long divisor(unsigned long long a, unsigned long long b) {
    #if TW_SLOW_F64
      while (a != 0 && b != 0) {
        const int more = __ffsll((long long)a) - __ffsll((long long)b);
        if (more > 0) a >>= more; else b >>= -more;
        if (a > b) a -= b; else b -= a;
      }
      return a | b;
    #else
      // f64 holds whole numbers up to 2^53.
      while ((a | b) >> 53) {
        if (b == 0) return a;
        const unsigned long long rest = a % b;
        a = b;
        b = rest;
      }
      double u = (double)a, v = (double)b;
      while (v != 0.0) {
        // To a whole number, by adding what leaves no room for a fraction.
        const double quotient = u * tw::arch::reciprocal(v) + 6755399441055744.0 - 6755399441055744.0;
        const double rest = fabs(fma(-quotient, v, u));
        u = v;
        v = rest;
      }
      return (unsigned long long)u;
    #endif
    }
")]
pub fn gcd_u64(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    let mut u = a >> a.trailing_zeros();
    let mut v = b >> b.trailing_zeros();
    while u != v {
        let rest = u.abs_diff(v);
        u = u.min(v);
        v = rest >> rest.trailing_zeros();
    }
    u << twos
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
