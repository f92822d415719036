//! What takes each element by itself.

use super::Channels::Any;
use super::{C, Rows, Scalar, X, Y, rows};
use std::marker::PhantomData;
use tilewright_expr::{Bitwise, Float, Integer, Number, bf16, f16};

/// Rows whose results have the picture's shape.
macro_rules! put {
    ($rows:ident, $t:ty: $($name:expr => |$g:pat_param| $result:expr;)*) => {
        rows! { $rows, $t: $($name, Any => |$g| $result.store::<(Y, X, C)>();)* }
    };
}

pub(super) fn every<T: Scalar>(rows: &mut impl Rows, _: PhantomData<T>) {
    put! { rows, T:
        "lt" => |g| g.a.lt(g.b); "le" => |g| g.a.le(g.b); "gt" => |g| g.a.gt(g.b); "ge" => |g| g.a.ge(g.b);
        "eq" => |g| g.a.eq(g.b); "ne" => |g| g.a.ne(g.b); "min" => |g| g.a.min(g.b); "max" => |g| g.a.max(g.b);
        "clamp" => |g| g.a.clamp(g.b, g.c);
        "select" => |g| g.a.lt(g.b).select(g.b, g.c);
        "select literals" => |g| g.a.lt(g.b).select(T::default(), T::from_bits64(3));
        "iterate" => |g| g.a.iterate(5, |v| v.max(g.b).min(g.c));
    }
    macro_rules! casts {
        ($($u:ty)*) => { put! { rows, T: $(concat!("to ", stringify!($u)) => |g| g.a.to::<$u>();)* } };
    }
    casts!(bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64);
    macro_rules! whole {
        ($($u:ty)*) => { put! { rows, T:
            $(concat!("trunc_to ", stringify!($u)) => |g| g.a.trunc_to::<$u>();)*
            $(concat!("wrapping_to ", stringify!($u)) => |g| g.a.wrapping_to::<$u>();)*
        } };
    }
    whole!(u8 i8 u16 i16 u32 i32 u64 i64);
}

pub(super) fn bitwise<T: Scalar + Bitwise>(rows: &mut impl Rows, _: PhantomData<T>) {
    put! { rows, T: "&" => |g| (g.a & g.b); "|" => |g| (g.a | g.b); "^" => |g| (g.a ^ g.b); "!" => |g| (!g.a); }
}

pub(super) fn numbers<T: Scalar + Number>(rows: &mut impl Rows, _: PhantomData<T>) {
    put! { rows, T:
        "+" => |g| (g.a + g.b); "-" => |g| (g.a - g.b); "*" => |g| (g.a * g.b); "/" => |g| (g.a / g.b);
        "%" => |g| (g.a % g.b); "neg" => |g| (-g.a); "abs" => |g| g.a.abs(); "abs_diff" => |g| g.a.abs_diff(g.b);
        "signum" => |g| g.a.signum(); "sign_bit" => |g| g.a.sign_bit(); "square" => |g| g.a.square();
        "cube" => |g| g.a.cube(); "pow 0" => |g| g.a.pow(0); "pow 1" => |g| g.a.pow(1); "pow 7" => |g| g.a.pow(7);
        "rem_euclid" => |g| g.a.rem_euclid(g.b); "div_euclid" => |g| g.a.div_euclid(g.b);
    }
}

pub(super) fn integers<T: Scalar + Integer>(rows: &mut impl Rows, _: PhantomData<T>) {
    put! { rows, T:
        "<<" => |g| (g.a << g.b); ">>" => |g| (g.a >> g.b); "saturating_add" => |g| g.a.saturating_add(g.b);
        "saturating_sub" => |g| g.a.saturating_sub(g.b); "saturating_mul" => |g| g.a.saturating_mul(g.b);
        "count_ones" => |g| g.a.count_ones(); "leading_zeros" => |g| g.a.leading_zeros();
        "trailing_zeros" => |g| g.a.trailing_zeros();
    }
}

pub(super) fn floats<T: Scalar + Float>(rows: &mut impl Rows, _: PhantomData<T>) {
    put! { rows, T:
        "sqrt" => |g| g.a.sqrt(); "floor" => |g| g.a.floor(); "ceil" => |g| g.a.ceil(); "trunc" => |g| g.a.trunc();
        "round" => |g| g.a.round(); "mul_add" => |g| g.a.mul_add(g.b, g.c); "recip" => |g| g.a.recip();
        "rsqrt" => |g| g.a.rsqrt(); "powi 0" => |g| g.a.powi(0); "powi 6" => |g| g.a.powi(6);
        "powi -3" => |g| g.a.powi(-3); "copysign" => |g| g.a.copysign(g.b); "is_nan" => |g| g.a.is_nan();
        "is_infinite" => |g| g.a.is_infinite(); "is_finite" => |g| g.a.is_finite(); "fract" => |g| g.a.fract();
        "round_half_away" => |g| g.a.round_half_away(); "lerp" => |g| g.a.lerp(g.b, g.c);
        "a * b + c" => |g| (g.a * g.b + g.c); "c - a * b" => |g| (g.c - g.a * g.b);
        // Of a product, which must not be contracted with what the function does.
        "p.fract" => |g| (g.a * g.b).fract(); "p.abs_diff" => |g| (g.a * g.b).abs_diff(g.c);
        "p.lerp" => |g| g.c.lerp(g.a * g.b, g.c);
    }
}

/// Elementary functions: their accuracy is tested by itself.
pub(super) fn functions<T: Scalar + Float>(rows: &mut impl Rows, _: PhantomData<T>) {
    macro_rules! alone {
        ($($name:ident)*) => { put! { rows, T: $(stringify!($name) => |g| g.a.$name();)* } };
    }
    alone!(exp exp2 exp10 exp_m1 ln log2 log10 ln_1p cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
    alone!(sigmoid softplus silu erf erfc gelu gelu_tanh);
    put! { rows, T:
        "powf" => |g| g.a.powf(g.b); "hypot" => |g| g.a.hypot(g.b); "atan2" => |g| g.a.atan2(g.b);
        "sin_cos" => |g| { let (sin, cos) = g.a.sin_cos(); sin - cos };
    }
}
