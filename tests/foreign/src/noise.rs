//! A scalar function: numbers from a hash, by a loop that ends when a value says so.

use tilewright::extend::scalar_fn;

/// A number below `y`, each as likely as the others, that depends on `x` alone; 0 where `y` is 0.
///
/// Hashes that are among the last, incomplete round of `y` are thrown away.
#[scalar_fn]
pub fn below(x: u32, y: u32) -> u32 {
    if y == 0 {
        return 0;
    }
    let end = u32::MAX - u32::MAX % y;
    let mut hash = x;
    loop {
        hash = (hash + 0x9e37_79b9 ^ hash >> 16) * 0x7feb_352d;
        hash = (hash ^ hash >> 15) * 0x846c_a68b;
        hash ^= hash >> 16;
        if hash < end {
            return hash % y;
        }
    }
}
