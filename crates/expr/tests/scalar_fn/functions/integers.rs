//! Integers: everything that wraps, masks, or divides.

/// Functions of two integers for each type: everything that wraps, masks, or divides.
macro_rules! integers {
    ($($t:ident $module:ident $half:literal $most:expr;)*) => { $(
        pub(crate) mod $module {
            use tilewright_expr::extend::scalar_fn;
            #[scalar_fn]
            pub(crate) fn arithmetic(a: $t, b: $t) -> ($t, $t, $t, $t) {
                (a + b * 3, a - b, a / b, a % b)
            }
            #[scalar_fn]
            pub(crate) fn bits(a: $t, b: $t) -> ($t, $t, $t, $t) {
                let mut shifted = a << b;
                shifted ^= a >> 40;
                (shifted, a & !b | (b ^ 5), a.rotate_left(3) ^ b.rotate_right(a), a.pow(3) + a.wrapping_shl(33))
            }
            #[scalar_fn]
            pub(crate) fn ends(a: $t, b: $t) -> ($t, $t, $t, bool) {
                let low = a.min(b).max(7);
                (low.clamp(1, 100), a.saturating_add(b), a.saturating_sub(b), a < b && a != $half || b >= $most)
            }
            #[scalar_fn]
            pub(crate) fn counts(a: $t, b: $t) -> (u32, u32, u32, u64) {
                let distance = a.abs_diff(b) as u64;
                (a.leading_zeros(), a.trailing_zeros() + $t::BITS, b.count_ones(), distance + b.unsigned_abs() as u64)
            }
            #[scalar_fn]
            pub(crate) fn casts(a: $t) -> (u8, i16, f32, f64) {
                (a as u8, a as i16, a as f32, a as f64)
            }
            #[scalar_fn]
            pub(crate) fn wide_casts(a: $t) -> (i32, u32, i64, u64) {
                (a as i32, a as u32, a as i64, a as u64)
            }
            #[scalar_fn]
            pub(crate) fn from_floats(x: f32, y: f64) -> ($t, $t) {
                (x as $t, y as $t)
            }
        }
    )* };
}
integers! {
    u8 of_u8 128 u8::MAX - 3; i8 of_i8 64 i8::MAX - 3; u16 of_u16 9000 u16::MAX - 9; i16 of_i16 -9000 i16::MIN + 9;
    u32 of_u32 70000 u32::MAX; i32 of_i32 -2147483648 i32::MAX; u64 of_u64 18446744073709551615 u64::MIN;
    i64 of_i64 -9223372036854775808 i64::MIN + 1;
}
