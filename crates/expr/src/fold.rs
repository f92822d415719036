//! Operations on constants: the same functions as the host evaluator's, one value at a time.

use crate::arith::{Arith, CastTo};
use crate::dtype::{DType, Scalar, Value};
use crate::graph::{Binary, Unary};

/// Calls `$body` with `$T` standing for the Rust type of `$dtype`, `$half` for halves.
macro_rules! with_wide_type {
    ($dtype:expr, $T:ident => $body:expr, $half:expr) => {{
        use $crate::dtype::DType as D;
        match $dtype {
            D::Bool => {
                type $T = bool;
                $body
            }
            D::U8 => {
                type $T = u8;
                $body
            }
            D::I8 => {
                type $T = i8;
                $body
            }
            D::U16 => {
                type $T = u16;
                $body
            }
            D::I16 => {
                type $T = i16;
                $body
            }
            D::U32 => {
                type $T = u32;
                $body
            }
            D::I32 => {
                type $T = i32;
                $body
            }
            D::U64 => {
                type $T = u64;
                $body
            }
            D::I64 => {
                type $T = i64;
                $body
            }
            D::F32 => {
                type $T = f32;
                $body
            }
            D::F64 => {
                type $T = f64;
                $body
            }
            D::F16 | D::BF16 => $half,
        }
    }};
}
pub(crate) use with_wide_type;

/// Calls `$body` with `$T` standing for the Rust type of `$dtype`.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::dtype::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::dtype::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            other => $crate::fold::with_wide_type!(other, $T => $body, unreachable!("halves are above")),
        }
    };
}
pub(crate) use with_type;

/// `op(a)`.
pub(crate) fn unary(op: Unary, a: Scalar) -> Scalar {
    fn of<T: Arith + Value>(op: Unary, a: T) -> T {
        match op {
            Unary::Neg => a.neg(),
            Unary::Abs => a.abs(),
            Unary::Sqrt => a.sqrt(),
            Unary::Floor => a.floor(),
            Unary::Ceil => a.ceil(),
            Unary::Trunc => a.trunc(),
            Unary::Round => a.round(),
            Unary::Not => a.not(),
            Unary::CountOnes => a.count_ones(),
            Unary::LeadingZeros => a.leading_zeros(),
        }
    }
    with_type!(a.dtype, T => Scalar::of(of(op, a.get::<T>())))
}

/// `a op b`; comparisons give `bool`.
pub(crate) fn binary(op: Binary, a: Scalar, b: Scalar) -> Scalar {
    fn of<T: Arith + Value>(op: Binary, a: T, b: T) -> Scalar {
        Scalar::of(match op {
            Binary::Add => a.add(b),
            Binary::Sub => a.sub(b),
            Binary::Mul => a.mul(b),
            Binary::Div => a.div(b),
            Binary::Rem => a.rem(b),
            Binary::Min => a.minimum(b),
            Binary::Max => a.maximum(b),
            Binary::And => a.and(b),
            Binary::Or => a.or(b),
            Binary::Xor => a.xor(b),
            Binary::Shl => a.shl(b),
            Binary::Shr => a.shr(b),
            Binary::Lt => return Scalar::of(a < b),
            Binary::Le => return Scalar::of(a <= b),
            Binary::Gt => return Scalar::of(a > b),
            Binary::Ge => return Scalar::of(a >= b),
            Binary::Eq => return Scalar::of(a == b),
            Binary::Ne => return Scalar::of(a != b),
        })
    }
    with_type!(a.dtype, T => of(op, a.get::<T>(), b.get::<T>()))
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    with_type!(a.dtype, T => Scalar::of(a.get::<T>().fma(b.get(), c.get())))
}

/// The saturating cast.
pub(crate) fn cast(a: Scalar, to: DType) -> Scalar {
    fn of<A, B: Value>(a: A) -> Scalar
    where
        A: CastTo<B>,
    {
        Scalar::of(a.cast_to())
    }
    with_type!(a.dtype, A => with_type!(to, B => of::<A, B>(a.get::<A>())))
}

/// The same bits as another type of the same size.
pub(crate) fn bits(a: Scalar, to: DType) -> Scalar {
    Scalar { dtype: to, bits: a.bits }
}
