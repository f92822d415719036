//! Operators and literals as CUDA C++ text.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Unary};

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
    match s.dtype {
        DType::Bool => (s.bits & 1 == 1).to_string(),
        DType::F32 => {
            let v = s.get::<f32>();
            if v.is_finite() { bracket(format!("{v:?}f")) } else { format!("__uint_as_float({:#x}u)", s.bits) }
        }
        DType::F64 => {
            let v = s.get::<f64>();
            if v.is_finite() { bracket(format!("{v:?}")) } else { format!("__longlong_as_double({:#x}ll)", s.bits) }
        }
        DType::F16 | DType::BF16 => format!("tw::bits<{}>((unsigned short){:#x})", s.dtype.cuda(), s.bits),
        DType::U32 => format!("{}u", s.bits),
        DType::U64 => format!("{}ull", s.bits),
        DType::I32 if s.get::<i32>() == i32::MIN => "(-2147483647 - 1)".into(),
        DType::I32 => bracket(s.get::<i32>().to_string()),
        DType::I64 if s.get::<i64>() == i64::MIN => "(-9223372036854775807ll - 1)".into(),
        DType::I64 => bracket(format!("{}ll", s.get::<i64>())),
        other => format!("({}){}", other.cuda(), bracket(s.as_i64().unwrap_or(0).to_string())),
    }
}

fn bracket(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}
