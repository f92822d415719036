//! What the functions of the table give, spelled out.

use super::functions::floats::{arithmetic, cast, chosen, rounded, sums};
use super::functions::integers::{of_i8, of_i16, of_i32, of_i64, of_u8, of_u32};
use super::functions::statements::{branched, called, greatest, looped, named};

/// The rules, spelled out.
#[test]
fn integers_by_hand() {
    assert_eq!(of_i32::arithmetic(i32::MAX, 1), (i32::MIN + 2, i32::MAX - 1, i32::MAX, 0));
    assert_eq!(of_i32::arithmetic(i32::MIN, -1).2, i32::MIN);
    assert_eq!(of_i32::arithmetic(i32::MIN, -1).3, 0);
    assert_eq!((of_u8::arithmetic(9, 0).2, of_u8::arithmetic(9, 0).3), (0, 0));
    assert_eq!(of_u32::bits(513, 40).0, 513 << 8 ^ 513 >> 8);
    assert_eq!(of_i64::counts(i64::MIN, i64::MAX), (0, 127, 63, u64::MAX.wrapping_add(i64::MAX as u64)));
    assert_eq!(of_i8::from_floats(f32::NAN, -1e300), (0, -128));
    assert_eq!(of_u8::from_floats(3.99, -0.5), (3, 0));
    assert_eq!(of_i16::casts(-1), (255, -1, -1.0, -1.0));
}

/// A literal is of the function's type on both devices: C++ would compute with 2.1 in double.
#[test]
fn floats_by_hand() {
    assert_eq!(arithmetic(0.3_f32, 0.7).0, 0.3_f32 * 0.7 + 0.1_f32);
    assert_eq!(arithmetic(0.3_f32, 0.7).1, 0.3_f32.mul_add(0.7, 0.1));
    assert_eq!(rounded(2.5_f64), (5.0, -1.0, 2.0, 0.5));
    assert!(chosen(f32::NAN, 1.0).0.is_nan() && chosen(1.0, f32::NAN).1.is_nan());
    assert!(chosen(0.0, -0.0_f64).0.is_sign_negative() && chosen(-0.0, 0.0_f64).1.is_sign_positive());
    assert_eq!(
        (cast(f32::NAN, 1 << 24, 1).0, cast(f32::NAN, 0, 0).3, cast(-1e30, 0, 0).3),
        (16_777_216.0, 3, i32::MIN + 4)
    );
    assert_eq!(sums(2.0_f64, -1).1, f64::from(1 << 20) * -0.25);
    assert_eq!(sums(1.0_f64, 0).0, ((-0.25_f64 + 1.0 / 3.0) - 0.5) + 1.0 + ((-0.3_f64 + 0.2) + 0.1));
}

#[test]
fn statements_by_hand() {
    assert_eq!(named(2.0, 4), (1.0 + 4.0) + 0.25);
    assert_eq!(named(2.0, 3), (1.0 - 4.0) + (1.0 - 4.0));
    assert_eq!(branched(-3.0_f64, 2), (6.0, 11 + 2));
    assert_eq!(branched(20.0_f32, -8), (40.0, -1 + 8));
    assert_eq!(looped(0, f32::INFINITY).1, f32::INFINITY);
    assert_eq!(looped(0, 1e30), (250 << 26 ^ 251 << 27 ^ 252 << 28 ^ 254 << 30 ^ 255 << 31, -1.0));
    assert_eq!(called(0.0_f32, 9), (0.0, (-1e-300 - 1.0) * 0.5 + 0.5, 1, std::f32::consts::PI));
    assert_eq!(called(0.0_f32, -2).2, 1);
    assert_eq!((greatest(12, 18), greatest(0, 5), greatest(1 << 63, 96)), (6, 5, 32));
}
