//! Numbers of the naive evaluator: operations by their definitions.

use std::sync::OnceLock;
use tilewright_expr::DType;
use tilewright_expr::graph::{Binary, Unary};

/// A value: integers and `bool` exactly, `f32` and `f64` in their own type, halves as the `f64` that they are.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i128),
    Half(DType, f64),
    F32(f32),
    F64(f64),
}
use Number::{F32, F64, Half, Int};

impl Number {
    /// The value of a float.
    pub fn real(self) -> f64 {
        match self {
            Half(_, v) | F64(v) => v,
            F32(v) => f64::from(v),
            Int(_) => panic!("a float is expected"),
        }
    }

    /// The float of this type nearest to `v`.
    pub fn float(dtype: DType, v: f64) -> Number {
        cast(F64(v), dtype)
    }

    pub fn int(self) -> i128 {
        match self {
            Int(v) => v,
            _ => panic!("an integer is expected"),
        }
    }

    pub fn of(dtype: DType, bits: u64) -> Number {
        match dtype {
            DType::F16 | DType::BF16 => Half(dtype, half_value(dtype, bits)),
            DType::F32 => F32(f32::from_bits(bits as u32)),
            DType::F64 => F64(f64::from_bits(bits)),
            _ => Int(wrap(i128::from(bits), dtype)),
        }
    }

    pub fn bits(self, dtype: DType) -> u64 {
        match self {
            Half(dtype, v) => half_bits(dtype, v),
            F32(v) => u64::from(v.to_bits()),
            F64(v) => v.to_bits(),
            Int(v) => (v as u64) & (u64::MAX >> (64 - 8 * dtype.size())),
        }
    }
}

/// Bits of the mantissa that are stored, smallest exponent of a normal number, largest one.
fn half_format(dtype: DType) -> (i32, i32, i32) {
    if dtype == DType::F16 { (10, -14, 15) } else { (7, -126, 127) }
}

/// The value of these bits, by the definition of the format.
fn half_value(dtype: DType, bits: u64) -> f64 {
    let (stored, least, most) = half_format(dtype);
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = ((bits & 0x7fff) as i32 >> stored, (bits & ((1 << stored) - 1)) as f64);
    let unit = 2f64.powi(-stored);
    sign * match exponent {
        0 => mantissa * unit * 2f64.powi(least),
        e if e + least - 1 > most && mantissa == 0.0 => f64::INFINITY,
        e if e + least - 1 > most => f64::NAN,
        e => (1.0 + mantissa * unit) * 2f64.powi(e + least - 1),
    }
}

/// The bits of a value that the format has.
fn half_bits(dtype: DType, v: f64) -> u64 {
    let all = |dtype| (0..0x8000u64).map(move |b| (half_value(dtype, b), b));
    static VALUES: [OnceLock<Vec<(f64, u64)>>; 2] = [OnceLock::new(), OnceLock::new()];
    // Nonnegative values ascend with their bits; NaNs come last.
    let values = VALUES[usize::from(dtype == DType::BF16)].get_or_init(|| all(dtype).collect());
    let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
    if v.is_nan() {
        return 0x7fff;
    }
    let at = values.partition_point(|(known, _)| *known < v.abs());
    assert!(values[at].0 == v.abs(), "{v:e} is no {dtype}");
    sign | values[at].1
}

/// The nearest value of the format, halves to even, by the definition.
pub fn round_to_half(dtype: DType, v: f64) -> Number {
    let (stored, least, most) = half_format(dtype);
    if v == 0.0 || !v.is_finite() {
        return Half(dtype, v);
    }
    let exponent = (((v.to_bits() >> 52 & 0x7ff) as i32) - 1023).max(least);
    let unit = 2f64.powi(exponent - stored);
    // Of a value that is an f64's subnormal the quotient is tiny, and rounds to 0 too.
    let rounded = nearest(v / unit) * unit;
    Half(dtype, if rounded.abs() >= 2f64.powi(most + 1) { f64::INFINITY.copysign(v) } else { rounded })
}

/// What an operation on halves gives that was computed in `f32`.
fn narrowed(dtype: DType, v: Number) -> Number {
    match v {
        F32(v) => round_to_half(dtype, f64::from(v)),
        other => other,
    }
}

/// The value of `dtype` that is congruent to `v`.
pub fn wrap(v: i128, dtype: DType) -> i128 {
    if dtype == DType::Bool {
        return v & 1;
    }
    let modulus = 1i128 << (8 * dtype.size());
    let low = v.rem_euclid(modulus);
    if dtype.is_signed() && low >= modulus / 2 { low - modulus } else { low }
}

pub fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    match dtype {
        DType::Bool => (0, 1),
        d if d.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    }
}

pub fn unary(op: Unary, a: Number, dtype: DType) -> Number {
    match (op, a) {
        (Unary::Neg, Int(v)) => Int(if dtype == DType::Bool { v } else { wrap(-v, dtype) }),
        (Unary::CountOnes, Int(v)) => {
            Int((0..8 * dtype.size()).map(|k| v >> k & 1).take(if dtype == DType::Bool { 1 } else { 64 }).sum())
        }
        (Unary::LeadingZeros, Int(v)) => {
            let width = if dtype == DType::Bool { 1 } else { 8 * dtype.size() };
            Int((0..width).rev().take_while(|k| v >> k & 1 == 0).count() as i128)
        }
        (Unary::Abs, Int(v)) => Int(wrap(v.abs(), dtype)),
        (Unary::Not, Int(v)) => Int(if dtype == DType::Bool { 1 - v } else { wrap(!v, dtype) }),
        (_, Int(v)) => Int(v),
        (op, Half(half, v)) => narrowed(half, unary(op, F32(v as f32), DType::F32)),
        (op, F32(v)) => F32(match op {
            Unary::Neg => f32::from_bits(v.to_bits() ^ 0x8000_0000),
            Unary::Abs => f32::from_bits(v.to_bits() & 0x7fff_ffff),
            // Twice the precision and more: rounding twice is rounding once.
            Unary::Sqrt => f64::from(v).sqrt() as f32,
            Unary::Floor => f64::from(v).floor() as f32,
            Unary::Ceil => -(-f64::from(v)).floor() as f32,
            Unary::Trunc => f64::from(v).abs().floor().copysign(f64::from(v)) as f32,
            Unary::Round => nearest(f64::from(v)) as f32,
            Unary::Not | Unary::CountOnes | Unary::LeadingZeros => panic!("there is no {op:?} of a float"),
        }),
        (op, F64(v)) => F64(match op {
            Unary::Neg => f64::from_bits(v.to_bits() ^ (1 << 63)),
            Unary::Abs => f64::from_bits(v.to_bits() & !(1 << 63)),
            Unary::Sqrt => v.sqrt(),
            Unary::Floor => v.floor(),
            Unary::Ceil => -(-v).floor(),
            Unary::Trunc => v.abs().floor().copysign(v),
            Unary::Round => nearest(v),
            Unary::Not | Unary::CountOnes | Unary::LeadingZeros => panic!("there is no {op:?} of a float"),
        }),
    }
}

/// The nearest integer, halves to even, by the definition.
pub fn nearest(v: f64) -> f64 {
    let size = v.abs();
    if size.is_nan() || size >= 4503599627370496.0 {
        return v;
    }
    let low = size.floor();
    let rest = size - low;
    let up = rest > 0.5 || rest == 0.5 && low % 2.0 == 1.0;
    (if up { low + 1.0 } else { low }).copysign(v)
}

pub fn binary(op: Binary, a: Number, b: Number, dtype: DType) -> Number {
    match (a, b) {
        (Int(a), Int(b)) => Int(integers(op, a, b, dtype)),
        (Half(half, a), Half(_, b)) => narrowed(half, binary(op, F32(a as f32), F32(b as f32), DType::F32)),
        (F32(a), F32(b)) => {
            // In f64 a product is exact, and a sum or quotient rounded there first gives the same f32.
            let (x, y) = (f64::from(a), f64::from(b));
            match op {
                Binary::Add => F32((x + y) as f32),
                Binary::Sub => F32((x - y) as f32),
                Binary::Mul => F32((x * y) as f32),
                Binary::Div => F32((x / y) as f32),
                Binary::Rem => F32(remainder(x, y) as f32),
                Binary::Min => F32(least(x, y) as f32),
                Binary::Max => F32(-least(-x, -y) as f32),
                _ => Int(i128::from(compare(op, x, y))),
            }
        }
        (F64(a), F64(b)) => match op {
            Binary::Add => F64(a + b),
            Binary::Sub => F64(a - b),
            Binary::Mul => F64(a * b),
            Binary::Div => F64(a / b),
            Binary::Rem => F64(remainder(a, b)),
            Binary::Min => F64(least(a, b)),
            Binary::Max => F64(-least(-a, -b)),
            _ => Int(i128::from(compare(op, a, b))),
        },
        _ => panic!("operands of one type are expected"),
    }
}

fn compare(op: Binary, a: f64, b: f64) -> bool {
    match op {
        Binary::Lt => a < b,
        Binary::Le => a <= b,
        Binary::Gt => b < a,
        Binary::Ge => b <= a,
        Binary::Eq => a == b,
        Binary::Ne => a < b || b < a || a.is_nan() || b.is_nan(),
        _ => panic!("not an operation on floats: {op:?}"),
    }
}

/// NaN if either is; `-0 < +0`.
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a.total_cmp(&b).is_lt() { a } else { b }
}

/// What is left of `a` after the multiples of `b`, doubled as long as they fit, are taken from it: each difference is exact.
pub(super) fn remainder(a: f64, b: f64) -> f64 {
    let (mut left, size) = (a.abs(), b.abs());
    if a.is_nan() || b.is_nan() || a.is_infinite() || size == 0.0 {
        return f64::NAN;
    }
    while left >= size {
        let mut part = size;
        while part <= left / 2.0 {
            part *= 2.0;
        }
        left -= part;
    }
    left.copysign(a)
}

fn integers(op: Binary, a: i128, b: i128, dtype: DType) -> i128 {
    let flag = i128::from;
    match op {
        Binary::Lt => return flag(a < b),
        Binary::Le => return flag(a <= b),
        Binary::Gt => return flag(a > b),
        Binary::Ge => return flag(a >= b),
        Binary::Eq => return flag(a == b),
        Binary::Ne => return flag(a != b),
        _ => {}
    }
    let width = 8 * dtype.size() as i128;
    let shift = b.rem_euclid(width) as u32;
    let bool = dtype == DType::Bool;
    let v = match op {
        Binary::Add | Binary::Max if bool => a | b,
        Binary::Sub if bool => a ^ b,
        Binary::Mul | Binary::Div | Binary::Min if bool => a & b,
        Binary::Shl | Binary::Shr if bool => a,
        Binary::Rem if bool => 0,
        Binary::Rem => {
            if b == 0 {
                0
            } else {
                a - b * (a / b)
            }
        }
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => match a.checked_mul(b) {
            Some(v) => v,
            // Only u64 * u64 leaves i128; the low half is what counts.
            None => i128::from((a as u64).wrapping_mul(b as u64)),
        },
        Binary::Div => {
            if b == 0 {
                0
            } else {
                a / b
            }
        }
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => wrap(a, dtype).wrapping_shl(shift),
        Binary::Shr => a >> shift,
        _ => unreachable!("comparisons are above"),
    };
    wrap(v, dtype)
}

/// `a * b + c` rounded once.
pub fn fma(a: Number, b: Number, c: Number) -> Number {
    match (a, b, c) {
        (Half(half, a), Half(_, b), Half(_, c)) => narrowed(half, fma(F32(a as f32), F32(b as f32), F32(c as f32))),
        // The product is exact in f64; a sum rounded to odd there may be rounded again.
        (F32(a), F32(b), F32(c)) => F32(odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32),
        (F64(a), F64(b), F64(c)) => F64(fma64(a, b, c)),
        _ => panic!("floats of one type are expected"),
    }
}

/// The sum of two `f64`, the error of the sum being exact: Knuth.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `a + b` rounded to odd: toward the neighbour whose last bit is 1, unless exact.
fn odd_sum(a: f64, b: f64) -> f64 {
    let (s, e) = two_sum(a, b);
    if !s.is_finite() || e == 0.0 || e.is_nan() || s.to_bits() & 1 == 1 {
        return s;
    }
    let away = (e > 0.0) == (s > 0.0);
    f64::from_bits(if away { s.to_bits() + 1 } else { s.to_bits() - 1 })
}

/// Boldo and Melquiond's fused multiply-add from plain operations, where nothing over- or underflows; else the machine's.
fn fma64(a: f64, b: f64, c: f64) -> f64 {
    let middling = |v: f64| v == 0.0 || (1e-100..1e100).contains(&v.abs());
    if ![a, b, c].into_iter().all(middling) || a == 0.0 || b == 0.0 || c == 0.0 {
        return a.mul_add(b, c);
    }
    let split = |v: f64| {
        let big = v * 134_217_729.0;
        let high = big - (big - v);
        (high, v - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    let high = a * b;
    let low = ((ah * bh - high) + ah * bl + al * bh) + al * bl;
    let (th, tl) = two_sum(c, low);
    let (vh, vl) = two_sum(high, th);
    vh + odd_sum(tl, vl)
}

pub fn cast(a: Number, to: DType) -> Number {
    let as_float = |v: f64| if to == DType::F32 { F32(v as f32) } else { F64(v) };
    match a {
        // From integers through f32.
        Int(v) if to.is_half() => round_to_half(to, f64::from(v as f32)),
        F64(v) if to.is_half() => round_to_half(to, v),
        Half(_, v) => cast(F64(v), to),
        Int(v) if to == DType::F32 => F32(v as f32),
        Int(v) if to == DType::F64 => F64(v as f64),
        Int(v) if to == DType::Bool => Int(i128::from(v != 0)),
        Int(v) => Int(v.clamp(range(to).0, range(to).1)),
        F32(v) if to == DType::F32 => F32(v),
        F32(v) => cast(F64(f64::from(v)), to),
        F64(v) if to.is_float() => as_float(v),
        F64(v) if to == DType::Bool => Int(i128::from(v != 0.0)),
        F64(v) if v.is_nan() => Int(0),
        F64(v) => {
            let (low, high) = range(to);
            let whole = nearest(v);
            // Powers of two and below: these comparisons are exact.
            Int(if whole >= high as f64 {
                high
            } else if whole <= low as f64 {
                low
            } else {
                whole as i128
            })
        }
    }
}
