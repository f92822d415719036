use std::arch::x86_64::*;
use std::hint::black_box;

use super::{Step, Sums, TILE, Vector};

/// Steps after which sums of bytes may overflow: each adds at most 16.
const STEPS: usize = 15;
/// Rows and columns that are counted together: sums, rows and constants fit 16 registers.
const SIDE: usize = 2;

// Closures are kept out of these functions: what they would be passed to is not compiled for these instructions.

#[target_feature(enable = "avx2")]
pub(super) fn count(a: &[Step], b: &[Step], sums: &mut [Sums]) {
    for (a, sums) in a.chunks_exact(b.len()).zip(sums) {
        tile(a, b, sums);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn tile(a: &[Step], b: &[Step], totals: &mut Sums) {
    let mut sums = [[_mm256_setzero_si256(); TILE]; TILE];
    for (a, b) in a.chunks(STEPS).zip(b.chunks(STEPS)) {
        for i in [0, SIDE] {
            for j in [0, SIDE] {
                let bytes = square(a, i, b, j);
                for (index, bytes) in bytes.into_iter().enumerate() {
                    let sum = &mut sums[i + index / SIDE][j + index % SIDE];
                    *sum = _mm256_add_epi64(*sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
                }
            }
        }
    }
    for (totals, sums) in totals.0.iter_mut().zip(sums) {
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += added_up(sum);
        }
    }
}

/// Counts of rows `i` and the next with `j` and the next, byte by byte; at most [`STEPS`] steps.
#[inline]
#[target_feature(enable = "avx2")]
fn square(a: &[Step], i: usize, b: &[Step], j: usize) -> [__m256i; SIDE * SIDE] {
    let zero = _mm256_setzero_si256();
    let [mut upper_left, mut upper_right, mut lower_left, mut lower_right] = [zero; SIDE * SIDE];
    for (a, b) in a.iter().zip(b) {
        for half in [0, 1] {
            let (upper, lower) = (load(&a[i], half), load(&a[i + 1], half));
            let (left, right) = (load(&b[j], half), load(&b[j + 1], half));
            upper_left = _mm256_add_epi8(upper_left, counts(_mm256_and_si256(upper, left)));
            upper_right = _mm256_add_epi8(upper_right, counts(_mm256_and_si256(upper, right)));
            lower_left = _mm256_add_epi8(lower_left, counts(_mm256_and_si256(lower, left)));
            lower_right = _mm256_add_epi8(lower_right, counts(_mm256_and_si256(lower, right)));
        }
    }
    [upper_left, upper_right, lower_left, lower_right]
}

/// How many bits of each byte are set.
#[inline]
#[target_feature(enable = "avx2")]
fn counts(bits: __m256i) -> __m256i {
    let of_half = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let half = _mm256_set1_epi8(0x0f);
    let low = _mm256_shuffle_epi8(of_half, _mm256_and_si256(bits, half));
    let high = _mm256_shuffle_epi8(of_half, _mm256_and_si256(_mm256_srli_epi16::<4>(bits), half));
    _mm256_add_epi8(low, high)
}

/// Sums of a round.
pub(super) const TOGETHER: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn rounds(count: u64) -> u64 {
    let (mut sums, mut bits) = ([_mm256_setzero_si256(); TOGETHER], _mm256_set1_epi64x(0x5555));
    let mut others = [bits; TOGETHER];
    for (index, other) in others.iter_mut().enumerate() {
        // A compiler that knew them would count less.
        *other = black_box(_mm256_set1_epi64x(!(index as i64)));
    }
    for _ in 0..count {
        bits = _mm256_add_epi64(bits, others[0]);
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum = _mm256_add_epi8(*sum, counts(_mm256_and_si256(bits, other)));
        }
    }
    let mut all = 0u64;
    for sum in sums {
        all = all.wrapping_add(added_up(sum));
    }
    all
}

#[inline]
#[target_feature(enable = "avx2")]
fn added_up(sums: __m256i) -> u64 {
    let halves = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    (_mm_extract_epi64::<0>(halves) as u64).wrapping_add(_mm_extract_epi64::<1>(halves) as u64)
}

/// Half of a vector, the first or the second.
#[inline]
#[target_feature(enable = "avx2")]
fn load(vector: &Vector, half: usize) -> __m256i {
    let words = &vector.0.as_chunks::<4>().0[half % 2];
    // SAFETY: four words are 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
