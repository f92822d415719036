//! Constants of texts, as C++ declares them.

use super::text::Constant;
use crate::dtype::{Scalar, Value};
use crate::emit::literal;

macro_rules! constants {
    ($($t:ty),*) => { $(
        impl Constant for $t {
            fn declaration(&self, name: &str) -> String {
                format!("constexpr {} {name} = {};", <$t>::DTYPE.cuda(), constant(*self))
            }
        }
        impl<const N: usize> Constant for [$t; N] {
            fn declaration(&self, name: &str) -> String {
                let values: Vec<String> = self.iter().map(|v| constant(*v)).collect();
                format!("static constexpr {} {name}[{N}] = {{{}}};", <$t>::DTYPE.cuda(), values.join(", "))
            }
        }
    )* };
}
constants!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// A literal that a compiler knows: the bits of an infinity or of a NaN are none.
fn constant<T: Value>(value: T) -> String {
    let scalar = Scalar::of(value);
    let special = match scalar.dtype {
        crate::DType::F32 => (!scalar.get::<f32>().is_finite()).then(|| ("f", f64::from(scalar.get::<f32>()))),
        crate::DType::F64 => (!scalar.get::<f64>().is_finite()).then(|| ("", scalar.get::<f64>())),
        _ => None,
    };
    match special {
        Some((f, v)) if v.is_nan() => format!("__builtin_nan{f}(\"\")"),
        Some((f, v)) => format!("{}__builtin_huge_val{f}()", if v < 0.0 { "-" } else { "" }),
        None => literal(scalar),
    }
}
