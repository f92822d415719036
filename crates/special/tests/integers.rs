//! Divisors and multiples against Euclid's algorithm in 128 bits.

use tilewright_special as special;

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// A deterministic sequence of bits.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let x = *state ^ (*state >> 33);
    x.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
}

macro_rules! agree {
    ($($t:ty: $gcd:ident $lcm:ident),*) => {
        $({
            let mut state = 42;
            let edges = [0, 1, <$t>::MAX, <$t>::MIN, 6];
            for k in 0..4000usize {
                let shift = next(&mut state) % u64::from(<$t>::BITS);
                let factor = (next(&mut state) >> 57) as $t | 1;
                let mut a = ((next(&mut state) as $t) >> shift).wrapping_mul(factor);
                let mut b = (next(&mut state) as $t).wrapping_mul(factor);
                if k < 25 {
                    (a, b) = (edges[k / 5], edges[k % 5]);
                }
                let wanted = gcd(a as i128, b as i128);
                assert_eq!(special::$gcd(a, b), wanted as $t, "gcd {a} {b}");
                let multiple = if wanted == 0 { 0 } else { (a as i128 / wanted).wrapping_mul(b as i128) };
                let wrapped = multiple as $t;
                let size = if <$t>::MIN == 0 { wrapped } else { (wrapped as i128).unsigned_abs() as $t };
                assert_eq!(special::$lcm(a, b), size, "lcm {a} {b}");
            }
        })*
    };
}

#[test]
fn agree_with_euclid() {
    agree! { i8: gcd_i8 lcm_i8, i16: gcd_i16 lcm_i16, i32: gcd_i32 lcm_i32, i64: gcd_i64 lcm_i64 }
    agree! { u8: gcd_u8 lcm_u8, u16: gcd_u16 lcm_u16, u32: gcd_u32 lcm_u32, u64: gcd_u64 lcm_u64 }
}

#[test]
fn the_smallest_integer_has_a_divisor() {
    assert_eq!(special::gcd_i32(i32::MIN, 6), 2);
    assert_eq!(special::gcd_i32(i32::MIN, 0), i32::MIN);
    assert_eq!(special::gcd_i8(-128, -128), -128);
    assert_eq!(special::lcm_i8(100, 3), 44);
    assert_eq!(special::lcm_i32(i32::MAX, 2), 2);
}
