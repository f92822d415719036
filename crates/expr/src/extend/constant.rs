//! Constants of texts, as C++ declares them.

use super::text::Constant;
use crate::dtype::{DType, Scalar, Value};
use crate::emit::{add_literal, literal};

macro_rules! constants {
    ($($t:ty),*) => { $(
        impl Constant for $t {
            fn declaration(&self, name: &str) -> String {
                format!("const {} {name} = {};", <$t>::DTYPE.cuda(), literal(Scalar::of(*self)))
            }
        }
        impl<const N: usize> Constant for [$t; N] {
            fn declaration(&self, name: &str) -> String {
                table(name, <$t>::DTYPE, &self.map(Scalar::of))
            }
        }
    )* };
}
constants!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

fn table(name: &str, dtype: DType, values: &[Scalar]) -> String {
    // The bits of an infinity or of a NaN are no constant expression.
    let is_finite = |s: &Scalar| match s.dtype {
        DType::F32 => s.get::<f32>().is_finite(),
        DType::F64 => s.get::<f64>().is_finite(),
        _ => true,
    };
    let kind = if values.iter().all(is_finite) { "static constexpr" } else { "const" };
    let mut text = format!("{kind} {} {name}[{}] = {{", dtype.cuda(), values.len());
    for (at, value) in values.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { ", " });
        add_literal(&mut text, *value);
    }
    text.push_str("};");
    text
}
