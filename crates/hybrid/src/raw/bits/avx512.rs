use std::arch::x86_64::*;
use std::hint::black_box;

use super::{Step, Sums, TILE, Vector};

// Closures are kept out of these functions: what they would be passed to is not compiled for these instructions.

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn count(a: &[Step], b: &[Step], sums: &mut [Sums]) {
    for (a, sums) in a.chunks_exact(b.len()).zip(sums) {
        tile(a, b, sums);
    }
}

/// 16 sums in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn tile(a: &[Step], b: &[Step], totals: &mut Sums) {
    let mut sums = [[_mm512_setzero_si512(); TILE]; TILE];
    for (a, b) in a.iter().zip(b) {
        let a = [load(&a[0]), load(&a[1]), load(&a[2]), load(&a[3])];
        let b = [load(&b[0]), load(&b[1]), load(&b[2]), load(&b[3])];
        for i in 0..TILE {
            for j in 0..TILE {
                sums[i][j] = _mm512_add_epi64(sums[i][j], _mm512_popcnt_epi64(_mm512_and_si512(a[i], b[j])));
            }
        }
    }
    let upper = quarters(pairs(sums[0]), pairs(sums[1]));
    let lower = quarters(pairs(sums[2]), pairs(sums[3]));
    let totals = (&raw mut totals.0).cast::<__m512i>();
    // SAFETY: sums are 16 words at a multiple of 64 bytes: two vectors, which nobody else has.
    unsafe {
        _mm512_store_si512(totals, _mm512_add_epi64(_mm512_load_si512(totals), upper));
        _mm512_store_si512(totals.add(1), _mm512_add_epi64(_mm512_load_si512(totals.add(1)), lower));
    }
}

/// Sums of a round.
pub(super) const TOGETHER: usize = 8;

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn rounds(count: u64) -> u64 {
    let (mut sums, mut bits) = ([_mm512_setzero_si512(); TOGETHER], _mm512_set1_epi64(0x5555));
    let mut others = [bits; TOGETHER];
    for (index, other) in others.iter_mut().enumerate() {
        // A compiler that knew them would count less.
        *other = black_box(_mm512_set1_epi64(!(index as i64)));
    }
    for _ in 0..count {
        bits = _mm512_add_epi64(bits, others[0]);
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(_mm512_and_si512(bits, other)));
        }
    }
    let mut words = [Vector::ZERO; TOGETHER];
    for (word, sum) in words.iter_mut().zip(sums) {
        // SAFETY: a vector has 64 bytes at a multiple of 64.
        unsafe { _mm512_store_si512((&raw mut word.0).cast(), sum) };
    }
    words.iter().flat_map(|word| word.0).fold(0, u64::wrapping_add)
}

/// Of four registers with 8 parts of a sum each, one with 2 parts of each.
#[inline]
#[target_feature(enable = "avx512f")]
fn pairs(sums: [__m512i; TILE]) -> __m512i {
    let [a, b, c, d] = sums;
    let ab = _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let cd = _mm512_add_epi64(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
    quarters(ab, cd)
}

/// Adds the even quarters of two registers to the odd ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi64(_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(vector: &Vector) -> __m512i {
    // SAFETY: a vector has 64 bytes at a multiple of 64.
    unsafe { _mm512_load_si512((&raw const vector.0).cast()) }
}

#[target_feature(enable = "avx512f")]
pub(super) fn above(counts: &[u64; 64], threshold: u64) -> u64 {
    let threshold = _mm512_set1_epi64(threshold as i64);
    let mut bytes = [0; 8];
    for (byte, counts) in bytes.iter_mut().zip(counts.as_chunks::<8>().0) {
        // SAFETY: eight counts are 64 bytes, and the load asks for no alignment.
        let counts = unsafe { _mm512_loadu_si512(counts.as_ptr().cast()) };
        *byte = _mm512_cmpgt_epu64_mask(counts, threshold);
    }
    u64::from_le_bytes(bytes)
}
