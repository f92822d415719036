//! What each operation of the table gives: integers exactly, floats step by step as documented, each step by the naive evaluator's
//! own arithmetic.

use crate::naive::Number::{self, Int};
use crate::naive::{binary, cast, fma, range, unary, wrap};
use tilewright_expr::DType;
use tilewright_expr::graph::{Binary, Unary};

/// Whether the row of this name takes each element by itself, and its truth stands here.
pub(super) fn knows(name: &str) -> bool {
    let word = name.split(' ').next().unwrap_or(name);
    WORDS.split(' ').any(|w| w == word)
}

const WORDS: &str = "lt le gt ge eq ne min max clamp select to trunc_to wrapping_to & | ^ ! + - * / % neg abs abs_diff signum sign_bit \
    square cube pow rem_euclid div_euclid << >> saturating_add saturating_sub saturating_mul count_ones leading_zeros trailing_zeros sqrt \
    floor ceil trunc round mul_add recip rsqrt powi copysign is_nan is_infinite is_finite fract round_half_away lerp a c p.fract \
    p.abs_diff p.lerp";

/// The value.
pub(super) fn truth(name: &str, dtype: DType, operands: [Number; 3]) -> Number {
    found(name, dtype, operands).unwrap_or_else(|| panic!("`{name}` of {dtype} has no truth"))
}

fn found(name: &str, dtype: DType, [a, b, c]: [Number; 3]) -> Option<Number> {
    let (operation, target) = name.split_once(' ').unwrap_or((name, ""));
    let to = DType::ALL.into_iter().find(|d| d.name() == target);
    if let ("to", Some(to)) = (operation, to) {
        return Some(cast(a, to));
    }
    let flag = |v: bool| Some(Int(i128::from(v)));
    let less = |x: Number, y: Number| matches!(binary(Binary::Lt, x, y, dtype), Int(1));
    match name {
        "lt" => return flag(less(a, b)),
        "gt" => return flag(less(b, a)),
        "eq" => return Some(binary(Binary::Eq, a, b, dtype)),
        "ne" => return Some(binary(Binary::Ne, a, b, dtype)),
        "le" => return Some(binary(Binary::Le, a, b, dtype)),
        "ge" => return Some(binary(Binary::Ge, a, b, dtype)),
        "min" => return Some(binary(Binary::Min, a, b, dtype)),
        "max" => return Some(binary(Binary::Max, a, b, dtype)),
        "clamp" => return Some(binary(Binary::Min, binary(Binary::Max, a, b, dtype), c, dtype)),
        "select" => return Some(if less(a, b) { b } else { c }),
        "select literals" => return Some(Number::of(dtype, if less(a, b) { 0 } else { 3 })),
        _ => {}
    }
    match (a, b) {
        (Int(a), Int(b)) => integer(operation, target, to, dtype, a, b).map(Int),
        _ => float(name, operation, to, dtype, [a, b, c]),
    }
}

fn integer(operation: &str, target: &str, to: Option<DType>, dtype: DType, a: i128, b: i128) -> Option<i128> {
    let (low, high) = range(dtype);
    let width = 8 * dtype.size() as i128;
    let wrapped = |v: i128| wrap(v, dtype);
    // In u128, where the product of two u64 has room; its low bits are those of the signed product.
    let product = |x: i128, y: i128| wrapped((x as u128).wrapping_mul(y as u128) as i128);
    let power = |n: u32| (0..n).fold(wrapped(1), |p, _| product(p, a));
    let shift = b.rem_euclid(width);
    Some(match operation {
        "trunc_to" => a.clamp(range(to?).0, range(to?).1),
        "wrapping_to" => wrap(a, to?),
        "+" => wrapped(a + b),
        "-" => wrapped(a - b),
        "*" => product(a, b),
        "/" => wrapped(a.checked_div(b).unwrap_or(0)),
        "%" => a.checked_rem(b).unwrap_or(0),
        "neg" => wrapped(-a),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "!" if dtype == DType::Bool => 1 - a,
        "!" => wrapped(!a),
        "<<" => wrapped((0..shift).fold(a, |v, _| wrapped(v * 2))),
        ">>" => a.div_euclid(1 << shift),
        "abs" => wrapped(a.abs()),
        "abs_diff" => (a - b).abs().min(high),
        "signum" => a.signum(),
        "sign_bit" => i128::from(a < 0),
        "square" => power(2),
        "cube" => power(3),
        "pow" => power(target.parse().ok()?),
        "rem_euclid" => a.checked_rem_euclid(b).unwrap_or(0),
        "div_euclid" => wrapped(a.checked_div_euclid(b).unwrap_or(0)),
        "saturating_add" => (a + b).clamp(low, high),
        "saturating_sub" => (a - b).clamp(low, high),
        "saturating_mul" => a.checked_mul(b).map_or(high, |v| v.clamp(low, high)),
        "count_ones" => (0..width).map(|k| a >> k & 1).sum(),
        "leading_zeros" => (0..width).rev().take_while(|k| a >> k & 1 == 0).count() as i128,
        "trailing_zeros" => (0..width).take_while(|k| a >> k & 1 == 0).count() as i128,
        _ => return None,
    })
}

fn float(name: &str, operation: &str, to: Option<DType>, dtype: DType, [a, b, c]: [Number; 3]) -> Option<Number> {
    let (x, y) = (a.real(), b.real());
    let flag = |v: bool| Some(Int(i128::from(v)));
    let exact = |v: f64| Some(Number::float(dtype, v));
    let one = Number::float(dtype, 1.0);
    let of = |op: Binary, a: Number, b: Number| binary(op, a, b, dtype);
    let (sum, difference) = (|a, b| of(Binary::Add, a, b), |a, b| of(Binary::Sub, a, b));
    let (product, quotient) = (|a, b| of(Binary::Mul, a, b), |a, b| of(Binary::Div, a, b));
    let alone = |op: Unary, a: Number| unary(op, a, dtype);
    let negative = |v: f64| !v.is_nan() && v.is_sign_negative();
    let fraction = |v: Number| Number::float(dtype, v.real() - v.real().trunc());
    match operation {
        "trunc_to" | "wrapping_to" => return Some(cast(Number::float(DType::F64, x.trunc()), to?)),
        _ => {}
    }
    match name {
        "+" => Some(sum(a, b)),
        "-" => Some(difference(a, b)),
        "*" => Some(product(a, b)),
        "/" => Some(quotient(a, b)),
        "%" => exact(if y.is_infinite() && x.is_finite() { x } else { x % y }),
        "neg" => exact(-x),
        "abs" => exact(x.abs()),
        "abs_diff" => Some(alone(Unary::Abs, difference(a, b))),
        "signum" => exact(if x.is_nan() { x } else { 1f64.copysign(x) }),
        "sign_bit" => flag(negative(x)),
        "square" => Some(product(a, a)),
        "cube" => Some(product(product(a, a), a)),
        "pow 0" | "powi 0" => Some(one),
        "pow 1" => Some(a),
        "pow 7" => {
            let square = product(a, a);
            Some(product(product(a, square), product(square, square)))
        }
        "powi 6" => {
            let square = product(a, a);
            Some(product(square, product(square, square)))
        }
        "powi -3" => Some(quotient(one, product(a, product(a, a)))),
        "rem_euclid" => {
            let rest = of(Binary::Rem, a, b);
            Some(if rest.real() < 0.0 { sum(rest, alone(Unary::Abs, b)) } else { rest })
        }
        "div_euclid" => {
            let (whole, rest) = (alone(Unary::Trunc, quotient(a, b)), of(Binary::Rem, a, b).real());
            let step = if y > 0.0 { difference(whole, one) } else { sum(whole, one) };
            Some(if rest < 0.0 { step } else { whole })
        }
        "sqrt" => Some(alone(Unary::Sqrt, a)),
        "floor" => exact(x.floor()),
        "ceil" => exact(x.ceil()),
        "trunc" => exact(x.trunc()),
        "round" => exact(x.round_ties_even()),
        "round_half_away" => exact(x.round()),
        "fract" => Some(fraction(a)),
        "mul_add" | "a * b + c" => Some(fma(a, b, c)),
        "c - a * b" => Some(fma(alone(Unary::Neg, a), b, c)),
        "p.fract" => Some(fraction(product(a, b))),
        "p.abs_diff" => Some(alone(Unary::Abs, difference(product(a, b), c))),
        "p.lerp" => Some(fma(c, difference(product(a, b), c), c)),
        "lerp" => Some(fma(c, difference(b, a), a)),
        "recip" => Some(quotient(one, a)),
        "rsqrt" => Some(quotient(one, alone(Unary::Sqrt, a))),
        "copysign" => exact(if negative(y) { -x.abs() } else { x.abs() }),
        "is_nan" => flag(x.is_nan()),
        "is_infinite" => flag(x.is_infinite()),
        "is_finite" => flag(x.is_finite()),
        _ => None,
    }
}
