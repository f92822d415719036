//! Operations on bits, integers, signs and parts of floats: the same bits on the GPU as on the CPU, for every type that has them.

use crate::gpu::{X, Y, plane};
use crate::support::{Random, assert_same, gpu};
use tilewright_expr::{In, bf16, f16};
use tilewright_ops::fuse;

/// Runs four results of two operands on both devices and compares.
macro_rules! four {
    ($device:expr, $t:ident, |$a:ident, $b:ident| $($result:expr),*) => {{
        let mut random = Random(23);
        let (a, b) = (plane::<$t>(&mut random, 61, 67), plane::<$t>(&mut random, 61, 67));
        let f = fuse(|$a: In<$t, (Y, X)>, $b: In<$t, (Y, X)>| {
            ($($result.store::<(Y, X)>()),*)
        });
        let cpu = f.call(&a, &b).unwrap();
        let gpu = f.call(&a.to($device).unwrap(), &b.to($device).unwrap()).unwrap();
        let what = concat!(stringify!($t), ": ", $(stringify!($result), "; "),*);
        assert_same(what, &gpu.0.to_vec().unwrap(), &cpu.0.to_vec().unwrap());
        assert_same(what, &gpu.1.to_vec().unwrap(), &cpu.1.to_vec().unwrap());
        assert_same(what, &gpu.2.to_vec().unwrap(), &cpu.2.to_vec().unwrap());
        assert_same(what, &gpu.3.to_vec().unwrap(), &cpu.3.to_vec().unwrap());
    }};
}

macro_rules! numbers {
    ($device:expr; $($t:ident)*) => { $(
        four!($device, $t, |a, b| (a % b), a.rem_euclid(b), a.div_euclid(b), a.abs_diff(b));
        four!($device, $t, |a, b| a.signum(), a.sign_bit(), b.pow(7), a.eq(b).select(b.cube(), a));
        four!($device, $t, |a, b| a.trunc_to::<i8>(), a.wrapping_to::<u16>(), b.wrapping_to::<i64>(), b.trunc_to::<u32>());
    )* };
}

#[test]
fn of_integers() {
    let Some((device, _lock)) = gpu("operations::of_integers") else { return };
    numbers!(&device; u8 i8 u16 i16 u32 i32 u64 i64);
    macro_rules! each {
        ($($t:ident)*) => { $(
            four!(&device, $t, |a, b| (a & b), (a | b), (a ^ b), (!a));
            four!(&device, $t, |a, b| (a << b), (a >> b), a.saturating_add(b), a.saturating_sub(b));
            four!(&device, $t, |a, b| a.saturating_mul(b), a.count_ones(), a.leading_zeros(), b.trailing_zeros());
        )* };
    }
    each!(u8 i8 u16 i16 u32 i32 u64 i64);
}

#[test]
fn of_floats() {
    let Some((device, _lock)) = gpu("operations::of_floats") else { return };
    numbers!(&device; f16 bf16 f32 f64);
    macro_rules! each {
        ($($t:ident)*) => { $(
            four!(&device, $t, |a, b| a.recip(), b.rsqrt(), a.powi(-3), a.copysign(b));
            four!(&device, $t, |a, b| a.is_nan(), a.is_infinite(), a.is_finite(), a.lerp(b, b));
            four!(&device, $t, |a, b| a.fract(), a.round_half_away(), (a * b).fract(), a.mul_add(b, a));
        )* };
    }
    each!(f16 bf16 f32 f64);
}
