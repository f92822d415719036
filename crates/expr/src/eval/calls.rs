//! Functions that are given as text, on the host: their Rust twins, for a block of values.

use super::lanes::Arg;
use crate::dtype::Value;

/// The bits of value `i` of an argument whose values have `bytes` bytes.
#[inline(always)]
pub(crate) fn bits_at(arg: &Arg<'_>, bytes: usize, i: usize) -> u64 {
    match (arg, bytes) {
        (Arg::Uniform(bits), _) => *bits,
        (Arg::Block(block), 8) => block[i],
        (Arg::Block(block), 4) => u64::from(bytemuck::cast_slice::<u64, u32>(block)[i]),
        (Arg::Block(block), 2) => u64::from(bytemuck::cast_slice::<u64, u16>(block)[i]),
        (Arg::Block(block), _) => u64::from(bytemuck::cast_slice::<u64, u8>(block)[i]),
    }
}

/// Writes `n` values.
#[inline(always)]
pub(crate) fn each<T: Value>(out: &mut [u64], n: usize, f: impl Fn(usize) -> T) {
    macro_rules! write {
        ($t:ty) => {
            for (i, out) in bytemuck::cast_slice_mut::<u64, $t>(out)[..n].iter_mut().enumerate() {
                *out = f(i).to_bits64() as $t;
            }
        };
    }
    match T::DTYPE.size() {
        8 => write!(u64),
        4 => write!(u32),
        2 => write!(u16),
        _ => write!(u8),
    }
}
