//! Literals in manifests: numbers that people can read where they say all bits, and bits where they do not.

use super::lex::{Line, Parsed, Token, short};
use crate::dtype::{DType, Scalar};
use half::{bf16, f16};

/// The text of a literal, from which [`read`] makes the same bits.
pub(super) fn text(value: Scalar) -> String {
    let bits = || format!("0x{:x}", value.bits);
    let decimal = match value.dtype {
        DType::Bool if value.bits <= 1 => return (value.bits == 1).to_string(),
        DType::Bool => return bits(),
        DType::U64 => return value.bits.to_string(),
        DType::F32 => format!("{:?}", value.get::<f32>()),
        DType::F64 => format!("{:?}", value.get::<f64>()),
        DType::F16 => format!("{:?}", value.get::<f16>().to_f32()),
        DType::BF16 => format!("{:?}", value.get::<bf16>().to_f32()),
        _ => value.as_i64().unwrap_or_default().to_string(),
    };
    if of(&decimal, value.dtype) == Some(value) { decimal } else { bits() }
}

/// Reads a literal of a type.
pub(super) fn read(line: &mut Line<'_>, dtype: DType) -> Parsed<Scalar> {
    let token = line.take()?;
    let word = match token {
        Token::Number(word) | Token::Word(word) => word,
        _ => "",
    };
    match of(word, dtype) {
        Some(value) => Ok(value),
        None => {
            let size = 2 * dtype.size();
            line.refuse(format!(
                "`{}` is no literal of {dtype}; its bits can be given: `0x` and up to {size} digits",
                short(word)
            ))
        }
    }
}

fn of(word: &str, dtype: DType) -> Option<Scalar> {
    let scalar = |bits: u64| Some(Scalar { dtype, bits });
    if let Some(digits) = word.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let most = if dtype == DType::Bool { 1 } else { u64::MAX >> (64 - 8 * dtype.size()) };
        return if bits <= most { scalar(bits) } else { None };
    }
    let finite = |word: &str| word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    macro_rules! whole {
        ($t:ty) => {
            Some(Scalar::of(word.parse::<$t>().ok()?))
        };
    }
    match dtype {
        DType::Bool => whole!(bool),
        DType::U8 => whole!(u8),
        DType::I8 => whole!(i8),
        DType::U16 => whole!(u16),
        DType::I16 => whole!(i16),
        DType::U32 => whole!(u32),
        DType::I32 => whole!(i32),
        DType::U64 => whole!(u64),
        DType::I64 => whole!(i64),
        _ if !finite(word) => None,
        DType::F16 => exact(word).map(|v| Scalar::of(f16::from_f32(v))),
        DType::BF16 => exact(word).map(|v| Scalar::of(bf16::from_f32(v))),
        DType::F32 => exact(word).map(Scalar::of),
        DType::F64 => word.parse::<f64>().ok().filter(|v| v.is_finite()).map(Scalar::of),
    }
}

fn exact(word: &str) -> Option<f32> {
    word.parse::<f32>().ok().filter(|v| v.is_finite())
}
