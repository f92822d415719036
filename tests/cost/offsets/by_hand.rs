//! The offsets of `typed.rs`, by hand. Sums are taken from the last axis on: in another order the compiler
//! schedules, and sometimes counts, other instructions.

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn plain(i: i32, j: i32) -> i32 {
    i * 64 + j
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn image(n: i32, c: i32, y: i32, x: i32) -> i32 {
    n * 134_400 + (c * 44_800 + (y * 200 + x))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn folded(k: i32, i: i32) -> i32 {
    (k >> 3) * 512 + (i * 8 + (k & 7))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn three_folds(k: i32, i: i32, j: i32) -> i32 {
    (k >> 5) * 5120 + (i * 320 + ((k >> 3 & 3) * 80 + (j * 8 + (k & 7))))
}

// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn padded(i: i32, j: i32) -> i32 {
    i * 72 + j
}

/// The element above; `y` may be 0.
// SAFETY: the only one of this name.
#[unsafe(no_mangle)]
pub fn halo(y: i32, x: i32) -> i32 {
    let y = y - 1;
    let rest = y % 6;
    let below = rest >> 31;
    (y / 6 + below) * 120 + (x * 6 + (rest + (below & 6)))
}
