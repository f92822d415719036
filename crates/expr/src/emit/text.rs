//! Operators and literals as CUDA C++ text.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Unary};
use std::fmt::Write as _;

pub(crate) fn unary(op: Unary, a: &str, dtype: DType) -> String {
    match op {
        Unary::Neg if dtype.is_float() => format!("-{a}"),
        Unary::Not if dtype == DType::Bool => format!("!{a}"),
        Unary::Neg => format!("tw::neg({a})"),
        Unary::Abs => format!("tw::abs({a})"),
        Unary::Sqrt => format!("tw::sqrt({a})"),
        Unary::Floor => format!("tw::floor({a})"),
        Unary::Ceil => format!("tw::ceil({a})"),
        Unary::Trunc => format!("tw::trunc({a})"),
        Unary::Round => format!("tw::round({a})"),
        Unary::Not => format!("tw::invert({a})"),
        Unary::CountOnes => format!("tw::count_ones({a})"),
        Unary::LeadingZeros => format!("tw::leading_zeros({a})"),
    }
}

pub(crate) fn binary(op: Binary, a: &str, b: &str, dtype: DType) -> String {
    let infix = |s: &str| format!("{a} {s} {b}");
    let call = |s: &str| format!("tw::{s}({a}, {b})");
    match op {
        Binary::Add if dtype.is_float() => infix("+"),
        Binary::Sub if dtype.is_float() => infix("-"),
        Binary::Mul if dtype.is_float() => infix("*"),
        Binary::Div if dtype.is_float() => infix("/"),
        Binary::Add => call("add"),
        Binary::Sub => call("sub"),
        Binary::Mul => call("mul"),
        Binary::Div => call("div"),
        Binary::Rem => call("rem"),
        Binary::Min => call("minimum"),
        Binary::Max => call("maximum"),
        Binary::And => call("bit_and"),
        Binary::Or => call("bit_or"),
        Binary::Xor => call("bit_xor"),
        Binary::Shl => call("shl"),
        Binary::Shr => call("shr"),
        Binary::Lt => infix("<"),
        Binary::Le => infix("<="),
        Binary::Gt => infix(">"),
        Binary::Ge => infix(">="),
        Binary::Eq => infix("=="),
        Binary::Ne => infix("!="),
    }
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(a: &str, b: &str, c: &str, dtype: DType) -> String {
    let name = match dtype {
        DType::F32 => "fmaf",
        DType::F64 => "fma",
        _ => "tw::fma",
    };
    format!("{name}({a}, {b}, {c})")
}

/// A literal that reads back as exactly the same bits.
pub(crate) fn literal(s: Scalar) -> String {
    let mut text = String::new();
    add_literal(&mut text, s);
    text
}

/// The same, behind other text.
pub(crate) fn add_literal(to: &mut String, s: Scalar) {
    // Nothing fails to be written to a string.
    let mut add = |is_negative: bool, text: std::fmt::Arguments<'_>| {
        let _ = if is_negative { write!(to, "({text})") } else { to.write_fmt(text) };
    };
    match s.dtype {
        DType::Bool => add(false, format_args!("{}", s.bits & 1 == 1)),
        DType::F32 => match s.get::<f32>() {
            v if v.is_finite() => add(v.is_sign_negative(), format_args!("{v:?}f")),
            _ => add(false, format_args!("__uint_as_float({:#x}u)", s.bits)),
        },
        DType::F64 => match s.get::<f64>() {
            v if v.is_finite() => add(v.is_sign_negative(), format_args!("{v:?}")),
            _ => add(false, format_args!("__longlong_as_double({:#x}ll)", s.bits)),
        },
        DType::F16 | DType::BF16 => {
            add(false, format_args!("tw::bits<{}>((unsigned short){:#x})", s.dtype.cuda(), s.bits));
        }
        DType::U32 => add(false, format_args!("{}u", s.bits)),
        DType::U64 => add(false, format_args!("{}ull", s.bits)),
        DType::I32 if s.get::<i32>() == i32::MIN => add(false, format_args!("(-2147483647 - 1)")),
        DType::I32 => add(s.get::<i32>() < 0, format_args!("{}", s.get::<i32>())),
        DType::I64 if s.get::<i64>() == i64::MIN => add(false, format_args!("(-9223372036854775807ll - 1)")),
        DType::I64 => add(s.get::<i64>() < 0, format_args!("{}ll", s.get::<i64>())),
        other => {
            add(false, format_args!("({})", other.cuda()));
            let number = s.as_i64().unwrap_or(0);
            add(number < 0, format_args!("{number}"));
        }
    }
}
