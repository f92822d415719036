//! A logarithm that is fast, and the same on every machine: trees compare it with thresholds that were found elsewhere.

/// log2(1 + t) / t for t between -1/3 and 1/3, fitted at Chebyshev's points, from the constant up.
const SERIES: [f32; 7] =
    [1.442_694_8, -0.721_379_9, 0.480_965_52, -0.358_389_02, 0.285_581_92, -0.279_996_2, 0.246_862_83];

/// log2 of a positive normal number, to 2e-6 and the last bits: exponent, and a polynomial of the fraction. Below those, -126.
#[inline(always)]
pub(super) fn log2(value: f32) -> f32 {
    let bits = value.max(f32::MIN_POSITIVE).to_bits();
    // The exponent that leaves a fraction between 2/3 and 4/3.
    const THIRD: u32 = 0x3f2a_aaab;
    let exponent = (bits.wrapping_sub(THIRD) as i32) >> 23;
    let t = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23)) - 1.0;
    exponent as f32 + t * SERIES.iter().rev().fold(0.0, |sum, term| sum * t + term)
}

#[cfg(test)]
mod tests {
    use super::log2;

    #[test]
    fn it_is_the_logarithm() {
        let mut value = 1e-30f32;
        while value < 1e30 {
            let (found, expected) = (log2(value), f64::from(value).log2());
            assert!(
                (f64::from(found) - expected).abs() < 4e-6 * (1.0 + expected.abs()),
                "{value}: {found}, {expected}"
            );
            value *= 1.0137;
        }
        assert_eq!([1.0, 2.0, 1024.0, 0.25].map(log2), [0.0, 1.0, 10.0, -2.0]);
        assert_eq!([0.0, -1.0, f32::NAN].map(log2), [-126.0; 3]);
    }
}
