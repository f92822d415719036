//! The laws that hosts and devices share, on values where machines differ. What the elementary functions give is tested with the
//! graph, in `tilewright-expr`.

use tilewright_scalar::arith::CastTo;
use tilewright_scalar::{Arith, As, Float, Whole, at, clamp};

#[test]
fn integers_wrap_and_divide_by_zero() {
    assert_eq!(Arith::add(i32::MAX, 1), i32::MIN);
    assert_eq!(Arith::mul(200_u8, 2), 144);
    assert_eq!([Arith::div(i32::MIN, -1), Arith::rem(i32::MIN, -1)], [i32::MIN, 0]);
    assert_eq!([Arith::div(9_u64, 0), Arith::rem(9_u64, 0)], [0, 0]);
    assert_eq!([Arith::shl(1_u32, 33), Whole::left(1_u32, 33)], [2, 2]);
    assert_eq!(Whole::right(-8_i32, 1), -4);
}

#[test]
fn zeros_have_an_order_and_nan_wins() {
    assert!(Arith::minimum(0.0_f32, -0.0).is_sign_negative() && Arith::minimum(-0.0_f32, 0.0).is_sign_negative());
    assert!(Arith::maximum(0.0_f64, -0.0).is_sign_positive() && Arith::maximum(-0.0_f64, 0.0).is_sign_positive());
    assert!(Arith::minimum(f32::NAN, 1.0).is_nan() && Arith::maximum(1.0, f32::NAN).is_nan());
    assert_eq!(clamp(7.0_f32, 0.0, 1.0), 1.0);
}

#[test]
fn casts_saturate_or_keep_their_lowest_bits() {
    let cast: u8 = As::cast(300_i32);
    let saturated: u8 = CastTo::cast_to(300_i32);
    assert_eq!([cast, saturated], [44, 255]);
    let (cut, rounded): (i32, i32) = (As::cast(2.5_f32), CastTo::cast_to(3.5_f32));
    assert_eq!([cut, rounded], [2, 4]);
    let nothing: i64 = CastTo::cast_to(f64::NAN);
    assert_eq!(nothing, 0);
}

#[test]
fn multiply_adds_round_once() {
    let x = 1.0 + f32::EPSILON;
    assert_eq!(Float::mul_add(x, x, -(1.0 + 2.0 * f32::EPSILON)), f32::EPSILON * f32::EPSILON);
    assert_eq!(Float::polynomial(2.0_f64, &[1.0, 3.0, 5.0]), 27.0);
}

#[test]
fn tables_end_with_their_last_element() {
    let table = [1.0_f32, 2.0, 3.0];
    assert_eq!([at(&table, 0), at(&table, 9), at(&table, -1)], [1.0, 3.0, 3.0]);
}
