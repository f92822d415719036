//! A scalar function: numbers from a hash, by a loop that ends when a value says so.

use tilewright::extend::ScalarFunction;

/// A number below `y`, each as likely as the others, that depends on `x` alone; 0 where `y` is 0.
///
/// Hashes that are among the last, incomplete round of `y` are thrown away.
#[derive(Clone, Copy, Debug)]
pub struct Below;

impl ScalarFunction for Below {
    type Args = (u32, u32);
    type Output = u32;
    const NAME: &'static str = "below";
    const CUDA: &'static str = "
        if (y == 0) return 0;
        const unsigned end = 0xffffffffu - 0xffffffffu % y;
        unsigned hash = x;
        do {
          hash = (hash + 0x9e3779b9u ^ hash >> 16) * 0x7feb352du;
          hash = (hash ^ hash >> 15) * 0x846ca68bu;
          hash ^= hash >> 16;
        } while (hash >= end);
        return hash % y;";

    fn host((x, y): (u32, u32)) -> u32 {
        if y == 0 {
            return 0;
        }
        let end = u32::MAX - u32::MAX % y;
        let mut hash = x;
        loop {
            hash = (hash.wrapping_add(0x9e37_79b9) ^ hash >> 16).wrapping_mul(0x7feb_352d);
            hash = (hash ^ hash >> 15).wrapping_mul(0x846c_a68b);
            hash ^= hash >> 16;
            if hash < end {
                return hash % y;
            }
        }
    }
}
