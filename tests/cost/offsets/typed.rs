//! Offsets through typed layouts. `by_hand.rs` beside has the same functions without them.

use tilewright_dims::{dims, tensor};

dims! { N, C, Y, X, I, J, K }
tensor!(Plain: f32, [I: 32, J: 64]);
tensor!(Image: f32, [N: 8, C: 3, Y: 224, X: 200]);
tensor!(Folded: f32, [K/8: 4, I: 64, K%8]);
tensor!(ThreeFolds: f32, [K/32: 4, I: 16, K/8%4, J: 10, K%8]);
tensor!(Padded: f32, [I: 32 => 72, J: 64]);
tensor!(Halo: f32, [Y/6: 10, X: 20, Y%6]);

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn plain(i: i32, j: i32) -> i32 {
    Plain::offset(I(i) + J(j))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn image(n: i32, c: i32, y: i32, x: i32) -> i32 {
    Image::offset(N(n) + C(c) + Y(y) + X(x))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn folded(k: i32, i: i32) -> i32 {
    Folded::offset(K(k) + I(i))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn three_folds(k: i32, i: i32, j: i32) -> i32 {
    ThreeFolds::offset(I(i) + K(k) + J(j))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn padded(i: i32, j: i32) -> i32 {
    Padded::offset(I(i) + J(j))
}

/// The element above; `y` may be 0.
// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn halo(y: i32, x: i32) -> i32 {
    Halo::offset(Y(y) + X(x) - Y(1))
}
