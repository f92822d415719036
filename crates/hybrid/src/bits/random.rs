use crate::{Error, bits::BitMatrix};

/// Digits of a density, in base 2.
const DIGITS: u32 = 16;

impl BitMatrix {
    /// A matrix of pseudo-random bits, each one with probability `density`, rounded to a multiple of 2^-16; the same on every machine.
    ///
    /// The generator is SplitMix64 (Steele, Lea, Flood 2014). A density outside of 0 to 1 is the nearer of the two, NaN is 0.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn random(rows: usize, columns: usize, density: f64, seed: u64) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        let threshold = (density.clamp(0.0, 1.0) * f64::from(1u32 << DIGITS)).round() as u32;
        let mut state = seed;
        matrix.words_mut().iter_mut().for_each(|word| *word = biased(threshold, &mut state));
        matrix.clear_padding();
        Ok(matrix)
    }
}

/// 64 bits, each of which is one with probability `threshold` / 2^16: from the last digit to the first, a one halves the way to 1, a
/// zero the way to 0.
fn biased(threshold: u32, state: &mut u64) -> u64 {
    if threshold >> DIGITS != 0 {
        return u64::MAX;
    }
    (threshold.trailing_zeros()..DIGITS).fold(0, |word, digit| {
        let random = next(state);
        if threshold >> digit & 1 == 1 { word | random } else { word & random }
    })
}

/// The next number.
pub(super) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
