//! Instructions that a processor may lack: a call goes to what the path says, after the processor has been asked.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod join;
mod scalar;

pub(crate) use self::join::{TABLES, join_entries};
use crate::bits::Path;

/// Rows of either operand that are counted together, in registers.
pub(crate) const TILE: usize = 4;
/// Words of a vector.
pub(crate) const VECTOR: usize = 8;

/// 512 bits, at a multiple of 64 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Vector(pub(crate) [u64; VECTOR]);

impl Vector {
    pub(crate) const ZERO: Self = Self([0; VECTOR]);
}

/// A vector of each of four rows.
pub(crate) type Step = [Vector; TILE];

/// Sums of a tile: row by row of the left operand, and in it column by column.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Sums(pub(crate) [[u64; TILE]; TILE]);

impl Sums {
    pub(crate) const ZERO: Self = Self([[0; TILE]; TILE]);
}

/// Adds to each of `sums` the counts of common bits of the tile `b` and one of the tiles of `a`, which are as long and stand one behind the
/// other.
pub(crate) fn count(path: Path, a: &[Step], b: &[Step], sums: &mut [Sums]) {
    if b.is_empty() {
        return;
    }
    match path {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has what the function is compiled for, which has just been asked.
        Path::Avx512 if path.is_supported() => unsafe { avx512::count(a, b, sums) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Path::Avx2 if path.is_supported() => unsafe { avx2::count(a, b, sums) },
        _ => scalar::count(a, b, sums),
    }
}

/// Bits that a round of [`rounds`] counts; none where the path has none.
pub(crate) fn bits_a_round(path: Path) -> Option<u64> {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => Some(512 * avx512::TOGETHER as u64),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => Some(256 * avx2::TOGETHER as u64),
        _ => None,
    }
}

/// So many rounds of what products are made of (and, count, add), in registers alone. What is counted is of no use.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "no path counts there"))]
pub(crate) fn rounds(path: Path, count: u64) -> u64 {
    match path {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has what the function is compiled for, which has just been asked.
        Path::Avx512 if path.is_supported() => unsafe { avx512::rounds(count) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Path::Avx2 if path.is_supported() => unsafe { avx2::rounds(count) },
        _ => 0,
    }
}

/// A word whose bit i says whether count i is more than `threshold`.
pub(crate) fn above(path: Path, counts: &[u64; 64], threshold: u64) -> u64 {
    match path {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has what the function is compiled for, which has just been asked.
        Path::Avx512 if path.is_supported() => unsafe { avx512::above(counts, threshold) },
        _ => scalar::above(counts, threshold),
    }
}
